"""Bad arguments for what the package exports beside its estimators: rules, reports, kernels, generators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from marginbook import datasets, kernels, kfda
from marginbook.base.parameters import real
from marginbook.clasmk import paper_kernels
from marginbook.datasets import generators
from marginbook.kfda import SparseKFDAClassifier
from marginbook.smm import aggregate, crossings

from .calls import Call, calls
from .candidates import KERNELS, WILD
from .chunks import CHUNKED
from .judging import Fault
from .recipes import Labels, Rows, rows
from .scores import SCORED


def models() -> list[Any]:
    """Return classifiers to ask what they retain: fitted, not fitted, made of others, and none at all."""
    X, two, three = Rows(18, 3).make(), Labels("two").make(18), Labels("three").make(18)
    one = SparseKFDAClassifier()
    svm = SVC().fit(X, two)
    found: list[Any] = [
        None,
        3,
        "model",
        SVC,
        one,
        svm,
        SVC(),
        DummyClassifier().fit(X, two),
        one.__class__().fit(X, two),
    ]
    found += [
        make(one).fit(X, three) for make in (OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier)
    ]
    found += [OneVsRestClassifier(one), OneVsRestClassifier(DummyClassifier()).fit(X, three), []]
    found += [
        make_pipeline(one).fit(X, two),
        GridSearchCV(one, {"rho": [0.1, 1.0]}, cv=2).fit(X, two),
        make_pipeline(one),
    ]
    return found


def _generator(function: Callable[..., Any], **named: Any) -> st.SearchStrategy[Call]:
    seeds = (0, 1, -1, 2**40, "seed", 1.5)
    sizes = (*WILD, 0, 1, 2, 7, 50, -3)
    draws = {key: (*values, *WILD) for key, values in named.items()}
    call = calls(function, n_samples=sizes, **draws)
    return st.tuples(call, st.sampled_from(seeds)).map(
        lambda pair: Call(pair[0].function, (), (*pair[0].named, ("random_state", pair[1])))
    )


_NUMBERS = st.lists(st.one_of(st.sampled_from((0.1, 0.2, 1.0)), st.floats(allow_nan=True)), max_size=5)
_SCORES = st.one_of(
    _NUMBERS,
    st.sampled_from((None, "abc", 3.0, [[0.1], [0.2]], ["a"], [None], np.array([0.1, 0.2]), {"a": 1})),
)
_TABLES = st.fixed_dictionaries(
    {},
    optional={
        f"{prefix}_test_{metric}": _SCORES
        for prefix in ("mean", "split0", "split1")
        for metric in ("accuracy", "neg_retained")
    },
)
_WITHIN = ("standard-error", 0.0, 0.1, np.inf, "sd", *WILD)


def _rule(make: Callable[..., Any], **named: Any) -> st.SearchStrategy[Call]:
    return calls(_chosen, st.just(make), st.one_of(_TABLES, st.sampled_from((None, [], "abc"))), **named)


def _chosen(make: Callable[..., Any], results: Any, **named: Any) -> Any:
    return make(**named)(results)


_MATRICES = st.one_of(rows(), st.lists(_NUMBERS, max_size=4), st.sampled_from(WILD))
_MODELS = st.integers(0, 17).map(lambda k: _Model(k))
_ANSWERS = (None, Labels("three").make(18), Labels("two").make(18), [], "abc", 3, np.zeros((18, 2)))


@dataclass(frozen=True)
class _Model:
    """The k-th of the models; it prints, and is fitted once."""

    k: int

    def fitted(self) -> Any:
        if not _FITTED:
            _FITTED.extend(models())
        return _FITTED[self.k]


_FITTED: list[Any] = []


def _of_model(function: Callable[..., Any]) -> Callable[..., Any]:
    def asked(model: _Model, *arguments: Any) -> Any:
        return function(model.fitted(), *arguments)

    asked.__name__ = asked.__qualname__ = function.__name__
    return asked


#: files that are not what is asked for
_PATHS = (Path(__file__), Path(__file__).parent, Path("nowhere"))


#: a matrix of kernel values comes back as it is
_COMPUTED = tuple(kernel for kernel in KERNELS if kernel != "precomputed")


def _by_rows(X: Any) -> Any:
    """Return sparse rows in the one format that these take; the estimators ask for it before."""
    return X.tocsr() if sparse.issparse(X) else X


def _scaled(X: Rows) -> float:
    return kernels.scale_gamma(_by_rows(X))


def _warned_of_scale(kernel: Any, X: Rows) -> None:
    made = _by_rows(X)
    kernels.warn_of_scale(kernel, kernels.gram(("rbf", {"gamma": 0.5}), made))


def _gram(kernel: Any, X: Any, Z: Any) -> np.ndarray:
    return kernels.gram(kernel, _by_rows(X), _by_rows(Z.make() if isinstance(Z, Rows) else Z))


def _real(value: Any) -> float | None:
    found = real(value)
    return found if np.isfinite(found) else None  # inf and nan say what the value is


def _tidied(X: Any) -> Any:
    found = kernels.tidy(_by_rows(X))
    if sparse.issparse(found) and not found.has_canonical_format:
        raise Fault("entries of sparse rows are in parts, or not in order")


#: a strategy for each name; what is made of results has no arguments to get wrong
FUNCTIONS: dict[str, st.SearchStrategy[Any]] = {
    "choose_realisation": calls(kfda.choose_realisation, _SCORES, _SCORES,
                                rule=("error", "retained", "x", *WILD)),
    "MinimumError": _rule(kfda.MinimumError, accuracy=("accuracy", "f1", *WILD),
                          retained=("neg_retained", None)),
    "MinimumRetained": _rule(kfda.MinimumRetained, within=_WITHIN, accuracy=("accuracy", None)),
    "retained_by": calls(_of_model(kfda.retained_by), _MODELS, _ANSWERS),
    "retained_fraction": calls(_of_model(kfda.retained_fraction), _MODELS, _ANSWERS, _ANSWERS),
    "neg_retained_fraction": calls(_of_model(kfda.neg_retained_fraction), _MODELS, _ANSWERS, _ANSWERS),
    "paper_kernels": calls(paper_kernels, which=("table-1", "section-5.1", "table-4", "figures", *WILD),
                           count=(2, 3, 17, 98, 150, 151, 156, 157, 400, *WILD)),
    "aggregate": calls(aggregate, _MATRICES, ("count", "interval", "isotonic", "mean", *WILD)),
    "crossings": calls(crossings, _MATRICES),
    "kernel_name": calls(kernels.kernel_name, (*KERNELS, *WILD)),
    "parse_kernel": calls(kernels.parse_kernel, (*KERNELS, *WILD)),
    "resolve_kernel": calls(kernels.resolve_kernel, (*KERNELS, *WILD), (None, 0.5, *WILD),
                            (3, *WILD), (1.0, *WILD)),
    "scale_gamma": calls(_scaled, rows()),
    "warn_of_scale": calls(_warned_of_scale, (*KERNELS, *WILD), rows()),
    "gram": calls(_gram, _COMPUTED, _MATRICES, st.one_of(st.none(), _MATRICES)),
    "real": calls(_real, WILD),
    "tidy": calls(_tidied, rows()),
    "make_twonorm": _generator(datasets.make_twonorm, n_features=(1, 2, 20, 0)),
    "make_ringnorm": _generator(datasets.make_ringnorm, n_features=(1, 2, 20, 0)),
    "make_waveform": _generator(datasets.make_waveform, n_classes=(2, 3, 4, 1)),
    "make_banana": _generator(datasets.make_banana, radius=(5.0, 1e-3, 1e9), noise=(1.0, 1e9)),
    "make_low_rank": _generator(datasets.make_low_rank, shape=((8, 8), (1, 5), (0, 3), (3,), "88", (2.5, 2)),
                                rank=(1, 2, 9), scale=(2.0, 1e9), link=("logistic", "step", "probit")),
    "load": calls(datasets.load, ("iris", "nothing", "../etc", "", "a" * 300, "iris\0", *WILD)),
    "waveform_bases": calls(generators.waveform_bases),
    "available": calls(datasets.available),
    "registry": calls(datasets.registry, (None, *_PATHS)),
} | SCORED | CHUNKED  # fmt: skip
