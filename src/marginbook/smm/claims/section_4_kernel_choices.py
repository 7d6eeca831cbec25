r"""The claims on the three choices of K in Section 4: their index terms, parameters and feature spaces.

A map of the printed polynomial kernel. By the binomial theorem

.. math::

   (x_a^\top x_b'+\lambda1\{a=b\})^m=\langle x_a^{\otimes m},x_b'^{\otimes m}\rangle
   +1\{a=b\}\sum_{k<m}\binom mk\lambda^{m-k}\langle x_a^{\otimes k},x_b'^{\otimes k}\rangle,

so row a of h(X) holds :math:`x_a^{\otimes m}` and, in coordinates that belong to a alone,
:math:`\binom mk^{1/2}\lambda^{(m-k)/2}x_a^{\otimes k}` for k < m. With :math:`U=(1,\dots,1)^\top` and
:math:`V\in\mathcal H` free, rank 1 has all :math:`f(X)=\sum_aq_a(x_a)` with polynomials :math:`q_a` of degree
less than m: for :math:`m\ge2` and :math:`\lambda>0` all linear functions of X, of whatever rank.

Where :math:`\lambda` is added to every entry the map of a row does not depend on its number, and
:math:`f=\sum_k\sum_aU_{ak}\,v_k(x_a)` with polynomials :math:`v_k`. The slope in X = 0 is
:math:`\sum_kU_{\cdot k}\nabla v_k(0)^\top`, of rank r at most: of linear functions only those of rank r.
"""

from __future__ import annotations

from math import comb

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short, times
from ...kernels import Kernel
from ..solvers.block_descent import low_rank_svm
from .problems import drawn
from .section_4_row_kernels import NOTEBOOK, ROUNDING, SHAPES, matrices, printed_gram

HERE = "smm.claims.section_4_kernel_choices"


@claim(
    "smm/kernel-polynomial",
    kind="ours",
    where="Section 4",
    statement=r"$(XX'^\top+\lambda I)^{\circ m}$, $\lambda\ge0$, is the polynomial kernel of the rows with "
    r"their indices, $(x_a,\sqrt\lambda e_a)$; it is that of the rows alone, $(x_a^\top x_b+\lambda)^m$, "
    "only if $d_1=1$",
    notebook=f"{NOTEBOOK}#smm-kernel-polynomial",
    rivals=(
        Rival("lambda 2 % larger", {"factor": 1.02}),
        Rival("lambda in the place of its root", {"root": False}),
    ),
)
def check_polynomial(factor: float = 1.0, root: bool = True) -> Evidence:
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
                size = np.sqrt(factor * lam) if root else lam
                numbered = np.hstack([rows, size * np.tile(np.eye(d1), (n, 1))])
                apart = float(np.abs(G - plain).max() / scale)
                rows_apart = max(rows_apart, apart)
                mixed += (apart > ROUNDING) == (d1 > 1)
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
        verdict=decide(mixed == count and indexed <= ROUNDING and negative == tried),
        measured=f"it is the polynomial kernel of (x_a, sqrt(lambda) e_a) to {at_most(indexed, ROUNDING)}; "
        f"it differs from (x_a'x_b + lambda)^m exactly where d1 > 1 in {mixed} of {count} cases, by up to "
        f"{rows_apart:.1f} times its largest entry",
        claimed="no difference; all cases",
        slack=min(ROUNDING - indexed, short(mixed, count), short(negative, tried)),
        why="lambda I adds lambda only where the indices of the rows agree: (x_a'x_b + lambda 1{a = b})^m. "
        "The draft calls its choice the polynomial kernel, which usually has lambda between all rows. Rows "
        "at different places interact only in terms of degree m, rows at the same place in all lower "
        "degrees, too. The display does not say lambda >= 0: with lambda < 0 there are negative eigenvalues "
        f"for every degree ({negative} of {tried}).",
        sizes={"problems": count, "degrees": [1, 2, 3], "lambda": [0.5, 2.0]},
        seeds=(722,),
    )


def polynomial_rows(X: np.ndarray, *, degree: int, lam: float, numbered: bool) -> np.ndarray:
    r"""Map rows so that their inner products are :math:`(x_a^\top x_b'+\lambda1\{a=b\})^m`.

    Parameters
    ----------
    X : (n, d1, d2) array
    degree : int
        m.
    lam : float
        :math:`\lambda\ge0`.
    numbered : bool
        False for :math:`(x_a^\top x_b'+\lambda)^m`, the usual polynomial kernel of rows.

    Returns
    -------
    (n, d1, D) array
        Degrees 0 to m, each with a block of columns, or with one for each row.
    """
    n, d1, _ = X.shape
    power, parts = np.ones((n, d1, 1)), []
    for k in range(degree + 1):
        part = np.sqrt(comb(degree, k) * lam ** (degree - k)) * power
        if numbered and k < degree:
            part = np.einsum("naj,ab->nabj", part, np.eye(d1)).reshape(n, d1, -1)
        parts.append(part)
        power = np.einsum("naj,nak->najk", power, X).reshape(n, d1, -1)
    return np.concatenate(parts, axis=2)


