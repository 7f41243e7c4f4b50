"""The paper's experiments (one module each, with a frozen config), the code that runs them, and the report.

Terms of these modules:

- MS, BMS, SMS, DSMS: plain, blurring, stochastic and doubly stochastic mean shift
- ACP, ALP, K: average cluster purity, average label purity, and the square root of their product (`modeseek.metrics`)
- spread: interpretation of the paper's value 0.65 for its Gaussians, as standard deviation ("std") or as variance
- cell: a combination of the settings that an experiment varies; a run is one repetition of a cell
- sweep: n updates, where n is the number of points; in comparisons, a list of bandwidths that are tried
- certificate: proof that no later update can change the clusters of a state
- L: the objective function of the paper; L_h is its value at bandwidth h
- stem: name of a file without its ending
"""

from modeseek.paper.paper import EXPERIMENTS, run_paper
from modeseek.paper.user_clusterers import Compared, compare

__all__ = ["EXPERIMENTS", "Compared", "compare", "run_paper"]
