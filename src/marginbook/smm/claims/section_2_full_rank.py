"""The claims on the ends of the range of ranks: full rank, and what functions of low rank are together."""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide
from ..model.objective import objective
from ..solvers.block_descent import low_rank_svm
from .problems import samples


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
    ),
)
def check_full_rank(less: int = 0, factor: float = 1.0) -> Evidence:
    """Compare f at new matrices with LIBSVM's on vec(X), and LIBLINEAR's without an intercept."""
    from sklearn.svm import SVC, LinearSVC

    rng = np.random.default_rng(734)
    worst, above, count = 0.0, 0.0, 0
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
        above = max(above, found.objective / value - 1)
        count += 1
    return Evidence(
        verdict=decide(worst <= 1e-3 and above <= 1e-6),
        measured=f"f differs by at most {at_most(worst, 1e-3)} from the vector machine's; the objective "
        f"exceeds that of LIBSVM or LIBLINEAR by at most {at_most(above, 1e-6)} of it",
        claimed="no difference",
        slack=min(1e-3 - worst, 1e-6 - above),
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
        Rival("full rank", {"full": True}),
        Rival("sums of functions of one projection", {"fixed": True}),
        Rival("a projection that changes by 2 %", {"turn": 0.02}),
    ),
)
def check_union(full: bool = False, fixed: bool = False, turn: float = 0.0) -> Evidence:
    """Add two functions of rank r: with different projections, then with the same one; project solutions."""
    rng = np.random.default_rng(740)
    left = kept = count = 0
    off = 0.0
    for sample in samples(746, intercepts=(False,)):
        found = low_rank_svm(
            sample.X, sample.y, rank=sample.rank, lam=sample.lam, sample_weight=sample.weights
        )
        P = np.linalg.qr(found.U + turn * rng.normal(size=found.U.shape))[0]
        outside = float(np.linalg.norm(found.coef - P @ P.T @ found.coef))
        off = max(off, outside / max(float(np.linalg.norm(found.coef)), 1.0))
    for d1, d2, r in ((2, 2, 1), (4, 3, 1), (6, 6, 2), (5, 8, 3)):
        for _ in range(50):
            rank = min(d1, d2) if full else r
            parts = [rng.normal(size=(d1, rank)) @ rng.normal(size=(rank, d2)) for _ in range(2)]
            Q = np.linalg.qr(rng.normal(size=(d1, rank)))[0]
            R = np.linalg.qr(Q + turn * rng.normal(size=Q.shape))[0]
            same = [Q @ Q.T @ parts[0], R @ R.T @ parts[1]]
            added = sum(same) if fixed else parts[0] + parts[1]
            left += np.linalg.matrix_rank(added, tol=1e-9) > rank
            total = same[0] + same[1]
            kept += np.linalg.matrix_rank(total, tol=1e-9) <= rank and np.allclose(Q @ Q.T @ total, total)
            count += 1
    return Evidence(
        verdict=decide(left == 0, kept == count and off <= 1e-9),
        measured=f"the sum of two functions of rank r has a larger rank in {left} of {count} cases; with one "
        f"P {kept} sums stay in the space of its kernel, and solutions of (2) are in that of their own P to "
        f"{at_most(off, 1e-9)}",
        claimed="0 cases; corrected, all sums and all solutions",
        slack=-left / count,
        why="For one P the functions are the space of the kernel <P., P.>, of dimension r d2, and the "
        "solution is in the space of its own P. The functions of all P are a union of such spaces, which is "
        "closed under sums only if r = min(d1, d2): there is no space that the family induces. One that "
        "contains all of them contains their sums, and so all linear functions. The conclusion that the "
        "draft draws, a hyperplane for projected matrices, needs only the space of one P. Its choice from "
        "the data is what makes (2) not convex.",
        sizes={"pairs": count},
        seeds=(740, 746),
    )
