from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from modeseek import MeanShift, io
from modeseek.meanshift.kernels import formulas, profiles
from modeseek.meanshift.kernels.profiles import (
    PROFILES,
    OutsideTheoremsWarning,
    custom_profile,
    failed_clauses,
    get_profile,
)


@pytest.mark.parametrize("name", PROFILES)
def test_weight_is_minus_the_derivative(name):
    profile = PROFILES[name]
    t = np.linspace(0.01, 0.99, 50)
    step = 1e-6
    assert_allclose(profile.weight(t), -(profile.k(t + step) - profile.k(t - step)) / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("name", PROFILES)
def test_zero_outside_the_ball(name):
    t = np.array([1.0 + 1e-12, 1.5, 100.0])
    assert (PROFILES[name].k(t) == 0).all()
    assert (PROFILES[name].weight(t) == 0).all()


@pytest.mark.parametrize("name", PROFILES)
def test_scalars_and_arrays_give_the_same(name):
    profile = PROFILES[name]
    for t in (0.0, 0.3, 1.0, 2.0):
        assert float(profile.k(t)) == float(profile.k(np.array([t]))[0])
        assert float(profile.weight(t)) == float(profile.weight(np.array([t]))[0])


@pytest.mark.parametrize("name", PROFILES)
def test_proven_flag_is_what_the_check_finds(name):
    profile = PROFILES[name]
    definition, extension = failed_clauses(profile.k, profile.weight)
    assert definition == []
    assert profile.smooth == (extension == [])


def test_flat_and_gaussian_are_outside_the_theorems():
    assert not profiles.FLAT.smooth
    assert not profiles.GAUSSIAN.smooth
    assert all(get_profile(name).smooth for name in ("biweight", "triweight", "quadweight"))


@pytest.mark.parametrize(("name", "a"), [("biweight", 2), ("triweight", 3), ("quadweight", 4), ("flat", 1)])
def test_powers(name, a):
    t = np.linspace(0, 0.999, 9)
    assert_allclose(PROFILES[name].k(t), (1 - t) ** a)
    assert_allclose(PROFILES[name].weight(t), a * (1 - t) ** (a - 1))


@pytest.mark.parametrize(
    ("k", "weight", "clause"),
    [
        (lambda t: t, lambda t: -1.0 + 0 * t, "non-increasing"),
        (lambda t: 1 - t**2, lambda t: 2 * t, "convex"),
        (lambda t: (1 - t) ** 2, lambda t: 3 * (1 - t), "weight must be -k'"),
        (lambda t: (1 - t) - 0.5, lambda t: 1.0 + 0 * t, ">= 0"),
        (lambda t: np.maximum(0.5 - t, 0), lambda t: 1.0 * (t < 0.5), "k' must be < 0"),
        (
            lambda t: np.maximum(2 - 3 * t, 1.25 - t * 1.25),
            lambda t: np.where(t < 3 / 7, 3.0, 1.25),
            "C1",
        ),
        (lambda t: np.log(t), lambda t: -1 / t, "finite"),
        (lambda t: float(t), lambda t: float(t), "array"),
    ],
)
def test_a_failing_clause_of_definition_1_is_named(k, weight, clause):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="Definition 1") as error:
        custom_profile(k, weight, name="mine")
    assert clause in str(error.value)
    assert "mine" in str(error.value)


def test_a_failing_extension_warns():
    with pytest.warns(OutsideTheoremsWarning, match=r"k'\(1\) must be 0"):
        profile = custom_profile(lambda t: 1 - t, lambda t: 1.0 + 0 * t)
    assert not profile.smooth
    with pytest.warns(OutsideTheoremsWarning, match=r"k\(1\) must be 0"):
        custom_profile(lambda t: np.exp(-t), lambda t: np.exp(-t))


def test_custom_profiles_are_evaluated_inside_their_domain_only():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # (1 - t) ** 1.5 would warn for t > 1
        profile = custom_profile(lambda t: (1 - t) ** 2.5, lambda t: 2.5 * (1 - t) ** 1.5)
        assert profile.k(np.array([0.0, 2.0])).tolist() == [1.0, 0.0]


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(ValueError, match="Did you mean 'biweight'"):
        get_profile("biwieght")


def test_profiles_pickle():
    profile = custom_profile(formulas.biweight_k, formulas.biweight_weight)
    assert pickle.loads(pickle.dumps(profile)).name == "own"
    assert pickle.loads(pickle.dumps(profiles.BIWEIGHT)) == profiles.BIWEIGHT


@pytest.mark.parametrize("profile", profiles.PROFILES.values(), ids=lambda profile: profile.name)
def test_copies_of_the_profiles_of_the_library_are_the_same_objects(profile, tmp_path):
    """A copied `MeanShift` could not be saved: random sequences of calls found this."""
    assert pickle.loads(pickle.dumps(profile)) is copy.deepcopy(profile) is profile
    X = np.array([[0.0], [0.1], [5.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = pickle.loads(pickle.dumps(MeanShift(1.0, profile=profile.name).fit(X)))
    io.save(model, tmp_path / "m.modeseek")
    assert (io.load(tmp_path / "m.modeseek").predict(X) == model.labels_).all()
