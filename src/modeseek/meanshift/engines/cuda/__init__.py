"""`engine="cuda"`: sums over all pairs on an NVIDIA GPU, and many chains in one launch."""

from modeseek.meanshift.engines.cuda.engine import CudaEngine
