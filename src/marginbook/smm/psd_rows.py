r"""The claims of Section 4: which K(X, X') are kernels, and what the three choices are.

Condition. There are a Hilbert space and a map h, whose value at X has d1 rows in that space, with
:math:`K(X,X')=h(X)h(X')^\top`, if and only if :math:`K(X',X)=K(X,X')^\top` and for all :math:`X_1,\dots,X_n` the
:math:`nd_1\times nd_1` matrix :math:`\mathcal K` with the blocks :math:`K(X_i,X_j)` is positive semidefinite.

Necessary: :math:`\sum_{ij}v_i^\top K(X_i,X_j)v_j=\lVert\sum_ih(X_i)^\top v_i\rVert^2\ge0` for all
:math:`v_i\in\mathbb R^{d_1}`. Sufficient: :math:`k((X,a),(X',b))=K(X,X')_{ab}` is then a scalar kernel on pairs of a
matrix and a row number, whose feature map (Moore and Aronszajn) gives row a of h(X); for n matrices, rows of any
factor :math:`\mathcal K=LL^\top` do.

The three choices are such scalar kernels: with rows :math:`x_a` of X, the linear :math:`x_a^\top x_b'`, the
polynomial :math:`(x_a^\top x_b'+\lambda1\{a=b\})^m`, the m-th power of the kernel of :math:`(x_a,\sqrt\lambda e_a)`,
and the Gaussian one.

Less than the condition. A machine sees K only through :math:`\operatorname{tr}(K(X,X')P^\top P)`, which are kernels
for all P if :math:`\sum_{ij}c_ic_ju^\top K(X_i,X_j)u\ge0` for all c, u: semidefinite on the vectors :math:`c\otimes u`
only. That is weaker: the blocks :math:`K(X_i,X_j)=e_je_i^\top` give :math:`(c^\top u)^2`, and :math:`\mathcal K`
swaps, with the eigenvalue -1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..claims import Evidence, claim, decide
from ..kernels import Kernel
from .row_kernels import row_gram

NOTEBOOK = "smm/05_row_kernels"
#: rounding of eigenvalues, relative to the largest entry of the matrix
ROUNDING = 1e-10
KERNELS: tuple[Kernel, ...] = (
    "linear",
    ("poly", {"degree": 2, "gamma": 1.0, "coef0": 0.0}),
    ("poly", {"degree": 2, "gamma": 1.0, "coef0": 1.0}),
    ("poly", {"degree": 3, "gamma": 1.0, "coef0": 0.5}),
    ("rbf", {"gamma": 0.5}),
    ("rbf", {"gamma": 20.0}),
)
#: n, d1, d2
SHAPES = ((1, 1, 1), (5, 3, 2), (4, 2, 6), (12, 4, 4), (6, 1, 3), (6, 5, 1))


def matrices(rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield sets of random matrices: as drawn, with two equal ones, with equal rows, and with zeros."""
    for n, d1, d2 in SHAPES:
        X = rng.normal(size=(n, d1, d2))
        yield X
        twice = X.copy()
        twice[-1] = twice[0]
        yield twice
        same = X.copy()
        same[:, :] = same[:, :1]
        yield same
        none = X.copy()
        none[0] = 0
        yield none


def printed_gram(kernel: Kernel, X: np.ndarray) -> np.ndarray:
    """Return the block matrix of a kernel by the display of Section 4, entry by entry: (n d1, n d1)."""
    name, parameters = (kernel, {}) if isinstance(kernel, str) else kernel
    n, d1, _ = X.shape
    out = np.empty((n * d1, n * d1))
    for i in range(n):
        for j in range(n):
            if name == "rbf":
                block = np.array(
                    [[np.exp(-parameters["gamma"] * np.sum((a - b) ** 2)) for b in X[j]] for a in X[i]]
                )
            elif name == "poly":
                block = (X[i] @ X[j].T + parameters["coef0"] * np.eye(d1)) ** parameters["degree"]
            else:
                block = X[i] @ X[j].T
            out[i * d1 : (i + 1) * d1, j * d1 : (j + 1) * d1] = block
    return out


