"""The claim of Section 4 on kernels between rows in the linear case."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide
from ...kernels import Kernel
from ..solvers.block_descent import low_rank_svm
from ..solvers.kernel_block_descent import low_rank_kernel_svm
from .problems import samples

#: relative differences of decision values that the solvers' tolerances explain
TOLERANCE = 1e-3


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
