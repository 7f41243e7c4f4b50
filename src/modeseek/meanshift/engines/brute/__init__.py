"""`engine="brute"`: sums over all pairs, compiled; for any dimension and any profile."""

from modeseek.meanshift.engines.brute.engine import BruteEngine
