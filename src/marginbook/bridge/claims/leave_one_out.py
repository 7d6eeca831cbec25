r"""Leave-one-out in three chapters is one formula: eliminate a sample's unknowns from a symmetric system.

For :math:`Mx=h` with M symmetric, delete the equations and unknowns S. With :math:`P=M^{-1}` the solution
of what is left, :math:`M_{RR}\tilde x=h_R`, has

.. math:: M_{SR}\tilde x=h_S-(P_{SS})^{-1}x_S,

because :math:`P_{SS}^{-1}` is the Schur complement :math:`M_{SS}-M_{SR}M_{RR}^{-1}M_{RS}`.
"""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, given, times
from ...clasmk.estimators.lssvm import LSSVMClassifier
from ...drm.solvers.leave_one_out import leave_one_out
from ...kfda.model.objective import midpoint, targets
from ...kfda.peers.ridge import KFDAClassifier
from .problems import apart, described, pairs

CHAPTER = "bridge/01_one_notation"
SHARES = (0.01, 0.1, 10.0)


def eliminated(M: np.ndarray, h: np.ndarray, blocks: list[list[int]]) -> list[np.ndarray]:
    """Return what the solution without the unknowns of each block gives in the block's equations.

    Parameters
    ----------
    M : (k, k) array
        Symmetric and invertible.
    h : (k,) array
    blocks : list of lists of int

    Returns
    -------
    list of arrays, one of each block's length
    """
    P = np.linalg.inv(M)
    x = P @ h
    return [h[S] - np.linalg.solve(P[np.ix_(S, S)], x[S]) for S in blocks]


@claim(
    "bridge/leave-one-out",
    kind="ours",
    where="leave-one-out of DRM, kernel Fisher discriminant and LS-SVM",
    statement="the exact leave-one-out formulas of three chapters are one: $h_S-(P_{SS})^{-1}x_S$, "
    r"$P=M^{-1}$, with one row in $S$ for kernel ridge (the DRM's weights at $\alpha=0$) and the LS-SVM, "
    "which is PRESS, and two for the kernel Fisher discriminant, whose sample is a target and a kernel "
    "column",
    notebook=f"{CHAPTER}#bridge-leave-one-out",
    rivals=(
        Rival(
            "a ridge 2 % larger in the DRM's",
            swaps={"drm.solvers.leave_one_out.leave_one_out": given(3, 1.02)},
        ),
        Rival("a threshold 2 % off", swaps={"kfda.model.objective.midpoint": times(1.02)}),
    ),
)
def check_leave_one_out() -> Evidence:
    """Compare the formula with what each room computes, and with fits on the other samples."""
    ridge = machine = fisher = rule = 0.0
    count = 0
    for pair in pairs(840, repeats=2):
        n, y, K = len(pair.y), pair.y, pair.K / pair.scale
        yhat = targets(y > 0)
        ones, zero = np.ones((n, 1)), np.zeros((n, 1))
        alone = np.array([(y == value).sum() == 1 for value in y])
        for share in SHARES:
            by_formula = np.concatenate(eliminated(K + share * np.eye(n), y, [[i] for i in range(n)]))
            direct, deltas = np.empty(n), np.full((n, 2), np.inf)
            for i in range(n):
                rest = np.delete(np.arange(n), i)
                w = np.linalg.solve(K[np.ix_(rest, rest)] + share * np.eye(n - 1), K[rest, i])
                direct[i] = y[rest] @ w
                products = [w * (y[rest] == value) for value in (-1.0, 1.0)]
                inner = K[np.ix_(rest, rest)]
                for c, part in enumerate(products):
                    other = w - part
                    if part.any() or not alone[i]:
                        deltas[i, c] = part @ inner @ part + other @ inner @ other - 2 * part @ K[rest, i]
            ridge = max(ridge, apart(by_formula, direct, max(1.0, np.abs(direct).max())))
            found = leave_one_out(K, pair.sizes, 0.0, share).delta
            both = np.isfinite(found) & np.isfinite(deltas)
            rule = max(rule, apart(found[both], deltas[both], 1.0))

            bordered = np.block([[K + share * np.eye(n), ones], [ones.T, np.zeros((1, 1))]])
            left = np.concatenate(eliminated(bordered, np.r_[y, 0.0], [[i] for i in range(n)]))
            room = LSSVMClassifier(C=1 / share, kernel="precomputed").fit(K, y).loo_decision_
            machine = max(machine, apart(room, left, max(1.0, np.abs(left).max())))

            # residuals r, bias b and coefficients of r + b 1 + K a = yhat, 1'r = 0, K r = mu a
            mu = share**2
            whole = np.block(
                [[np.eye(n), ones, K], [ones.T, np.zeros((1, 1)), zero.T], [K, zero, -mu * np.eye(n)]]
            )
            right = np.r_[yhat, 0.0, np.zeros(n)]
            pairs_of = eliminated(whole, right, [[i, n + 1 + i] for i in range(n)])
            values = np.array([pair_of[0] for pair_of in pairs_of])
            half = (yhat.max() - yhat.min()) / 2
            decisions = (values - midpoint(int((y > 0).sum()), int((y < 0).sum()))) / half
            room = KFDAClassifier(reg=mu, kernel="precomputed").fit(K, y).loo_decision_
            fisher = max(fisher, apart(room[~alone], decisions[~alone], max(1.0, np.abs(decisions).max())))
        count += 1
    worst, tolerance = max(ridge, rule, machine, fisher), 1e-7
    return Evidence(
        verdict=decide(worst <= tolerance),
        measured="the formula differs from left-out fits of kernel ridge by at most "
        f"{at_most(ridge, tolerance)}, of the DRM's dissimilarities by {at_most(rule, tolerance)}, of this "
        f"library's LS-SVM by {at_most(machine, tolerance)}, of the kernel Fisher discriminant by "
        f"{at_most(fisher, tolerance)}",
        claimed="no difference",
        slack=tolerance - worst,
        why="The inverse's block on S is the inverse of a Schur complement, so one inverse serves all "
        "samples. With alpha > 0 the DRM's class weights change as well, which its chapter covers. The LDM's "
        "hinge leaves no linear system, and its chapter has intervals instead.",
        sizes={**described(count), "ridge": list(SHARES)},
        seeds=(840,),
    )
