r"""The claims on what the arrangement of the entries is worth, and on kernels between rows in the linear
case.

A fixed permutation of the entries, :math:`X\mapsto X_\pi`, leaves all inner products of matrices as they are,
and so every machine on vec(X): :math:`\langle B_\pi,X_\pi\rangle=\langle B,X\rangle`. But :math:`B_\pi` has
full rank in general, and a machine of low rank cannot express it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short
from ...kernels import Kernel
from ..solvers.block import solve_inner
from ..solvers.block_descent import low_rank_svm
from ..solvers.kernel_block_descent import low_rank_kernel_svm
from .problems import samples

#: relative differences of decision values that the solvers' tolerances explain
TOLERANCE = 1e-3


def permuted(X: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return matrices (n, d1, d2) whose entries were put in another order, the same for all."""
    return X.reshape(len(X), -1)[:, order].reshape(X.shape)


@claim(
    "smm/permuted-entries",
    kind="ours",
    where="Section 1",
    statement="a fixed permutation of the entries changes nothing for the SVM on vec(X), and removes the "
    "gain of low rank",
    notebook="smm/01_matrices_as_features#smm-permuted-entries",
    rivals=(
        Rival("rows and columns permuted, no entries", {"entries": False}),
        Rival("truths of full rank", {"rank": 10}),
    ),
)
def check_permuted(entries: bool = True, rank: int = 1) -> Evidence:
    """Fit both machines before and after a permutation, for truths of rank 1; count errors."""
    rng = np.random.default_rng(770)
    n, d, lam, repeats, apart = 150, 10, 0.02, 6, 0.0
    errors: dict[str, list[float]] = {"low rank": [], "low rank, permuted": [], "vector": []}
    for _ in range(repeats):
        B = rng.normal(size=(d, rank)) @ rng.normal(size=(rank, d))
        X, new = rng.normal(size=(n, d, d)), rng.normal(size=(2000, d, d))
        y, truth = (np.where(np.einsum("nij,ij->n", Z, B) > 0, 1.0, -1.0) for Z in (X, new))
        order = rng.permutation(d * d)
        if not entries:
            order = (d * rng.permutation(d)[:, None] + rng.permutation(d)).ravel()
        values = []
        for train, test, name in (
            (X, new, "low rank"),
            (permuted(X, order), permuted(new, order), "low rank, permuted"),
        ):
            flat = solve_inner(train.reshape(n, -1), y, lam=lam, loss="squared_hinge", tol=1e-10)
            values.append(test.reshape(len(test), -1) @ flat.weights)
            end = low_rank_svm(train, y, rank=1, lam=lam, loss="squared_hinge")
            f = np.einsum("nij,ij->n", test, end.coef)
            errors[name].append(float(np.mean(np.sign(f) != truth)))
        errors["vector"].append(float(np.mean(np.sign(values[0]) != truth)))
        apart = max(apart, float(np.abs(values[0] - values[1]).max() / np.abs(values[0]).max()))
    means = {name: float(np.mean(v)) for name, v in errors.items()}
    lost = means["low rank, permuted"] - means["vector"]
    gained = means["vector"] - means["low rank"]
    return Evidence(
        verdict=decide(apart <= 1e-6 and gained > 0 and lost > 0),
        measured=f"errors: {means['low rank']:.1%} at rank 1, {means['vector']:.1%} on vec(X), "
        f"{means['low rank, permuted']:.1%} at rank 1 after the permutation; the vector machine's decision "
        f"values move by at most {at_most(apart, 1e-6)}",
        claimed="rank 1 is best before and worst after; the vector machine moves by 0",
        slack=min(gained, lost, short(apart <= 1e-6, 1)),
        why="The vector machine sees only inner products, which the permutation keeps. Low rank uses which "
        "entries share a row or a column; with the entries shuffled, a coefficient of rank 1 has as many "
        "parameters as before.",
        sizes={"problems": repeats, "n": n, "d": d, "lambda": lam},
        seeds=(770,),
    )


@claim(
    "smm/row-kernel-linear",
    kind="statement",
    where="Section 4, first paragraph, third sentence",
    statement=r"once the mapping is fixed, the procedure is the same as before: with $K(X,X')=XX'^\top$ "
    r"it is the linear "
    "one",
    notebook="smm/05_row_kernels#smm-row-kernel-linear",
    rivals=(
        Rival("a penalty 2 % larger", {"factor": 1.02}),
        Rival("the square of the product of rows", {"kernel": ("poly", {"degree": 2, "coef0": 0.0})}),
    ),
)
def check_linear_kernel(factor: float = 1.0, kernel: Kernel = "linear") -> Evidence:
    """Fit both from the same start; compare objective and decision values at new matrices."""
    rng = np.random.default_rng(771)
    apart, values, count = 0.0, 0.0, 0
    for sample in samples(772):
        if sample.lam < 0.01:  # flat blocks: the objective agrees long before the decision values do
            continue
        _, d1, d2 = sample.X.shape
        options: dict[str, Any] = {
            "rank": sample.rank,
            "lam": sample.lam,
            "loss": "squared_hinge",
            "sample_weight": sample.weights,
            "fit_intercept": sample.fit_intercept,
            "tol": 1e-10,
            "max_iter": 1000,
        }
        rows = low_rank_kernel_svm(
            sample.X, sample.y, kernel=kernel, **{**options, "lam": factor * sample.lam}
        )
        V = np.einsum("nab,nar->br", sample.X, rows.C.reshape(len(sample.y), d1, -1))
        start = rows.U, V
        linear = low_rank_svm(sample.X, sample.y, start=start, **options)
        new = rng.normal(size=(20, d1, d2))
        f = np.einsum("nij,ij->n", new, rows.U @ V.T)
        g = np.einsum("nij,ij->n", new, linear.coef)
        apart = max(apart, abs(rows.objective / linear.objective - 1))
        values = max(values, float(np.abs(f - g).max() / max(1.0, np.abs(g).max())))
        count += 1
    return Evidence(
        verdict=decide(apart <= 1e-6 and values <= TOLERANCE),
        measured=f"objectives differ by at most {at_most(apart, 1e-6)} and decision values by "
        f"{at_most(values, TOLERANCE)}, relative",
        claimed="no difference",
        slack=min(TOLERANCE - values, 1e-6 - apart),
        why="V = sum_j X_j'C_j is a d2 x r matrix here, and both blocks have the same features: the Gram "
        "matrix of all n d1 rows holds what X_i P and Q'X_i need. The linear descent starts at the kernel's "
        "limit.",
        sizes={"problems": count},
        seeds=(771, 772),
    )
