"""Speaker diarization from embeddings of windows of speech (`pip install "modeseek[diarization]"`)."""

from modeseek.diarization.adapters import PyannoteClustering, SpeakerClusterer
from modeseek.diarization.config import DiarizationConfig
from modeseek.diarization.diarization import Diarization, diarize, find_turns
from modeseek.diarization.embeddings import EmbeddingTransform
from modeseek.diarization.rttm import read_rttm, write_rttm
from modeseek.diarization.scores import Scores, score
from modeseek.diarization.segment_files import Windows, read_segments, read_windows
from modeseek.diarization.speaker_search import Speakers, SpeakerSearch
from modeseek.diarization.timeline import plot_timeline, save_timeline
from modeseek.diarization.turns import Turn

__all__ = [
    "Diarization",
    "DiarizationConfig",
    "EmbeddingTransform",
    "PyannoteClustering",
    "Scores",
    "SpeakerClusterer",
    "SpeakerSearch",
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
