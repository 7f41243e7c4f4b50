"""`engine="cuda"`: sums over all pairs on an NVIDIA GPU, and many chains in one launch."""

from modeseek.meanshift.engines.cuda.chain_batcher import ChainBatcher
from modeseek.meanshift.engines.cuda.engine import CudaEngine
