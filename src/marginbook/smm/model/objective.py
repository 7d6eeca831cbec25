r"""Margin losses, the penalised risk of a matrix of coefficients, and lower bounds of it over all ranks <= r.

For matrices :math:`X_i\in\mathbb R^{d_1\times d_2}`, labels :math:`y_i=\pm1` and weights :math:`w_i\ge0`

.. math::
    F(B,b)=\frac1n\sum_iw_iL\bigl(y_i(\langle B,X_i\rangle+b)\bigr)+\lambda\lVert B\rVert_F^2,
    \qquad\operatorname{rank}B\le r,

equations (2) (all weights 1) and (3) (:math:`w_i=1-\pi` for the positive class, :math:`\pi` for the negative
one) for the hinge loss :math:`(1-z)_+`, the squared hinge loss :math:`(1-z)_+^2` and the logistic loss
:math:`\log(1+e^{-z})`. The intercept b is fixed to 0 or free, and not penalised.

Multipliers :math:`c_i\ge0` (with :math:`\sum_iy_ic_i=0` where b is free) and
:math:`M(c)=\sum_ic_iy_iX_i` bound it from below for all matrices of rank at most r, because
:math:`L(z)\ge-uz-L^*(-u)`, and because the maximum of :math:`\langle M,B\rangle-\lambda\lVert B\rVert_F^2`
over these matrices is :math:`\sum_{k\le r}\sigma_k(M)^2/4\lambda`:

.. math::
    F(B,b)\ge D_r(c)=-\sum_i\frac{w_i}nL^*\Bigl(-\frac{nc_i}{w_i}\Bigr)
    -\frac1{4\lambda}\sum_{k\le r}\sigma_k\bigl(M(c)\bigr)^2 .

For :math:`r=\min(d_1,d_2)` this is the dual of the support vector machine on vec(X); for smaller r it belongs
to the convex envelope of the problem, whose penalty is the squared spectral k-support norm (McDonald, Pontil
and Stamos 2014).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlogy

LOSSES = ("hinge", "squared_hinge", "logistic")


def validate_loss(loss: str) -> None:
    """Raise ValueError unless `loss` is the name of a loss."""
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {LOSSES}, got {loss!r}")


def validate_signs(y: np.ndarray, n_samples: int) -> np.ndarray:
    """Return `y` as an (n,) array of floats; raise ValueError unless its entries are -1 and +1."""
    signs = np.asarray(y, dtype=float)
    if signs.shape != (n_samples,):
        raise ValueError(f"y has shape {signs.shape}, wanted ({n_samples},): one label per matrix")
    if not np.isin(signs, (-1.0, 1.0)).all():
        found = np.unique(signs)[:5]
        raise ValueError(f"y has the values {found}, wanted -1 and +1; encode the two classes so")
    return signs


def validate_lam(lam: float) -> float:
    """Return `lam` as a float; raise ValueError unless it is finite and > 0."""
    if not (np.isfinite(lam) and lam > 0):
        raise ValueError(
            f"lam must be a finite number > 0, got {lam}: without a penalty there may be no minimum"
        )
    return float(lam)


def validate_sample_weight(sample_weight: np.ndarray | None, n_samples: int) -> np.ndarray:
    """Return the weights as an (n,) array, ones for None; raise ValueError unless finite and >= 0."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weights.shape}, wanted ({n_samples},)")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("sample_weight has entries that are negative or not finite, wanted weights >= 0")
    return weights


def weights_for(pi: float | None, y: np.ndarray, sample_weight: np.ndarray | None = None) -> np.ndarray:
    r"""Return the weights :math:`w_i` of the level pi, (n,).

    Parameters
    ----------
    pi : float in [0, 1] or None
        The positive class weighs 1 - pi, the negative class pi, equation (3). None: all weigh 1, (2).
        A level of 0 or 1 leaves one class without weight.
    y : (n,) array of -1 and +1
    sample_weight : (n,) array, optional
        Multiplied into the result.

    Examples
    --------
    >>> import numpy as np
    >>> weights_for(0.25, np.array([1, -1, 1])).tolist()
    [0.75, 0.25, 0.75]
    """
    signs = validate_signs(y, len(y))
    weights = validate_sample_weight(sample_weight, len(signs))
    if pi is None:
        return weights.copy()
    if not 0 <= pi <= 1:
        raise ValueError(f"pi must be a level between 0 and 1, got {pi}")
    return weights * np.where(signs > 0, 1.0 - pi, pi)


def loss_values(margins: np.ndarray, loss: str) -> np.ndarray:
    """Return L(z) for each margin z."""
    validate_loss(loss)
    if loss == "logistic":
        return np.asarray(np.logaddexp(0.0, -margins))
    positive = np.maximum(1.0 - margins, 0.0)
    return positive if loss == "hinge" else positive * positive


def loss_slopes(margins: np.ndarray, loss: str) -> np.ndarray:
    """Return L'(z) for each margin z; for the hinge loss the slope -1 at its kink z = 1."""
    validate_loss(loss)
    if loss == "hinge":
        return np.where(margins <= 1.0, -1.0, 0.0)
    if loss == "squared_hinge":
        return -2.0 * np.maximum(1.0 - margins, 0.0)
    return -np.asarray(expit(-margins))


def loss_curvatures(margins: np.ndarray, loss: str) -> np.ndarray:
    """Return L''(z) for each margin z: one from the left at a jump, 0 everywhere for the hinge loss."""
    validate_loss(loss)
    if loss == "hinge":
        return np.zeros_like(margins, dtype=float)
    if loss == "squared_hinge":
        return np.where(margins < 1.0, 2.0, 0.0)
    probability = expit(margins)
    return np.asarray(probability * expit(-margins))


