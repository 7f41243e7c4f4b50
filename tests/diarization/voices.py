"""Embeddings and recordings that several test modules use."""

from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parents[2] / "examples"
CONVERSATION, TRUTH = EXAMPLES / "conversation.npz", EXAMPLES / "conversation.rttm"


def voices(sizes, *, d=32, noise=0.5, seed=0):
    """Return rows around random directions, and the speaker of each."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(len(sizes), d)) / np.sqrt(d)
    who = np.repeat(np.arange(len(sizes)), sizes)
    return means[who] + noise * rng.normal(size=(len(who), d)) / np.sqrt(d), who


def same(first, second):
    """Return whether two labellings are the same partition."""
    pairs = set(zip(np.asarray(first).tolist(), np.asarray(second).tolist(), strict=True))
    return len(pairs) == len(set(first)) == len(set(second))
