"""The model: normalised kernels, subspaces of the classes and their statistics, and the ratio of (33)."""
