"""The paper's experiments, each a file with a frozen config, and the harness that runs them."""

from modeseek.paper.paper import EXPERIMENTS, run_paper
from modeseek.paper.user_clusterers import Compared, compare

__all__ = ["EXPERIMENTS", "Compared", "compare", "run_paper"]
