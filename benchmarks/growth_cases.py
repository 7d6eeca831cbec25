"""What ``growth.py`` measures: the cases of the rooms, those that no room names, and the grid searches.

A room's cases are the dict ``CASES`` of ``benchmarks/<room>_growth.py``: by the name in the table an
estimator, or a function (of the number of rows, if it takes an argument) that makes one. The classifiers of
which no room has a case are measured with an rbf and a linear kernel. The rows are standardised.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FEATURES, ASKED, LANDMARKS = 20, 2000, 500
PEERS = {"rbf": "SVC rbf", "linear": "LinearSVC"}
#: the first of these that a model has is its certificate
CERTIFICATES = (
    "dual_gap_", "global_gap_", "kkt_residual_", "residual_", "stationarity_", "optimality_residual_",
    "gradient_norm_", "unexplained_",
)  # fmt: skip


def cases() -> dict[str, Callable[[int], Any]]:
    """Return what is measured by its name: the peers, the cases of the rooms, and what they leave out."""
    from sklearn.svm import SVC, LinearSVC

    from marginbook.base.rooms import papers

    found: dict[str, Callable[[int], Any]] = {
        PEERS["rbf"]: lambda n: SVC(),
        PEERS["linear"]: lambda n: LinearSVC(),
    }
    named: set[tuple[str, str]] = set()
    for room in papers():
        if (HERE / f"{room}_growth.py").is_file():
            for name, made in importlib.import_module(f"{room}_growth").CASES.items():
                found[name] = maker(made)
                model = found[name](ASKED)
                named.add((type(model).__name__, kind(model)))
    return found | {
        name: make
        for name, make in usual().items()
        if (type(model := make(ASKED)).__name__, kind(model)) not in named
    }


def kind(model: Any) -> str:
    """Return "linear" or "rbf", which says what a model is compared with."""
    given = model.get_params(deep=False)
    kernel = given.get("kernel", "rbf" if "kernels" in given else "linear")
    return "linear" if kernel == "linear" else "rbf"


def maker(made: Any) -> Callable[[int], Any]:
    """Return a case as a function of the number of rows."""
    if inspect.isclass(made) or not hasattr(made, "get_params"):
        of_rows = not inspect.isclass(made) and inspect.signature(made).parameters
        return made if of_rows else lambda n: made()
    return lambda n: made


def usual() -> dict[str, Callable[[int], Any]]:
    """Return the public classifiers, with an rbf and a linear kernel, and by landmarks if they can."""
    from marginbook.base.public import public_estimators

    found: dict[str, Callable[[int], Any]] = {}
    for name, estimator in public_estimators().items():
        known = inspect.signature(estimator).parameters
        searches = any(each.default is each.empty for each in known.values()) or name.endswith("CV")
        if searches or not hasattr(estimator, "predict"):
            continue
        if "kernel" not in known:
            found[name] = lambda n, make=estimator: make()
            continue
        given: dict[str, dict[str, Any]] = {"rbf": {"kernel": "rbf"}, "linear": {"kernel": "linear"}}
        if "n_components" in known:
            given[f"rbf, {LANDMARKS} landmarks"] = {"kernel": "rbf", "n_components": LANDMARKS}
        for way, options in given.items():
            found[f"{name} {way}"] = lambda n, make=estimator, options=options: make(**options)
    return found


def data(n: int, classes: int = 2) -> tuple[Any, Any, Any, Any]:
    """Return training rows and labels, and `ASKED` rows with theirs: standardised, with a curved boundary."""
    from sklearn.datasets import make_classification
    from sklearn.preprocessing import StandardScaler

    X, y = make_classification(
        n + ASKED, FEATURES, n_informative=10, n_redundant=4, n_classes=classes, n_clusters_per_class=2,
        flip_y=0.05, class_sep=1.0 if classes == 2 else 2.5, random_state=0,
    )  # fmt: skip
    X = StandardScaler().fit(X[:n]).transform(X)
    return X[:n], y[:n], X[n:], y[n:]


def certificate(model: Any, X: Any, y: Any) -> str:
    """Return name and value of a fitted model's certificate; of the peers, which have none, the gap."""
    import numpy as np
    from sklearn.svm import SVC, LinearSVC

    if isinstance(model, (SVC, LinearSVC)):
        return f"relative gap {peer_gap(model, X, y):.1e}"
    known = next((each for each in CERTIFICATES if getattr(model, each, None) is not None), "")
    return f"{known} {float(np.max(getattr(model, known))):.1e}" if known else ""


def peer_gap(model: Any, X: Any, y: Any) -> float:
    """Return how far the objective of an SVC or LinearSVC of two classes is from a dual value, relative."""
    import numpy as np
    from sklearn.svm import SVC

    f, C = model.decision_function(X), model.C
    slack = np.maximum(0.0, 1.0 - np.where(y == model.classes_[1], f, -f))
    if isinstance(model, SVC):
        alpha = model.dual_coef_[0]
        norm = float(alpha @ (f[model.support_] - model.intercept_[0]))
        primal, dual = 0.5 * norm + C * slack.sum(), np.abs(alpha).sum() - 0.5 * norm
    else:  # squared hinge, the intercept as a feature; 2C times the slack is a point of the dual
        w = np.append(model.coef_[0], model.intercept_[0])
        signed = np.where(y == model.classes_[1], 2 * C * slack, -2 * C * slack)
        v = np.append(signed @ X, signed.sum())
        primal = 0.5 * w @ w + C * slack @ slack
        dual = 2 * C * slack.sum() - 0.5 * v @ v - C * slack @ slack
    return float((primal - dual) / max(1.0, primal))


def searches() -> Iterator[tuple[str, str, Any, dict[str, list[Any]]]]:
    """Yield what is timed with 20 classes: a name, its peer, an estimator, its grid of three strengths."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import SVC
    from sklearn.utils import get_tags
    from smm_growth import SHAPE

    from marginbook import DRMClassifier, KFDAClassifier, LDMClassifier, LowRankSVMClassifier, LSSVMClassifier

    several: dict[str, tuple[Any, str, list[float]]] = {
        "SVC rbf": (SVC(), "C", [1.0, 10.0, 100.0]),
        "SVC linear": (SVC(kernel="linear"), "C", [1.0, 10.0, 100.0]),
        "LSSVMClassifier rbf": (LSSVMClassifier(kernel="rbf"), "C", [1.0, 10.0, 100.0]),
        "DRMClassifier rbf": (DRMClassifier(kernel="rbf"), "beta", [1.0, 0.1, 0.01]),
        "LDMClassifier rbf": (LDMClassifier(kernel="rbf"), "C", [1.0, 10.0, 100.0]),
        "KFDAClassifier rbf": (KFDAClassifier(kernel="rbf"), "reg", [1.0, 10.0, 100.0]),
        "LowRankSVMClassifier, rank 2": (LowRankSVMClassifier(2, shape=SHAPE), "lam", [0.1, 0.01, 0.001]),
    }
    for name, (model, parameter, values) in several.items():
        peer = f"SVC {'linear' if model.get_params().get('kernel', 'linear') == 'linear' else 'rbf'}"
        if get_tags(model).classifier_tags.multi_class:
            yield name, peer, model, {parameter: values}
        else:
            several_fits = OneVsRestClassifier(model)
            yield f"{name}, one against the rest", peer, several_fits, {f"estimator__{parameter}": values}
