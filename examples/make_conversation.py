"""Make `conversation.npz` and `conversation.rttm` from embeddings of read speech, each window with its utterance.

    python examples/make_conversation.py SPEECH.npz examples/

SPEECH.npz has `X` (n, 256), `y` (speaker), `utt` (utterance) and `label_names`: windows of 1.6 s, one after the other.
Five speakers take turns; a turn is an utterance. Between turns there are 0.4 s: every other time silence, and else a
short window in which both are heard (the sum of the embeddings on both sides), which the reference gives to the second.
examples/README.md has source and licence.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from modeseek.diarization.rttm import rttm_lines
from modeseek.diarization.turns import Turn

WINDOW, PAUSE = 1.6, 0.4
# how many utterances each speaker has: uneven, and one who speaks once
UTTERANCES = (8, 6, 4, 2, 1)


def main(source: str, folder: str) -> None:
    """Write the two files."""
    data = np.load(source)
    rng = np.random.default_rng(0)
    speakers = rng.permutation(len(data["label_names"]))[: len(UTTERANCES)]
    said = [
        (int(speaker), utterance)
        for speaker, count in zip(speakers, UTTERANCES, strict=True)
        for utterance in rng.permutation(np.unique(data["utt"][data["y"] == speaker]))[:count]
    ]
    rows, times, turns, now = [], [], [], 0.0
    for number, (speaker, utterance) in enumerate([said[i] for i in rng.permutation(len(said))]):
        windows = np.flatnonzero(data["utt"] == utterance)
        starts = now + WINDOW * np.arange(len(windows))
        if number % 2:
            both = rows[-1][-1] + data["X"][windows[0]]
            rows.append((both / np.linalg.norm(both))[None])
            times.append(np.array([[now - PAUSE, now]]))
            now -= PAUSE
        rows.append(data["X"][windows])
        times.append(np.column_stack([starts, starts + WINDOW]))
        turns.append(Turn(now, starts[-1] + WINDOW, str(data["label_names"][speaker])))
        now = starts[-1] + WINDOW + PAUSE
    target = Path(folder)
    np.savez_compressed(
        target / "conversation.npz", X=np.concatenate(rows).astype(np.float16), times=np.concatenate(times).round(3)
    )
    (target / "conversation.rttm").write_text("".join(rttm_lines(turns, "conversation")))


if __name__ == "__main__":
    main(*sys.argv[1:])
