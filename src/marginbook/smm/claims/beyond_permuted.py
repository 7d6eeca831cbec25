r"""The claim on what the arrangement of the entries is worth.

A fixed permutation of the entries, :math:`X\mapsto X_\pi`, leaves all inner products of matrices as they are,
and so every machine on vec(X): :math:`\langle B_\pi,X_\pi\rangle=\langle B,X\rangle`. But :math:`B_\pi` has
full rank in general, and a machine of low rank cannot express it.
"""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short
from ..solvers.block import solve_inner
from ..solvers.block_descent import low_rank_svm


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
