"""The claims on the ends of the range of ranks: full rank, and what functions of low rank are together."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide
from ..model.objective import objective
from ..solvers.block_descent import low_rank_svm
from .problems import samples

#: tolerance for what is in a space, relative
IN_SPACE = 1e-8


def _twice_penalty(value: Callable[..., float]) -> Callable[..., float]:
    """Return a swap of the objective: twice the penalty."""
    return lambda *given, lam, **named: value(*given, lam=2 * lam, **named)


@claim(
    "smm/full-rank",
    kind="statement",
    where="Section 2.1, below (2)",
    statement="at full rank (2) degenerates to the conventional linear SVM on vectorised matrices",
    notebook="smm/01_matrices_as_features#smm-full-rank",
    rivals=(
        Rival("a rank one below the full one", {"less": 1}),
        Rival("a penalty 2 % larger", {"factor": 1.02}),
        Rival("the penalty in the place of its half", {"factor": 2.0}),
        Rival("an objective with twice the penalty", swaps={"smm.model.objective.objective": _twice_penalty}),
    ),
)
def check_full_rank(less: int = 0, factor: float = 1.0) -> Evidence:
    """Compare f at new matrices with LIBSVM's on vec(X), and LIBLINEAR's without an intercept."""
    from sklearn.svm import SVC, LinearSVC

    rng = np.random.default_rng(734)
    worst, above, under, count = 0.0, 0.0, 0.0, 0
    for sample in samples(735):
        n, d1, d2 = sample.X.shape
        if sample.lam < 0.01:  # LIBLINEAR needs very many passes there
            continue
        flat, C = sample.X.reshape(n, -1), 1 / (2 * factor * sample.lam * n)
        if sample.fit_intercept:
            model = SVC(kernel="linear", C=C, tol=1e-8)
        else:
            model = LinearSVC(
                loss="hinge", C=C, tol=1e-9, fit_intercept=False, max_iter=1_000_000, random_state=0
            )
        model.fit(flat, sample.y, sample_weight=sample.weights)
        found = low_rank_svm(
            sample.X,
            sample.y,
            rank=max(1, min(d1, d2) - less),
            lam=sample.lam,
            sample_weight=sample.weights,
            fit_intercept=sample.fit_intercept,
            tol=1e-9,
        )
        new = rng.normal(size=(20, d1, d2))
        f = np.einsum("mij,ij->m", new, found.coef)
        other = new.reshape(20, -1) @ model.coef_[0]
        worst = max(worst, float(np.abs(f - other).max() / max(1.0, np.abs(other).max())))
        value = objective(
            model.coef_[0].reshape(d1, d2),
            float(np.ravel(model.intercept_)[0]),
            sample.X,
            sample.y,
            lam=sample.lam,
            sample_weight=sample.weights,
        )
        # what is below it is the other solver's inexactness
        above, under = max(above, found.objective / value - 1), max(under, 1 - found.objective / value)
        count += 1
    return Evidence(
        verdict=decide(worst <= 1e-3 and above <= 1e-6 and under <= 1e-4),
        measured=f"f differs by at most {at_most(worst, 1e-3)} from the vector machine's; the objective "
        f"exceeds that of LIBSVM or LIBLINEAR by at most {at_most(above, 1e-6)} of it, and is at most "
        f"{at_most(under, 1e-4)} below it",
        claimed="no difference",
        slack=min(1e-3 - worst, 1e-6 - above, 1e-4 - under),
        why="Every d1 x d2 matrix is U V' with r = min(d1, d2), and |U V'|_F is the length of the vector, so "
        "(2) is the convex problem itself. One step in which the smaller side is full already solves it.",
        sizes={"problems": count},
        seeds=(734, 735),
    )


@claim(
    "smm/union-of-spaces",
    kind="statement",
    where="Section 2.1, below the definition of the low rank linear kernel",
    statement=r"$f$ can be viewed as an element in the reproducing kernel Hilbert space induced by the "
    r"rank-$r$ linear "
    r"kernels $\{\langle\cdot,\cdot\rangle_P\}$ of all projections",
    notebook="smm/01_matrices_as_features#smm-union-of-spaces",
    rivals=(
        Rival("the space of a projection that is 2 % off", {"turn": 0.02}),
        Rival("a mean over projections that miss a direction", {"missed": 1}),
        Rival("lengths in the space of the mean kernel 2 % smaller", {"factor": 0.98}),
    ),
)
def check_union(turn: float = 0.0, missed: int = 0, factor: float = 1.0) -> Evidence:
    """Look for solutions in the space of the kernel of their own P, and in that of the mean over all P.

    Parameters
    ----------
    turn : float
        How far P is turned from that of the solution.
    missed : int
        How many directions none of the averaged projections sees.
    factor : float
        Of the squared lengths.
    """
    rng = np.random.default_rng(740)
    outside, length = [0.0, 0.0], 0.0
    count = left = pairs = 0
    for sample in samples(746, intercepts=(False,)):
        found = low_rank_svm(
            sample.X, sample.y, rank=sample.rank, lam=sample.lam, sample_weight=sample.weights
        )
        d1, d2 = found.coef.shape
        Z = rng.normal(size=(d1 * d2 + 4, d1, d2))  # they span all matrices
        f = np.einsum("nij,ij->n", Z, found.coef)
        own = np.linalg.qr(found.U + turn * rng.normal(size=found.U.shape))[0].T
        # r of the rows of a rotation at a time: the mean of P'P over them is that over all P
        rows = np.linalg.qr(rng.normal(size=(d1, d1)))[0][: max(d1 - missed, 1)]
        every = [rows[list(part)] for part in combinations(range(len(rows)), min(sample.rank, len(rows)))]
        squared = float(np.sum(found.coef**2))
        for k, (projections, wanted) in enumerate((([own], squared), (every, d1 / sample.rank * squared))):
            gram = np.mean([projected_gram(P, Z) for P in projections], axis=0)
            off, own_length = in_space(gram, f)
            outside[k] = max(outside[k], off)
            length = max(length, abs(own_length - factor * wanted) / max(wanted, np.finfo(float).tiny))
        count += 1
    for d1, d2, r in ((2, 2, 1), (4, 3, 1), (6, 6, 2), (5, 8, 3)):
        for _ in range(50):
            parts = [rng.normal(size=(d1, r)) @ rng.normal(size=(r, d2)) for _ in range(2)]
            left += np.linalg.matrix_rank(parts[0] + parts[1], tol=1e-9) > r
            pairs += 1
    worst = max(*outside, length)
    return Evidence(
        verdict=decide(worst <= IN_SPACE),
        measured="the part of a solution of (2) outside the space of the kernel of its own P is at most "
        f"{at_most(outside[0], IN_SPACE)}, and that outside the space of the mean kernel "
        f"{at_most(outside[1], IN_SPACE)}, relative; its squared norms in the two spaces differ from |B|^2 "
        f"and (d1/r) |B|^2 by at most {at_most(length, IN_SPACE)}",
        claimed="nothing outside, in either reading",
        slack=IN_SPACE - worst,
        why="For one P the space of the kernel <P., P.> has dimension r d2, and the solution is in that of "
        "its own P. For all P together take the mean over rotations: that of P'P is (r/d1) I, so the kernel "
        "becomes (r/d1) <X, X'>, and its space has all linear functions. The mean is that over the rows "
        "of a random rotation, r at a time. Ours: neither space is the set of functions of rank at most r, "
        "which is the union of the spaces of all P. It is not closed under sums below full rank: the sum of "
        f"two such functions had a larger rank in {left} of {pairs} random cases. This is why (2) is not "
        "convex.",
        sizes={"problems": count, "pairs": pairs},
        seeds=(740, 746),
    )


def projected_gram(P: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the Gram matrix of <PX, PX'>: (n, n)."""
    flat = np.einsum("ra,nab->nrb", P, Z).reshape(len(Z), -1)
    return flat @ flat.T


def in_space(gram: np.ndarray, f: np.ndarray) -> tuple[float, float]:
    """Return which share of the values f is outside the range of a Gram matrix, and their squared length."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-9 * values[-1]
    along = vectors[:, kept].T @ f
    size = max(float(np.linalg.norm(f)), np.finfo(float).tiny)
    return float(np.linalg.norm(f - vectors[:, kept] @ along)) / size, float(np.sum(along**2 / values[kept]))
