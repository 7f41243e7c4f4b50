"""CUDA kernels, and the device functions that they call."""
