"""The generator of synthetic sets."""

import numpy as np
import pytest

from synthetic import FAMILIES, NULL, make, prepared
from synthetic.recordings import SETTINGS, TIMED, make_recording


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_makes_finite_labelled_rows_that_repeat(name):
    sample, again = make(name, 3), make(name, 3)
    assert np.array_equal(sample.X, again.X)
    assert np.array_equal(sample.y, again.y)
    assert not np.array_equal(sample.X[:8], make(name, 4).X[:8])
    rows = prepared(sample)
    assert np.isfinite(rows).all()
    assert sample.y.shape == (len(rows),)
    n_labels = len(set(sample.y[sample.y >= 0].tolist()))
    assert (n_labels == 1) == (FAMILIES[name].group == NULL)


def test_a_fifth_of_the_families_has_no_clusters():
    null = sum(family.group == NULL for family in FAMILIES.values())
    assert len(FAMILIES) >= 40
    assert null / len(FAMILIES) >= 0.2


@pytest.mark.parametrize("setting", SETTINGS)
def test_recordings_are_unit_vectors_that_repeat(setting):
    first, again, alone = make_recording(setting, 3), make_recording(setting, 3), make_recording(setting, 3, alone=True)
    assert np.array_equal(first.X, again.X)
    assert np.allclose(np.linalg.norm(first.X, axis=1), 1)
    assert len(first.X) == len(first.y) <= 1000
    assert len(np.unique(alone.y[alone.y >= 0])) == 1
    assert (first.times is not None) == (setting in TIMED)