def rows_of_features(gram: np.ndarray) -> tuple[np.ndarray, float]:
    r"""Return L with :math:`LL^\top` the semidefinite matrix nearest to `gram`, and how far that is.

    Parameters
    ----------
    gram : (N, N) array
        Symmetric.

    Returns
    -------
    L : (N, N) array
        Its rows a*d1 to (a+1)*d1 are h of the a-th matrix.
    distance : float
        Spectral norm of the difference: the largest negative eigenvalue.
    """
    values, vectors = np.linalg.eigh(gram)
    return vectors * np.sqrt(np.maximum(values, 0)), float(max(-values[0], 0.0))


def tanh_rows(X: np.ndarray) -> np.ndarray:
    """Return the block matrix of tanh(x_a' x_b - 1) between rows, which is no kernel: (n d1, n d1)."""
    rows = X.reshape(-1, X.shape[2])
    return np.asarray(np.tanh(rows @ rows.T - 1))


def swap(n: int) -> np.ndarray:
    r"""Return the matrix with the blocks :math:`K(X_i,X_j)=e_je_i^\top`, i, j = 1, ..., n: (n n, n n)."""
    return np.eye(n * n).reshape(n, n, n, n).transpose(0, 1, 3, 2).reshape(n * n, n * n)


@claim(
    "smm/kernel-psd",
    where="Section 4, announced for the supplement",
    statement=r"$K(X,X')=h(X)h(X')^\top$ for some $h$ if and only if all block matrices $[K(X_i,X_j)]$ are symmetric "
    "and positive semidefinite; the three choices of $K$ are",
    notebook=f"{NOTEBOOK}#smm-kernel-psd",
)
def check_condition() -> Evidence:
    """Factor block matrices of the three kernels; build K from random maps; factor what is no kernel."""
    rng = np.random.default_rng(720)
    apart = negative = backwards = 0.0
    worst_other, count, maps = 0.0, 0, 0
    for X in matrices(rng):
        n, d1, _ = X.shape
        for kernel in KERNELS:
            G = printed_gram(kernel, X)
            scale = max(np.abs(G).max(), np.finfo(float).tiny)
            L, distance = rows_of_features(G)
            negative = max(negative, distance / scale)
            apart = max(apart, float(np.abs(L @ L.T - G).max() / scale))
            count += 1
        # the other direction: a map in place of a kernel
        h = np.tanh(X @ rng.normal(size=(X.shape[2], 7))) * X.sum(axis=(1, 2))[:, None, None]
        G = np.block([[h[i] @ h[j].T for j in range(n)] for i in range(n)])
        backwards = max(backwards, -np.linalg.eigvalsh(G)[0] / max(np.abs(G).max(), np.finfo(float).tiny))
        maps += 1
        G = tanh_rows(X)
        worst_other = max(worst_other, rows_of_features(G)[1] / float(np.linalg.norm(G, 2)))
    worst = max(apart, negative, backwards)
    return Evidence(
        decide(worst <= ROUNDING and worst_other > 1e-3),
        f"h from a factor of the block matrix gives K back to {apart:.0e} for the three kernels, whose smallest "
        f"eigenvalue is -{negative:.0e} or more, and that of K from a map h -{max(backwards, 0):.0e}, relative",
        "0",
        ROUNDING - worst,
        "Both directions on random matrices, with equal matrices, equal rows and zeros among them. Where the block "
        f"matrix has a negative eigenvalue no h exists: with tanh(x_a'x_b - 1) between rows every h h' is off by up to "
        f"{worst_other:.0%} in spectral norm.",
        {"problems": count, "maps": maps, "kernels": len(KERNELS), "n, d1, d2": [list(s) for s in SHAPES]},
        (720,),
    )


