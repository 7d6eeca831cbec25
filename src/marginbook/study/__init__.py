"""One bench for all: the methods of the five papers beside four that everybody has, on the same terms.

Every method meets the same rows, the same scaling and the same budget: 16 candidates, 3 folds, one refit.

==============  =====================================================================================
`sets`          the data sets that the papers share, each once, with splits of its own
`candidates`    16 points spread over the ranges of a method's parameters
`methods`       the compared methods: their parameters, how they are fitted, how sparse they are
`measures`      one entry: scale, tune, refit, score
`tables`        what ``marginbook experiment`` runs
`rankings`      sets by methods, average ranks, Friedman's and Nemenyi's tests
`posteriors`    Bayesian signed-rank comparison with a region of practical equivalence
`advice`        the numbers in the sentences of the page
`drawing`       the figures
==============  =====================================================================================
"""
