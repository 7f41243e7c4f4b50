"""Chains: the four algorithms, one loop, its stopping rules and its trace."""

from modeseek.chain.algorithms import (
    Chain,
    Setting,
    blurring,
    doubly_stochastic,
    mean_shift,
    setting,
    stochastic,
)
from modeseek.chain.checkpoint import Checkpoint
from modeseek.chain.run import ChainResult, partition, run
from modeseek.chain.stopping import RULES, Outcome, Stopping
from modeseek.chain.trace import Record, RecordSpec, Series, Trace, as_record, retraced

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
