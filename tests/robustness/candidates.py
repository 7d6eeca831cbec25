"""All public estimators, and parameters for them: usual, listed in their docstrings, wild."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

from marginbook.claims import ROOMS
from marginbook.kfda import KFDAClassifier, SparseKFDAClassifier
from marginbook.smm import LowRankSVMClassifier, VectorSVMClassifier

from .judging import check_answers, check_fitted
from .recipes import Labels, Rows, labels, rows
from .recomputed import check_certificate

TWO_KERNELS = ["linear", ("rbf", {"gamma": 0.5})]
#: parameters that keep a fit short; of those without a default, one that works
USUAL: dict[str, dict[str, Any]] = {
    "DRMClassifierCV": {"alphas": (0.1, 1.0), "betas": (0.1, 1.0)},
    "LDMClassifierCV": {"lambda1s": (0.1,), "lambda2s": (0.1,), "Cs": (1.0, 10.0), "cv": 2},
    "RealisationSearch": {
        "estimator": SparseKFDAClassifier(),
        "param_grid": {"rho": [0.1, 0.01]},
        "realisations": 2,
        "cv": 2,
    },
    "LowRankSVMClassifierCV": {"lams": (0.1, 0.01), "cv": 2},
    "RegressionFunctionEstimator": {"n_levels": 4},
    "MixedNormDRMClassifier": {"max_iter": 500},
    "MDOClassifier": {"n_restarts": 1, "max_iter": 50},
    "CalibratedSVMClassifier": {"cv": 2},
    "VectorSVMClassifier": {"max_iter": 10_000},
}
KERNELS: tuple[Any, ...] = (
    "linear", "rbf", "poly", "precomputed", ("rbf", {"gamma": 2.0}), ("poly", {"degree": 2, "coef0": 0.0}),
    ("poly", {"degree": 40}), ("rbf", {"gamma": 1e300}), ("rbf", {"gamma": 0.0}), ("rbf", {"gama": 1.0}),
    ("rbf", {"gamma": np.nan}), ("poly", {"degree": "3"}), "cosine", "", None, 3, ("rbf",), np.dot,
)  # fmt: skip
WILD: tuple[Any, ...] = (
    0, 0.0, -1, -1.0, 1e-300, 5e-324, 1e300, np.inf, -np.inf, np.nan, None, "abc", "", (), [], {},
    True, False, 1j, "0.1", b"1", np.float32(0.5), np.float64(0.25), np.int64(2), np.array(0.5),
    np.array([0.5]),
    10**400,
)  # fmt: skip
_SEQUENCES: dict[str, tuple[Any, ...]] = {
    name: (
        (1.0,),
        [0.1, 1.0],
        np.array([0.5, 2.0]),
        (0.0,),
        (-1.0,),
        (np.nan,),
        ("a",),
        (None,),
        (1e300, 1e-300),
    )
    for name in ("alphas", "betas", "lambda1s", "lambda2s", "Cs", "gammas", "lams")
}
#: values by the parameter's name, beside the wild ones
NAMED: dict[str, tuple[Any, ...]] = _SEQUENCES | {
    "kernel": KERNELS,
    "kernels": (None, TWO_KERNELS, ["linear"], ["rbf", "rbf"], [], "rbf", ["precomputed"],
                [None], [("poly", {"degree": 30})]),
    "shape": (None, (2, 3), (3, 2), (1, 3), (3, 1), (6, 2), (0, 3), (2.0, 3.0), "23", (3,), (-1, -3)),
    "estimator": (None, SVC(), KFDAClassifier(), VectorSVMClassifier(), LowRankSVMClassifier(), SVC),
    "base": (None, SVC(), SVC, "svc"),
    "param_grid": ({"rho": [0.1]}, {}, {"nothing": [1]}, {"rho": []}, {"rho": 1.0}, [{"q": [0.5, 1.0]}]),
    "cv": (2, 3, 1, 0, 50, None, "loo", [], [([0, 1, 2, 3], [4, 5])]),
    "realisations": (1, 2, [], [([0, 1, 2, 3, 4, 5], [6])], [([0], [1])]),
    "scoring": (None, "accuracy", "balanced_accuracy", "f1", "nothing", "roc_auc", 3),
    "class_weight": (None, "balanced", {0: 1.0, 1: 2.0}, {0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0},
                     {7: 1.0}, {0: 0.0, 1: 0.0}),
    "start": ("ridge", [0.0], np.zeros(13), np.full(13, np.nan), np.ones(13)),
    "rank": (1, 2, None, 50, 1.5), "ranks": (None, (1, 2), (0,), (None,), (50,), ("a",)),
    "C": (1.0, 1e-3, 1e3, [0.1, 1.0], []), "q": (1.0, 0.5, 2.0, 1.5, 0.1, 1e-3),
    "scaling": ("none", "max-abs", ("none", "max-abs"), "std"), "within": ("standard-error", 0.1),
    "n_terms": (0.1, 1.0, 3, None), "train_size": (0.5, 4, 0.99, 1), "degree": (2, 3, 0, 0.5, 40),
    "max_iter": (1, 2, 50), "n_restarts": (0, 1, 2), "bound_iter": (0, 5),
    "n_levels": (2, 3, 7),
    "n_layers": (1, 2, 3), "max_rank": (1, 3), "n_components": (1, 2, 0.5, 1.0), "n_passes": (1, 2),
    "realisation": (1,), "pi": (0.5, 0.01, 0.99), "tol": (1e-6, 1e-2, 1e-12, 1.0), "n_jobs": (None, 1),
    "random_state": (0, None, "seed"), "verbose": (0,), "gamma": (None, 0.1, 10.0),
}  # fmt: skip
#: drawn numbers, for any parameter whose default is a number
_NUMBERS = tuple(float(f"1e{k}") for k in (-100, -12, -6, -3, -1, 0, 1, 3, 6, 12, 100))
#: not to be wild: a number of workers starts processes, a printing level prints
TAME = frozenset({"n_jobs", "verbose"})


def public_estimators() -> dict[str, type[BaseEstimator]]:
    """Return the estimators that the rooms export, by name."""
    found: dict[str, type[BaseEstimator]] = {}
    for room in ROOMS:
        module = importlib.import_module(f"marginbook.{room}")
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, BaseEstimator):
                found[name] = value
    return found


@dataclass(frozen=True)
class Case:
    """One fit with bad input: estimator by name, parameters, rows, labels, and the rows asked about."""

    name: str
    parameters: tuple[tuple[str, Any], ...]
    rows: Rows
    labels: Labels
    asked: str = "same"

    def run(self) -> bool:
        """Fit and ask; return whether there is a certificate. Errors and Fault pass through."""
        model = public_estimators()[self.name](**dict(self.parameters))
        X = self.rows.make()
        n = X.shape[0] if hasattr(X, "shape") and len(X.shape) else self.rows.n
        y = self.labels.make(n)
        model.fit(X, y)
        certified = check_fitted(model)
        X = self.rows.make()  # what was fitted may have been a generator
        check_certificate(model, X, y)
        if self.asked == "same":
            check_answers(model, X, n)
        elif self.asked == "far" and self.rows.plain:
            check_answers(model, np.asarray(self._dense()) * 1e160, n, huge=True)
        elif self.asked == "nan" and self.rows.plain:
            _refused(model, np.full_like(self._dense(), np.nan))
        elif self.asked == "wider" and self.rows.plain:
            _refused(model, np.hstack([self._dense()] * 2))
        return certified

    def _dense(self) -> np.ndarray:
        return np.asarray(Rows(self.rows.n, self.rows.p, self.rows.base, seed=self.rows.seed).make())


def cases(name: str) -> st.SearchStrategy[Case]:
    """Draw fits of the estimator `name`: a few parameters from `parameters`, rows and labels of any kind."""
    cls = public_estimators()[name]
    usual = USUAL.get(name, {})
    known = [key for key in inspect.signature(cls).parameters if key not in TAME]
    fixed = {"random_state": 0} if "random_state" in known else {}
    one = st.sampled_from(known).flatmap(
        lambda key: st.sampled_from(values(cls, key)).map(lambda value: (key, value))
    )
    wild = st.sampled_from(known).flatmap(lambda key: st.sampled_from(WILD).map(lambda value: (key, value)))
    drawn = st.tuples(
        st.lists(one, max_size=4),
        st.integers(0, 4).flatmap(lambda k: st.lists(wild, max_size=1) if k == 0 else st.just([])),
    ).map(lambda pair: tuple({**usual, **fixed, **dict(pair[0]), **dict(pair[1])}.items()))
    asked = st.sampled_from(("same", "same", "same", "far", "nan", "wider"))
    return st.builds(Case, st.just(name), drawn, rows(), labels(), asked)


def values(cls: type, key: str) -> list[Any]:
    """Return what is worth trying for parameter `key` of `cls`."""
    default = inspect.signature(cls).parameters[key].default
    found = [] if default is inspect.Parameter.empty else [default]
    listed = re.search(rf"^ *{key} : .*?\{{([^}}]*)\}}", cls.__doc__ or "", re.MULTILINE)
    if listed:
        found += [word.strip().strip('"') for word in listed[1].split(",")]
    found += NAMED.get(key, ())
    if isinstance(default, bool):
        found += [True, False]
    elif isinstance(default, float | int) and key not in NAMED:
        found += _NUMBERS
    return found


def _refused(model: Any, X: np.ndarray) -> None:
    """Ask about rows that no fitted model may answer; their refusal is the outcome."""
    from .judging import Fault

    if getattr(model, "kernel", "") == "precomputed":
        return
    (model.transform if hasattr(model, "transform") else model.predict)(X)
    raise Fault(f"rows of shape {X.shape} were answered, wanted a refusal")
