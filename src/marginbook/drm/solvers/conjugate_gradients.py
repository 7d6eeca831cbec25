r"""Conjugate gradients for (12): the exact DRM where neither n x n nor p x p numbers fit, as of sparse text.

With :math:`D=\alpha H+\beta I` the system is :math:`M=D+K-\alpha B`, and one product with it costs four
multiplications for each stored entry of the rows. Preconditioned by D its eigenvalues lie in

.. math:: \Bigl[\mu,\ 1+\frac{\sigma_{\max}(K)}{\min D}\Bigr],\qquad
          \mu=1-\max_i\sigma_{\max}\Bigl(\tfrac\alpha{n_i}D_i^{-1/2}K^iD_i^{-1/2}\Bigr)>0.

D alone takes one iteration for each of the large eigenvalues of K, of which the frequent features of text
have many. For sparse rows the preconditioner is therefore :math:`D+FF^\top` with the columns F of X of the
1,000 heaviest features, whose inverse is, by Woodbury's identity, that of a matrix of so many rows. As
:math:`FF^\top\le K`, the smallest eigenvalue stays at :math:`\mu` or above. For 90,000 rows of 50,000
features, 20 or 70 of them not 0, a label takes some 4 iterations where D alone takes 23. An iteration of one
right-hand side costs two multiplications for each stored entry of X and of F, and :math:`10^6`; where it
pays, :mod:`marginbook.drm.solvers.heavy_features` spares the entries of F one of the two products.

Of two classes the label needs no accurate weights. With the problem solved for :math:`k_0` and for
:math:`k_1` alone (:math:`K_x` with zeros in the other class),
:math:`\delta_0-\delta_1=2(k_1^\top P_{11}k_1-k_0^\top P_{00}k_0)` with :math:`P=M^{-1}`, and an iterate u
with residual r brackets, whatever the preconditioner C,

.. math:: k_i^\top u\ \le\ k_i^\top P_{ii}k_i\ \le\ k_i^\top u+r^\top C^{-1}r/\mu,

so that a point is done when the brackets of both classes are apart: its label is that of the exact model.
Source of the brackets: Golub and Meurant, Matrices, Moments and Quadrature, 2010, chapter 12.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse, vstack
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ..model.operators import LinearSystem, System
from .iteration import Iterates
from .preconditioned_steps import Preconditioned, iterate

#: a class block of so few rows is not worth Lanczos: the trace bounds its eigenvalue
FEW = 3
#: features that the preconditioner takes exactly: an m x m matrix
HEAVY = 1000
#: largest norm of I + F'F: beyond, rounding takes the preconditioner's digits
LARGEST = 1e7


def conjugate_gradients(
    system: System, Kx: np.ndarray, *, max_iter: int, tol: float, form: Preconditioned | None = None
) -> Iterates:
    """Solve (12) for kernel vectors `Kx`, (n, m), until no gradient is longer than `tol` max|Kx|.

    Parameters
    ----------
    system : System
    Kx : (n, m) array
    max_iter : int
    tol : float
        Unlike for the paper's iterations, of the certificate.
    form : Preconditioned, default=None
        None is that of the module's docstring.
    """
    limit = _limit(system, Kx, tol)
    W, n_iter = np.zeros_like(Kx), np.zeros(Kx.shape[1], dtype=int)
    step = np.zeros(Kx.shape[1])
    before = system.multiplications

    def finished(active: np.ndarray, values: np.ndarray, rest: np.ndarray, size: np.ndarray) -> np.ndarray:
        done: np.ndarray = size <= limit[active]
        return done

    def move(active: np.ndarray, change: np.ndarray) -> None:
        W[:, active] += change
        n_iter[active] += 1
        step[active] = np.sqrt(np.einsum("nm,nm->m", change, change))

    iterate(form or _preconditioned(system), Kx, finished, move, max_iter)
    spent = system.multiplications - before
    with system.uncounted():
        left = np.abs(system.gradient(W, Kx)).max(axis=0)
    scale = np.abs(Kx).max(axis=0)
    # where rounding stopped it, the residual of the recursion says more than there is
    return Iterates(W, n_iter, left <= 2 * tol * scale, step, left / np.where(scale > 0, scale, 1.0), spent)


def bracketed_difference(
    system: System,
    Kx: np.ndarray,
    least: float,
    *,
    max_iter: int,
    tol: float,
    form: Preconditioned | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    r"""Return an approximation of delta_0 - delta_1, (m,), whose sign the brackets prove.

    Also returned: whether a point is done, what it needed (0, for who warns), and its residual, all (m,).

    Parameters
    ----------
    system : System
        Of two classes.
    Kx : (n, m) kernel vectors
    least : float
        :math:`\mu` of the module's docstring, or less: :func:`eigenvalue_floor`.
    max_iter : int
    tol : float
        A point is also done, without proof, where no residual is longer than `tol` max|Kx|.
    form : Preconditioned, default=None
        As in :func:`conjugate_gradients`.
    """
    M = form or _preconditioned(system)
    m = Kx.shape[1]
    right = np.zeros((len(Kx), 2 * m))
    for i, block in enumerate(system.blocks):
        right[block, i * m : (i + 1) * m] = Kx[block]
    limit = _limit(system, Kx, tol)
    middle, done, left = np.zeros(m), np.zeros(m, dtype=bool), np.zeros(m)

    def finished(active: np.ndarray, values: np.ndarray, rest: np.ndarray, size: np.ndarray) -> np.ndarray:
        half = len(active) // 2
        points = active[:half]
        low, width = values.reshape(2, half), ((rest + M.slack * size) / least).reshape(2, half)
        apart = (low[1] > low[0] + width[0]) | (low[0] > low[1] + width[1])
        middle[points] = 2 * (low[1] - low[0])
        left[points] = size.reshape(2, half).max(axis=0)
        done[points] = apart | (left[points] <= limit[points])
        return np.tile(done[points], 2)

    iterate(M, right, finished, None, max_iter)
    unit = _limit(system, Kx, 1.0)
    return middle, done, np.zeros(m), np.sqrt(left / np.where(unit > 0, unit, 1.0))


def eigenvalue_floor(system: LinearSystem, seed: int = 0) -> float:
    r"""Return a lower bound of :math:`\mu`, the smallest eigenvalue of the preconditioned system.

    By Lanczos to 1 %, with a margin of 5 %; never less than what the trace gives.
    """
    largest = 0.0
    inverse = 1.0 / preconditioner(system)
    for block, total, part in zip(system.blocks, system.totals, system.parts, strict=True):
        n = block.stop - block.start
        if system.alpha == 0 or n == 1:
            continue
        scale = np.sqrt(inverse[block])
        root = 1.0 if system.root is None else system.root[block] ** 2
        trace = float(np.mean(root * system.alpha * system.diagonal[block] * inverse[block]) * n / total)
        if n <= FEW:
            largest = max(largest, trace)
            continue

        def apply(v: np.ndarray, part=part, scale=scale, total=total) -> np.ndarray:  # type: ignore[no-untyped-def]
            found: np.ndarray = system.alpha / total * scale * (part @ (part.T @ (scale * v.ravel())))
            return found

        start = np.random.default_rng(seed).normal(size=n)
        try:
            found = eigsh(
                LinearOperator((n, n), matvec=apply, dtype=float), 1, which="LA", tol=1e-2, v0=start
            )
            largest = max(largest, min(trace, 1.05 * float(found[0][0])))
        except ArpackError:
            largest = max(largest, trace)
    return max(1.0 - largest, float(np.finfo(float).eps))


def preconditioner(system: System) -> np.ndarray:
    """Return the diagonal D, (n,); a class of one row has beta alone."""
    own = np.where(np.repeat(system.sizes, system.sizes) > 1, system.alpha * system.diagonal, 0.0)
    diagonal: np.ndarray = own + system.beta
    return diagonal


def _limit(system: System, Kx: np.ndarray, tol: float) -> np.ndarray:
    """Return bounds of r'r/D, (m,), below which no residual r is longer than `tol` max|Kx|."""
    found: np.ndarray = (tol * np.abs(Kx).max(axis=0)) ** 2 / preconditioner(system).max()
    return found


