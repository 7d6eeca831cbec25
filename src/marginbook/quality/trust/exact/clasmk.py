r"""Several kernels: least squares, learned sums of kernels, and ratios of energies, with many digits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from .ldm import signs_of
from .margins import HingeOptimum, hinge_optimum, stationary
from .numbers import exactly, factor, gram, identity, largest, positive, solve, zeros
from .reference import Reference


def least_squares_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge an `LSSVMClassifier` of two classes: what is left of its bordered equations.

    It reports no certificate but a warning where they fail by 1e-3, which stands in for one.
    """
    from ....clasmk.estimators.least_squares_training import UNSOLVED

    signs, n = exactly(signs_of(y)), len(y)
    K, Kt = gram(model.kernel, X, X), gram(model.kernel, T, X)
    H = zeros(n + 1, n + 1)
    H[0, 1:] = H[1:, 0] = mpmath.mpf(1)
    H[1:, 1:] = K + identity(n) / exactly(model.C_)[()]
    right = np.concatenate([zeros(1), signs])
    best = solve(H, right)
    found = exactly(np.concatenate([model.intercept_, model.dual_coef_[0]]))
    left = H @ found - right
    if hasattr(model, "coef_"):  # of a linear kernel, where these decide and not the dual coefficients
        fitted = exactly(X) @ exactly(model.coef_[0]) + found[0]
        left[1:] = fitted + found[1:] / exactly(model.C_)[()] - signs
    error = max(largest(left[1:]), abs(left[0]) / exactly(model.C_)[()])
    return Reference(UNSOLVED, error, mpmath.mpf(1), decisions=Kt @ best[1:] + best[0])


def _normalised(model: Any, X: np.ndarray, Z: np.ndarray) -> list[np.ndarray]:
    found = []
    for kernel in model.kernels:
        values = gram(kernel, X, Z)
        if model.normalised:
            own = [[gram(kernel, row[None], row[None])[0, 0] for row in rows] for rows in (X, Z)]
            roots = [np.array([mpmath.sqrt(value) for value in side], dtype=object) for side in own]
            values = values / np.outer(*roots)
        found.append(values)
    return found


def _machine(K: np.ndarray, y: np.ndarray, C: Any) -> tuple[HingeOptimum, np.ndarray]:
    """Return the support vector machine on `K` and its signed dual coefficients."""
    F, n = factor(K), len(y)
    found = hinge_optimum(identity(F.shape[1]), zeros(F.shape[1]), F, y, C * exactly(np.ones(n)), True)
    return found, found.multipliers * exactly(y)


