r"""How to choose: "min MCR" and "min NRS", for one search and for several random realisations.

The paper (section 4) names two rules: the classifier of least misclassification rate (MCR), and that of the
fewest retained samples (NRS). Of a single grid the second cannot be taken at its word, for a large
:math:`\rho` retains nothing: :class:`MinimumRetained` asks for the sparsest among those whose error is near
the best. Of the winners of several realisations it can, and there it is the paper's rule:
:class:`marginbook.kfda.RealisationSearch`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...base.parameters import is_number, validate_choice
from .retained import neg_retained_fraction

ERROR_AND_RETAINED: dict[str, Any] = {"accuracy": "accuracy", "neg_retained": neg_retained_fraction}
"""What the rules read from ``cv_results_``; give it to ``GridSearchCV(scoring=...)``."""


@dataclass(frozen=True)
class MinimumError:
    """The rule "min MCR" for ``GridSearchCV(refit=...)``: the least error; of equals, the fewest retained.

    Parameters
    ----------
    accuracy : str, default="accuracy"
        The metric's name in ``scoring``; larger is better.
    retained : str, default="neg_retained"
        The metric's name in ``scoring``; larger is better.

    Examples
    --------
    >>> from marginbook.kfda import MinimumError, MinimumRetained, SparseKFDAClassifier
    >>> from marginbook.kfda.estimators.selection_rules import ERROR_AND_RETAINED
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = scale(X)[::3], y[::3]
    >>> grid = {"rho": [0.01, 0.1], "gamma": [0.01, 0.1]}
    >>> model = SparseKFDAClassifier(q=0.5)
    >>> best, few = (
    ...     GridSearchCV(model, grid, scoring=ERROR_AND_RETAINED, refit=rule).fit(X, y)
    ...     for rule in (MinimumError(), MinimumRetained())
    ... )
    >>> best.best_params_, few.best_params_
    ({'gamma': 0.01, 'rho': 0.01}, {'gamma': 0.01, 'rho': 0.1})
    """

    accuracy: str = "accuracy"
    retained: str = "neg_retained"

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the index of the choice in ``cv_results_``."""
        accuracy, retained = (_means(cv_results, name) for name in (self.accuracy, self.retained))
        return _first_best(accuracy, retained)


@dataclass(frozen=True)
class MinimumRetained:
    """The rule "min NRS" for ``GridSearchCV(refit=...)``: the fewest retained of those near the least error.

    Parameters
    ----------
    within : float or "standard-error", default="standard-error"
        By how much the error may exceed the least one. "standard-error" is that of the least error's mean
        over the folds; a number is a difference of error rates; ``np.inf`` looks at sparsity only.
    accuracy : str, default="accuracy"
        The metric's name in ``scoring``; larger is better.
    retained : str, default="neg_retained"
        The metric's name in ``scoring``; larger is better.
    """

    within: float | str = "standard-error"
    accuracy: str = "accuracy"
    retained: str = "neg_retained"

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the index of the choice in ``cv_results_``; of equals, the one of least error."""
        accuracy, retained = (_means(cv_results, name) for name in (self.accuracy, self.retained))
        slack = self._slack(cv_results, _first_best(accuracy, retained))
        # the mean over folds may differ in its last bit between candidates that err on the same rows
        near = accuracy >= np.nanmax(accuracy) - slack - 1e-12
        return _first_best(np.where(near, retained, -np.inf), accuracy)

    def _slack(self, cv_results: Mapping[str, Any], best: int) -> float:
        if isinstance(self.within, str):
            validate_choice("within", self.within, ("standard-error",))
            folds = [
                _numbers(values, name)
                for name, values in cv_results.items()
                if name.startswith("split") and name.endswith(f"_test_{self.accuracy}")
            ]
            if any(len(fold) <= best for fold in folds):
                raise ValueError(f"a fold of cv_results has no score of candidate {best}; give it as it was")
            folds = [fold[best] for fold in folds]
            return float(np.std(folds, ddof=1) / np.sqrt(len(folds))) if len(folds) > 1 else 0.0
        if not (is_number(self.within) or self.within == np.inf) or self.within < 0:
            raise ValueError(f"within must be a number >= 0 or 'standard-error', got {self.within!r}")
        return float(self.within)


def choose_realisation(errors: ArrayLike, retained: ArrayLike, rule: str = "error") -> int:
    """Return which realisation's winner to take: a number from 0.

    Parameters
    ----------
    errors : (n,) array
        Cross-validation error of the winner of each realisation.
    retained : (n,) array
        How many samples, or which share of them, that winner retains.
    rule : {"error", "retained"}, default="error"
        "error" is "min MCR", of equals the sparser; "retained" is "min NRS", of equals the one with the
        lower error. Of equals in both, the first.
    """
    validate_choice("rule", rule, ("error", "retained"))
    both = [-_numbers(values, name) for values, name in ((errors, "errors"), (retained, "retained"))]
    return _first_best(*both if rule == "error" else both[::-1])


def _means(cv_results: Mapping[str, Any], metric: str) -> np.ndarray:
    key = f"mean_test_{metric}"
    if not isinstance(cv_results, Mapping):
        raise TypeError(f"cv_results must be what a search leaves, a dict, got {type(cv_results).__name__}")
    if key not in cv_results:
        raise ValueError(
            f"the search has no metric {metric!r}; give scoring=ERROR_AND_RETAINED of "
            "marginbook.kfda.estimators.selection_rules"
        )
    return _numbers(cv_results[key], key)


def _numbers(values: Any, name: str) -> np.ndarray:
    """Return `values` as an array of one axis; raise ValueError unless they are numbers, at least one."""
    try:
        found = np.asarray(values, dtype=float)
    except (ValueError, TypeError):
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}") from None
    if found.ndim != 1 or not len(found):
        raise ValueError(f"{name} must be a sequence of at least one number, got shape {found.shape}")
    return found


def _first_best(first: np.ndarray, second: np.ndarray) -> int:
    """Return where `first` is largest, among those where `second` is, the first; nan never wins."""
    if len(first) != len(second):
        raise ValueError(f"got {len(first)} and {len(second)} numbers, wanted two for each candidate")
    if np.isnan(first).all():
        raise ValueError(
            f"each of {len(first)} candidates failed in a fold, so there is none to choose; fit one to see "
            "why"
        )
    first = np.where(np.isnan(first), -np.inf, first)
    tied = first >= first.max() - 1e-12 * max(1.0, abs(first.max()))
    return int(np.argmax(np.where(tied, np.nan_to_num(second, nan=-np.inf), -np.inf)))
