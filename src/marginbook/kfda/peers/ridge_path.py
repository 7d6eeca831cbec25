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

#: eigenvalues of K below this share of the largest, times N, count as 0 where mu = 0
ROUNDING = float(np.finfo(float).eps)
#: largest entry of K: sums of squares of its eigenvalues stay in double precision
LARGEST = 1e100


class SingularScatterError(ValueError):
    """The within-class scatter with its ridge has no Cholesky factor in double precision."""


@dataclass(frozen=True)
class RidgeDiscriminant:
    r"""The solution for one amount of ridge, and how well it solves its linear system.

    Attributes
    ----------
    coef : (N,) array
        :math:`\alpha`, on the scale on which :math:`b+K\alpha` fits the targets.
    bias : float
        b.
    mu : float
    fitted : (N,) array
        :math:`b+K\alpha`.
    residual : float
        Of the equations :math:`K(\hat y-b1-K\alpha)=\mu\alpha`, :math:`1^\top(\hat y-b1-K\alpha)=0`: their
        norm relative to that of :math:`[1\ K]^\top\hat y`.
    """

    coef: np.ndarray
    bias: float
    mu: float
    fitted: np.ndarray
    residual: float


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
        The columns of Q.
    ones, targets : (N,) array
        z and t.
    """

    kernel: np.ndarray
    yhat: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    ones: np.ndarray
    targets: np.ndarray

    @classmethod
    def of(cls, K: np.ndarray, yhat: np.ndarray) -> KernelSpectrum:
        """Decompose the symmetric `K`, (N, N), for the targets `yhat`, (N,), which sum to 0: O(N^3)."""
        K, yhat = checked(K, yhat)
        values, vectors = linalg.eigh(K, check_finite=False, driver="evd")
        return cls(K, yhat, values, vectors, vectors.sum(axis=0), vectors.T @ yhat)

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
        kept = np.abs(self.values) > len(z) * ROUNDING * size
        inner = np.zeros(len(z))
        inner[kept] = (t - bias * z)[kept] / (self.values[kept] + mu / self.values[kept])
        return discriminant(self.kernel, self.yhat, self.vectors @ inner, bias, mu)


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


def fisher_discriminant(K: np.ndarray, yhat: np.ndarray, mu: float) -> RidgeDiscriminant:
    r"""Return the discriminant for `mu` > 0 from :math:`(N_w+\mu I)a=K\hat y`, by Cholesky.

    The direction is Mika's; its length and the bias are those of the least squares of the same ridge, by the
    formula at the head of this module. :math:`N_w` has the squares of the eigenvalues of K, so a ridge below
    about 1e-16 of the largest of them is lost; :func:`ridge_path` goes further.

    Parameters
    ----------
    K : (N, N) array
    yhat : (N,) array
    mu : float

    Raises
    ------
    SingularScatterError
        Where :math:`N_w+\mu I` has no Cholesky factor.
    ValueError
        As in `ridge_path`, and unless `mu` > 0: :math:`N_w` has rank N - 2 at most.
    """
    K, yhat = checked(K, yhat)
    validate_ridge(mu, above=True)
    scatter = within_scatter(K, yhat)
    scatter[np.diag_indices_from(scatter)] += mu
    difference = K @ yhat
    try:
        factor = linalg.cho_factor(scatter, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError as error:
        raise SingularScatterError(
            f"the within-class scatter plus reg={mu:.3g} is singular in double precision; raise reg or take "
            "route='least-squares'"
        ) from error
    direction = linalg.cho_solve(factor, difference, check_finite=False)
    coef = direction / (1 + float(difference @ direction) / float(yhat @ yhat))
    return discriminant(K, yhat, coef, -float((K @ coef).mean()), mu)


def within_scatter(K: np.ndarray, yhat: np.ndarray) -> np.ndarray:
    r"""Return :math:`N_w=\sum_j\sum_{i\in j}(k_i-M_j)(k_i-M_j)^\top` of the kernel columns: (N, N)."""
    centred = np.array(K, dtype=float)
    for members in (yhat > 0, yhat < 0):
        centred[members] -= centred[members].mean(axis=0)
    return centred.T @ centred


def discriminant(
    K: np.ndarray, yhat: np.ndarray, coef: np.ndarray, bias: float, mu: float
) -> RidgeDiscriminant:
    """Return the solution with its fit and the residual of its equations: two products with `K`."""
    fitted = bias + K @ coef
    left = yhat - fitted
    equations = np.append(K @ left - mu * coef, left.sum())
    # where K yhat = 0 the solution is 0, and what is left is measured by the targets; rounding is no size
    size = float(np.linalg.norm(yhat))
    unit = max(1.0, float(np.abs(K).max(initial=0.0)))
    scale = float(np.linalg.norm(K @ yhat))
    scale = scale if scale > ROUNDING * len(K) * np.abs(K).max(initial=0.0) * size else unit * size
    return RidgeDiscriminant(coef, bias, float(mu), fitted, float(np.linalg.norm(equations)) / scale)


def checked(K: np.ndarray, yhat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `K` and `yhat` as arrays of floats, or raise ValueError for what does not fit."""
    K, yhat = np.asarray(K, dtype=float), np.asarray(yhat, dtype=float)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be a square matrix, got shape {K.shape}; give the Gram matrix")
    if yhat.shape != (K.shape[0],):
        raise ValueError(f"yhat has shape {yhat.shape}, K asks for ({K.shape[0]},): one target per row")
    size = float(np.abs(K).max(initial=0.0))
    if not size <= LARGEST:
        raise ValueError(
            f"K has entries that are undefined or above {LARGEST:.0e}, so that their squares overflow; scale "
            "the features"
        )
    if float(np.abs(K - K.T).max(initial=0.0)) > 1e-8 * size:
        raise ValueError("K must be symmetric; give (K + K.T) / 2")
    if not ((yhat > 0).any() and (yhat < 0).any() and abs(yhat.sum()) <= 1e-8 * np.abs(yhat).sum()):
        raise ValueError("yhat must have N/N1 on class 1 and -N/N2 on class 2, which sum to 0")
    return K, yhat


def validate_ridge(mu: float, above: bool = False) -> None:
    """Raise ValueError unless `mu` is a finite number >= 0, or > 0 where `above`."""
    if not (np.isfinite(mu) and (mu > 0 if above else mu >= 0)):
        raise ValueError(f"the ridge must be a finite number {'>' if above else '>='} 0, got {mu!r}")
