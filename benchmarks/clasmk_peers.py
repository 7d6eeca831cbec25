"""The problems that the benchmarks of CLASMK-ML solve, and the naive peers; imported only.

Features are standardised, features without deviation dropped, kernels normalised.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cvxpy as cp
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from marginbook.clasmk.claims.beyond_vertices import random_separation
from marginbook.clasmk.estimators.lssvm import LSSVMClassifier
from marginbook.clasmk.model.kernel_sets import poly, rbf
from marginbook.clasmk.model.statistics import Separation, separation
from marginbook.clasmk.model.subspaces import fit_subspaces
from marginbook.clasmk.model.truncation import representative
from marginbook.datasets import available, load
from marginbook.kernels import Kernel

#: kernels from which the survivors of (35) are taken: the two ranges of the paper's figures, more densely
CANDIDATES: list[Kernel] = poly(range(1, 65)) + rbf(np.geomspace(2.0**-3, 2.0**6, 136))
#: eta and how (35) adds up the energies: as printed, and half of the energy in the mean
TRUNCATIONS = {"eta=0.1, sum": (0.1, "sum"), "eta=0.5, mean": (0.5, "mean")}
#: tolerance of SVC in the naive iteration, and CPU seconds after which it ends
SVC_TOL, LIMIT = 1e-4, 15.0


def can_load(name: str) -> bool:
    """Whether scikit-learn brings a set, or it is fetched."""
    return name in ("breast cancer", "optdigits") or name in available()


@cache
def rows(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `n` rows of a set in random order, standardised, and their classes 0, ..., C-1."""
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
    elif name == "optdigits":
        X, y = load_digits(return_X_y=True)
    else:
        found = load(name)
        X, y = np.asarray(found.X, dtype=float), np.asarray(found.y)
    if n > len(X):
        raise ValueError(f"{name} has {len(X)} rows, {n} are asked for; take fewer")
    drawn = np.random.default_rng(0).permutation(len(X))[:n]
    X = X[drawn]
    return scale(X[:, X.std(axis=0) > 0]), np.unique(y[drawn], return_inverse=True)[1]


@cache
def statistics(name: str, n: int) -> Separation:
    """Return N and D of all candidates: one half of the rows for the bases, the other for the means."""
    X, codes = rows(name, n)
    return separation(fit_subspaces(X[::2], codes[::2], CANDIDATES), X[1::2], codes[1::2])


def survivors(measured: Separation, count: int, eta: float, how: str) -> np.ndarray:
    """Return the places of `count` candidates that (35) keeps, spread evenly over all that it keeps."""
    kept = representative(measured.energy, eta, how)
    if count > len(kept):
        raise ValueError(f"{len(kept)} candidates survive eta={eta:g}, {count} are asked for; take fewer")
    return kept[np.linspace(0, len(kept) - 1, count).round().astype(int)]


@dataclass(frozen=True, eq=False)
class Forms:
    """The matrices of one ratio (33)."""

    name: str
    numerator: np.ndarray
    denominator: np.ndarray


def real_forms(name: str, n: int, count: int, truncation: str) -> Forms:
    """Return the forms of `count` kernels that survive, on a real set."""
    measured = statistics(name, n)
    left = measured.keep(survivors(measured, count, *TRUNCATIONS[truncation]))
    return Forms(f"{name}, {truncation}", left.numerator, left.denominator)


def random_forms(kind: str, classes: int, count: int) -> Forms:
    """Return random positive semidefinite forms; "rank r": with a common nonnegative part, as coordinates."""
    rng = np.random.default_rng(0)
    shape = (classes, count, count)
    if kind.startswith("rank"):
        drawn = random_separation(rng, classes, count, int(kind.split()[1]))
        return Forms(f"random, {kind}", drawn.numerator, drawn.denominator)
    if kind == "wishart":
        pair = [W @ W.transpose(0, 2, 1) / count for W in rng.normal(size=(2, *shape))]
    elif kind == "diagonal":
        pair = [d[:, :, None] * np.eye(count) for d in rng.uniform(size=(2, classes, count))]
    else:
        raise ValueError(f"unknown kind {kind!r}; choose from rank r, wishart, diagonal")
    return Forms(f"random, {kind}", *pair)


def left_out_by_refits(model: LSSVMClassifier, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return what a machine of the other rows decides on each row: one fit a row."""
    decided = []
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        decided.append(clone(model).fit(X[others], y[others]).decision_function(X[i : i + 1])[0])
    return np.array(decided)


def onto_simplex(v: np.ndarray) -> np.ndarray:
    """Return the nearest point of the simplex."""
    u = np.sort(v)[::-1]
    excess = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
    return np.maximum(v - excess[np.flatnonzero(u > excess)[-1]], 0.0)


@dataclass(frozen=True, eq=False)
class NaiveWeights:
    """Where the naive iteration ended: weights (K,), relative gap, machines trained, whether in time."""

    weights: np.ndarray
    gap: float
    n_trained: int
    in_time: bool


def simple_mkl(grams: Sequence[np.ndarray], signs: np.ndarray, C: float, tol: float) -> NaiveWeights:
    """SimpleMKL by projected gradient steps with backtracking, until its duality gap is at most `tol`."""
    begun, stack, trained = time.process_time(), np.stack(grams), 0

    def machine(weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value of the dual and q: the gradient is -q / 2."""
        nonlocal trained
        K = np.tensordot(weights, stack, 1)
        value, q = 0.0, np.zeros(len(stack))
        for y in signs.T:
            svc = SVC(C=C, kernel="precomputed", tol=SVC_TOL).fit(K, y)
            trained += 1
            beta, on = svc.dual_coef_[0], svc.support_
            each = np.einsum("i,kij,j->k", beta, stack[:, on][:, :, on], beta, optimize=True)
            value += float(np.abs(beta).sum() - weights @ each / 2)
            q += each
        return value, q

    weights, step = np.full(len(stack), 1 / len(stack)), 1.0
    value, q = machine(weights)
    while True:
        gap = float(q.max() - weights @ q) / 2 / value
        in_time = time.process_time() - begun < LIMIT
        if gap <= tol or not in_time:
            return NaiveWeights(weights, gap, trained, in_time)
        slope = -q / 2
        while True:
            new = onto_simplex(weights - step / np.abs(slope).max() * slope)
            at, q_at = machine(new)
            if at <= value - 1e-4 * slope @ (weights - new) or time.process_time() - begun > LIMIT:
                break
            step /= 2
            if step < 1e-12:  # the machines are not accurate enough for a smaller gap
                return NaiveWeights(weights, gap, trained, False)
        weights, value, q, step = new, at, q_at, step * 2


def general_program(grams: Sequence[np.ndarray], y: np.ndarray, C: float, tol: float) -> float:
    """Return the least J of two classes by cvxpy: quadratic constraints, one for each kernel."""
    a, t = cp.Variable(len(y)), cp.Variable()
    constraints = [a >= 0, a <= C, y @ a == 0]
    for K in grams:
        values, vectors = np.linalg.eigh(K)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))).T * y
        constraints.append(cp.sum_squares(root @ a) <= 2 * t)
    program = cp.Problem(cp.Maximize(cp.sum(a) - t), constraints)
    program.solve(solver=cp.CLARABEL, max_threads=1, tol_gap_rel=tol)
    return float(program.value)
