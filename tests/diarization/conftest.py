"""Fixtures of the diarization tests."""

import pytest
from voices import CONVERSATION

from modeseek.diarization import find_turns, read_windows


@pytest.fixture(scope="session")
def conversation():
    """The diarization of the example recording."""
    windows = read_windows(CONVERSATION)
    return find_turns(windows.embeddings, windows.times, uri="conversation")
