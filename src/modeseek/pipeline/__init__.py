"""The pipeline reads a data file, clusters its rows and writes output files: in memory, in chunks or on Dask.

Files in chunks are read in passes. The first pass computes statistics of the columns. The second pass makes a sketch:
weighted points that stand for many rows. After the sketch is clustered, the last pass labels all rows.
"""

from modeseek.pipeline.cluster import cluster_file
from modeseek.pipeline.errors import OptionError, OutputConflict, PipelineInterrupted, ResumeMismatch, SchedulerError
from modeseek.pipeline.label import label_file
from modeseek.pipeline.options import DataOptions, Outputs, PipelineConfig
from modeseek.pipeline.result import PipelineResult

__all__ = [
    "DataOptions",
    "OptionError",
    "OutputConflict",
    "Outputs",
    "PipelineConfig",
    "PipelineInterrupted",
    "PipelineResult",
    "ResumeMismatch",
    "SchedulerError",
    "cluster_file",
    "label_file",
]
