"""The paper's experiments, each a file with a frozen config, and the harness that runs them."""

from modeseek.paper.compare import Compared, compare
from modeseek.paper.paper import EXPERIMENTS, run_paper

__all__ = ["EXPERIMENTS", "Compared", "compare", "run_paper"]
