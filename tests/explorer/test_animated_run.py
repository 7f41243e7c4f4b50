"""Runs that advance frame by frame."""

import numpy as np
import pytest
from explorer_runs import BMS, DSMS, MODE_SEEK, MS, RANGE, SMS, finished, mixture

from modeseek.explorer import AnimatedRun, ExplorerConfig, PreparedData, RunSettings, load_example
from modeseek.explorer.clump_colors import N_COLORS, ClumpColors
from modeseek.explorer.run_history import RunHistory

SETTINGS = [
    RunSettings(DSMS, RANGE),
    RunSettings(DSMS, {**RANGE, "policy": "walk", "random_state": 3}),
    RunSettings(DSMS, {"h_max": 1.6}),
    RunSettings(DSMS, {"metric": "cosine"}),
    RunSettings(DSMS, {**RANGE, "n_chains": 4}),
    RunSettings(SMS, {"bandwidth": 0.6, "profile": "flat"}),
    RunSettings(SMS),
    RunSettings(BMS, {"bandwidth": 0.6}),
    RunSettings(MS, {"bandwidth": 0.9}),
    RunSettings(MS, {"bandwidth": 0.9, "profile": "flat"}),
    RunSettings(MODE_SEEK),
]


@pytest.fixture(scope="module")
def data():
    return mixture()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_result_is_that_of_the_estimator(data, settings):
    result = finished(data, settings).result
    expected = settings.make_estimator().fit(data.X).result_
    assert result.labels.tolist() == expected.labels.tolist()
    np.testing.assert_array_equal(result.centers, expected.centers)
    assert (result.confidence is None) == (expected.confidence is None)
    if expected.confidence is not None:
        np.testing.assert_array_equal(result.confidence, expected.confidence)
    assert (result.n_updates, result.outcome) == (expected.n_updates, expected.outcome)


def test_points_move_within_a_sweep_and_the_number_of_clumps_falls(data):
    run = AnimatedRun(data, RunSettings(DSMS, RANGE))
    start = run.frame
    run.advance()
    assert 0 < run.frame.sweeps < 1
    assert not run.between_sweeps
    assert run.frame.updates == 19  # an eighth of 150, rounded up
    assert 0 < (run.frame.positions != start.positions).any(axis=1).sum() <= 19
    run.advance(whole=True)
    assert run.frame.sweeps == 1
    assert run.between_sweeps
    for _ in range(10):
        run.advance(whole=True)
    assert run.frame.clumps < start.clumps / 2


def test_the_history_has_bandwidths_levels_and_clumps(data):
    run = finished(data, RunSettings(DSMS, RANGE))
    sweeps, h = np.array(run.history.bandwidths).T
    assert (np.diff(sweeps) > 0).all()
    assert ((h >= 0.2) & (h <= 1.6)).all()
    levels = np.array(run.history.levels)
    assert 0 < levels[0, 1] < levels[-1, 1] <= 1
    assert levels[-1, 2] == run.result.n_clusters


def test_a_long_history_is_bounded():
    history = RunHistory(max_length=400)
    for sweep in range(800):
        history.add_level(sweep, 0.5, 3)
    assert len(history.levels) <= 400
    assert history.levels[-1][0] == 799


def test_automatic_bandwidths_are_those_of_the_estimator(data):
    settings = RunSettings(DSMS, {"h_max": 1.6})
    model = settings.make_estimator().fit(data.X)
    expected = {"h_min": model.h_min_, "h_inf": model.h_inf_, "h_max": model.h_max_}
    assert AnimatedRun(data, settings).bandwidths == expected


def test_mode_seek_describes_other_partitions(data):
    run = finished(data, RunSettings(MODE_SEEK))
    assert run.alternatives
    assert all(each.note in str(each) for each in run.alternatives)
    assert all(len(each.colors) == len(run.start) for each in run.alternatives)
    counts = [each.n_clusters for each in run.alternatives]
    assert len(set(counts)) == len(counts)


def test_large_data_are_drawn_as_a_sample():
    data = mixture(config=ExplorerConfig(max_shown=100))
    assert data.sampled
    run = finished(data, RunSettings(DSMS, RANGE))
    assert run.frame.positions.shape == (100, 2)
    assert len(run.result.labels) == 150
    assert (run.frame.colors == run.result.labels[data.shown]).all()


@pytest.mark.parametrize("columns", [["x"], ["x", "y"]])
def test_one_or_two_columns_are_drawn_unchanged(data, columns):
    chosen = PreparedData.select(data.dataset, columns, standardize=False)
    run = AnimatedRun(chosen, RunSettings(BMS, {"bandwidth": 0.6}))
    np.testing.assert_allclose(run.frame.positions[:, 0], data.raw[:, 0], rtol=1e-6)
    across = run.frame.positions[:, 1]
    run.advance()
    if len(columns) == 1:
        np.testing.assert_array_equal(across, run.frame.positions[:, 1])


def test_many_columns_are_drawn_by_principal_components():
    dataset = load_example("iris (150, four features)")
    data = PreparedData.select(dataset, dataset.default_columns, standardize=True)
    run = AnimatedRun(data, RunSettings(BMS, {"bandwidth": 1.0}))
    assert "principal component 1" in run.axes[0]
    before = np.ptp(run.frame.positions, axis=0)
    run.advance(whole=True)
    assert (np.ptp(run.frame.positions, axis=0) < before).all()


def test_a_clump_keeps_its_color_when_it_absorbs_another():
    colors = ClumpColors(10)
    first = colors.update(np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3])).copy()
    assert first[9] == N_COLORS  # a single point is grey
    merged = colors.update(np.array([1, 1, 1, 1, 0, 0, 0, 1, 1, 1]))
    assert set(merged[:4]) == set(first[:4])
    assert set(merged[4:7]) == set(first[4:7])


def test_the_smallest_of_too_many_clumps_are_grey():
    colors = ClumpColors(100).update(np.repeat(np.arange(50), 2))
    assert len(set(colors.tolist())) == N_COLORS + 1
