r"""The algorithms of the paper, line by line on the numbers of :mod:`marginbook.claims.counted_numbers`.

These count the multiplications and divisions; nothing is inferred from shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from ...claims.counted_numbers import Number, Tally, plain
from ..model.objective import class_slices

#: v -> Q v
Product: TypeAlias = Callable[[np.ndarray], np.ndarray]


class Printed:
    """Algorithms 3 to 6 as they are printed, for one test point, on numbers that count.

    Parameters
    ----------
    X : (n, p) array
        Rows grouped by class.
    sizes : (g,) class sizes
    Kx : (n,) array
    alpha, beta, c : float
        `c` as in (17); the constant b of (26) is c + beta.
    """

    def __init__(
        self, X: np.ndarray, sizes: Sequence[int], Kx: np.ndarray, alpha: float, beta: float, c: float
    ) -> None:
        self.tally = Tally()
        self.A, self.Kx = self.tally.numbers(X.T), self.tally.numbers(Kx)
        self.sizes, self.alpha, self.beta, self.c = sizes, alpha, beta, c

    def matrix(self) -> np.ndarray:
        """Return Q from the data; H - B is formed and multiplied only where it is not zero."""
        Q = self.A.T @ self.A
        for block, n_i in zip(class_slices(self.sizes), self.sizes, strict=True):
            B_i = Q[block, block] / n_i
            within = np.diag(np.diagonal(Q)[block]) - B_i
            Q[block, block] = Q[block, block] + self.alpha * within
        return np.asarray(Q)

    def linear_product(self, v: np.ndarray) -> np.ndarray:
        """Return Q v by (21), (22), (23) and step 6 of Algorithm 5, where alpha multiplies once."""
        Bv, u = np.empty_like(v), 0.0
        for block, n_i in zip(class_slices(self.sizes), self.sizes, strict=True):
            u_i = self.A[:, block] @ v[block]
            Bv[block] = (self.A[:, block].T @ u_i) / n_i
            u = u + u_i
        Kv = self.A.T @ u
        Hv = np.array([(x @ x) * v_k for x, v_k in zip(self.A.T, v, strict=True)])
        return np.asarray(Kv + self.alpha * (Hv - Bv))

    def gradient_descent(self, product: Product, w: np.ndarray) -> np.ndarray:
        """Return the next iterate of Algorithm 3: (14), (15), (16)."""
        g = product(w) + self.beta * w - self.Kx
        d = (g @ g) / (g @ (product(g) + self.beta * g))
        return np.asarray(w - d * g)

    def proximal_point(self, product: Product, w: np.ndarray) -> np.ndarray:
        """Return the next iterate of Algorithms 4 and 5: (17)."""
        return np.asarray((self.Kx - product(w) + self.c * w) / (self.beta + self.c))

    def accelerated(self, product: Product, w: np.ndarray) -> np.ndarray:
        """Return the first iterate of Algorithm 6 after the work of (26) and (27), without backtracking."""
        v, d = w, self.tally.numbers(np.ones(1))[0]
        new = v - (1.0 / (self.beta + self.c)) * (product(v) + self.beta * v - self.Kx)
        after = Number((1 + (1 + 4 * d.value**2) ** 0.5) / 2, self.tally)  # a few operations on scalars
        v = new + ((d - 1.0) / after) * (new - w)
        return np.asarray(new)

    def closed_form(self) -> np.ndarray:
        """Return w of (13) by Gaussian elimination of Q + beta I, where no pivot vanishes."""
        n = len(self.Kx)
        rows = np.empty((n, n + 1), dtype=object)
        rows[:, :n], rows[:, n] = self.system, self.Kx
        for i in range(n):
            for j in range(i + 1, n):
                factor = rows[j, i] / rows[i, i]
                rows[j, i + 1 :] = rows[j, i + 1 :] - factor * rows[i, i + 1 :]
        w = np.empty(n, dtype=object)
        for i in reversed(range(n)):
            w[i] = (
                (rows[i, n] - rows[i, i + 1 : n] @ w[i + 1 :]) / rows[i, i]
                if i + 1 < n
                else rows[i, n] / rows[i, i]
            )
        return w

    @cached_property
    def system(self) -> np.ndarray:
        """Q + beta I, formed once."""
        Q = self.matrix()
        for k in range(len(Q)):
            Q[k, k] = Q[k, k] + self.beta
        return Q

    def curvature(self, g: np.ndarray) -> Number:
        """Return g'Qg with the linear kernel from the products A_i g_i, as the cost of step 4 implies."""
        total: Any = 0.0
        squares: Any = 0.0
        u: Any = np.zeros(len(self.A))
        for block, n_i in zip(class_slices(self.sizes), self.sizes, strict=True):
            u_i = self.A[:, block] @ g[block]
            squares = squares + (u_i @ u_i) / n_i
            u = u + u_i
        for x, g_k in zip(self.A.T, g, strict=True):
            total = total + (x @ x) * g_k * g_k
        whole: Number = (u @ u) + (total - squares) * self.alpha
        return whole

    def backtracking(self, g: np.ndarray, b: float, eta: float, product: Product | None) -> tuple[float, int]:
        """Return the b of step 4 and its i_t; g'Qg and g'g, which do not depend on b, are computed once."""
        left = g @ product(g) if product else self.curvature(g)
        squared, constant, tries = g @ g, self.tally.numbers(np.array([b]))[0], 0
        while plain(left) > plain((constant - self.beta) * squared):
            constant, tries = constant * eta, tries + 1
        return plain(constant), tries

    def coordinate_pass(self, y: np.ndarray, C: float) -> np.ndarray:
        """Return a linear SVM's weights after one pass of dual coordinate descent from 0; y is -1 or 1."""
        lengths = [plain(x @ x) for x in self.A.T]
        self.tally.count = 0  # LIBLINEAR has the squared lengths from the start
        w = self.tally.numbers(np.zeros(len(self.A)))
        for x, sign, length in zip(self.A.T, y, lengths, strict=True):
            step = ((w @ x) * sign - 1.0) / length
            moved = self.tally.numbers(np.array([min(max(-plain(step), 0.0), C)]))[0]
            w = w + x * (moved * sign)
        return w

    def count(self, work: Callable[[], np.ndarray]) -> tuple[np.ndarray, int]:
        """Return what `work` returns, and the multiplications that it took."""
        before = self.tally.count
        result = work()
        return result, self.tally.count - before


