"""Segmentation methods of `pictures.py` (functions from an image to labels) and their scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import cv2
import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from skimage import graph
from skimage.segmentation import felzenszwalb, quickshift, slic

from modeseek.images import segment


class Method(NamedTuple):
    """A segmentation method: name, whether it belongs to `modeseek`, and function."""

    name: str
    ours: bool
    run: Callable[[np.ndarray], np.ndarray]


def _slic_merged(image: np.ndarray, n_segments: int, compactness: float) -> np.ndarray:
    labels = slic(image, n_segments=n_segments, compactness=compactness, start_label=1)
    # `cut_threshold` has no default; 29 is what scikit-image's gallery takes
    return graph.cut_threshold(labels, graph.rag_mean_color(image, labels), 29)


def _pyramid(image: np.ndarray, sp: float, sr: float) -> np.ndarray:
    """Return mean-shift filtering, and components of pixels that differ by at most 2 from a neighbour.

    So do OpenCV's samples, with `floodFill` and (2, 2, 2).
    """
    filtered = cv2.pyrMeanShiftFiltering(np.ascontiguousarray(image[..., ::-1]), sp, sr).astype(int)
    number = np.arange(filtered.shape[0] * filtered.shape[1]).reshape(filtered.shape[:2])
    pairs = []
    for one, two in ((np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1])):
        alike = (np.abs(filtered[one] - filtered[two]) <= 2).all(axis=-1)
        pairs.append(np.column_stack([number[one][alike], number[two][alike]]))
    ends = np.concatenate(pairs)
    near = coo_matrix((np.ones(len(ends), bool), (ends[:, 0], ends[:, 1])), shape=(number.size, number.size))
    return connected_components(near, directed=False)[1].reshape(number.shape)


METHODS = [
    Method("modeseek.images.segment", True, segment),
    Method("quickshift", False, quickshift),
    Method("SLIC (100) + RAG", False, lambda image: _slic_merged(image, 100, 10.0)),
    Method("SLIC (400, 30) + RAG", False, lambda image: _slic_merged(image, 400, 30.0)),
    Method("Felzenszwalb", False, felzenszwalb),
    Method("Felzenszwalb (100, 0.5, 50)", False, lambda im: felzenszwalb(im, scale=100, sigma=0.5, min_size=50)),
    Method("pyrMeanShiftFiltering (10, 10)", False, lambda image: _pyramid(image, 10, 10)),
    Method("pyrMeanShiftFiltering (20, 40)", False, lambda image: _pyramid(image, 20, 40)),
    Method("pyrMeanShiftFiltering (21, 51)", False, lambda image: _pyramid(image, 21, 51)),
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
