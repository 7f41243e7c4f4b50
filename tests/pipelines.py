"""Small runs of the pipeline in chunks, for tests."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from modeseek import MeanShift
from modeseek.pipeline import DataOptions, Outputs, PipelineConfig, cluster_file
from modeseek.sketches import SketchConfig

X, _ = make_blobs(1000, centers=4, cluster_std=0.6, random_state=3)
NO_NAME = DataOptions(ignore=["name"])
# small chunks, and a state saved after each
SMALL = PipelineConfig(chunk_bytes=4096, save_interval=0.0, save_cost_ratio=0.0)
# sketches of few rows, so that a small file gives one that does not hold all rows
SMALL_SKETCH = SketchConfig(layout_rows=500, sample_rows=300)


def with_sketch(estimator, config=SMALL_SKETCH):
    """Give an estimator other settings of sketches than those of its class; a clone of it has those of the class."""
    estimator._sketch_config = config
    return estimator


@pytest.fixture
def points(tmp_path):
    """A CSV file with a column of names and two of numbers."""
    path = tmp_path / "points.csv"
    path.write_text(text_of(X))
    return path


def text_of(rows, start=0):
    lines = [f"p{start + i},{a!r},{b!r}" for i, (a, b) in enumerate(np.asarray(rows).tolist())]
    return "name,width,height\n" + "\n".join(lines) + "\n"


def mean_shift():
    return MeanShift(bandwidth=0.4)


def cluster(source, rows=None, estimator=None, data=NO_NAME, sketch_config=SMALL_SKETCH, **options):
    """Run the pipeline in small chunks."""
    outputs = options.pop("outputs", Outputs(None if rows is None else str(rows)))
    estimator = with_sketch(mean_shift() if estimator is None else estimator, sketch_config)
    return cluster_file(source, estimator, data, outputs, **{"out_of_core": True, "config": SMALL, **options})


class At:
    """A progress callback that calls a function once, at the n-th chunk of a pass."""

    def __init__(self, name, chunk, action):
        self.name, self.chunk, self.action, self.seen = name, chunk, action, 0

    def __call__(self, stage):
        self.seen += stage.name == self.name
        if stage.name == self.name and self.seen == self.chunk:
            self.action()


def interrupt():
    raise KeyboardInterrupt


def names(folder: Path):
    return sorted(path.name for path in folder.iterdir())
