"""The claims of the paper's experiments and theory, each with a test on the rows of the experiments."""

from modeseek.paper.claims import against_sms, ranges, sparse, theory
from modeseek.paper.claims.base import Claim, Finding, Findings, Measured, judge, reading_name

CLAIMS: tuple[Claim, ...] = (*sparse.CLAIMS, *against_sms.CLAIMS, *ranges.CLAIMS, *theory.CLAIMS)
# statements that are not in the paper
BEYOND: tuple[Claim, ...] = ranges.BEYOND