def conjugates(u: np.ndarray, loss: str) -> np.ndarray:
    r"""Return :math:`L^*(-u)=\sup_z(-uz-L(z))`, infinite where u is outside its domain.

    Hinge: -u for u in [0, 1]. Squared hinge: -u + u^2/4 for u >= 0. Logistic: u log u + (1-u) log(1-u) for u
    in [0, 1].
    """
    validate_loss(loss)
    u = np.asarray(u, dtype=float)
    if loss == "squared_hinge":
        return np.where(u >= 0, -u + 0.25 * u * u, np.inf)
    inside = (u >= 0) & (u <= 1)
    if loss == "hinge":
        return np.where(inside, -u, np.inf)
    kept = np.where(inside, u, 0.0)
    return np.where(inside, xlogy(kept, kept) + xlogy(1.0 - kept, 1.0 - kept), np.inf)


def decision_values(coef: np.ndarray, intercept: float, X: np.ndarray) -> np.ndarray:
    r"""Return :math:`\langle B,X_i\rangle+b` for each of the (n, d1, d2) matrices."""
    n = len(X)
    return np.asarray(np.reshape(X, (n, -1)) @ np.ravel(coef)) + intercept


def objective(
    coef: np.ndarray,
    intercept: float,
    X: np.ndarray,
    y: np.ndarray,
    *,
    lam: float,
    loss: str = "hinge",
    sample_weight: np.ndarray | None = None,
) -> float:
    """Return F(B, b).

    Parameters
    ----------
    coef : (d1, d2) array
        B.
    intercept : float
        b.
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1
    lam : float
    loss : {"hinge", "squared_hinge", "logistic"}
    sample_weight : (n,) array, optional
        :math:`w_i`, all 1 by default.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[[1.0, 0.0]], [[0.0, 2.0]]])
    >>> objective(np.array([[0.5, -0.5]]), 0.0, X, np.array([1, -1]), lam=0.1)
    0.3
    """
    weights = validate_sample_weight(sample_weight, len(X))
    values = loss_values(y * decision_values(coef, intercept, X), loss)
    return float(weights @ values) / len(X) + lam * float(np.sum(np.square(coef)))


def combination(multipliers: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    r"""Return :math:`M(c)=\sum_ic_iy_iX_i`, (d1, d2)."""
    n = len(X)
    combined: np.ndarray = ((multipliers * y) @ np.reshape(X, (n, -1))).reshape(X.shape[1:])
    return combined


def feasible(
    multipliers: np.ndarray,
    y: np.ndarray,
    *,
    loss: str = "hinge",
    sample_weight: np.ndarray | None = None,
    fit_intercept: bool = False,
) -> np.ndarray:
    r"""Return multipliers that the bounds allow, nearest to those given.

    They are clipped to the domain of the conjugate: :math:`0\le c_i\le w_i/n`, without the upper bound for
    the squared hinge loss, 0 where the weight is 0. With an intercept the class whose multipliers have the
    larger sum is then scaled down, so that :math:`\sum_iy_ic_i=0`.
    """
    validate_loss(loss)
    weights = validate_sample_weight(sample_weight, len(y)) / len(y)
    upper = np.where(weights > 0, np.inf, 0.0) if loss == "squared_hinge" else weights
    clipped: np.ndarray = np.clip(multipliers, 0.0, upper)
    if fit_intercept:
        positive = y > 0
        sums = float(clipped[positive].sum()), float(clipped[~positive].sum())
        if sums[0] > sums[1]:
            clipped = np.where(positive, clipped * (sums[1] / sums[0]), clipped)
        elif sums[1] > sums[0]:
            clipped = np.where(positive, clipped, clipped * (sums[0] / sums[1]))
    return clipped


def conjugate_sum(
    multipliers: np.ndarray, *, loss: str = "hinge", sample_weight: np.ndarray | None = None
) -> float:
    r"""Return :math:`-\sum_i(w_i/n)L^*(-nc_i/w_i)`, for the hinge loss :math:`\sum_ic_i`."""
    validate_loss(loss)
    weights = validate_sample_weight(sample_weight, len(multipliers)) / len(multipliers)
    kept = weights > 0
    ratios = np.asarray(multipliers)[kept] / weights[kept]
    if loss != "squared_hinge":  # a quotient of equal numbers is exactly 1, one of rounded ones need not be
        ratios = np.where(ratios > 1.0, np.where(ratios <= 1.0 + 1e-12, 1.0, ratios), ratios)
    return -float(weights[kept] @ conjugates(ratios, loss))


def dual_bound(
    multipliers: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    *,
    lam: float,
    rank: int,
    loss: str = "hinge",
    sample_weight: np.ndarray | None = None,
    fit_intercept: bool = False,
) -> float:
    r"""Return :math:`D_r(c)`, a lower bound of F over all matrices of rank at most `rank`.

    The multipliers are made feasible first (:func:`feasible`), so that the result is a bound for any input.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[[2.0, 0.0], [0.0, 1.0]]]), np.array([1])
    >>> [round(dual_bound(np.array([0.2]), X, y, lam=0.5, rank=r), 12) for r in (1, 2)]
    [0.12, 0.1]
    """
    allowed = feasible(multipliers, y, loss=loss, sample_weight=sample_weight, fit_intercept=fit_intercept)
    sigma = np.linalg.svd(combination(allowed, X, y), compute_uv=False)
    value = conjugate_sum(allowed, loss=loss, sample_weight=sample_weight)
    return value - float(np.sum(sigma[:rank] ** 2)) / (4.0 * lam)
