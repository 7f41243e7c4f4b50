"""Segmentation methods of `pictures.py` (functions from an image to labels) and their scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from skimage import graph
from skimage.segmentation import felzenszwalb, quickshift, slic

from modeseek.images import segment

OURS = "modeseek.images.segment"


class Method(NamedTuple):
    """A segmentation method at one setting: its name, the setting in words, and a function from an image to labels."""

    name: str
    setting: str
    run: Callable[[np.ndarray], np.ndarray]


def _slic_merged(image: np.ndarray, n_segments: int, compactness: float, threshold: float) -> np.ndarray:
    labels = slic(image, n_segments=n_segments, compactness=compactness, start_label=1)
    return graph.cut_threshold(labels, graph.rag_mean_color(image, labels), threshold)


def _pyramid(image: np.ndarray, sp: float, sr: float) -> np.ndarray:
    """Return mean-shift filtering, and components of pixels that differ by at most 2 from a neighbour.

    So do OpenCV's samples, with `floodFill` and (2, 2, 2).
    """
    import cv2  # only this method needs it

    filtered = cv2.pyrMeanShiftFiltering(np.ascontiguousarray(image[..., ::-1]), sp, sr).astype(int)
    number = np.arange(filtered.shape[0] * filtered.shape[1]).reshape(filtered.shape[:2])
    pairs = []
    for one, two in ((np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1])):
        alike = (np.abs(filtered[one] - filtered[two]) <= 2).all(axis=-1)
        pairs.append(np.column_stack([number[one][alike], number[two][alike]]))
    ends = np.concatenate(pairs)
    near = coo_matrix((np.ones(len(ends), bool), (ends[:, 0], ends[:, 1])), shape=(number.size, number.size))
    return connected_components(near, directed=False)[1].reshape(number.shape)


def _grid(name: str, run: Callable[..., np.ndarray], settings: list[dict[str, float]]) -> list[Method]:
    """Return one method for each setting."""
    return [
        Method(name, ", ".join(f"{key}={value:g}" for key, value in setting.items()), partial(run, **setting))
        for setting in settings
    ]


# the settings include the defaults of each library and the values of its gallery or samples
METHODS = [
    Method(OURS, "defaults", segment),
    *_grid("Felzenszwalb", felzenszwalb, [{"scale": s, "sigma": 0.8, "min_size": 100} for s in (100, 300, 500, 800)]),
    *_grid(
        "SLIC + RAG",
        _slic_merged,
        [{"n_segments": n, "compactness": 20, "threshold": t} for n in (200, 400) for t in (29, 45)],
    ),
    *_grid("quickshift", quickshift, [{"kernel_size": k, "max_dist": d} for k, d in ((5, 20), (5, 40))]),
    *_grid("pyrMeanShiftFiltering", _pyramid, [{"sp": p, "sr": r} for p, r in ((10, 10), (20, 25), (20, 40))]),
]


def scores(labels: np.ndarray, people: list[np.ndarray]) -> dict[str, float]:
    """Return ARI, covering, Rand index and variation of information (in nats), each the mean over people.

    The mean of Rand indices is the probabilistic Rand index. Covering is of a person's regions by those found: the
    best overlap (intersection over union) of each, weighted by size.
    """
    each = [_against(labels, person) for person in people]
    return {name: float(np.mean([one[name] for one in each])) for name in each[0]}


def _against(labels: np.ndarray, person: np.ndarray) -> dict[str, float]:
    found, true = (np.unique(values, return_inverse=True)[1].ravel() for values in (labels, person))
    table = coo_matrix((np.ones(len(found)), (found, true)))
    table.sum_duplicates()
    n, shared = float(len(found)), table.data
    rows, columns = (np.asarray(table.sum(axis=axis)).ravel() for axis in (1, 0))
    a, b, both, pairs = (float((x * (x - 1)).sum()) / 2 for x in (rows, columns, shared, np.array([n])))
    expected = a * b / pairs
    best = np.zeros(len(columns))
    np.maximum.at(best, table.col, shared / (rows[table.row] + columns[table.col] - shared))
    entropies = [-float((x / n * np.log(x / n)).sum()) for x in (rows, columns, shared)]
    return {
        "ari": (both - expected) / ((a + b) / 2 - expected) if a + b > 2 * expected else 1.0,
        "covering": float((best * columns).sum() / n),
        "rand": 1 + (2 * both - a - b) / pairs,
        "vi": 2 * entropies[2] - entropies[0] - entropies[1],
    }
