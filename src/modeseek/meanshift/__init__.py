"""The paper: kernels, bandwidth policies, chains, engines, the partition and its certificate."""
