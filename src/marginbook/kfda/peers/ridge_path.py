r"""Kernel Fisher discriminants with a ridge, for every amount of it from one eigendecomposition.

Mika et al. (2003) maximise, over the coefficients :math:`\alpha` of
:math:`w=\sum_i\alpha_i\varphi(x_i)`, the regularised quotient of Fisher

.. math::
   \frac{\alpha^\top M\alpha}{\alpha^\top(N_w+\mu I)\alpha},\qquad
   M=(M_1-M_2)(M_1-M_2)^\top,\qquad N_w=KPK,

where :math:`M_j` is the mean of the kernel columns of class j and P subtracts from each entry the mean of
its class. With the targets :math:`\hat y`, :math:`N/N_1` on class 1 and :math:`-N/N_2` on class 2,
:math:`M_1-M_2=K\hat y/N`, so the maximiser is :math:`\alpha\propto(N_w+\mu I)^{-1}K\hat y`. The penalised
least squares

.. math:: \min_{b,\alpha}\ \tfrac12\lVert\hat y-b1-K\alpha\rVert^2+\tfrac\mu2\lVert\alpha\rVert^2

have :math:`(KCK+\mu I)\alpha=K\hat y` with the centring :math:`C=I-11^\top/N`. Since
:math:`C-P=\hat y\hat y^\top/\hat y^\top\hat y`, both have the same direction, and by Sherman and Morrison

.. math:: \alpha=\frac a{1+\hat y^\top Ka/\hat y^\top\hat y},\qquad a=(N_w+\mu I)^{-1}K\hat y .

It is the kFDA of the paper for q = 2 with a bias that goes free and :math:`\rho=\mu/(2N)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...base.interruptible import interruptible
from ..model.blocks import blocked_cholesky, gram_of
from .ridge_solution import (
    ROUNDING,
    FeatureKernel,
    RidgeDiscriminant,
    checked,
    discriminant,
    singular_values,
    validate_ridge,
)

#: rows up to which an eigendecomposition takes a second
QUICK = 1500


class SingularScatterError(ValueError):
    """The within-class scatter with its ridge has no Cholesky factor in double precision."""


@dataclass(frozen=True)
class KernelSpectrum:
    r"""The eigendecomposition :math:`K=Q\Lambda Q^\top` with what each amount of ridge needs.

    With :math:`z=Q^\top1`, :math:`t=Q^\top\hat y` and the weights :math:`\omega_j=1/(\lambda_j^2+\mu)`

    .. math::
       b=\frac{\sum_j\omega_jz_jt_j}{\sum_j\omega_jz_j^2},\qquad
       \alpha=Q\,\bigl[\lambda_j\omega_j(t_j-bz_j)\bigr]_j,

    which never squares K: :math:`\mu` may be as small as the square of the smallest eigenvalue that K still
    has to working precision.

    Attributes
    ----------
    kernel : (N, N) array, K
    yhat : (N,) array
    values : (N,) array
    vectors : (N, N) array
        The columns of Q. Of features it is (N, r + 2): where K is 0, only the directions of 1 and of the
        targets count.
    ones, targets : (N,) array
        z and t.
    root : (N,) array or None
        The column of the bias, :math:`\sqrt w` for rows with weights, by which the rows and columns of K and
        the targets have been multiplied; None for 1.
    right : (p, r) array or None
        Right singular vectors times their singular values, where K is given by features.
    """

    kernel: np.ndarray | FeatureKernel
    yhat: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    ones: np.ndarray
    targets: np.ndarray
    root: np.ndarray | None = None
    right: np.ndarray | None = None

    @classmethod
    def of(cls, K: np.ndarray, yhat: np.ndarray, root: np.ndarray | None = None) -> KernelSpectrum:
        """Decompose the symmetric `K`, (N, N), for the targets `yhat`, (N,), which sum to 0: O(N^3).

        Of rows with weights both are multiplied by `root` already, and so are what comes out.
        """
        K, yhat = checked(K, yhat, root)
        if len(K) <= QUICK:
            values, vectors = linalg.eigh(K, check_finite=False, driver="evd")
        else:
            values, vectors = interruptible(np.linalg.eigh, K)
        ones = vectors.sum(axis=0) if root is None else vectors.T @ root
        return cls(K, yhat, values, vectors, ones, vectors.T @ yhat, root)

    @classmethod
    def of_features(
        cls,
        F: np.ndarray,
        yhat: np.ndarray,
        root: np.ndarray | None = None,
        parts: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    ) -> KernelSpectrum:
        """Return the spectrum of ``F @ F.T`` from the singular values of `F`, (N, r): O(N r^2).

        K is not formed: its eigenvalues are the squares of the singular values, to twice the digits. `parts`
        are :func:`singular_values` of `F`, where other targets had them computed.
        """
        kernel = FeatureKernel(F)
        checked(kernel, yhat, root)
        left, size, right = singular_values(F) if parts is None else parts
        column = np.ones(len(yhat)) if root is None else root
        outside: list[np.ndarray] = []
        for v in (column, yhat):
            w = v - left @ (left.T @ v)
            for u in outside:
                w = w - u * (u @ w)
            w -= left @ (left.T @ w)
            length = float(np.linalg.norm(w))
            if length > 1e-10 * float(np.linalg.norm(v)):
                outside.append(w / length)
        vectors = np.column_stack([left, *outside])
        values = np.append(size**2, np.zeros(len(outside)))
        return cls(kernel, yhat, values, vectors, vectors.T @ column, vectors.T @ yhat, root, right * size)

    def weights(self, mu: float) -> np.ndarray:
        r"""Return weights proportional to :math:`1/(\lambda_j^2+\mu)`, at most 1: (N,)."""
        if mu > 0:
            return mu / (self.values**2 + mu)
        size = np.abs(self.values)
        share = size / (float(size.max()) or 1.0)
        null = share <= len(share) * ROUNDING
        if np.linalg.norm(self.ones[null]) > np.sqrt(ROUNDING * len(share)):
            return null.astype(float)
        # the constant is in the span of K: the residual vanishes there, and the shortest alpha decides
        share[null] = np.inf
        return (share.min() / share) ** 2

    def solve(self, mu: float) -> RidgeDiscriminant:
        r"""Return the discriminant for the ridge `mu` >= 0 in O(N^2); for 0 the shortest least squares.

        Raises
        ------
        ValueError
            If `mu` is not a number >= 0.
        """
        validate_ridge(mu)
        weights, z, t = self.weights(mu), self.ones, self.targets
        total = float(weights @ z**2)
        bias = float(weights @ (z * t)) / total if total > 0 else 0.0
        size = np.abs(self.values).max(initial=0.0)
        kept = np.abs(self.values) > (0.0 if self.right is not None else len(z) * ROUNDING * size)
        inner = np.zeros(len(z))
        inner[kept] = (t - bias * z)[kept] / (self.values[kept] + mu / self.values[kept])
        return discriminant(self.kernel, self.yhat, self.vectors @ inner, bias, mu, self.root)

    def rounding(self, found: RidgeDiscriminant) -> float:
        """Return the share of the targets that is fitted by eigenvalues which are rounding of K.

        Eigenvalues below N times the rounding of the largest are known to be small, and no more. Where the
        ridge does not damp them, other digits of K would give another fit.
        """
        if found.mu == 0 or self.right is not None:
            return 0.0
        size = np.abs(self.values)
        noise = size <= len(size) * ROUNDING * size.max(initial=0.0)
        share = size[noise] ** 2 / (size[noise] ** 2 + found.mu)
        fitted = share * (self.targets - found.bias * self.ones)[noise]
        return float(np.linalg.norm(fitted) / np.linalg.norm(self.yhat))

    def feature_weights(self, mu: float, bias: float) -> np.ndarray:
        """Return the weights of the features, (r,), of the solution with ridge `mu` and its `bias`.

        They are ``F.T @ coef`` without the cancellation: where the columns of F differ much in size, the
        coefficients of the rows do not have the digits.
        """
        assert self.right is not None
        r = len(self.right.T)
        size, residual = self.values[:r], (self.targets - bias * self.ones)[:r]
        kept = size > 0
        inner = np.zeros(r)
        inner[kept] = residual[kept] / (size[kept] + mu / size[kept])
        return np.asarray(self.right @ inner)


def ridge_path(K: np.ndarray, yhat: np.ndarray, mus: Iterable[float]) -> list[RidgeDiscriminant]:
    """Return the discriminants of all `mus` for one eigendecomposition of `K` and O(N^2) for each.

    Parameters
    ----------
    K : (N, N) array
        Symmetric; it need not be positive semidefinite.
    yhat : (N,) array
        N/N1 on class 1, -N/N2 on class 2.
    mus : iterable of float >= 0

    Returns
    -------
    list of RidgeDiscriminant
        In the order of `mus`.

    Raises
    ------
    ValueError
        For shapes that do not fit, a `K` that is not symmetric, targets that do not sum to 0, and a negative
        ridge.

    Examples
    --------
    >>> K = np.array([[2.0, 1, 0], [1, 2, 1], [0, 1, 2]])
    >>> [round(found.bias, 3) for found in ridge_path(K, np.array([1.5, 1.5, -3]), [1e-3, 1.0])]
    [-2.996, -1.2]
    """
    spectrum = KernelSpectrum.of(K, yhat)
    return [spectrum.solve(mu) for mu in mus]


def fisher_discriminant(
    K: np.ndarray, yhat: np.ndarray, mu: float, root: np.ndarray | None = None
) -> RidgeDiscriminant:
    r"""Return the discriminant for `mu` > 0 from :math:`(N_w+\mu I)a=K\hat y`, by Cholesky.

    The direction is Mika's; its length and the bias are those of the least squares of the same ridge, by the
    formula at the head of this module. :math:`N_w` has the squares of the eigenvalues of K, so a ridge below
    about 1e-16 of the largest of them is lost; :func:`ridge_path` goes further.

    Parameters
    ----------
    K : (N, N) array
    yhat : (N,) array
    mu : float
    root : (N,) array, optional
        As in :class:`KernelSpectrum`.

    Raises
    ------
    SingularScatterError
        Where :math:`N_w+\mu I` has no Cholesky factor.
    ValueError
        As in `ridge_path`, and unless `mu` > 0: :math:`N_w` has rank N - 2 at most.
    """
    K, yhat = checked(K, yhat, root)
    validate_ridge(mu, above=True)
    scatter = within_scatter(K, yhat, root)
    scatter[np.diag_indices_from(scatter)] += mu
    difference = K @ yhat
    factor, failed = blocked_cholesky(scatter.T)
    if failed:
        raise SingularScatterError(
            f"the within-class scatter plus reg={mu:.3g} is singular in double precision; raise reg or take "
            "route='least-squares'"
        )
    direction = linalg.cho_solve((factor, True), difference, check_finite=False)
    coef = direction / (1 + float(difference @ direction) / float(yhat @ yhat))
    fitted = K @ coef
    bias = -float(fitted.mean()) if root is None else -float(root @ fitted) / float(root @ root)
    return discriminant(K, yhat, coef, bias, mu, root)


def within_scatter(K: np.ndarray, yhat: np.ndarray, root: np.ndarray | None = None) -> np.ndarray:
    r"""Return :math:`N_w=\sum_j\sum_{i\in j}(k_i-M_j)(k_i-M_j)^\top` of the kernel columns: (N, N).

    Where rows have weights, by whose roots K is multiplied, sum and means are weighted.
    """
    centred = np.array(K, dtype=float)
    for members in (yhat > 0, yhat < 0):
        if root is None:
            centred[members] -= centred[members].mean(axis=0)
        else:
            part = root[members]
            centred[members] -= np.outer(part, part @ centred[members]) / float(part @ part)
    return gram_of(centred.T)
