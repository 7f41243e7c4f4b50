"""Which statements of the paper are proven for a set-up: a policy, a profile, a metric and the options of a run.

The decision depends on the properties that the proofs use: convexity and smoothness of the profile, the `Law` of the
policy, the order of the points, weights, the metric, whether all points share one bandwidth, and whether they move one
at a time. docs/theory.md has the arguments.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from modeseek.meanshift.bandwidth import Law, law_of
from modeseek.meanshift.kernels.profiles import Profile, get_profile
from modeseek.meanshift.types import BandwidthPolicy


class Coverage(Enum):
    """Whether a statement is proven for a set-up.

    Examples
    --------
    >>> from modeseek.meanshift.bandwidth import Walk
    >>> proven(Walk(0.2, 1.6))["theorem 2"].coverage is Coverage.PAPER
    True
    """

    PAPER = "paper"
    EXTENSION = "extension"
    OPEN = "open"


class Cell(NamedTuple):
    """One cell of the table in docs/theory.md.

    Attributes
    ----------
    coverage : Coverage
        PAPER: proven in the paper. EXTENSION: the paper's proof carries over for the stated reason. OPEN: not proven.
    reference : str
        Where it is proven, why the proof carries over, or which condition of the proof fails.
    """

    coverage: Coverage
    reference: str


@dataclass(frozen=True)
class RunProperties:
    """The properties of a run that the proofs depend on.

    Attributes
    ----------
    profile : Profile
    law : Law
    order : {"random", "reshuffled", "even"}
    weighted : bool
        Whether some weights differ from 1, for example because duplicates were merged.
    plain : bool
        Whether the metric is Euclidean and all points share one bandwidth.
    batch_size : int
    """

    profile: Profile
    law: Law
    order: str
    weighted: bool
    plain: bool
    batch_size: int


# a condition of a proof: returns None if the set-up meets it as in the paper
Rule = Callable[[RunProperties], Cell | None]


def _open(fails: Callable[[RunProperties], bool], reference: str) -> Rule:
    return lambda setup: Cell(Coverage.OPEN, reference) if fails(setup) else None


def _extends(applies: Callable[[RunProperties], bool], reference: str) -> Rule:
    return lambda setup: Cell(Coverage.EXTENSION, reference) if applies(setup) else None


PLAIN = _open(lambda s: not s.plain, "the proof needs Euclidean distances and one bandwidth for all points")
SINGLE = _open(lambda s: s.batch_size > 1, "the proof needs one point to move at a time")
CONVEX = _open(lambda s: not s.profile.convex, "k(a) - k(b) >= k'(b) (a - b) needs a convex extension of k by zero")
SMOOTH = _open(lambda s: not s.profile.smooth, "the limit of states needs a continuous gradient: k'(1) = 0")
KNOWN_LAW = _open(lambda s: s.law is Law.OTHER, "the proof needs E[(h_k / h_{k+1})^2 | past] <= 1")
INDEPENDENT = _open(lambda s: s.order == "reshuffled", "the proof needs indices that are independent of the past")
COPIES = _extends(lambda s: s.weighted, "a point of weight w stands for w points that move together")
FORMULA = _extends(lambda s: not s.profile.smooth, "with the sum 2/h^2 sum_j G(x_j - x_i) in place of the gradient")
ANY_INDEX = _extends(lambda s: s.order == "reshuffled", "Proposition 1 holds for every index")
REMARK = _extends(lambda s: s.law is Law.REMARK_1, "1/h^2 is a bounded supermartingale, so h converges almost surely")
EVERY_POINT = _extends(
    lambda s: s.order == "reshuffled" and s.profile.smooth,
    "every point moves in each sweep, shifts tend to 0, and the gradient is uniformly continuous",
)
SWEEPS_NEED_SMOOTH = _open(
    lambda s: s.order == "reshuffled" and not s.profile.smooth, "without independent indices the proof needs k'(1) = 0"
)

ONE_UPDATE = (PLAIN, SINGLE, CONVEX, COPIES)
CONVERGENCE = (*ONE_UPDATE, KNOWN_LAW, REMARK, FORMULA)
# for each statement of the paper: where it is proven, and the conditions of the proof
STATEMENTS: dict[str, tuple[str, tuple[Rule, ...]]] = {
    "proposition 1": ("section 3.1 and appendix A", ONE_UPDATE),
    "theorem 1": ("section 2.1, cited from Yamasaki (2024)", (PLAIN, COPIES, FORMULA)),
    "proposition 2": ("section 3.1, Remark 1 and appendix B", (*ONE_UPDATE, KNOWN_LAW, ANY_INDEX)),
    "corollary 1": ("section 3.1 and appendix C", (*CONVERGENCE, ANY_INDEX)),
    "lemma 1": ("section 3.2 and appendix D", (PLAIN, SINGLE, INDEPENDENT, COPIES, FORMULA)),
    "proposition 3": ("section 3.2 and appendix E", (*CONVERGENCE, SWEEPS_NEED_SMOOTH, EVERY_POINT)),
    "theorem 2": ("section 3.2 and appendix F", (*CONVERGENCE, SMOOTH, EVERY_POINT)),
}


def proven(
    policy: BandwidthPolicy,
    *,
    profile: str | Profile = "biweight",
    metric: str = "euclidean",
    local_scale: bool = False,
    order: str = "random",
    weighted: bool = False,
    batch_size: int = 1,
) -> dict[str, Cell]:
    """Return for each statement of the paper whether it is proven for a set-up.

    The certificate of a run does not depend on these statements, and holds for every set-up.

    Examples
    --------
    >>> from modeseek.meanshift.bandwidth import Shrinking, Walk
    >>> proven(Walk(0.2, 1.6))["theorem 2"].coverage.value, proven(Shrinking(0.2, 1.6))["theorem 2"].coverage.value
    ('paper', 'open')
    >>> proven(Shrinking(0.2, 1.6))["theorem 2"].reference
    'the proof needs E[(h_k / h_{k+1})^2 | past] <= 1'
    """
    plain = metric == "euclidean" and not local_scale
    setup = RunProperties(get_profile(profile), law_of(policy), order, weighted, plain, batch_size)
    return {name: _cell(setup, *statement) for name, statement in STATEMENTS.items()}


def _cell(setup: RunProperties, where: str, rules: tuple[Rule, ...]) -> Cell:
    found = [cell for cell in (rule(setup) for rule in rules) if cell is not None]
    for coverage in (Coverage.OPEN, Coverage.EXTENSION):
        reasons = [cell.reference for cell in found if cell.coverage is coverage]
        if reasons:
            return Cell(coverage, "; ".join(reasons))
    return Cell(Coverage.PAPER, where)
