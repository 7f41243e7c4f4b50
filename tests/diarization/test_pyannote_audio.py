"""`PyannoteClustering` inside a real pipeline of pyannote.audio 4.

The pipeline is `SpeakerDiarization` itself. Only its two neural networks are replaced, as their weights need a login.
In the recording, samples of value k > 0 are speech of speaker k, and samples of value 0 are silence.
"""

import os
import warnings

import numpy as np
import pytest

os.environ["PYANNOTE_METRICS_ENABLED"] = "false"  # no telemetry
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of torch, lightning and torchcodec
    torch = pytest.importorskip("torch")
    pytest.importorskip("pyannote.audio")
    from pyannote.audio.core.model import Model
    from pyannote.audio.core.plda import PLDA
    from pyannote.audio.core.task import Problem, Resolution, Specifications
    from pyannote.audio.pipelines import SpeakerDiarization
    from pyannote.audio.pipelines.clustering import BaseClustering

from modeseek.diarization import PyannoteClustering

pytestmark = pytest.mark.filterwarnings("ignore")  # the packages above warn about each other
RATE = 100  # samples per second
FRAME = 10  # samples per frame
SLOTS = 3  # speakers in a chunk


class Segmentation(Model):
    """Activity of up to three speakers in each frame, numbered by their first frame in the chunk."""

    def __init__(self):
        super().__init__(sample_rate=RATE)
        self.specifications = Specifications(
            problem=Problem.MULTI_LABEL_CLASSIFICATION,
            resolution=Resolution.FRAME,
            duration=5.0,
            classes=[f"speaker {slot}" for slot in range(SLOTS)],
            permutation_invariant=True,
        )

    def num_frames(self, num_samples):
        return num_samples // FRAME

    def receptive_field_size(self, num_frames=1):
        return num_frames * FRAME

    def receptive_field_center(self, frame=0):
        return frame * FRAME + FRAME // 2

    def forward(self, waveforms):
        frames = waveforms[:, 0, FRAME // 2 :: FRAME].round().int()
        active = torch.zeros((*frames.shape, SLOTS))
        for chunk, speakers in enumerate(frames.tolist()):
            heard = list(dict.fromkeys(speaker for speaker in speakers if speaker))
            for frame, speaker in enumerate(speakers):
                if speaker:
                    active[chunk, frame, heard.index(speaker)] = 1.0
        return active


class Embedding(Model):
    """A fixed direction for each speaker, plus noise; NaN for slots without speech, or for all."""

    dimension = 32

    def __init__(self, fails=False):
        super().__init__(sample_rate=RATE)
        self.fails = fails
        self.noise = torch.Generator().manual_seed(0)
        self.specifications = Specifications(problem=Problem.REPRESENTATION, resolution=Resolution.CHUNK, duration=5.0)

    def forward(self, waveforms, weights=None):
        samples = waveforms[:, 0, FRAME // 2 :: FRAME].round().long()
        weights = torch.ones(samples.shape) if weights is None else weights
        shares = weights[..., None] * torch.nn.functional.one_hot(samples, self.dimension)
        total = weights.sum(dim=1, keepdim=True)
        mean = shares.sum(dim=1) / (torch.nan if self.fails else total)  # 0 / 0 is NaN
        return mean + 0.03 * torch.randn(mean.shape, generator=self.noise)


class NoPLDA(PLDA):
    def __init__(self):
        pass


def recording(turns):
    """Return a recording of turns of 3 s, each after 0.5 s of silence."""
    samples = np.concatenate([np.r_[np.zeros(RATE // 2), np.full(3 * RATE, turn)] for turn in turns])
    return {"waveform": torch.tensor(samples[None], dtype=torch.float32), "sample_rate": RATE, "uri": "talk"}


def pipeline(clustering, **options):
    made = SpeakerDiarization(
        segmentation=Segmentation(),
        embedding=Embedding(**options),
        plda=NoPLDA(),
        clustering="AgglomerativeClustering",
        segmentation_step=0.2,
    )
    made.instantiate(
        {
            "segmentation": {"threshold": 0.5, "min_duration_off": 0.0},
            "clustering": {"method": "centroid", "min_cluster_size": 1, "threshold": 0.7},
        }
    )
    made.clustering = clustering
    return made


TURNS = [1, 2, 1, 3, 2, 3, 1, 2, 3, 1, 3, 2]


def said(annotation):
    """Return the speaker in the middle of each turn."""
    middles = 0.5 + 3.5 * np.arange(len(TURNS)) + 1.5
    tracks = list(annotation.itertracks(yield_label=True))
    return [label for at in middles for turn, _, label in tracks if turn.overlaps(at)]


def test_the_pipeline_finds_the_speakers():
    out = pipeline(PyannoteClustering())(recording(TURNS))
    found = said(out.speaker_diarization)
    assert len(found) == len(TURNS)
    assert len(set(zip(found, TURNS, strict=True))) == len(set(found)) == 3
    assert said(out.exclusive_speaker_diarization) == found
    # one embedding for each speaker, in the order of the labels
    assert out.speaker_embeddings.shape == (3, 32)
    own = dict(zip(found, TURNS, strict=True))
    assert [own[label] for label in out.speaker_diarization.labels()] == list(out.speaker_embeddings.argmax(axis=1))


@pytest.mark.parametrize(
    ("bounds", "number"),
    [({"num_speakers": 2}, 2), ({"max_speakers": 1}, 1), ({"min_speakers": 2, "max_speakers": 8}, 3)],
)
def test_the_pipeline_passes_bounds(bounds, number):
    out = pipeline(PyannoteClustering())(recording(TURNS), **bounds)
    assert len(out.speaker_diarization.labels()) == number


def test_speech_without_embeddings_has_one_speaker():
    """As with the clustering of pyannote.audio: the pipeline needs at least one cluster."""
    out = pipeline(PyannoteClustering(), fails=True)(recording([1, 2]))
    assert len(out.speaker_diarization.labels()) == 1


def test_silence_has_no_speaker():
    assert pipeline(PyannoteClustering())(recording([0, 0])).speaker_diarization.labels() == []


def test_the_interface_is_that_of_the_base_class():
    made = pipeline(PyannoteClustering())
    calls = {}

    class Spy(BaseClustering):
        expects_num_clusters = False

        def __call__(self, **given):
            calls.update(given)
            return PyannoteClustering()(**given)

    made.clustering = Spy()
    made(recording(TURNS))
    assert set(calls) == {
        "embeddings",
        "segmentations",
        "num_clusters",
        "min_clusters",
        "max_clusters",
        "file",
        "frames",
    }
    assert (calls["num_clusters"], calls["min_clusters"], calls["max_clusters"]) == (None, 1, np.inf)
    assert PyannoteClustering.expects_num_clusters is Spy.expects_num_clusters
