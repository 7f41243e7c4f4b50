"""Speakers: who speaks when, from embeddings of windows of speech (extra `modeseek[diarization]`)."""

from modeseek.diarization.diarizing import Diarization, diarize, find_turns
from modeseek.diarization.preparation import Preparation
from modeseek.diarization.recipes import PyannoteClustering, SpeakerClusterer
from modeseek.diarization.rttm import read_rttm, write_rttm
from modeseek.diarization.scores import Scores, score
from modeseek.diarization.segments import SEGMENT_SUFFIXES, Windows, read_segments, read_windows
from modeseek.diarization.speakers import Search, Speakers
from modeseek.diarization.timeline import plot_timeline, save_timeline
from modeseek.diarization.turns import Turn

__all__ = [
    "SEGMENT_SUFFIXES",
    "Diarization",
    "Preparation",
    "PyannoteClustering",
    "Scores",
    "Search",
    "SpeakerClusterer",
    "Speakers",
    "Turn",
    "Windows",
    "diarize",
    "find_turns",
    "plot_timeline",
    "read_rttm",
    "read_segments",
    "read_windows",
    "save_timeline",
    "score",
    "write_rttm",
]
