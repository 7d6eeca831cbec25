r"""The claims on where the block descent of Algorithm 1 ends.

It never goes up, as each step minimises over a set that holds the point before it. Its limits are optimal in
each block. They need not be the minimum: with :math:`X_1=e_1e_1^\top`, :math:`X_2=s\,e_2e_2^\top`, both of
class 1, :math:`r=1` and a start in :math:`V=e_1` no step ever sees :math:`X_2`, and with :math:`V=e_2` none
sees :math:`X_1`.
"""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short, times
from ..solvers.block_descent import low_rank_svm
from .problems import drawn
from .section_3_descent import NOTEBOOK, SETTLED, algorithm_1


def one_entry(scale: float, lam: float) -> float:
    r"""Return :math:`\min_a\frac12((1-sa)_++1)+\lambda a^2`, s = `scale`: (2) with one matrix of two seen."""
    a = min(1 / scale, scale / (4 * lam))
    return 0.5 * (max(1 - scale * a, 0.0) + 1) + lam * a**2


@claim(
    "smm/not-global",
    kind="ours",
    where="Section 3, Algorithm 1",
    statement="the limit depends on the start and is not always the minimum of (2): two starts can have "
    "different limits",
    notebook=f"{NOTEBOOK}#smm-not-global",
    rivals=(
        Rival("limits 2 % lower", swaps={"smm.claims.section_3_local_optima.one_entry": times(0.98)}),
        Rival("two matrices of one size", {"scales": (1.0,)}),
    ),
)
def check_two_starts(scales: tuple[float, ...] = (1.5, 2.0, 4.0)) -> Evidence:
    """Descend from e_1 and e_2 with two diagonal matrices; compare with the closed form of each limit."""
    apart, differences, settled, count = 0.0, [], 0, 0
    for scale in scales:
        X = np.array([np.diag([1.0, 0.0]), np.diag([0.0, scale])])
        y = np.ones(2)
        for lam in (0.05, 0.2, 0.5):
            values = []
            for k, size in ((0, 1.0), (1, scale)):
                end = algorithm_1(X, y, np.eye(2)[:, [k]], lam=lam)
                values.append(end.path[-1])
                apart = max(apart, abs(end.path[-1] - one_entry(size, lam)))
                settled += sum(gain <= SETTLED for gain in end.gains)
            differences.append(values[0] / values[1] - 1)
            count += 1
    least = min(differences)
    return Evidence(
        verdict=decide(least > SETTLED and apart <= 1e-6 and settled == 4 * count),
        measured=f"from e_1 the descent ends {least:.0%} to {max(differences):.0%} above its end from e_2; "
        f"of both limits {settled} of {4 * count} blocks are optimal, and they differ from their closed "
        f"forms by at most {at_most(apart, 1e-6)}",
        claimed="more than 0%; all blocks; no difference",
        slack=min(least - SETTLED, 1e-6 - apart, short(settled, 4 * count)),
        why="Take X_1 = e_1e_1', X_2 = s e_2e_2' and r = 1. From V = e_1 every step has the features X_i "
        "e_1, and X_2 e_1 = 0. Such a limit is a saddle that a random start leaves, but there are strict "
        "local minima, too (next claim). Hence several starts are needed, and a bound that says when the "
        "best of them is the minimum.",
        sizes={"problems": count, "s": list(scales), "lambda": [0.05, 0.2, 0.5]},
    )


def curvatures(U: np.ndarray, V: np.ndarray, X: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    r"""Return the eigenvalues of the Hessian of (2) with the logistic loss in the entries of U and V,
    ascending.

    :math:`r^2` of them are 0 in a stationary point: :math:`UR,VR^{-\top}` have the same product for every
    invertible R.

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
    kind="ours",
    where="Section 3, Algorithm 1",
    statement="(2) has strict local minima, up to the choice of factors, that are not global, even for a "
    "smooth loss",
    notebook=f"{NOTEBOOK}#smm-local-minima",
    rivals=(Rival("full rank, where (2) is convex", {"rank": 3}),),
)
def check_local_minima(rank: int = 1) -> Evidence:
    """Descend from many starts with the logistic loss; keep the limits with a positive definite Hessian."""
    rng = np.random.default_rng(743)
    several, gaps, least, tested, curved = 0, [], np.inf, 0, []
    for _ in range(12):
        X, y = drawn(rng, 12, 3, 3, 1, noise=2.0)
        lam, found = 0.02, []
        for _ in range(6):
            start = rng.normal(size=(3, rank)), rng.normal(size=(3, rank))
            end = low_rank_svm(
                X, y, rank=rank, lam=lam, loss="logistic", start=start, tol=1e-13, max_iter=2000
            )
            spectrum = curvatures(end.U, end.V, X, y, lam)
            if spectrum[0] > -1e-5 and spectrum[rank**2] > 1e-4:
                found.append((end.objective, float(spectrum[rank**2])))
        values = sorted(found)
        tested += 1
        if values and values[-1][0] > values[0][0] * 1.001:
            several += 1
            gaps.append(values[-1][0] / values[0][0] - 1)
            curved.append(values[-1][1])
            least = min(least, values[-1][1])
    return Evidence(
        verdict=decide(several > 0 and least > 1e-4),
        measured=f"{several} of {tested} problems have local minima with values up to "
        f"{max(gaps, default=0):.0%} above the lowest one found; the smallest curvature in one of them is "
        f"{least:.0e}",
        claimed="at least one problem",
        slack=max(gaps, default=-1.0),
        why="Logistic loss, rank 1, 12 matrices of 3 x 3, 6 starts. At each of these points one eigenvalue "
        "of the Hessian in (U, V) is 0, for the scaling that leaves UV' as it is, and the others are "
        "positive. So a method that only descends cannot leave them by small steps.",
        sizes={"problems": tested, "starts": 6, "n": 12},
        seeds=(743,),
    )
