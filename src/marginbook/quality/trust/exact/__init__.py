"""The models of the papers once more, from their definitions, in numbers of 100 digits.

A second opinion on the estimators of each room, for small problems only: a fit of ten rows takes about a
second.
"""
