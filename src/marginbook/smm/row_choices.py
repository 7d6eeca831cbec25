r"""The claims on the three choices of K in Section 4: their index terms, parameters and feature spaces."""

from __future__ import annotations

import numpy as np

from ..claims import Evidence, claim, decide
from ..kernels import Kernel
from .psd_rows import NOTEBOOK, ROUNDING, SHAPES, matrices, printed_gram


@claim(
    "smm/kernel-polynomial",
    where="Section 4",
    statement=r"$K(X,X')=(XX'^\top+\lambda I)^{\circ m}$ is the polynomial kernel of degree $m$",
    notebook=f"{NOTEBOOK}#smm-kernel-polynomial",
)
def check_polynomial() -> Evidence:
    """Compare with the polynomial kernel of rows, with the one of (row, number), and try lambda < 0."""
    rng = np.random.default_rng(722)
    rows_apart = indexed = 0.0
    mixed = count = negative = tried = 0
    for X in matrices(rng):
        n, d1, d2 = X.shape
        rows = X.reshape(-1, d2)
        for m in (1, 2, 3):
            for lam in (0.5, 2.0):
                G = printed_gram(("poly", {"degree": m, "coef0": lam}), X)
                scale = np.abs(G).max()
                plain = (rows @ rows.T + lam) ** m
                numbered = np.hstack([rows, np.sqrt(lam) * np.tile(np.eye(d1), (n, 1))])
                apart = float(np.abs(G - plain).max() / scale)
                rows_apart = max(rows_apart, apart)
                mixed += apart > ROUNDING
                indexed = max(indexed, float(np.abs(G - (numbered @ numbered.T) ** m).max() / scale))
                count += 1
    for m in (1, 2, 3, 4):
        for lam in (-0.01, -0.5, -2.0):
            # the term m lam^(m-1) x x' (m even) or lam^m (m odd) is negative: a pair {x, -x} or {0} shows it
            x = np.sqrt(-lam) / 10
            G = printed_gram(("poly", {"degree": m, "coef0": lam}), np.array([[[x]], [[-x]], [[0.0]]]))
            negative += np.linalg.eigvalsh(G)[0] < -1e-12
            tried += 1
    return Evidence(
        decide(mixed == 0, indexed <= ROUNDING and negative == tried),
        f"it differs from (x_a'x_b + lambda)^m between rows in {mixed} of {count} cases, by up to "
        f"{rows_apart:.1f} times its largest entry",
        "0",
        -rows_apart,
        "lambda I adds lambda only where the numbers of the rows agree: the kernel is (x_a'x_b + lambda "
        f"1{{a = b}})^m, a polynomial kernel of (x_a, sqrt(lambda) e_a), to {indexed:.0e}. Rows at "
        "different places meet in terms of degree m alone, rows at the same place in all lower degrees "
        "too. For d1 = 1 both are the same. The display does not say lambda >= 0: with lambda < 0 there "
        f"are negative eigenvalues for every degree ({negative} of {tried}).",
        {"problems": count, "degrees": [1, 2, 3], "lambda": [0.5, 2.0]},
        (722,),
    )


@claim(
    "smm/kernel-gaussian",
    where="Section 4",
    statement="the Gaussian $K$ is a kernel: its block matrix is positive definite if all $nd_1$ rows differ",
    notebook=f"{NOTEBOOK}#smm-kernel-gaussian",
)
def check_gaussian() -> Evidence:
    """Take eigenvalues and ranks of Gaussian block matrices for distinct and repeated rows."""
    rng = np.random.default_rng(723)
    least, ranks, count = np.inf, 0, 0
    for n, d1, d2 in SHAPES:
        for sigma in (0.1, 0.4):
            # on a shuffled grid, so that no two rows are nearer than 1/2
            places = rng.permutation(2 * n * d1)[: n * d1]
            rows = np.concatenate([places[:, None] / 2, rng.normal(size=(n * d1, d2 - 1))], axis=1)
            kernel = ("rbf", {"gamma": 1 / (2 * sigma**2)})
            least = min(least, np.linalg.eigvalsh(printed_gram(kernel, rows.reshape(n, d1, d2)))[0])
            again = np.concatenate([rows, rows]).reshape(2 * n, d1, d2)
            ranks += np.linalg.matrix_rank(printed_gram(kernel, again)) == n * d1
            count += 1
    return Evidence(
        decide(least > 0 and ranks == count),
        f"smallest eigenvalue {least:.2f} for distinct rows; with every matrix twice the rank is that of "
        f"one copy in {ranks} of {count} cases",
        "above 0",
        float(least),
        "A Gaussian kernel is strictly positive definite on distinct points, and the points here are the "
        "rows of all matrices, wherever they stand: exchanging two rows of all matrices at once permutes "
        "K. Equal rows make equal columns, nothing worse. exp(-|.|^2/(2 sigma^2)) is gamma = 1/(2 "
        "sigma^2) in this library.",
        {"problems": count, "sigma": [0.1, 0.4]},
        (723,),
    )


@claim(
    "smm/map-range",
    where="Section 4",
    statement=r"the feature mapping is $h:\mathbb R^{d_1\times d_2}\to\mathbb R^{d_1\times d_2}$",
    notebook=f"{NOTEBOOK}#smm-map-range",
)
def check_range() -> Evidence:
    """Compare the rank of block matrices with d2, which bounds it if h maps into d1 x d2 matrices."""
    rng = np.random.default_rng(724)
    found: dict[str, int] = {"linear": 0, "polynomial": 0, "Gaussian": 0}
    bounded = count = 0
    n, shapes = 12, ((2, 2), (3, 4), (4, 3), (1, 5))
    for d1, d2 in shapes:
        X = rng.normal(size=(n, d1, d2))
        kernels: dict[str, Kernel] = {
            "linear": "linear",
            "polynomial": ("poly", {"degree": 2, "coef0": 1.0}),
            "Gaussian": ("rbf", {"gamma": 2.0}),
        }
        for name, kernel in kernels.items():
            rank = int(np.linalg.matrix_rank(printed_gram(kernel, X)))
            found[name] += rank > d2
            if name == "polynomial":
                bounded += rank <= (d2 + d1) * (d2 + d1 + 1) // 2
        count += 1
    wider = sum(found.values())
    return Evidence(
        decide(wider == 0, found["linear"] == 0 and bounded == count),
        f"the rank of [K(X_i, X_j)] is above d2 for the polynomial kernel in {found['polynomial']} and for "
        f"the Gaussian one in {found['Gaussian']} of {count} cases, for the linear one in {found['linear']}",
        "at most d2",
        -float(wider) / (3 * count),
        "If h(X) had d2 columns the block matrix would be H H' with H of d2 columns. So h maps into "
        "matrices of d1 rows in a feature space: of dimension at most (d1 + d2)(d1 + d2 + 1)/2 for the "
        "polynomial kernel of degree 2, and without bound for the Gaussian one. U stays d1 x r, and V "
        "becomes r elements of that space.",
        {"problems": count, "n": n, "d1, d2": [list(s) for s in shapes]},
        (724,),
    )
