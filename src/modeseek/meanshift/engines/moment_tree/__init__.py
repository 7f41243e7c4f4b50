"""`engine="moment_tree"`: sums over the cells of a tree; for many points in one, two or three dimensions."""

from modeseek.meanshift.engines.moment_tree.engine import MomentTreeEngine
