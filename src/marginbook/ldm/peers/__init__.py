"""The methods that the paper compares itself with, as classifiers and with their solvers."""
