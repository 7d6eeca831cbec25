"""The problems that the benchmarks of the kernel LDM solve, and the peers that solve them too; imported only.

Features are scaled to [0, 1], the rbf width is the mean distance of two rows, lambda2 is 2^-5, the middle of
the paper's grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from marginbook.datasets import load, make_twonorm, make_waveform
from marginbook.kernels import gram
from marginbook.ldm.estimators.training import solve_on_gram
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import Solution, active_set

LAMBDA, LARGE = 2.0**-5, 100.0
GAP = 1e-6  # relative duality gap of both peers wherever they solve the same problem
#: one thread and the accuracy of ours; the default of 1e-8 would cost Clarabel two or three steps more
CLARABEL = {"solver": cp.CLARABEL, "tol_gap_rel": GAP, "max_threads": 1}


@dataclass(frozen=True)
class Problem:
    """Rows in [0, 1] with signs, and the rbf kernel whose width is their mean distance."""

    name: str
    X: np.ndarray
    y: np.ndarray
    width: float

    @property
    def kernel(self) -> tuple[str, dict[str, float]]:
        return "rbf", {"gamma": 0.5 / self.width**2}

    @property
    def gram(self) -> np.ndarray:
        return gram(self.kernel, self.X)

    def __str__(self) -> str:
        return f"{self.name}, m={len(self.y)}"


def problem(name: str, m: int) -> Problem:
    """Return `m` rows, in random order, of a set that scikit-learn brings, that is fetched, or generated."""
    if name == "breast cancer":
        X, labels = load_breast_cancer(return_X_y=True)
    elif name == "digits, odd or even":
        X, labels = load_digits(return_X_y=True)
        labels = labels % 2
    elif name in ("twonorm", "waveform"):
        X, labels = (make_twonorm if name == "twonorm" else make_waveform)(m, random_state=0)
    else:
        data = load(name)
        X, labels = np.asarray(data.X, dtype=float), np.asarray(data.y)
    if m > len(X):
        raise ValueError(f"{name} has {len(X)} rows, {m} are asked for; take fewer")
    rows = np.random.default_rng(0).permutation(len(X))[:m]
    X = minmax_scale(X[rows])
    distances = pairwise_distances(X)
    return Problem(
        name,
        X,
        np.where(labels[rows] == labels.max(), 1.0, -1.0),
        float(distances[np.triu_indices(m, 1)].mean()),
    )


def fit(G: np.ndarray, y: np.ndarray, lambda1: float, C: float, tol: float = GAP) -> Solution:
    """Solve the model by active sets with H, from the Gram matrix on."""
    return active_set(WhitenedGram(G, y).hessian(lambda1), y, lambda1, LAMBDA, C, tol=tol)


def fit_as_estimator(G: np.ndarray, y: np.ndarray, lambda1: float, C: float, tol: float = GAP) -> Solution:
    """Solve the model as LDMClassifier does, from the Gram matrix on: without H where that pays."""
    found = solve_on_gram(G, y, (lambda1, LAMBDA, C), "active-set", tol, 100_000)
    if not found.converged:
        raise RuntimeError(f"ours stopped at the gap {found.dual_gap:.1e}, wanted {tol:.1e} of the objective")
    return found


def comparable(excess: float, who: str) -> None:
    """Refuse to time a peer that solved its problem less well than ours did."""
    if not excess <= 10 * GAP:
        raise RuntimeError(f"{who} stopped {excess:.1e} of the objective above the optimum; lower its tol")


def clarabel_dual(H: np.ndarray, lambda2: float, C: float, **options: object) -> np.ndarray:
    """Solve the dual as a user of cvxpy would who has our H."""
    shifted, lower = cp.Variable(len(H)), lambda2 / len(H)
    value = 0.5 * cp.quad_form(shifted, cp.psd_wrap(H)) - cp.sum(shifted)
    box = [shifted >= lower, shifted <= C + lower]
    cp.Problem(cp.Minimize(value), box).solve(**{**CLARABEL, **options})
    return np.clip(shifted.value, lower, C + lower)


def svc_gap(model: SVC, G: np.ndarray, y: np.ndarray) -> float:
    """Return the relative duality gap of a fitted SVC, whose problem has an intercept."""
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0] * (1 if model.classes_[1] > 0 else -1)
    f, norm = G @ alpha, alpha @ G @ alpha
    primal = 0.5 * norm + model.C * np.maximum(0, 1 - y * (f + model.intercept_[0])).sum()
    return float((primal - (np.abs(alpha).sum() - 0.5 * norm)) / max(1.0, primal))


def accurate_svc(data: Problem, G: np.ndarray, C: float) -> tuple[SVC, float]:
    """Return an SVC with the loosest tolerance that solves its problem to `GAP`, and the gap it reaches.

    Its kernel values are of single precision: where that ends the descent before, the loosest tolerance with
    at most twice the least gap.
    """
    models, gaps = [], []
    for tol in 10.0 ** -np.arange(1, 8):
        models.append(SVC(C=C, gamma=data.kernel[1]["gamma"], tol=tol, cache_size=1000))
        gaps.append(svc_gap(models[-1].fit(data.X, data.y), G, data.y))
    chosen = next(k for k, gap in enumerate(gaps) if gap <= max(GAP, 2 * min(gaps)))
    return models[chosen], gaps[chosen]


def printed_matrix(G: np.ndarray, y: np.ndarray, lambda1: float) -> np.ndarray:
    """Return H = Y G Q^{-1} G Y as Algorithm 1 asks for it: Q must be invertible."""
    m, v = len(y), G @ y
    Q = 4 * lambda1 / m**2 * (m * (G @ G) - np.outer(v, v)) + G
    A = np.linalg.inv(Q) @ (G * y)
    return y[:, None] * (G @ A)
