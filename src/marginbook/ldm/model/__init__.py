"""The model: the primal, the dual and the gap between them, the whitened Gram matrix; linear features."""