@claim(
    "smm/polynomial-places",
    kind="ours",
    where="Section 4",
    statement=r"with $(XX'^\top+\lambda I)^{\circ m}$, $m\ge2$ and $\lambda>0$, rank 1 contains every "
    r"linear function of $X$: it restricts only terms of degree $m$; with $(x_a^\top x_b'+\lambda)^m$ rank "
    "$r$ contains those of rank $r$",
    notebook=f"{NOTEBOOK}#smm-polynomial-places",
    rivals=(
        Rival("the two kernels exchanged", {"exchanged": True}),
        Rival("a lambda 2 % larger in the map", {"factor": 1.02}),
        Rival("a map 2 % longer", swaps={f"{HERE}.polynomial_rows": times(1.02)}),
        Rival("functions of rank 2", {"rank": 2}),
    ),
)
def check_places(exchanged: bool = False, factor: float = 1.0, rank: int = 1) -> Evidence:
    """Write linear functions of full rank with rank 1; take slopes at 0 of rank 1; fit machines of rank 1.

    Parameters
    ----------
    exchanged : bool
        Whether the slopes of the two kernels take each other's place.
    factor : float
        Of lambda in the map.
    rank : int
        Of the functions whose slopes are taken.
    """
    rng = np.random.default_rng(725)
    map_off = apart = 0.0
    within = beyond = count = 0
    for d1, d2 in ((2, 2), (3, 4), (4, 3)):
        for m in (2, 3):
            lam, X = float(rng.uniform(0.2, 2)), rng.normal(size=(8, d1, d2))
            h, B = polynomial_rows(X, degree=m, lam=factor * lam, numbered=True), rng.normal(size=(d1, d2))
            G = printed_gram(("poly", {"degree": m, "coef0": lam}), X)
            flat = h.reshape(8 * d1, -1)
            map_off = max(map_off, float(np.abs(flat @ flat.T - G).max() / np.abs(G).max()))
            # columns: d1 for degree 0, then d1 d2 for degree 1, whose factor is divided out
            v = np.zeros(h.shape[2])
            v[d1 : d1 + d1 * d2] = B.ravel() / np.sqrt(m * lam ** (m - 1))
            f = np.einsum("naj,a,j->n", h, np.ones(d1), v)
            apart = max(apart, float(np.abs(f - np.einsum("nij,ij->n", X, B)).max()))
            # one entry of X at a time, so small that only the linear terms are left
            tiny = 1e-6 * np.eye(d1 * d2).reshape(-1, d1, d2)
            for numbered in (True, False):
                up, down = (polynomial_rows(s * tiny, degree=m, lam=lam, numbered=numbered) for s in (1, -1))
                A = rng.normal(size=(d1, rank)) @ rng.normal(size=(rank, up.shape[2]))
                slope = np.einsum("naj,aj->n", up - down, A).reshape(d1, d2) / 2e-6
                found = np.linalg.matrix_rank(slope, tol=1e-4 * np.linalg.norm(slope, 2))
                printed = numbered != exchanged
                within += bool(not printed and found == 1)
                beyond += bool(printed and found == min(d1, d2))
            count += 1
    errors = {"linear": 0.0, "usual": 0.0, "printed": 0.0}
    X, _ = drawn(rng, 2300, 4, 4, 4)
    y = np.sign(np.einsum("nij,ij->n", X, np.linalg.qr(rng.normal(size=(4, 4)))[0]))
    for name in errors:
        h = X if name == "linear" else polynomial_rows(X, degree=2, lam=1.0, numbered=name == "printed")
        end = low_rank_svm(h[:300], y[:300], rank=1, lam=0.01, fit_intercept=True, tol=1e-4)
        f = np.einsum("nij,ij->n", h[300:], end.coef) + end.intercept
        errors[name] = float(np.mean(np.sign(f) != y[300:]))
    return Evidence(
        verdict=decide(max(map_off, apart) <= ROUNDING and within == count and beyond == count),
        measured=f"rank 1 equals linear functions of full rank to {at_most(apart, ROUNDING)}, and the inner "
        f"products of h are K to {at_most(map_off, ROUNDING)}; slopes at 0 of random functions of rank "
        f"{rank} have full rank in {beyond} of {count} cases, and rank 1 with the usual kernel in {within}",
        claimed="no difference; all cases; all cases",
        slack=min(ROUNDING - max(map_off, apart), short(within, count), short(beyond, count)),
        why="Below degree m each row has its own coordinates in h. So with U = (1, ..., 1)' one element of "
        "the feature space holds a vector for each row. Errors of machines of rank 1 where the truth is "
        "linear of rank 4: "
        + ", ".join(f"{name} {value:.0%}" for name, value in errors.items())
        + ". With m = 1 the coordinates of each row are constants, and f is linear with an intercept.",
        sizes={"cases": count, "degrees": [2, 3], "n": 300},
        seeds=(725,),
    )