#: terms of a count at a shape (n, p, g) after i_t powers of eta
TERMS: dict[str, Callable[[int, int, int, int], int]] = {
    "n^2": lambda n, p, g, i: n * n,
    "pn": lambda n, p, g, i: p * n,
    "n": lambda n, p, g, i: n,
    "pg": lambda n, p, g, i: p * g,
    "p": lambda n, p, g, i: p,
    "g": lambda n, p, g, i: g,
    "": lambda n, p, g, i: 1,
    "i_t": lambda n, p, g, i: i,
}


def formula(shapes: Sequence[tuple[int, ...]], counts: Sequence[int], terms: Sequence[str]) -> str:
    """Return the sum of `terms`, with whole coefficients, that all counts are; in words where none is.

    Parameters
    ----------
    shapes : sequence of (n, p, g) or (n, p, g, i_t)
        At least as many as terms.
    counts : sequence of int
        One for each shape.
    terms : sequence of str
        Of `TERMS`.

    Examples
    --------
    >>> shapes = [(2, 1, 1), (3, 5, 1), (7, 2, 1), (9, 4, 1)]
    >>> formula(shapes, [(2 * p + 3) * n + 1 for n, p, g in shapes], ["pn", "n", ""])
    '(2p+3)n+1'
    """
    table = np.array([[TERMS[term](*(*shape, 0)[:4]) for term in terms] for shape in shapes], dtype=float)
    found = np.rint(np.linalg.lstsq(table, np.array(counts, dtype=float), rcond=None)[0])
    if not np.array_equal(table @ found, np.array(counts, dtype=float)):
        return f"no sum of {', '.join(term or '1' for term in terms)}"
    factors = {term: int(factor) for term, factor in zip(terms, found, strict=True) if factor}
    parts = []
    if "pn" in factors and "n" in factors:
        parts.append(f"({_times(factors.pop('pn'), 'p')}+{factors.pop('n')})n")
    return "+".join([*parts, *(_times(factor, term) for term, factor in factors.items())]) or "0"


def _times(factor: int, term: str) -> str:
    return term if factor == 1 and term else f"{factor}{term}"


def degree(counts: Sequence[int]) -> int:
    """Return the degree of the polynomial whose values at equidistant points are `counts`; exact.

    The last difference that is not zero is that of the degree. One more value than the degree plus one is
    needed to see that it ends.

    Examples
    --------
    >>> degree([n**3 + n for n in range(5)]), degree([2**n for n in range(4)])
    (3, 3)
    """
    found, values = 0, list(counts)
    for order in range(1, len(counts)):
        values = [after - before for before, after in pairwise(values)]
        found = order if any(values) else found
    return found