@claim(
    "smm/kernel-projections",
    where="Section 4 (beyond the paper)",
    statement=r"that $\operatorname{tr}(K(X,X')P^\top P)$ is a kernel for every $P$ is necessary for "
    r"$K=hh^\top$, and not sufficient",
    notebook=f"{NOTEBOOK}#smm-kernel-projections",
)
def check_projections() -> Evidence:
    """Take the blocks e_j e_i': kernels for random P, of all ranks, with an eigenvalue -1 of the whole."""
    rng = np.random.default_rng(721)
    least, whole, tested, own, sizes = np.inf, [], 0, np.inf, (2, 3, 5)
    for n in sizes:
        G = swap(n)
        blocks = G.reshape(n, n, n, n).transpose(0, 2, 1, 3)
        whole.append(float(np.linalg.eigvalsh(G)[0]))
        rows = rng.normal(size=(n, n, 3))
        good = row_gram(("rbf", {"gamma": 0.5}), rows).reshape(n, n, n, n).transpose(0, 2, 1, 3)
        for rank in range(1, n + 1):
            for _ in range(50):
                P = np.linalg.qr(rng.normal(size=(n, rank)))[0].T
                least = min(least, np.linalg.eigvalsh(np.einsum("ijab,ab->ij", blocks, P.T @ P))[0])
                own = min(own, np.linalg.eigvalsh(np.einsum("ijab,ab->ij", good, P.T @ P))[0])
                tested += 1
    return Evidence(
        decide(min(least, own) >= -ROUNDING and max(whole) < 0),
        f"for {tested} random P the kernel's smallest eigenvalue is {least:.0e} or more; that of the block matrix is "
        f"{max(whole):.0f}",
        "0 or more; negative",
        ROUNDING + min(least, own),
        "c'[u'K(X_i,X_j)u]c = (c'u)^2 for u of length 1, and sums of these for more rows of P. So every V-step with "
        "U fixed would be a convex problem though no map h exists, and a U-step, which needs all of K, would not be: "
        "the condition on the whole block matrix is the right one, and testing traces is not enough.",
        {"n = d1": list(sizes), "projections": tested},
        (721,),
    )


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
        "lambda I adds lambda only where the numbers of the rows agree: the kernel is (x_a'x_b + lambda 1{a = b})^m, a "
        f"polynomial kernel of (x_a, sqrt(lambda) e_a), to {indexed:.0e}. Rows at different places meet in terms of "
        "degree m alone, rows at the same place in all lower degrees too. For d1 = 1 both are the same. The display "
        f"does not say lambda >= 0: with lambda < 0 there are negative eigenvalues for every degree ({negative} of "
        f"{tried}).",
        {"problems": count, "degrees": [1, 2, 3], "lambda": [0.5, 2.0]},
        (722,),
    )


@claim(
    "smm/kernel-gaussian",
    where="Section 4",
    statement=r"the Gaussian $K$ is a kernel: its block matrix is positive definite if all $nd_1$ rows differ",
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
        f"smallest eigenvalue {least:.2f} for distinct rows; with every matrix twice the rank is that of one copy in "
        f"{ranks} of {count} cases",
        "above 0",
        float(least),
        "A Gaussian kernel is strictly positive definite on distinct points, and the points here are the rows of all "
        "matrices, wherever they stand: exchanging two rows of all matrices at once permutes K. Equal rows make equal "
        "columns, nothing worse. exp(-|.|^2/(2 sigma^2)) is gamma = 1/(2 sigma^2) in this library.",
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
        f"the rank of [K(X_i, X_j)] is above d2 for the polynomial kernel in {found['polynomial']} and for the Gaussian "
        f"one in {found['Gaussian']} of {count} cases, for the linear one in {found['linear']}",
        "at most d2",
        -float(wider) / (3 * count),
        "If h(X) had d2 columns the block matrix would be H H' with H of d2 columns. So h maps into matrices of d1 rows "
        "in a feature space: of dimension at most (d1 + d2)(d1 + d2 + 1)/2 for the polynomial kernel of degree 2, and "
        "without bound for the Gaussian one. U stays d1 x r, and V becomes r elements of that space.",
        {"problems": count, "n": n, "d1, d2": [list(s) for s in shapes]},
        (724,),
    )
