"""The model: losses, the objective and its bounds, kernels between rows, rules that join level sets."""
