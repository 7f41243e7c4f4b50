"""Chains: the four algorithms, the loop that runs them, its stopping rules and its trace."""

from modeseek.meanshift.chains.algorithms import blurring, doubly_stochastic, mean_shift, stochastic
from modeseek.meanshift.chains.chain import Chain
from modeseek.meanshift.chains.checkpoint import Checkpoint
from modeseek.meanshift.chains.climbers import ClimbConfig
from modeseek.meanshift.chains.problem import Problem, make_problem
from modeseek.meanshift.chains.run import ChainResult, Sweeps, partition, run
from modeseek.meanshift.chains.stopping import RULES, Outcome, Stopping
from modeseek.meanshift.chains.trace import Record, RecordSpec, Series, Trace, as_record, rebuild_trace

__all__ = [
    "RULES",
    "Chain",
    "ChainResult",
    "Checkpoint",
    "ClimbConfig",
    "Outcome",
    "Problem",
    "Record",
    "RecordSpec",
    "Series",
    "Stopping",
    "Sweeps",
    "Trace",
    "as_record",
    "blurring",
    "doubly_stochastic",
    "make_problem",
    "mean_shift",
    "partition",
    "rebuild_trace",
    "run",
    "stochastic",
]
