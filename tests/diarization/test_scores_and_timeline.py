"""Scores against a reference, and the timeline."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from voices import CONVERSATION, TRUTH

from modeseek.diarization import Diarization, Speakers, find_turns, plot_timeline, read_rttm, read_windows, score
from modeseek.diarization.scores import reference_speakers
from modeseek.diarization.turns import make_turns

core = pytest.importorskip("pyannote.core")


@pytest.fixture(scope="module")
def conversation():
    windows = read_windows(CONVERSATION)
    return find_turns(windows.embeddings, windows.times, uri="conversation")


def made(times, labels, names=2):
    """Return a diarization with the given labels."""
    times, labels = np.array(times, dtype=float), np.array(labels)
    found = Speakers(labels, np.ones(len(labels)), np.eye(names), np.ones(len(labels), bool), "by hand")
    turns = make_turns(times, labels, np.ones(len(labels)), ["SPEAKER_00", "SPEAKER_01"])
    return Diarization(turns, times, times, found)


def test_scores_of_a_known_error():
    reference = core.Annotation()
    reference[core.Segment(0, 6)], reference[core.Segment(6, 10)] = "ann", "bob"
    found = score(made([[0, 4], [4, 8], [9, 12]], [0, 1, 1]), reference)
    # 2 s of ann as bob, 1 s missed (8 to 9), 2 s of false alarm
    assert (found.confusion, found.missed, found.false_alarm) == pytest.approx((0.2, 0.1, 0.2))
    assert found.der == pytest.approx(0.5)
    assert (found.found, found.true) == (2, 2)
    assert 0 < found.jer < 1
    assert score(made([[0, 6], [6, 10]], [0, 1]), reference)[:8] == pytest.approx((0, 0, 0, 0, 0, 1, 1, 1))


def test_the_reference_speaker_of_a_window_has_most_of_it():
    reference = core.Annotation()
    reference[core.Segment(0, 2)], reference[core.Segment(1.5, 5)] = "ann", "bob"
    assert reference_speakers(reference, np.array([[0.0, 1.0], [1.0, 3.0], [6.0, 7.0]])).tolist() == [0, 1, -1]


def test_scores_of_the_example(conversation):
    found = score(conversation, read_rttm(TRUTH)["conversation"])
    assert (found.found, found.true) == (5, 5)
    assert found.der < 0.03  # two people speak in ten short windows


def test_the_timeline_has_a_lane_for_each_speaker(conversation):
    ax = plot_timeline(conversation, reference=read_rttm(TRUTH)["conversation"], ax=Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == conversation.names
    missed = core.Annotation()
    missed[core.Segment(0, 1), 0], missed[core.Segment(1, 2), 1], missed[core.Segment(5, 6), 2] = "ann", "bob", "cat"
    ax = plot_timeline(made([[0, 1], [1, 2]], [0, 1]), reference=missed, ax=Figure().subplots())
    assert ax.get_yticklabels()[2].get_text() == "cat (reference)"


def test_confident_windows_are_less_transparent(conversation):
    ax = plot_timeline(conversation, ax=Figure().subplots())
    shades = np.concatenate([np.ravel(each.get_alpha()) for each in ax.collections])
    assert shades.max() == pytest.approx(1.0, abs=0.06)
    assert shades.min() < 0.6
