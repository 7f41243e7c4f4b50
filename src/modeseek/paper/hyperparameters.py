"""The paper's table of hyperparameters."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hyperparameters:
    """The paper's table of hyperparameters, with our choice of the kernel profile.

    Attributes
    ----------
    h : float
        Bandwidth of MS, BMS and SMS.
    h_min, h_max, h_inf : float
        Range of DSMS and its limiting bandwidth.
    nu : str
        1 / log10(10 + log10 k).
    max_updates : int
        The paper's limit on iterations.
    threshold : float
        The paper's absolute convergence threshold. MS stops on it. The others stop when no later update can change the
        partition, and on this threshold only if their bandwidth is constant by then.
    profile : str
        Kernel profile; the paper does not name it.
    engine : str
        Engine of SMS and DSMS; results do not depend on it.
    """

    h: float = 0.6
    h_min: float = 0.2
    h_max: float = 1.6
    h_inf: float = 0.6
    nu: str = "log-log"
    max_updates: int = 10**7
    threshold: float = 1e-6
    profile: str = "biweight"
    engine: str = "auto"