class _Preconditioned:
    r"""Products with :math:`D^{-1/2}MD^{-1/2}`, with sparse rows in both orders: gathering is quick."""

    slack, keeps_image = 0.0, False

    def __init__(self, system: System) -> None:
        self.system = system
        self.scale = (1.0 / np.sqrt(preconditioner(system)))[:, None]
        self.parts: list[tuple[slice, Any, Any, float]] = []
        self.heavy: tuple[Any, Any, np.ndarray] | None = None
        if not (isinstance(system, LinearSystem) and issparse(system.X)):
            return
        for block, part, total in zip(system.blocks, system.parts, system.totals, strict=True):
            rows = csr_matrix(part.multiply(self.scale[block]))
            share = system.alpha / total if block.stop - block.start > 1 else 0.0
            self.parts.append((block, rows, csr_matrix(rows.T), float(share)))
        self.heavy = _heavy_features(vstack([rows for _, rows, *_ in self.parts], format="csr"))
        if self.heavy is not None:
            self.slack = 10 * LARGEST * float(np.finfo(float).eps)

    def precondition(self, R: np.ndarray) -> np.ndarray:
        """Return the product of `R` with the inverse of the preconditioner, which after D's is I + FF'."""
        if self.heavy is None:
            return R
        F, turned, inverse = self.heavy
        self.system.multiplications += (2 * F.nnz + inverse.size) * R.shape[1]
        solved: np.ndarray = R - F @ (inverse @ (turned @ R))
        return solved

    def product(self, P: np.ndarray, image: np.ndarray | None = None) -> np.ndarray:
        if not self.parts:
            product: np.ndarray = self.scale * self.system.apply_ridged(self.scale * P)
            return product
        self.system.multiplications += sum(2 * rows.nnz for _, rows, *_ in self.parts) * P.shape[1]
        sums = [turned @ P[block] for block, _, turned, _ in self.parts]
        total = sum(sums[1:], start=sums[0])
        found = P.copy()
        for own, (block, rows, _, share) in zip(sums, self.parts, strict=True):
            own *= -share
            own += total
            found[block] += rows @ own
        return found


def _heavy_features(rows: csr_matrix) -> tuple[Any, Any, np.ndarray] | None:
    """Return the heaviest columns F of `rows`, (n, HEAVY), their transpose, and the inverse of I + F'F.

    None where rounding would take the digits of the inverse.
    """
    squares = np.asarray(rows.multiply(rows).sum(axis=0)).ravel()
    F = csr_matrix(rows[:, np.sort(np.argsort(-squares, kind="stable")[:HEAVY])])
    turned = csr_matrix(F.T)
    inner = (turned @ F).toarray()
    inner.flat[:: len(inner) + 1] += 1.0
    if not np.abs(inner).sum(axis=1).max() <= LARGEST:
        return None
    return F, turned, np.linalg.inv(inner)


def _preconditioned(system: System) -> _Preconditioned:
    """Return the operator of `system`, made once."""
    found: _Preconditioned | None = system.__dict__.get("_preconditioned")
    if found is None:
        found = system.__dict__["_preconditioned"] = _Preconditioned(system)
    return found
