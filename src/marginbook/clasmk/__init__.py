"""CLASK-ML and CLASMK-ML: class-specific subspaces of kernels, learned (Yu & McKelvey)."""