def _returned(model: Any, K: np.ndarray, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the objective of the machine that the estimator returned, on its kernel `K`."""
    a = zeros(len(y))
    a[model.support_] = exactly(model.dual_coef_[0])
    fitted = K @ a
    margins = exactly(y) * (fitted + exactly(model.intercept_[0])[()])
    return a @ fitted / 2 + exactly(model.C)[()] * positive(1 - margins).sum(), a


def kernel_learning_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge an `MKLClassifier` of two classes and two kernels: its objective less the optimum, relative."""
    grams, across = _normalised(model, X, X), _normalised(model, T, X)
    signs, C = signs_of(y), exactly(model.C)[()]
    weights = exactly(model.weights_)
    value, _ = _returned(model, sum(d * K for d, K in zip(weights, grams, strict=True)), signs)

    def at(d: Any) -> tuple[Any, Any, HingeOptimum, np.ndarray]:
        machine, a = _machine(d * grams[0] + (1 - d) * grams[1], signs, C)
        return machine.value, (a @ (grams[1] @ a) - a @ (grams[0] @ a)) / 2, machine, a

    d, best = stationary(at, mpmath.mpf(0), mpmath.mpf(1))
    # J is convex: a slope that is left bounds what the optimum can still be below
    optimum = best[0] - (abs(best[1]) if 0 < d < 1 else 0)
    decisions = (d * across[0] + (1 - d) * across[1]) @ best[3] + best[2].b
    return Reference(
        float(model.dual_gap_),
        (value - optimum) / value,
        mpmath.mpf(1),
        value,
        float(model.objective_),
        best[0],
        decisions,
        relative=True,
    )


def two_layer_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a `TwoLayerMKLClassifier` of two classes: how stationary its weights are, machines exact."""
    grams = _normalised(model, X, X)
    signs, C, reg = signs_of(y), exactly(model.C)[()], exactly(model.reg)[()]
    weights = exactly(model.weights_)
    K = np.vectorize(mpmath.exp, otypes=[object])(sum(m * G for m, G in zip(weights, grams, strict=True)))
    value = _returned(model, K, signs)[0] + reg * weights.sum()
    machine, a = _machine(K, signs, C)
    F = machine.value + reg * weights.sum()
    error = mpmath.mpf(0)
    for weight, G in zip(weights, grams, strict=True):
        slope = reg - a @ ((K * G) @ a) / 2
        error = max(error, abs(weight - max(weight - slope / F, 0)))
    return Reference(float(model.stationarity_), error, weights.sum(), value, float(model.objective_))


def _classes(model: Any, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
    """Yield for each class the features of its own held-out rows, and those of each other class."""
    held, begin = model.held_out_rows_, 0
    features, labels = exactly(model.transform(X[held])), y[held]
    for label, width in zip(model.classes_, model.map_.widths, strict=True):
        z = features[:, begin : begin + width]
        begin += width
        yield z[labels == label], [z[labels == other] for other in model.classes_ if other != label]


def _energy(z: np.ndarray) -> Any:
    return (z**2).sum() / len(z)


def _ratio(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Return the criterion (26) or (33) from the features that the estimator makes of its held-out rows."""
    top, bottom = mpmath.mpf(0), mpmath.mpf(0)
    for own, others in _classes(model, X, y):
        top += sum(_energy(other) for other in others) / len(others)
        mean = own.sum(axis=0) / len(own)
        bottom += _energy(own) if model.denominator == "energy" else (mean**2).sum()
    return top / bottom


def chosen_kernels(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a `CLASKTransformer`: its ratio beside the least one of all choices of a kernel a class."""
    top, bottom = (exactly(forms) for forms in (model.separation_.numerator, model.separation_.denominator))
    n_classes, n_kernels, _ = top.shape
    least = min(
        sum(top[c, k, k] for c, k in enumerate(choice)) / sum(bottom[c, k, k] for c, k in enumerate(choice))
        for choice in product(range(n_kernels), repeat=n_classes)
    )
    value = _ratio(model, X, y)
    # the choice is exact or it is not: nothing but rounding may lie between
    return Reference(0.0, value - least, value, value, float(model.objective_), least)


def weighted_kernels(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a `CLASMKTransformer` with ``threshold=0``: its ratio less the global minimum, relative."""
    top, bottom = (exactly(forms) for forms in (model.separation_.numerator, model.separation_.denominator))
    value, F = _ratio(model, X, y), None
    following = exactly(model.solution_.objective)[()]
    while F is None or F - following > mpmath.mpf(10) ** -50 * F:
        F = following
        roots = [_least_form(N - F * D) for N, D in zip(top, bottom, strict=True)]
        following = sum(s @ (N @ s) for s, N in zip(roots, top, strict=True)) / sum(
            s @ (D @ s) for s, D in zip(roots, bottom, strict=True)
        )
    return Reference(
        float(model.solution_.gap),
        (value - min(F, following)) / value,
        mpmath.mpf(1),
        value,
        float(model.objective_),
        min(F, following),
        relative=True,
    )


def _least_form(Q: np.ndarray) -> np.ndarray:
    """Return the unit vector without negative entries with the least s'Qs: every support is tried."""
    n = len(Q)
    best: tuple[Any, np.ndarray] | None = None
    for support in chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1)):
        part = Q[np.ix_(support, support)]
        values, vectors = mp.eigsy(mp.matrix(part.tolist()))
        for k in range(len(support)):
            s = np.array([vectors[i, k] for i in range(len(support))], dtype=object)
            s = s if s.sum() > 0 else -s
            if min(s) >= 0 and (best is None or values[k] < best[0]):
                whole = zeros(n)
                whole[list(support)] = s
                best = values[k], whole
    assert best is not None  # supports of one entry have the vector 1
    return best[1]
