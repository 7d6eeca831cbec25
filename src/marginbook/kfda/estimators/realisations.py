"""The paper's choice of parameters: cross-validation on each of several realisations, and one winner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit, check_cv
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, indexable

from ...base.folds import validate_folds
from ...base.labels import validate_labels
from ...base.parameters import validate_choice, validate_counts
from ...base.partial_fit import NoPartialFit
from ...base.threads import on_few_threads
from ...base.weights import row_weights
from .retained import retained_fraction
from .selection_rules import ERROR_AND_RETAINED, MinimumError, choose_realisation
from .weighted_search import asking, count_differently, inner_folds, routed, router, weighing_scores


def _decides(search: Any) -> bool:
    return hasattr(getattr(search, "best_estimator_", search.estimator), "decision_function")


@dataclass(eq=False, repr=False)
class RealisationSearch(NoPartialFit, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Grid search on each of several random parts of the data; the winner of one of them is taken.

    On every realisation a cross-validation finds the grid's candidate of least error, and fits it to that
    realisation. Of these winners the one of least cross-validation error ("min MCR") or the one that retains
    fewest samples ("min NRS") gives its parameters. Source: Harrison & Pasupa, section 4, with the first five
    of their 100 random partitions; the sizes are theirs, the grids are not stated.
    Rows may have weights, which the estimator's `fit` must take; `fit` says what they are equal to.

    Read more in the :ref:`user guide <guide-realisationsearch>` (``marginbook guide``).

    Parameters
    ----------
    estimator : classifier
        With a retained fraction (:func:`marginbook.kfda.retained_by`), or a pipeline of one.
    param_grid : dict or list of dict
        As in ``GridSearchCV``.
    realisations : int, splitter or iterable of (train, test), default=5
        A number of stratified random parts of `train_size`, or the parts themselves, of which only the
        training rows are used.
    rule : {"error", "retained"}, default="error"
        "min MCR" or "min NRS", see :func:`marginbook.kfda.estimators.selection_rules.choose_realisation`.
    train_size : float or int, default=0.5
        Share or number of the rows in a random part.
    cv : int, splitter or iterable, default=5
        Folds within a realisation.
    refit : {"all", "realisation"}, default="all"
        What the chosen parameters are fitted to: all rows given to `fit`, or the chosen realisation only,
        which keeps its winner as it is.
    n_jobs : int, default=None
        Of the grid searches.
    random_state : int, RandomState or None, default=None
        Draws the parts where `realisations` is a number.

    Attributes
    ----------
    best_params_ : dict
    best_realisation_ : int
        From 0.
    best_score_ : float
        Cross-validation accuracy of the winner on its realisation.
    best_estimator_ : estimator
        Fitted to the rows of positive weight, of all or of the chosen realisation; places of rows, such as
        ``retained_``, are among these.
    cv_results_ : dict of arrays
        An entry for each candidate on each realisation, by the names of ``GridSearchCV``: ``params``,
        ``param_*``, ``split*_test_score``, ``mean_test_score``, ``std_test_score``, ``rank_test_score`` (the
        rank within the realisation), the same for ``neg_retained``, times, and ``realisation``.
    best_index_ : int
        The entry of the winner.
    scorer_, n_splits_
        As in ``GridSearchCV``; the folds are those within a realisation.
    realisations_ : dict of arrays
        ``cv_error``, ``retained`` (a fraction), ``n_train`` and ``params`` of the winner of each realisation;
        for ``pandas.DataFrame``.
    classes_, n_features_in_, feature_names_in_
        The last only after rows whose columns have names.

    Examples
    --------
    >>> from marginbook.kfda import RealisationSearch, SparseKFDAClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = scale(X)[::2], y[::2]
    >>> grid = {"rho": [0.03, 0.3], "gamma": [0.01, 0.03]}
    >>> search = RealisationSearch(SparseKFDAClassifier(q=0.5), grid, rule="retained", random_state=0)
    >>> search = search.fit(X, y)
    >>> search.best_realisation_, search.best_params_, len(search.best_estimator_.retained_)
    (2, {'gamma': 0.01, 'rho': 0.03}, 2)
    """

    estimator: Any
    param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    realisations: Any = 5
    rule: str = "error"
    train_size: float = 0.5
    cv: Any = 5
    refit: str = "all"
    n_jobs: int | None = None
    random_state: Any = None

    classes_: np.ndarray = field(init=False)

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose on the realisations drawn from rows `X`, (N, d), with labels `y`, and fit the choice.

        Weights of rows go to every part of `estimator` that takes them (where scikit-learn's metadata routing
        is on, that asks for them), and count in the accuracy. A row of weight 0 is left out. A row of weight
        k counts as k equal rows in fits and accuracies, but it is one row where rows are drawn or counted:
        a number of realisations or of folds deals out the rows of positive weight, each with its weight,
        where of k equal rows some may train while others test; and a retained row of weight k is one row. So
        weights choose what repeated rows choose where `realisations` and `cv` are given as pairs that keep
        equal rows together and no choice is left to the retained rows, by "retained" or between equal errors.
        Pairs and splitters are about all rows, also those of weight 0.

        Parameters
        ----------
        X : (N, d) rows, or the (N, N) matrix of a precomputed kernel
        y : (N,) labels
        sample_weight : (N,) array of numbers >= 0, optional

        Raises
        ------
        ValueError
            For an unknown rule, parts that are too small for the folds, an estimator that retains all or
            takes no weights, and weights that are negative or leave a class or a part without rows.
        """
        validate_choice("rule", self.rule, ("error", "retained"))
        validate_choice("refit", self.refit, ("all", "realisation"))
        if y is None:
            raise ValueError("RealisationSearch requires y to be passed, but the target y is None")
        if not hasattr(self.estimator, "fit"):
            raise ValueError(
                f"estimator must be a classifier such as SparseKFDAClassifier(), got {self.estimator!r}"
            )
        if X is None or isinstance(X, list):
            X = check_array(X, dtype=None, ensure_all_finite=False)
        X, y = indexable(X, y)
        X = self._values(X)
        y = column_or_1d(y, warn=True)
        validate_labels(y)
        weights = row_weights(X, y, sample_weight)
        if not count_differently(weights):  # no estimator has to know
            return self._fit(X, np.asarray(y), weights, self.estimator)
        as_asked = get_config()["enable_metadata_routing"]
        with config_context(enable_metadata_routing=True):
            estimator = self.estimator if as_asked else asking(self.estimator)
            routed(self, estimator, weights)
            return self._fit(X, np.asarray(y), weights, estimator)

    def _fit(self, X: Any, y: np.ndarray, weights: np.ndarray | None, estimator: Any) -> Self:
        """Fit with a template that takes `weights`, if there are any."""
        n_columns = X.shape[1] if self._pairwise() else None
        kept = None if weights is None or weights.all() else np.flatnonzero(weights)
        parts = self._parts(X, y, kept)
        found = [self._search(X, y, weights, part, estimator) for part in parts]
        if weights is not None:
            parts = [part[weights[part] > 0] for part in parts]
        self.realisations_: dict[str, np.ndarray] = {
            "cv_error": np.array([1.0 - accuracy for _, accuracy in found]),
            "retained": np.array([retained_fraction(search) for search, _ in found]),
            "n_train": np.array([len(part) for part in parts]),
            "params": np.array([search.best_params_ for search, _ in found], dtype=object),
        }
        errors, retained = self.realisations_["cv_error"], self.realisations_["retained"]
        chosen = self.best_realisation_ = choose_realisation(errors, retained, self.rule)
        search, self.best_score_ = found[chosen]
        self.best_params_ = search.best_params_
        self.cv_results_ = _together([one.cv_results_ for one, _ in found])
        sizes = [len(one.cv_results_["params"]) for one, _ in found]
        self.best_index_ = sum(sizes[:chosen]) + int(search.best_index_)
        self.scorer_, self.n_splits_ = search.scorer_, search.n_splits_
        columns: np.ndarray | None = parts[chosen]
        if self.refit == "all":
            best = clone(estimator).set_params(**clone(self.best_params_, safe=False))
            columns = kept
            if kept is not None and weights is not None:
                X, y, weights = self._rows(X, kept), y[kept], weights[kept]
            handed = routed(self, best, weights) if count_differently(weights) else {}
            self.best_estimator_ = best.fit(X, y, **handed)
        else:
            self.best_estimator_ = search.best_estimator_
        self._columns: np.ndarray | None = columns if self._pairwise() else None
        self.classes_ = self.best_estimator_.classes_
        if hasattr(self.best_estimator_, "n_features_in_"):
            self.n_features_in_ = self.best_estimator_.n_features_in_ if n_columns is None else n_columns
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (n, d), or (n, N) for a precomputed kernel."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(self._of_choice(X))

    @available_if(_decides)
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of the chosen classifier."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(self._of_choice(X))

    def _search(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, part: np.ndarray, estimator: Any
    ) -> tuple[GridSearchCV, float]:
        """Return the grid search on one realisation, and the accuracy of its winner."""
        handed, kept, own = {}, part, None
        if weights is not None:
            kept = part[weights[part] > 0]
            own = weights[part] if len(kept) < len(part) else None
            handed = {"sample_weight": weights[kept]} if count_differently(weights) else {}
        try:
            search = GridSearchCV(
                estimator,
                self.param_grid,
                scoring=weighing_scores() if handed else ERROR_AND_RETAINED,
                refit=MinimumError(),
                cv=inner_folds(self.cv, self._rows(X, part), y[part], own),
                n_jobs=self.n_jobs,
                error_score="raise",
            )
            search.fit(self._rows(X, kept), y[kept], **handed)
        except IndexError:
            raise ValueError(
                f"cv names rows beyond the {len(part)} of a realisation, got {self.cv!r}"
            ) from None
        return search, float(search.cv_results_["mean_test_accuracy"][search.best_index_])

    def _parts(self, X: Any, y: np.ndarray, kept: np.ndarray | None) -> list[np.ndarray]:
        """Return the training rows of each realisation; a number of them is drawn from those `kept`."""
        splitter = self.realisations
        drawn = splitter is None or isinstance(splitter, int | np.integer)
        if drawn and kept is not None:
            return [kept[part] for part in self._parts(self._rows(X, kept), y[kept], None)]
        if isinstance(splitter, int | np.integer):
            validate_counts(realisations=splitter)
            splitter = StratifiedShuffleSplit(
                int(splitter), train_size=self.train_size, random_state=self.random_state
            )
        else:
            splitter = validate_folds(splitter, len(y), "realisations", tested=False)
        parts = [np.asarray(train) for train, _ in check_cv(splitter, y, classifier=True).split(X, y)]
        if any(len(part) and not -len(y) <= part.min() <= part.max() < len(y) for part in parts):
            raise ValueError(f"realisations names rows beyond the {len(y)} of X, got {self.realisations!r}")
        if not parts:
            raise ValueError(f"realisations is empty, got {self.realisations!r}; give a number >= 1 or pairs")
        return parts

    def _rows(self, X: Any, part: np.ndarray) -> Any:
        rows = X.iloc[part] if hasattr(X, "iloc") else np.asarray(X)[part] if isinstance(X, list) else X[part]
        return rows[:, part] if self._pairwise() else rows

    def _values(self, X: Any) -> Any:
        """Return a Gram matrix without the names of its columns, which are cut out by their places."""
        return X.to_numpy() if self._pairwise() and hasattr(X, "iloc") else X

    def _of_choice(self, X: Any) -> Any:
        X = self._values(X)
        return X if self._columns is None else np.asarray(X)[:, self._columns]

    def _pairwise(self) -> bool:
        return bool(get_tags(self.estimator).input_tags.pairwise)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what `fit` takes for itself and hands on, as scikit-learn's metadata routing asks it."""
        return router(self, self.estimator)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if not hasattr(self.estimator, "__sklearn_tags__"):  # fit says what is wrong with it
            return tags
        inner = get_tags(self.estimator)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        if tags.classifier_tags is not None and inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


def _together(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the ``cv_results_`` of several searches of one grid as one; their accuracy is the score."""
    joined: dict[str, Any] = {}
    for name in results[0]:
        kept = name.replace("_test_accuracy", "_test_score")
        if name == "params":
            joined[kept] = [params for one in results for params in one[name]]
        else:
            joined[kept] = np.ma.concatenate([one[name] for one in results])
            if not np.ma.isMaskedArray(results[0][name]):
                joined[kept] = np.asarray(joined[kept])
    sizes = [len(one["params"]) for one in results]
    joined["realisation"] = np.repeat(np.arange(len(results)), sizes)
    return joined
