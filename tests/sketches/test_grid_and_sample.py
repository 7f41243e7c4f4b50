"""Sketches: sums are integers, so that the order of rows, chunks and merges does not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from modeseek.sketches.grid import Grid
from modeseek.sketches.sample import Sample

COORDINATES = st.floats(-1e3, 1e3, width=32, allow_subnormal=False).map(lambda x: x if abs(x) > 1e-9 else 0.0)


@st.composite
def rows_in_chunks(draw):
    d = draw(st.sampled_from([1, 2, 3, 17]))
    n = draw(st.integers(1, 60))
    rows = draw(arrays(np.float64, (n, d), elements=COORDINATES))
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=4)))
    chunks = np.split(rows, cuts)
    return rows, [chunks[i] for i in draw(st.permutations(range(len(chunks))))]


def empty_sketch(kind, rows):
    """Return an empty sketch that soon overflows."""
    return Grid.of(rows, 8).empty() if kind == "grid" else Sample.empty(8, rows.shape[1])


def contents(sketch):
    names = ("level", "keys", "counts", "sums") if hasattr(sketch, "sums") else ("keys", "rows", "counts", "weight")
    return [np.asarray(getattr(sketch, name)) for name in names]


def assert_same(one, other):
    for a, b in zip(contents(one), contents(other), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", ["grid", "sample"])
@given(case=rows_in_chunks())
@settings(max_examples=30)
def test_order_and_chunks_do_not_matter(kind, case):
    rows, chunks = case
    whole = empty_sketch(kind, rows).add(rows)
    in_turn = empty_sketch(kind, rows)
    for chunk in chunks:
        in_turn = in_turn.add(chunk)
    assert_same(in_turn, whole)
    parts = [empty_sketch(kind, rows).add(chunk) for chunk in chunks]
    left = parts[0]
    for part in parts[1:]:
        left = left.merge(part)
    right = parts[-1]
    for part in parts[-2::-1]:
        right = part.merge(right)
    assert_same(left, whole)
    assert_same(right, whole)
    assert (whole.counts.sum() if kind == "grid" else whole.weight) == len(rows)


@given(case=rows_in_chunks())
@settings(max_examples=30)
def test_cells_against_plain_numpy(case):
    """Cells by flooring the rows over the side, and means of their rows."""
    rows, _ = case
    cells = Grid.of(rows, 8).empty().add(rows)
    signed = rows * cells.grid.signs
    finest = np.floor(signed * 2.0**-cells.grid.exponent).astype(int) + np.array(cells.grid.offset)
    keys, number = np.unique(finest // 2**cells.level, axis=0, return_inverse=True)
    number = number.ravel()
    np.testing.assert_array_equal(cells.keys, keys)
    np.testing.assert_array_equal(cells.counts, np.bincount(number))
    np.testing.assert_array_equal(cells.find(rows), number)
    means = np.stack([rows[number == cell].mean(axis=0) for cell in range(len(keys))])
    np.testing.assert_allclose(cells.means, means, atol=1e-3 * cells.side)
    assert len(cells) <= 8


def test_weights_equal_repetition():
    rows = np.random.default_rng(0).normal(size=(50, 2))
    times = np.random.default_rng(1).integers(1, 5, 50)
    for kind in ("grid", "sample"):
        assert_same(
            empty_sketch(kind, rows).add(rows, times.astype(float)),
            empty_sketch(kind, rows).add(np.repeat(rows, times, axis=0)),
        )


def test_rows_outside_all_cells():
    cells = Grid(0, (8, 8), 100).empty().add(np.array([[0.5, 0.5], [3.5, 0.5]]))
    np.testing.assert_array_equal(cells.find(np.array([[0.1, 0.9], [9.0, 9.0], [3.9, 0.0]])), [0, -1, 1])


def test_the_sample_is_random():
    """The mean of a sample of ordered rows is within four standard errors of the mean of all."""
    rows = np.stack(np.meshgrid(np.arange(300.0), np.arange(300.0)), -1).reshape(-1, 2)
    kept = Sample.empty(2000, 2).add(rows).rows
    assert len(kept) == 2000
    error = rows.std(axis=0) / np.sqrt(2000)
    assert (np.abs(kept.mean(axis=0) - rows.mean(axis=0)) < 4 * error).all()


def test_incompatible_sketches_and_far_rows_are_rejected():
    with pytest.raises(ValueError, match="same Grid"):
        Grid(0, (8,), 10).empty().merge(Grid(1, (8,), 10).empty())
    with pytest.raises(ValueError, match="one size"):
        Sample.empty(3, 2).merge(Sample.empty(4, 2))
    with pytest.raises(ValueError, match="too far"):
        Grid.of(np.zeros((1, 1)), 10).empty().add(np.array([[1e300]]))
