"""Runs on a thread."""

import pytest
from explorer_runs import DSMS, RANGE, SMS, mixture, wait_until

from modeseek.explorer import AnimatedRun, PreparedData, RunSettings, RunThread, from_bytes
from waiting import PATIENCE


@pytest.fixture(scope="module")
def data():
    return mixture()


def start(data, settings, pace=float("inf")):
    return RunThread(lambda cancelled: AnimatedRun(data, settings, cancelled), pace)


def test_a_thread_is_paused_at_first_and_can_step_and_play(data):
    settings = RunSettings(DSMS, RANGE)
    thread = start(data, settings)
    wait_until(lambda: thread.frame is not None)
    assert (thread.playing, thread.frame.updates) == (False, 0)
    thread.step()
    wait_until(lambda: thread.frame.sweeps == 1)
    thread.step()
    wait_until(lambda: thread.frame.sweeps == 2)
    assert not thread.ended
    thread.play()
    wait_until(lambda: thread.ended)
    assert thread.run.result.labels.tolist() == settings.make_estimator().fit_predict(data.X).tolist()


def test_a_thread_pauses_and_closes(data):
    thread = start(data, RunSettings(DSMS, RANGE), pace=50)
    thread.play()
    wait_until(lambda: thread.frame is not None and thread.frame.updates > 0)
    thread.pause()
    wait_until(lambda: not thread.playing)
    thread.close()
    thread._thread.join(PATIENCE)
    assert not thread._thread.is_alive()
    assert not thread.ended


def test_an_error_on_the_thread_is_kept_as_a_message():
    dataset = from_bytes("zero.csv", b"x,y\n0,0\n1,2\n2,1\n")
    data = PreparedData.select(dataset, dataset.default_columns, standardize=False)
    thread = start(data, RunSettings(SMS, {"metric": "cosine"}))
    wait_until(lambda: thread.ended)
    assert "row 0 of X is all zeros" in thread.failure
