r"""The claims on where the block descent of Algorithm 1 ends.

It never goes up, as each step minimises over a set that holds the point before it. Its limits are optimal in each
block. They need not be the minimum: with :math:`X_1=e_1e_1^\top`, :math:`X_2=s\,e_2e_2^\top`, both of class 1,
:math:`r=1` and a start in :math:`V=e_1` no step ever sees :math:`X_2`, and with :math:`V=e_2` none sees
:math:`X_1`.

Nor need they be stationary, if the loss has a kink. Take :math:`n=3`, all of class 1,

.. math::

   X_1=\begin{pmatrix}1&1\\-1&0\end{pmatrix},\quad X_2=\begin{pmatrix}1&-1\\1&0\end{pmatrix},\quad
   X_3=\begin{pmatrix}0&c\\c&0\end{pmatrix},\qquad B=e_1e_1^\top .

The margins of :math:`X_1,X_2` are 1: in the kink. With :math:`s=B_{12}`, :math:`t=B_{21}` the risk is
:math:`\frac13(|s-t|+1-c(s+t))` near B for :math:`B_{11}=1`. One block moves s or t alone and pays more for
:math:`|s-t|` than it gains, if :math:`c<1` is small; both blocks together move :math:`s=t`, which costs nothing and
gains :math:`2cs/3`. For a differentiable loss the slopes add up, and a point that is optimal in both blocks is
stationary among the matrices of rank r.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..claims import Evidence, claim, decide
from .objective import combination, loss_slopes, objective
from .problems import drawn, samples
from .solution_form import u_step
from .solvers.block_descent import low_rank_svm

NOTEBOOK = "smm/02_block_descent"
#: relative change by a sweep at which the descents stop
TOL = 1e-10
#: relative gain of one more block step that passes for none
SETTLED = 1e-6


@claim(
    "smm/monotone",
    where="Section 3, Algorithm 1",
    statement="each update is a convex problem, (2) never increases, and the updates converge to a point that is "
    "optimal in each block",
    notebook=f"{NOTEBOOK}#smm-monotone",
)
def check_monotone() -> Evidence:
    """Read the objective after each block, from the default start and a random one; solve both blocks again."""
    rng = np.random.default_rng(741)
    rise, gain, longest, count = -np.inf, -np.inf, 0, 0
    for sample in samples(742):
        _, d1, d2 = sample.X.shape
        for k, loss in enumerate(("hinge", "squared_hinge", "logistic")):
            begin = (
                (rng.normal(size=(d1, sample.rank)), rng.normal(size=(d2, sample.rank))) if k != 1 else None
            )
            settings = {"lam": sample.lam, "loss": loss, "fit_intercept": sample.fit_intercept}
            end = low_rank_svm(
                sample.X,
                sample.y,
                rank=sample.rank,
                sample_weight=sample.weights,
                start=begin,
                tol=TOL,
                max_iter=500,
                **settings,
            )
            path = np.asarray(end.objective_path)
            rise = max(rise, float(np.max(np.diff(path) / path[:-1], initial=-np.inf)))
            longest = max(longest, end.n_iter)
            for turned, factor in ((sample.X, end.V), (sample.X.transpose(0, 2, 1), end.U)):
                P = np.linalg.svd(factor, full_matrices=False)[0]
                value = u_step(turned, sample.y, P, weights=sample.weights, **settings)[3]
                gain = max(gain, 1 - value / end.objective)
            count += 1
    return Evidence(
        decide(rise <= 1e-12 and gain <= SETTLED),
        f"largest rise {max(rise, 0):.0e} and gain of one more step over either block {gain:.0e}, relative; "
        f"{longest} sweeps at most",
        "0",
        SETTLED - gain,
        "A step minimises a convex function over a set that holds the current point. The values are bounded below, so "
        "they converge; each block problem is strictly convex in W = UR, so that what the steps converge to is optimal "
        "in both blocks. Block-optimal is all that follows: see the claims on two starts and on kinks.",
        {"problems": count, "losses": 3},
        (741, 742),
    )


def one_entry(scale: float, lam: float) -> float:
    r"""Return :math:`\min_a\frac12((1-\mathrm{scale}\,a)_++1)+\lambda a^2`: (2) where one of two matrices is seen."""
    a = min(1 / scale, scale / (4 * lam))
    return 0.5 * (max(1 - scale * a, 0.0) + 1) + lam * a**2


@claim(
    "smm/not-global",
    where="Section 3, Algorithm 1",
    statement="the limit depends on the start and is not always the minimum of (2): two starts with different limits",
    notebook=f"{NOTEBOOK}#smm-not-global",
)
def check_two_starts() -> Evidence:
    """Descend from e_1 and e_2 with two diagonal matrices; compare with the closed form of each limit."""
    apart, differences, settled, count = 0.0, [], 0, 0
    for scale in (1.5, 2.0, 4.0):
        X = np.array([np.diag([1.0, 0.0]), np.diag([0.0, scale])])
        y = np.ones(2)
        for lam in (0.05, 0.2, 0.5):
            values = []
            for k, size in ((0, 1.0), (1, scale)):
                start = np.eye(2)[:, [k]]
                end = low_rank_svm(X, y, rank=1, lam=lam, start=(start, start), tol=TOL)
                values.append(end.objective)
                apart = max(apart, abs(end.objective - one_entry(size, lam)))
                for turned, factor in ((X, end.V), (X.transpose(0, 2, 1), end.U)):
                    P = factor / np.linalg.norm(factor)
                    settled += bool(u_step(turned, y, P, lam=lam)[3] >= end.objective * (1 - SETTLED))
            differences.append(values[0] / values[1] - 1)
            count += 1
    least = min(differences)
    return Evidence(
        decide(least > SETTLED and apart <= 1e-6 and settled == 4 * count),
        f"from e_1 the descent ends {least:.0%} to {max(differences):.0%} above where it ends from e_2; both limits are "
        f"optimal in both blocks ({settled} of {4 * count}) and differ from their closed forms by {apart:.0e}",
        "more than 0%",
        least - SETTLED,
        "X_1 = e_1e_1', X_2 = s e_2e_2', r = 1: from V = e_1 every step has the features X_i e_1, and X_2 e_1 = 0. "
        "Such a limit is a saddle that a random start leaves; there are strict local minima, too (next claim). Hence "
        "several starts, and a bound that says when the best of them is the minimum.",
        {"problems": count, "s": [1.5, 2.0, 4.0], "lambda": [0.05, 0.2, 0.5]},
        (742,),
    )


def curvatures(U: np.ndarray, V: np.ndarray, X: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    r"""Return the eigenvalues of the Hessian of (2) with the logistic loss in the entries of U and V, ascending.

    :math:`r^2` of them are 0 in a stationary point: :math:`UR,VR^{-\top}` have the same product for every invertible
    R.

    Parameters
    ----------
    U : (d1, r) array
    V : (d2, r) array
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1
    lam : float
    """
    n, d1, d2 = X.shape
    r = U.shape[1]
    B = U @ V.T
    margins = y * np.einsum("nij,ij->n", X, B)
    p = 1 / (1 + np.exp(margins))
    # derivatives of B in U and in V, one row for each entry
    dU = np.einsum("ab,cr->arbc", np.eye(d1), V).reshape(d1 * r, d1 * d2)
    dV = np.einsum("ar,bc->brac", U, np.eye(d2)).reshape(d2 * r, d1 * d2)
    J = np.vstack([dU, dV])
    flat = X.reshape(n, -1)
    H = J @ (flat.T * (p * (1 - p) / n)) @ flat @ J.T + 2 * lam * J @ J.T
    slope = 2 * lam * B - np.einsum("n,nij->ij", y * p / n, X)
    cross = np.einsum("ab,rs->arbs", slope, np.eye(r)).reshape(d1 * r, d2 * r)
    H[: d1 * r, d1 * r :] += cross
    H[d1 * r :, : d1 * r] += cross.T
    return np.asarray(np.linalg.eigvalsh(H))


@claim(
    "smm/local-minima",
    where="Section 3, Algorithm 1 (beyond the paper)",
    statement="(2) has strict local minima that are not global, up to the choice of factors, also for a smooth loss",
    notebook=f"{NOTEBOOK}#smm-local-minima",
)
def check_local_minima() -> Evidence:
    """Descend from many starts with the logistic loss; keep the limits with a positive definite Hessian."""
    rng = np.random.default_rng(743)
    several, gaps, least, tested, curved = 0, [], np.inf, 0, []
    for _ in range(12):
        X, y = drawn(rng, 12, 3, 3, 1, noise=2.0)
        lam, found = 0.02, []
        for _ in range(6):
            start = rng.normal(size=(3, 1)), rng.normal(size=(3, 1))
            end = low_rank_svm(X, y, rank=1, lam=lam, loss="logistic", start=start, tol=1e-13, max_iter=2000)
            spectrum = curvatures(end.U, end.V, X, y, lam)
            if spectrum[0] > -1e-5 and spectrum[1] > 1e-4:
                found.append((end.objective, float(spectrum[1])))
        values = sorted(found)
        tested += 1
        if values[-1][0] > values[0][0] * 1.001:
            several += 1
            gaps.append(values[-1][0] / values[0][0] - 1)
            curved.append(values[-1][1])
            least = min(least, values[-1][1])
    return Evidence(
        decide(several > 0 and least > 1e-4),
        f"{several} of {tested} problems have local minima with values up to {max(gaps, default=0):.0%} above the lowest "
        f"one found; the smallest curvature in one of them is {least:.0e}",
        "at least one problem",
        max(gaps, default=-1.0),
        "Logistic loss, rank 1, 12 matrices of 3 x 3, 6 starts. In each of these points one eigenvalue of the Hessian "
        "in (U, V) is 0, for the scaling that leaves UV' as it is, and the others are positive: no step of any method "
        "that only goes down leaves them.",
        {"problems": tested, "starts": 6, "n": 12},
        (743,),
    )


def kinked(c: Fraction) -> np.ndarray:
    """Return the three matrices of the example, (3, 2, 2) array of fractions."""
    one, none = Fraction(1), Fraction(0)
    return np.array(
        [[[one, one], [-one, none]], [[one, -one], [one, none]], [[none, c], [c, none]]], dtype=object
    )


def exact_hinge(B: np.ndarray, X: np.ndarray, lam: Fraction) -> Fraction:
    """Return (2) for matrices of class 1, exactly."""
    losses = [max(1 - sum((B * x).ravel()), Fraction(0)) for x in X]
    return sum(losses, Fraction(0)) / len(X) + lam * sum((B * B).ravel())


@claim(
    "smm/kink",
    where="Section 3, Algorithm 1 (beyond the paper)",
    statement="with the hinge loss the descent can stop where both blocks are optimal and (2) still falls; with a "
    "differentiable loss it cannot",
    notebook=f"{NOTEBOOK}#smm-kink",
)
def check_kink() -> Evidence:
    """Prove both blocks optimal by exact multipliers; move both at once; look at slopes of the logistic loss."""
    lam, c = Fraction(1, 10), Fraction(3, 10)
    X = kinked(c)
    zero, one = Fraction(0), Fraction(1)
    B = np.array([[one, zero], [zero, zero]], dtype=object)
    here = exact_hinge(B, X, lam)
    # multipliers in [0, 1/3] with sum_i c_i X_i = 2 lam B on the entries that the block can move
    total = 2 * lam
    blocks = {}
    for name, (row, column), side in (("U", (1, 0), -1), ("V", (0, 1), 1)):
        third = Fraction(1, 3)
        first = (total - side * third * c) / 2
        multipliers = (first, total - first, third)
        M = sum(m * x for m, x in zip(multipliers, X, strict=True))
        bound = sum(multipliers) - (M[0, 0] ** 2 + M[row, column] ** 2) / (4 * lam)
        blocks[name] = bool(all(0 <= m <= third for m in multipliers) and bound == here)
    step = Fraction(1, 10)
    moved = np.outer(np.array([one, step], dtype=object), np.array([one, step], dtype=object))
    fall = 1 - exact_hinge(moved, X, lam) / here
    flat = X.astype(float)
    stays = low_rank_svm(flat, np.ones(3), rank=1, lam=float(lam), start=(np.eye(2)[:, :1],) * 2, tol=TOL)
    # a differentiable loss: 0 slopes in both blocks are 0 slope in the tangent space
    slope, count = 0.0, 0
    for sample in samples(744, intercepts=(False,)):
        settings = {"lam": sample.lam, "loss": "logistic", "sample_weight": sample.weights}
        end = low_rank_svm(sample.X, sample.y, rank=sample.rank, tol=1e-14, max_iter=3000, **settings)
        margins = sample.y * np.einsum("nij,ij->n", sample.X, end.coef)
        G = 2 * sample.lam * end.coef + combination(
            sample.weights * loss_slopes(margins, "logistic") / len(margins), sample.X, sample.y
        )
        slope = max(slope, float(max(np.abs(G @ end.V).max(), np.abs(G.T @ end.U).max())))
        count += 1
    best = low_rank_svm(flat, np.ones(3), rank=1, lam=float(lam), n_restarts=5, tol=TOL, random_state=0)
    value = objective(np.array(moved, dtype=float), 0.0, flat, np.ones(3), lam=float(lam))
    return Evidence(
        decide(all(blocks.values()) and fall > 0 and slope <= 1e-4),
        f"both blocks are optimal by exact multipliers, (2) is {float(here):.4f}, and {value:.4f} after a joint step of "
        f"1/10: {float(fall):.1%} less. The solver started there ends at {stays.objective:.4f}, from elsewhere at "
        f"{best.objective:.4f}. Slopes at limits of the logistic loss are {slope:.0e} at most",
        "less than 0% is gained; slopes 0",
        float(fall),
        "In the kink each block needs other multipliers of X_1 and X_2, and no single choice serves both. So a limit "
        "with the hinge is to be checked with one set of multipliers for both blocks, as the lower bound does, and not "
        "by two block gaps of 0. With a derivative the multipliers are one function of the margins.",
        {"problems": count, "n": 3},
        (744,),
    )


@claim(
    "smm/rank-kept",
    where="Section 3, the updates",
    statement=r"the updates with $(V^\top V)^{-1}$ find the best matrix of rank at most $r$ in their block from any "
    "start",
    notebook=f"{NOTEBOOK}#smm-rank-kept",
)
def check_rank_kept() -> Evidence:
    """Start with dependent columns: invert, use the pseudo-inverse, and pad the basis."""
    rng = np.random.default_rng(745)
    singular = kept = grown = count = 0
    lost = []
    for _ in range(10):
        X, y = drawn(rng, 40, 4, 4, 2)
        v = rng.normal(size=(4, 1))
        V = v @ np.array([[1.0, 2.0]])
        singular += np.linalg.matrix_rank(V.T @ V) < 2
        P = v / np.linalg.norm(v)
        for _ in range(20):  # the pseudo-inverse: the projection on what V spans
            B = u_step(X, y, P, lam=0.02)[0]
            Q = np.linalg.svd(B)[0][:, :1]
            B = u_step(X.transpose(0, 2, 1), y, Q, lam=0.02)[0].T
            P = np.linalg.svd(B)[2][:1].T
        kept += np.linalg.matrix_rank(B, tol=1e-6) == 1
        one = objective(B, 0.0, X, y, lam=0.02)
        padded = low_rank_svm(X, y, rank=2, lam=0.02, start=(rng.normal(size=(4, 2)), V), tol=1e-8)
        grown += np.linalg.matrix_rank(padded.coef, tol=1e-6) == 2
        lost.append(one / padded.objective - 1)
        count += 1
    return Evidence(
        decide(singular == 0, kept == count and grown == count and min(lost) > 0),
        f"V'V is singular in {singular} of {count} starts with dependent columns; with the pseudo-inverse the rank stays "
        f"1 in {kept} descents, which end {min(lost):.0%} to {max(lost):.0%} above those that may use rank 2",
        "0",
        -singular / count,
        "No U-step can leave the span of V, nor a V-step that of U, so the rank never grows; and a fit that once loses "
        "a column, as with a strong penalty or few matrices, has no inverse to go on with. An orthonormal basis of the "
        f"span, filled up with further directions, costs nothing and lets the rank grow ({grown} of {count}).",
        {"problems": count, "n": 40, "d": 4},
        (745,),
    )
