"""Random changes of a data set of any family: they make the training data more varied and keep the labels."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import ortho_group

from synthetic.base import Sample
from synthetic.tools import log_uniform, with_noise

# rows that a cluster keeps at least
LEAST_ROWS = 20
# rows of a cluster that may become a data set of its own
LEAST_ALONE = 40


def stretched(rng: np.random.Generator, sample: Sample) -> Sample:
    """Rotate, and stretch the axes by factors that differ up to four times."""
    d = sample.X.shape[1]
    lengths = np.exp(rng.uniform(0, np.log(4), d))
    axes = ortho_group.rvs(d, random_state=rng) if 1 < d <= 50 else np.eye(d)
    return Sample((sample.X @ axes) * lengths, sample.y)


def warped(rng: np.random.Generator, sample: Sample) -> Sample:
    """Bend each column by an exponential curve, to the left or to the right."""
    spread = sample.X.std(axis=0)
    z = np.clip((sample.X - sample.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), -6, 6)
    bend = rng.uniform(-0.6, 0.6, z.shape[1])
    return Sample(np.expm1(bend * z) / bend, sample.y)


def widened(rng: np.random.Generator, sample: Sample) -> Sample:
    """Add columns that have nothing to do with the clusters."""
    shape = (len(sample.X), int(rng.integers(1, max(2, sample.X.shape[1]))))
    more = rng.normal(size=shape) if rng.random() < 0.7 else rng.uniform(-1.7, 1.7, shape)
    return Sample(np.column_stack([sample.X, sample.X.std() * rng.uniform(0.2, 1.0) * more]), sample.y)


def scattered(rng: np.random.Generator, sample: Sample) -> Sample:
    """Add uniform background noise."""
    return with_noise(rng, sample, rng.uniform(0.02, 0.25))


def thinned(rng: np.random.Generator, sample: Sample) -> Sample:
    """Leave out rows, with a rate of its own for each cluster."""
    kept = []
    for label in np.unique(sample.y):
        rows = rng.permutation(np.flatnonzero(sample.y == label))
        kept.append(rows[: max(LEAST_ROWS, int(len(rows) * log_uniform(rng, 0.1, 1.0)))])
    rows = np.concatenate(kept)
    return Sample(sample.X[rows], sample.y[rows], sample.metric)


def blurred(rng: np.random.Generator, sample: Sample) -> Sample:
    """Add noise to each row, in units of the distance to a near neighbour."""
    some = rng.permutation(len(sample.X))[:1000]
    near = float(np.median(cKDTree(sample.X[some]).query(sample.X[some], 5)[0][:, -1]))
    d = sample.X.shape[1]
    noise = rng.uniform(0.2, 0.8) * near / np.sqrt(d) * rng.normal(size=sample.X.shape)
    return Sample(sample.X + noise, sample.y, sample.metric)


def alone(rng: np.random.Generator, sample: Sample) -> Sample:
    """Keep a single cluster: data without clusters. The sample is returned as it is if no cluster is large enough."""
    labels, counts = np.unique(sample.y[sample.y >= 0], return_counts=True)
    large = labels[counts >= LEAST_ALONE]
    if not len(large):
        return sample
    rows = np.flatnonzero(sample.y == rng.choice(large))
    return Sample(sample.X[rows], np.zeros(len(rows), dtype=np.intp), sample.metric)


EUCLIDEAN = (stretched, warped, widened, thinned, blurred)
COSINE = (thinned, blurred)
# families whose clusters have no clusters of their own
SIMPLE = ("synthetic.gaussians", "synthetic.shapes", "synthetic.nongaussian", "synthetic.embeddings")


def changed(rng: np.random.Generator, sample: Sample, module: str) -> Sample:
    """Apply one or two changes at random to a sample of a family that is defined in `module`."""
    if module in SIMPLE and rng.random() < 0.2:
        sample = alone(rng, sample)
    possible = COSINE if sample.metric == "cosine" else EUCLIDEAN
    if sample.X.shape[1] <= 3 and (sample.y >= 0).all() and len(np.unique(sample.y)) > 1:
        possible = (*possible, scattered)
    for change in rng.permutation(len(possible))[: int(rng.integers(1, 3))]:
        sample = possible[change](rng, sample)
    return sample