@claim(
    "smm/kernel-gaussian",
    kind="ours",
    where="Section 4",
    statement="the block matrix of the Gaussian $K$ is positive definite if and only if all $nd_1$ rows are "
    "distinct",
    notebook=f"{NOTEBOOK}#smm-kernel-gaussian",
    rivals=(Rival("rows that are twice there", {"apart": 0.0}),),
)
def check_gaussian(apart: float = 0.5) -> Evidence:
    """Take eigenvalues and ranks of Gaussian block matrices for distinct and repeated rows."""
    rng = np.random.default_rng(723)
    least, ranks, count = np.inf, 0, 0
    for n, d1, d2 in SHAPES:
        for sigma in (0.1, 0.4):
            # on a shuffled grid, so that no two rows are nearer than 1/2
            places = rng.permutation(2 * n * d1)[: n * d1]
            rows = np.concatenate(
                [apart * places[:, None], (apart > 0) * rng.normal(size=(n * d1, d2 - 1))], axis=1
            )
            kernel = ("rbf", {"gamma": 1 / (2 * sigma**2)})
            least = min(least, np.linalg.eigvalsh(printed_gram(kernel, rows.reshape(n, d1, d2)))[0])
            again = np.concatenate([rows, rows]).reshape(2 * n, d1, d2)
            ranks += np.linalg.matrix_rank(printed_gram(kernel, again)) == n * d1
            count += 1
    return Evidence(
        verdict=decide(least > ROUNDING and ranks == count),
        measured=f"smallest eigenvalue {least:.2f} for distinct rows; with every matrix twice the rank is "
        f"that of one copy in {ranks} of {count} cases",
        claimed="above 0; all cases",
        slack=min(float(least) - ROUNDING, short(ranks, count)),
        why="A Gaussian kernel is strictly positive definite on distinct points. The points here are the "
        "rows of all matrices, wherever they stand: exchanging two rows of all matrices at once permutes K. "
        "Equal rows make equal columns and nothing worse. exp(-|.|^2/(2 sigma^2)) is gamma = 1/(2 sigma^2) "
        "in this library.",
        sizes={"problems": count, "sigma": [0.1, 0.4]},
        seeds=(723,),
    )


@claim(
    "smm/map-range",
    kind="statement",
    where="Section 4, first paragraph, second sentence",
    statement=r"the feature mapping is $h:\mathbb R^{d_1\times d_2}\to\mathbb R^{d_1\times d_2}$",
    notebook=f"{NOTEBOOK}#smm-map-range",
    rivals=(
        Rival("the linear kernel alone", {"nonlinear": False}),
        Rival("a dimension one less for the polynomial kernel", {"less": 1}),
    ),
)
def check_range(nonlinear: bool = True, less: int = 0) -> Evidence:
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
            if not nonlinear and name != "linear":
                continue
            rank = int(np.linalg.matrix_rank(printed_gram(kernel, X)))
            found[name] += rank > d2
            if name == "polynomial":
                # terms of degree 2 for all rows, of degrees 1 and 0 for each of them
                bounded += rank == min(n * d1, d2 * (d2 + 1) // 2 + d1 * (d2 + 1) - less)
        count += 1
    wider = sum(found.values())
    return Evidence(
        verdict=decide(wider == 0, found["linear"] == 0 and bounded == count),
        measured=f"the rank of [K(X_i, X_j)] exceeds d2 for the polynomial kernel in {found['polynomial']} "
        f"and for the Gaussian one in {found['Gaussian']} of {count} cases, for the linear one in "
        f"{found['linear']}; for the polynomial one it is the dimension of the feature space in {bounded}",
        claimed=f"at most d2; corrected, d2 (d2 + 1)/2 + d1 (d2 + 1){f' - {less}' if less else ''}, in all "
        "cases",
        slack=-float(wider) / (3 * count),
        why="If h(X) had d2 columns, the block matrix would be H H' with H of d2 columns. So h maps to "
        "matrices of d1 rows in a feature space. Its dimension is d2 (d2 + 1)/2 + d1 (d2 + 1) for the "
        "polynomial kernel of degree 2, unless there are fewer rows, and unbounded for the Gaussian one. U "
        "stays d1 x r, and V becomes r elements of that space. We have the draft as text, converted from "
        "pages: if the second d2 had a prime there, it would be lost.",
        sizes={"problems": count, "n": n, "d1, d2": [list(s) for s in shapes]},
        seeds=(724,),
    )
