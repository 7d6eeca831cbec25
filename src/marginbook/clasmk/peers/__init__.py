"""The methods that the paper compares itself with: multiple kernel learning, and single kernels."""
