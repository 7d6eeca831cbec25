"""One bench for all: the methods of the five papers beside four that everybody has, on the same terms.

Every method meets the same rows, the same scaling and the same budget: 16 candidates, 3 folds, one refit.
"""
