"""The paper's experiments (one module each, with a frozen config), the code that runs them, and the report."""

from modeseek.paper.paper import EXPERIMENTS, run_paper
from modeseek.paper.user_clusterers import Compared, compare

__all__ = ["EXPERIMENTS", "Compared", "compare", "run_paper"]
