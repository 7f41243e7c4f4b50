"""The pipeline reads a data file, clusters its rows and writes output files: in memory, in chunks or on Dask."""

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
