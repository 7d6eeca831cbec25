"""One bench for all: the methods of the five papers beside four that everybody has, on the same terms.

Every method meets the same rows, the same scaling and the same budget: 16 candidates, 3 folds, one refit.

==============  =====================================================================================
`experiments/sets`          the data sets that the papers share, each once, with splits of its own
`experiments/candidates`    16 points spread over the ranges of a method's parameters
`experiments/methods`       the compared methods: their parameters, how they are fitted, how sparse they are
`experiments/accuracy`      one entry: scale, tune, refit, score
`experiments`        what ``marginbook experiment`` runs
`claims/rankings`      sets by methods, average ranks, Friedman's and Nemenyi's tests
`claims/posteriors`    Bayesian signed-rank comparison with a region of practical equivalence
`claims/advice`        the numbers in the sentences of the page
`claims/drawing`       the figures
==============  =====================================================================================
"""
