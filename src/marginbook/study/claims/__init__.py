"""What follows from the results: ranks, posteriors, the numbers in the sentences of the page, the figures."""
