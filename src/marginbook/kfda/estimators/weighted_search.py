"""Weights of rows in a grid search over any classifier, by scikit-learn's metadata routing."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import has_fit_parameter

from ...base.folds import validate_folds
from ...base.parameters import is_whole
from ...base.weighted_folds import without_weightless
from .selection_rules import ERROR_AND_RETAINED


def router(search: Any, estimator: Any) -> MetadataRouter:
    """Return what a meta-estimator `search` takes for itself, and hands on to ``fit`` of `estimator`."""
    handed = MethodMapping().add(caller="fit", callee="fit")
    found = MetadataRouter(owner=type(search).__name__).add_self_request(search)
    return found.add(estimator=estimator, method_mapping=handed)


def count_differently(weights: np.ndarray | None) -> TypeGuard[np.ndarray]:
    """Return whether `weights` of rows, (n,) or None where all are 1, do more than leave rows out."""
    return weights is not None and bool(((weights != 0) & (weights != 1)).any())


def asking(estimator: Any) -> Any:
    """Return a clone of `estimator` whose parts ask for the weights of rows that their ``fit`` can take.

    Call it where metadata routing is on. Where the user has turned it on, the parts ask as the user says.

    Raises
    ------
    ValueError
        If the classifier at the end of a pipeline, or the only one, takes none.
    """
    asked = clone(estimator)
    for each in (asked, *asked.get_params(deep=True).values()):
        if hasattr(each, "set_fit_request") and has_fit_parameter(each, "sample_weight"):
            each.set_fit_request(sample_weight=True)
    last = asked
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    if not get_routing_for_object(last).consumes("fit", ["sample_weight"]):
        raise ValueError(f"{type(last).__name__} takes no sample_weight; leave it out, or repeat the rows")
    return asked


def routed(search: Any, estimator: Any, weights: np.ndarray) -> dict[str, Any]:
    """Return what ``fit`` of `estimator` gets where `weights` are given to that of a meta-estimator.

    Raises
    ------
    UnsetMetadataPassedError
        Where a part of `estimator` does not say whether it wants weights.
    """
    found = process_routing(router(search, estimator), "fit", sample_weight=weights)
    handed: dict[str, Any] = found["estimator"]["fit"]
    return handed


def weighing_scores() -> dict[str, Any]:
    """Return `ERROR_AND_RETAINED` with an accuracy that asks for weights; call it where routing is on."""
    return {**ERROR_AND_RETAINED, "accuracy": get_scorer("accuracy").set_score_request(sample_weight=True)}


def inner_folds(cv: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> Any:
    """Return the folds within a realisation: of a number itself, else about its rows with a weight.

    Parameters
    ----------
    cv : None, int, splitter or iterable of (train, test)
        A splitter or pairs are about all rows `X`, of which those of weight 0 are then left out.
    X : (n, d) rows
    y : (n,) labels
    weights : (n,) array of numbers >= 0, or None where all are positive
    """
    of = "a realisation"
    if weights is None:
        return validate_folds(cv, len(y), of=of)
    if cv is None or is_whole(cv):
        return validate_folds(cv, int(np.count_nonzero(weights)), of=of)
    splitter = check_cv(validate_folds(cv, len(y), of=of), y, classifier=True)
    return without_weightless(splitter.split(X, y), weights)
