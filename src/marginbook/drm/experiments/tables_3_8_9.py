"""How one entry of a table of the paper is measured: pure functions of the data, the method and the seed.

Every measure scores the test rows with and without scaling, which are the numbers that the paper takes the
better of, and names the one that cross-validation prefers without a look at the test rows: that is the honest
one. Where nothing can be solved (polynomials of large numbers on unscaled data), an entry is None.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score

from ...base.parameters import validate_choice
from ...experiments.fold import Fold, Method, Row, Settings, Trained
from ..estimators.selection import SCALINGS, DRMClassifierCV, NothingSolvable, scaler
from ..peers.racing import Score
from ..peers.selection import NAMES as PEERS
from ..peers.selection import SCALE_FREE, select
from .figure_5 import NAMES, g_mean, kernels_and_alphas

Resample = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

#: the peers that Table IX joins in one column
VARIANTS = {"SVM": ("SVM(R)", "SVM(P)"), "KNN": ("KNN(E)", "KNN(C)"), "RF": ("RF",)}
SAMPLERS = ("SMOTE", "BorSMOTE", "SL-SMOTE")


def measure_accuracy(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure one method on one split of Table III: accuracy with and without scaling.

    Columns ``accuracy_none``, ``accuracy_max_abs`` (the paper's better of two), ``cv_score_none``,
    ``cv_score_max_abs``, ``accuracy`` (honest), ``scaling``, ``parameters``.
    """
    return _measure(fold, "accuracy", {"": method}, settings)


