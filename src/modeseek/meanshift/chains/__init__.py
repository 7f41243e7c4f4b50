"""Chains: the four algorithms, one loop, its stopping rules and its trace."""

from modeseek.meanshift.chains.algorithms import (
    Chain,
    Setting,
    blurring,
    doubly_stochastic,
    mean_shift,
    setting,
    stochastic,
)
from modeseek.meanshift.chains.checkpoint import Checkpoint
from modeseek.meanshift.chains.run import ChainResult, partition, run
from modeseek.meanshift.chains.stopping import RULES, Outcome, Stopping
from modeseek.meanshift.chains.trace import Record, RecordSpec, Series, Trace, as_record, retraced

__all__ = [
    "RULES",
    "Chain",
    "ChainResult",
    "Checkpoint",
    "Outcome",
    "Record",
    "RecordSpec",
    "Series",
    "Setting",
    "Stopping",
    "Trace",
    "as_record",
    "blurring",
    "doubly_stochastic",
    "mean_shift",
    "partition",
    "retraced",
    "run",
    "setting",
    "stochastic",
]
