r"""The claim that the hinge loss is robust and sparse.

Let B be the minimum of :math:`F(B)=\frac1n\sum_iL(y_i\langle B,X_i\rangle)+\lambda\lVert B\rVert_F^2`, at
full rank or in one block, where this is strongly convex with the modulus :math:`2\lambda`. If one label is
turned the slope of F changes by :math:`\frac1n(L'(-m)+L'(m))y_iX_i`, so that with a loss whose slopes are in
[-1, 0]

.. math::

   \lVert B'-B\rVert_F\le\frac1{2\lambda}\cdot\frac2n\lVert X_i\rVert_F=\frac{\lVert X_i\rVert_F}{\lambda n},

whatever the sample's margin is: its multiplier stays in the box. Equality: all margins below 1 before and
after, when :math:`B=\frac1{2\lambda n}\sum_iy_iX_i`. The slopes of the squared hinge have no bound.

The other reading of the word, that a small share of wild samples cannot spoil the fit: the bound grows with
the size of the matrix, and B is turned away from the direction of a large one.
"""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, claim, decide
from ..solvers.block import solve_inner
from .problems import drawn

#: what the tolerance of the solver leaves of a distance, relative to the bound
ROUNDING = 1e-4


def solved(X: np.ndarray, y: np.ndarray, lam: float, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the minimum at full rank, (d1 d2,), and its multipliers as shares of the box, (n,)."""
    found = solve_inner(X.reshape(len(X), -1), y, lam=lam, loss=loss, tol=1e-12)
    return found.weights, len(y) * found.multipliers


def error(weights: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """Return the share of `X` that is on the wrong side."""
    return float(np.mean(y * (X.reshape(len(X), -1) @ weights) <= 0))


@claim(
    "smm/hinge-robust",
    kind="statement",
    where="Section 2.1, first sentence",
    statement="it is well known that the hinge loss enjoys sparseness and robustness",
    notebook="smm/02_block_descent#smm-hinge-robust",
    rivals=(
        Rival("the squared hinge", {"loss": "squared_hinge"}),
        Rival("the logistic loss, which has no zeros", {"loss": "logistic"}),
        Rival("a bound 2 % smaller", {"factor": 0.98}),
        Rival("samples that may be anywhere", {"wild": 1000.0}),
    ),
)
def check_robust(loss: str = "hinge", factor: float = 1.0, wild: float = 1.0) -> Evidence:
    """Turn one label, for weak to strong penalties; count zeros; then let one sample run away.

    Parameters
    ----------
    loss : str
    factor : float
        Of the bound.
    wild : float
        What the turned sample is multiplied with, which the bound is not told.
    """
    rng = np.random.default_rng(795)
    reach, box, zeros, count = 0.0, 0.0, [], 0
    for lam in (1e-3, 0.03, 1.0, 30.0):
        for n in (20, 60):
            X, y = drawn(rng, n, 3, 4, 1)
            before, multipliers = solved(X, y, lam, loss)
            if lam < 0.01:
                zeros.append(float(np.mean(multipliers < 1e-4)))
            for i in rng.choice(n, size=4, replace=False):
                turned, moved = y.copy(), X.copy()
                turned[i] *= -1
                moved[i] *= wild
                after, multipliers = solved(moved, turned, lam, loss)
                bound = factor * float(np.linalg.norm(X[i])) / (lam * n)
                reach = max(reach, float(np.linalg.norm(after - before)) / bound)
                box = max(box, float(multipliers.max()))
                count += 1
    X, y = drawn(rng, 60, 3, 4, 1)
    clean = error(solved(X, y, 0.03, loss)[0], X, y)
    spoiled = {}
    for size in (1.0, 10.0, 1000.0):
        far, turned = X.copy(), y.copy()
        far[0], turned[0] = size * X[0], -y[0]
        spoiled[size] = error(solved(far, turned, 0.03, loss)[0], X[1:], y[1:])
    sparse = float(np.mean(zeros))
    return Evidence(
        verdict=decide(reach <= 1 + ROUNDING and box <= 1 + ROUNDING and sparse > 0.1),
        measured=f"one reversed label moves B by at most {reach:.0%} of |X_i|/(lambda n), and the largest "
        f"multiplier is {box:.0%} of its upper limit; under the weakest penalty {sparse:.0%} of them are 0",
        claimed="at most 100%; at most 100%; more than 10%",
        slack=min(1 + ROUNDING - reach, 1 + ROUNDING - box, sparse - 0.1),
        why="The slopes of the hinge are in [-1, 0], so a sample has a bounded influence however wrong it "
        "is; with the squared hinge its influence grows with its margin. Multipliers are 0 beyond the "
        "margin, where the slope is 0. The bound holds in each block and at full rank, where the problem is "
        "convex; at low rank two fits can also end in different limits.",
        sizes={"problems": count, "n": [20, 60]},
        seeds=(795,),
        reach=reach,
        reading="robust against wrong labels of matrices as they are. Against matrices of any size there is "
        "no bound: with the label of one sample of 60 reversed and its matrix made "
        + ", ".join(f"{size:g}" for size in spoiled)
        + " times as large, the error on the others is "
        + ", ".join(f"{value:.0%}" for value in spoiled.values())
        + f", and {clean:.0%} before",
    )