def measure_imbalanced(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure one method on one fold of Table VIII: G-mean (28) with and without scaling.

    Columns ``g_mean_none``, ``g_mean_max_abs`` (the paper's better of two), ``cv_score_none``,
    ``cv_score_max_abs``, ``g_mean`` (honest), ``scaling``, ``parameters``.
    """
    return _measure(fold, "g_mean", {"": method}, settings)


def measure_resampled(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure one entry of Table IX: G-mean (28) of a peer on an over-sampled training fold.

    The training fold is scaled, then the small class is over-sampled to the size of the large one with
    ``settings["sampling_neighbors"]`` neighbours (fewer where the class has no more examples), then the
    peer's parameters are chosen on those rows, as the paper does it: synthetic examples are in the
    validation parts too, so that the cross-validation scores are too high. The test fold is left alone.

    Columns ``g_mean_1_none``, ``g_mean_1_max_abs``, ``g_mean_2_none``, ``g_mean_2_max_abs``, of which the
    paper takes the best: 1 is the rbf kernel or the Euclidean distance, 2 the polynomial kernel or the
    cosine distance, and a forest has no 2; ``cv_score_...`` of each; ``g_mean`` (honest: variant and scaling
    by cross-validation), ``variant``, ``scaling``, ``parameters``.

    Parameters
    ----------
    method : str
        ``"SMOTE+SVM"``: one of `SAMPLERS` and one of `VARIANTS`.
    """
    sampler, _, peer = method.partition("+")
    if sampler not in SAMPLERS or peer not in VARIANTS:
        raise ValueError(
            f"unknown method {method!r}; wanted one of {', '.join(SAMPLERS)}, a plus, "
            f"and one of {', '.join(VARIANTS)}"
        )
    variants: dict[str, str | None] = {"_1": VARIANTS[peer][0], "_2": None}
    if len(VARIANTS[peer]) == 2:
        variants["_2"] = VARIANTS[peer][1]
    resample = _sampler(sampler, settings, fold.seed)
    return _measure(fold, "g_mean", variants, settings, resample)


def _measure(
    fold: Fold,
    metric: str,
    variants: Mapping[str, str | None],
    settings: Settings,
    resample: Resample | None = None,
) -> Row:
    """Return the row of a measure: each variant (suffix of its columns -> method) with each scaling."""
    score, methods = SCORES[metric], METHODS[metric]
    for name in filter(None, variants.values()):
        validate_choice("method", name, methods)
    row: Row = {metric: None, "scaling": None}
    if len(variants) > 1:
        row["variant"] = None
    chosen = {}
    best = -np.inf
    for scaling in SCALINGS:
        transform = scaler(scaling).fit(fold.X_train)
        X, y, rows = transform.transform(fold.X_train), fold.y_train, transform.transform(fold.X_test)
        same = scaling != SCALINGS[0] and np.array_equal(
            X, fold.X_train
        )  # features in [-1, 1] that reach an end
        if resample is not None:
            X, y = resample(X, y)
        scaled = replace(fold, X_train=X, y_train=y, X_test=rows)
        for suffix, method in variants.items():
            end = f"{suffix}_{scaling.replace('-', '_')}"
            row[f"{metric}{end}"] = row[f"cv_score{end}"] = None
            if method is None:
                continue
            if same or (scaling != SCALINGS[0] and method in SCALE_FREE and resample is None):
                first = f"{suffix}_{SCALINGS[0].replace('-', '_')}"
                row[f"{metric}{end}"], row[f"cv_score{end}"] = row[metric + first], row["cv_score" + first]
                continue
            try:
                model, told = methods[method](scaled, settings)
            except NothingSolvable:
                continue
            reached, value = float(score(fold.y_test, model.predict(rows))), told["cv_score"]
            row[f"{metric}{end}"], row[f"cv_score{end}"] = reached, value
            chosen[f"{method}, {scaling}" if len(variants) > 1 else scaling] = told["parameters"]
            if value > best:
                best, row[metric], row["scaling"] = value, reached, scaling
                if len(variants) > 1:
                    row["variant"] = method
    row["parameters"] = json.dumps(chosen, sort_keys=True)
    return row


def _peer(name: str, score: Score, fold: Fold, settings: Settings) -> Trained:
    model, parameters, value = select(name, fold.X_train, fold.y_train, score, settings, fold.seed)
    return Trained(model, {"parameters": parameters, "cv_score": value})


def _drm(name: str, score: Score, fold: Fold, settings: Settings) -> Trained:
    """Choose kernel, alpha and beta by exact leave-one-out."""
    kernels, alphas = kernels_and_alphas(name, settings)
    model = DRMClassifierCV(
        alphas,
        settings["beta"],
        kernels,
        scoring=lambda left_out, index, truth: score(truth, left_out.predict(index)),
    )
    with warnings.catch_warnings():
        # points beyond double precision: part of the protocol
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(fold.X_train, fold.y_train)
    kernel, value = model.kernel_
    parameters = {"kernel": kernel, **value, "alpha": model.alpha_, "beta": model.beta_}
    return Trained(model, {"parameters": parameters, "cv_score": model.best_score_})


#: the metrics of the tables
SCORES: dict[str, Score] = {"accuracy": accuracy_score, "g_mean": g_mean}
#: the methods of the tables, by the metric that chooses their parameters; they tell these and ``cv_score``
METHODS: dict[str, dict[str, Method]] = {
    metric: {name: partial(_drm, name, score) for name in NAMES}
    | {name: partial(_peer, name, score) for name in PEERS}
    for metric, score in SCORES.items()
}


def _sampler(name: str, settings: Settings, seed: int) -> Resample:
    # the three come with imbalanced-learn, which the other measures can do without
    from imblearn.over_sampling import SMOTE, BorderlineSMOTE

    from ..peers.safe_level_smote import SafeLevelSMOTE

    def resample(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        smallest = int(np.unique(y, return_counts=True)[1].min())
        k = max(1, min(settings["sampling_neighbors"], smallest - 1))
        sampler = {
            "SMOTE": lambda: SMOTE(k_neighbors=k, random_state=seed),
            "BorSMOTE": lambda: BorderlineSMOTE(
                k_neighbors=k, m_neighbors=settings["sampling_neighbors"], random_state=seed
            ),
            "SL-SMOTE": lambda: SafeLevelSMOTE(k_neighbors=k, random_state=seed),
        }[name]()
        with warnings.catch_warnings():
            # a class without an example of use stays as it is: part of the protocol
            warnings.filterwarnings("ignore", "none of the .* examples has a neighbour", UserWarning)
            X_new, y_new = sampler.fit_resample(X, y)
        return X_new, y_new

    return resample
