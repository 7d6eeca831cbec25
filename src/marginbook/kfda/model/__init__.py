"""The model: the penalised objective with its majoriser, and the certificates of its minima."""
