"""The paper's experiments, each a file with a frozen config, and the harness that runs them."""

from modeseek.experiments.compare import Compared, compare
from modeseek.experiments.paper import EXPERIMENTS, run_paper

__all__ = ["EXPERIMENTS", "Compared", "compare", "run_paper"]
