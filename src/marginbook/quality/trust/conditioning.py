"""Problems that are nearly singular: how many digits are reached, and whether the user is told.

Four suites, each with several levels:

==================  ====================================================================================
``hilbert``         Gram matrices, or rows, 1 / (i + j - 1): each size costs another digit and a half
``near copies``     every row twice, the copies moved by 1e-2, 1e-5 and 1e-8
``weak penalty``    all but no penalty: alpha / beta, C or 1 / lambda up to 1e12
``feature scales``  columns of sizes from 1e-4 to 1e4, and from 1e-8 to 1e8
==================  ====================================================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .exact.numbers import condition, digits, exactly, gram
from .judging import Judged, judge
from .subjects import LINE, RBF, Subject, small_problem, subjects

#: digits of decision values, or of the objective, that count as right
ENOUGH = 6.0
#: digits by which a solver may fall behind what its data, rounded, determine
BEHIND = 2.0
#: estimators and settings that are left out: searches around a machine that is there by itself, oracles,
#: solvers that stop early by design, and second ways to the same solution
LEFT_OUT = (
    *("CV", "cvxpy", "asgd", "plain", "squarem", "ppa", "apg", "dcd, rbf", "q=1 mm", "q=1 r=1"),
    *("rank 1", "CLASK", "CLASMK", "MKL", "RegressionFunction", "MDO"),
)
#: samples of all suites but that of Hilbert
SAMPLES = 8
#: the parameter that makes the penalty weak, and its value at a strength of 1
PENALTIES = {
    "DRMClassifier": ("beta", 1.0),
    "MixedNormDRMClassifier": ("beta", 1.0),
    "LDMClassifier": ("C", None),
    "KMOMDClassifier": ("C", None),
    "SparseKFDAClassifier": ("rho", 1.0),
    "KFDAClassifier": ("reg", 1.0),
    "LSSVMClassifier": ("C", None),
    "MKLClassifier": ("C", None),
    "NuclearNormSVMClassifier": ("C", None),
    "LowRankSVMClassifier": ("lam", 1.0),
    "LowRankLogisticClassifier": ("lam", 1.0),
    "LevelSetClassifier": ("lam", 1.0),
    "VectorSVMClassifier": ("lam", 1.0),
    "VectorLogisticClassifier": ("lam", 1.0),
}


@dataclass(frozen=True)
class Hard:
    """One hard problem: suite, level, condition number, samples, labels, samples to ask about, parameters."""

    suite: str
    level: str
    condition: float
    X: np.ndarray
    y: np.ndarray
    T: np.ndarray
    changed: dict[str, Any]


def hard_problems(subject: Subject) -> Iterator[Hard]:
    """Yield the problems that suit a subject."""
    fixed = subject.build().get_params()
    kernel = fixed.get("kernel")
    yield from _hilbert(subject, kernel)
    X, y, T = small_problem(subject.matrices, 0)
    X, y = X[:SAMPLES], y[:SAMPLES]
    half = SAMPLES // 2
    for moved in (1e-2, 1e-5, 1e-8):
        # copies get the labels of their originals
        rows = np.concatenate([X[:half], X[:half] + moved * X[half:]])
        labels = np.concatenate([y[:half], y[:half]])
        yield Hard("near copies", f"{moved:.0e}", _condition(kernel, rows), rows, labels, T, {})
    if subject.estimator in PENALTIES:
        name, base = PENALTIES[subject.estimator]
        for strength in (1e4, 1e8, 1e12):
            if base is None:
                strength = min(strength, 1e8)  # what the estimators allow, or what is asked in practice
            weak: dict[str, Any] = {name: strength if base is None else base / strength}
            if "alpha" in fixed:
                weak["alpha"] = 1.0
            yield Hard("weak penalty", f"{name}={weak[name]:.0e}", strength, X, y, T, weak)
            if base is None and strength == 1e8:
                break
    for power in (4, 8):
        scales = 10.0 ** np.linspace(-power, power, X[0].size).reshape(X.shape[1:])
        changed: dict[str, Any] = {"kernel": LINE} if kernel == RBF else {}
        rows, asked = X * scales, T * scales
        yield Hard("feature scales", f"1e±{power}", _condition(LINE, rows), rows, y, asked, changed)


def _hilbert(subject: Subject, kernel: Any) -> Iterator[Hard]:
    for n in (4, 6, 8, 10, 12) if kernel == RBF else (4, 6, 8):
        y = np.arange(n) % 2
        row, column = np.arange(1, n + 1), np.arange(1, n + 1)
        K = 1.0 / (row[:, None] + column - 1)
        T = 1.0 / (np.array([1.5, 2.5, n - 0.5])[:, None] + column - 1)
        if subject.matrices:
            shape = (-1, 2, n // 2)
            yield Hard("hilbert", f"n={n}", condition(K), K.reshape(shape), y, T.reshape(shape), {})
        elif kernel == RBF:
            yield Hard("hilbert", f"n={n}", condition(K), K, y, T, {"kernel": ("precomputed", {})})
        elif kernel == LINE:
            yield Hard("hilbert", f"n={n}", condition(K), K, y, T, {})


def _condition(kernel: Any, X: np.ndarray) -> float:
    """Return the condition number of the Gram matrix, or of the columns where these are fewer."""
    if kernel == RBF:
        return condition(gram(kernel, X, X))
    flat = exactly(X.reshape(len(X), -1))
    return condition(flat if flat.shape[0] >= flat.shape[1] else flat.T)


def chosen() -> list[Subject]:
    """Return the subjects that the suites are put to."""
    return [one for one in subjects() if not any(part in one.name for part in LEFT_OUT)]


def outcome(judged: Judged, possible: float) -> str:
    """Return in one word what a user is told and gets.

    Parameters
    ----------
    judged : Judged
    possible : float
        Digits of the decision values that the data, rounded, determine; nan if that was not asked.
    """
    if judged.warned.startswith("no reference"):
        return "unknown"
    if judged.warned:
        return "warned" if judged.warned.endswith("Warning") else "refused"
    if judged.honest == "no":
        return "optimistic"
    if judged.decision_digits >= ENOUGH or (
        np.isnan(judged.decision_digits) and judged.optimum_digits >= ENOUGH
    ):
        return "right"
    if not np.isnan(possible) and judged.decision_digits >= possible - BEHIND:
        return "as the data allow"
    if judged.optimum_digits >= ENOUGH:
        return "objective right"
    reached = judged.decision_digits if np.isnan(judged.optimum_digits) else judged.optimum_digits
    if reached >= judged.announced - BEHIND:
        return "as certified"
    return "silent"


def possible_digits(subject: Subject, hard: Hard) -> float:
    """Return to how many digits the exact decisions survive a rounding of the data."""
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = subject.build(**hard.changed).fit(hard.X, hard.y)
    right = subject.judge(model, hard.X, hard.y, hard.T).decisions
    if right is None:
        return float("nan")
    noise = 1 + np.finfo(float).eps / 2 * rng.choice([-1.0, 1.0], size=hard.X.shape)
    if hard.changed.get("kernel", LINE)[0] == "precomputed":
        noise = np.triu(noise) + np.triu(noise, 1).T
    moved = exactly(hard.X) * exactly(noise - 1) + exactly(hard.X)
    return digits(subject.judge(model, moved, hard.y, hard.T).decisions, right)


def rows(subject: Subject) -> Iterator[dict[str, Any]]:
    """Yield what came out of each hard problem for one subject, as rows of the committed table."""
    for hard in hard_problems(subject):
        found = judge(subject, hard.X, hard.y, hard.T, **hard.changed)
        possible = float("nan")
        if outcome(found, possible) in ("silent", "objective right", "as certified"):
            possible = possible_digits(subject, hard)
        yield {
            "room": subject.room,
            "estimator": subject.estimator,
            "setting": subject.setting,
            "suite": hard.suite,
            "level": hard.level,
            "condition": f"{hard.condition:.2e}",
            "certificate": subject.certificate,
            "reported": f"{found.reported:.2e}",
            "true": f"{found.true:.2e}",
            "objective_digits": f"{found.optimum_digits:.1f}",
            "decision_digits": f"{found.decision_digits:.1f}",
            "possible_digits": f"{possible:.1f}",
            "outcome": outcome(found, possible),
            "said": found.warned[:120].split("\n")[0],
        }
