r"""The large margin distribution machine beside support vector machine, average margin and kernel ridge.

With :math:`c=4\lambda_1/n` and :math:`z=\frac1n\sum_iy_i\phi(x_i)` the LDM minimises

.. math:: \tfrac12w^\top Aw-\lambda_2z^\top w+C\sum_i(1-y_iw^\top\phi(x_i))_+,\qquad
   A=I+c\,\Phi^\top(I-\tfrac1nyy^\top)\Phi .

So it is an SVM in the inner product of A, on top of the point :math:`w_0=\lambda_2A^{-1}z` without hinge.
"""

from __future__ import annotations

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from ...claims import Evidence, Rival, at_most, claim, decide, given, times
from ...ldm.model.whitening import WhitenedGram
from ...ldm.peers.mamc import MAMCClassifier
from ...ldm.solvers.dual import active_set
from ...smm.estimators.low_rank import LowRankSVMClassifier
from ...smm.solvers.block_gram import gram_machine
from ...smm.solvers.box_qp import hinge_qp
from .problems import Pair, apart, described, pairs

CHAPTER = "bridge/01_one_notation"
VARIANCES = (0.1, 3.0)
#: values of C, times the mean of k(x, x) they are about what decides between hinge and length
COSTS = (0.1, 2.0)


def whitened(pair: Pair, lambda1: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the kernel :math:`\phi(x)^\top A^{-1}\phi(z)` of training rows, (n, n), and new ones, (n, m).

    Woodbury's identity: with :math:`P=c(I-yy^\top/n)` it is :math:`k(x,z)-K_x^\top P(I+KP)^{-1}K_z`.
    """
    n = len(pair.y)
    P = 4 * lambda1 / n * (np.eye(n) - np.outer(pair.y, pair.y) / n)
    middle = P @ np.linalg.inv(np.eye(n) + pair.K @ P)
    return pair.K - pair.K @ middle @ pair.K, pair.Kx - pair.K @ middle @ pair.Kx


def trained(pair: Pair, lambda1: float, lambda2: float, C: float) -> np.ndarray:
    """Return the LDM's decisions on the new points, (m,), from LDM's own solver."""
    H = WhitenedGram(pair.K, pair.y).hessian(lambda1)
    return np.asarray(active_set(H, pair.y, lambda1, lambda2, C, tol=1e-14).alpha @ pair.Kx)


@claim(
    "bridge/ldm-whitened-svm",
    kind="ours",
    where="LDM (12) and the SVM in another inner product",
    statement=r"with $\lambda_2=0$ the LDM is the SVM without intercept with the kernel $\phi(x)^\top "
    r"A^{-1}\phi(z)$, $A=I+\frac{4\lambda_1}n\Phi^\top(I-\frac1nyy^\top)\Phi$, also on new points; with "
    r"$\lambda_2>0$ it is that SVM added to $f_0=\frac{\lambda_2}n\sum_iy_ik_A(x_i,\cdot)$",
    notebook=f"{CHAPTER}#bridge-ldm-whitened-svm",
    rivals=(Rival("a Hessian 2 % larger", swaps={"ldm.model.whitening.WhitenedGram.hessian": times(1.02)}),),
)
def check_whitened() -> Evidence:
    """Train the SVM with the matrix room's solvers, and compare decisions on new points."""
    plain = shifted = 0.0
    count = 0
    for pair in pairs(820):
        n = len(pair.y)
        for lambda1 in VARIANCES:
            G, Gx = whitened(pair, lambda1)
            G = (G + G.T) / 2
            for cost in COSTS:
                C = cost / pair.scale
                svm = gram_machine(
                    G,
                    pair.y,
                    lam=1 / (2 * n * C),
                    loss="hinge",
                    sample_weight=np.ones(n),
                    fit_intercept=False,
                    tol=1e-12,
                )
                f = trained(pair, lambda1, 0.0, C)
                plain = max(plain, apart(svm.weights @ Gx, f, max(1.0, np.abs(f).max())))
                lambda2 = 0.5 * n * C
                left = 1 - lambda2 / n * pair.y * (G @ pair.y)
                start, box = np.zeros(n), np.full(n, C)
                Y = np.outer(pair.y, pair.y)
                beta, _ = hinge_qp(G * Y, -left, start, box, start, paired=False, tol=1e-12)
                g = (pair.y * (beta + lambda2 / n)) @ Gx
                f = trained(pair, lambda1, lambda2, C)
                shifted = max(shifted, apart(g, f, max(1.0, np.abs(f).max())))
        count += 1
    worst, tolerance = max(plain, shifted), 1e-5
    return Evidence(
        verdict=decide(worst <= tolerance),
        measured=f"decisions on new points differ by at most {at_most(plain, tolerance)} for lambda2 = 0, "
        f"and by {at_most(shifted, tolerance)} for lambda2 > 0",
        claimed="no difference",
        slack=tolerance - worst,
        why="The variance term is quadratic in w, so it only changes the inner product; completing the "
        "square removes the linear term. The solvers are those of the chapter on support matrix machines.",
        sizes={**described(count), "lambda1": list(VARIANCES), "C mean k(x,x)": list(COSTS)},
        seeds=(820,),
    )


@claim(
    "bridge/ldm-mean",
    kind="ours",
    where="LDM with its mean term alone, MAMC and SMM under a strong penalty",
    statement=r"with $\lambda_1=0$ the LDM is MAMC's direction $\lambda_2z$ up to the hinge losses: $\lvert "
    r"f(x)-\lambda_2z^\top\phi(x)\rvert\le C\sum_i\lvert k(x_i,x)\rvert$; it has exactly this direction "
    "where all margins are above 1 or, as for the full-rank SMM, all are below 1",
    notebook=f"{CHAPTER}#bridge-ldm-mean",
    rivals=(Rival("lambda2 2 % larger", swaps={"ldm.solvers.dual.active_set": given(3, 1.02)}),),
)
def check_mean() -> Evidence:
    """Compare LDM, MAMC and SMM: the bound for several C, and the two cases without a remainder."""
    used = exact = matrix = 0.0
    above = below = count = 0
    for pair in pairs(821):
        n = len(pair.y)
        sums, new = pair.K @ pair.y, pair.y @ pair.Kx
        allowed = np.abs(pair.Kx).sum(axis=0)
        for cost in (1e-3, 0.1, 10.0):
            C, lambda2 = cost / pair.scale, 1 / pair.scale
            left = np.abs(trained(pair, 0.0, lambda2, C) - lambda2 / n * new)
            used = max(used, float(np.max(left / np.maximum(C * allowed + 1e-9 * lambda2 * allowed, 1e-300))))
        mamc = MAMCClassifier(kernel="precomputed").fit(pair.K, pair.y)
        length = float(np.sqrt(pair.y @ sums))  # n |z|
        direction = mamc.decision_function(pair.Kx.T) * length
        C = 1 / pair.scale
        margins = pair.y * sums
        if margins.min() > 1e-3 * pair.scale:
            lambda2 = 1.1 * n / margins.min()
            f = trained(pair, 0.0, lambda2, C)
            exact, above = max(exact, apart(f, lambda2 / n * direction, np.abs(f).max())), above + 1
        C = 0.45 / margins.max()
        f = trained(pair, 0.0, n * C, C)
        exact, below = max(exact, apart(f, 2 * C * direction, np.abs(f).max())), below + 1
        if pair.kernel == "linear":
            smm = LowRankSVMClassifier(rank=None, lam=1 / (2 * n * C), fit_intercept=False, tol=1e-12)
            f = smm.fit(pair.X[:, None, :], pair.y).decision_function(pair.new[:, None, :])
            matrix = max(matrix, apart(f, C * direction, np.abs(f).max()))
        count += 1
    worst, tolerance = max(exact, matrix), 1e-6
    return Evidence(
        verdict=decide(used <= 1 and worst <= tolerance),
        measured=f"at most {used:.1%} of the bound is used; where there is no remainder, the LDM differs "
        f"from MAMC's direction by at most {at_most(exact, tolerance)}, the SMM by "
        f"{at_most(matrix, tolerance)}",
        claimed="at most 100 %; no difference",
        slack=min(1 - used, tolerance - worst),
        reach=used,
        why="w is lambda2 z plus the sum of beta_i y_i phi(x_i) with beta_i in [0, C]: beta is 0 where all "
        "margins are above 1, and C where all are below. The second case is every SVM with a small C: it "
        "sees only the sums of the classes.",
        sizes={
            **described(count),
            "margins above 1": above,
            "margins below 1": below,
            "C mean k(x,x)": [1e-3, 0.1, 10.0],
        },
        seeds=(821,),
    )


@claim(
    "bridge/ldm-kernel-ridge",
    kind="ours",
    where="LDM without hinge, kernel ridge and the DRM",
    statement=r"the mean and variance of the margins alone give kernel ridge: $\lambda_2A^{-1}z$ is the "
    r"ridge fit of the labels with the ridge $\frac n{4\lambda_1}$ and no intercept, times "
    r"$\frac{\lambda_2}{4\lambda_1(1-\bar\gamma)}$, where $\bar\gamma$ is the mean margin of that fit; the "
    "LDM equals it for every $C$ if all its margins are at least 1",
    notebook=f"{CHAPTER}#bridge-ldm-kernel-ridge",
    rivals=(Rival("lambda2 2 % larger", swaps={"ldm.solvers.dual.active_set": given(3, 1.02)}),),
)
def check_hingeless() -> Evidence:
    """Compare the LDM's quadratic part with KernelRidge; and the LDM, where no hinge counts or all do."""
    part = exact = 0.0
    above = below = count = 0
    for pair in pairs(822):
        n = len(pair.y)
        for lambda1 in (0.1, 3.0, 100.0):
            ridge = n / (4 * lambda1)
            model = KernelRidge(alpha=ridge, kernel="precomputed").fit(pair.K, pair.y)
            fit = pair.y * (pair.K @ model.dual_coef_)
            factor = 1 / (4 * lambda1 * (1 - fit.mean()))
            f = pair.Kx.T @ model.dual_coef_ * factor  # for lambda2 = 1
            _, Gx = whitened(pair, lambda1)
            part = max(part, apart(pair.y @ Gx / n, f, np.abs(f).max()))
            margins = fit * factor
            if margins.min() > 1e-3 * margins.max():
                lambda2, C = 1.1 / margins.min(), 1 / pair.scale
                g = trained(pair, lambda1, lambda2, C)
                exact, above = max(exact, apart(g, lambda2 * f, np.abs(g).max())), above + 1
            C = 0.45 / (n * margins.max())
            g = trained(pair, lambda1, n * C, C)
            exact, below = max(exact, apart(g, 2 * n * C * f, np.abs(g).max())), below + 1
        count += 1
    worst, tolerance = max(part, exact), 1e-6
    return Evidence(
        verdict=decide(worst <= tolerance),
        measured=f"the quadratic part differs from kernel ridge by at most {at_most(part, tolerance)}, the "
        f"LDM where the hinge is idle or fully active by {at_most(exact, tolerance)}",
        claimed="no difference",
        slack=tolerance - worst,
        why="The sum of squares (1 - gamma_i)^2 is n times the sum of (1 - mean)^2 and the variance, and "
        "both problems are stationary on the same line. By bridge/drm-kernel-ridge the fit is also y'w(x) of "
        "a DRM with alpha = 0 and beta = n / (4 lambda1). What the LDM adds to ridge regression is the "
        "hinge.",
        sizes={
            **described(count),
            "lambda1": [0.1, 3.0, 100.0],
            "margins above 1": above,
            "margins below 1": below,
        },
        seeds=(822,),
    )
