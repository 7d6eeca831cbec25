r"""The LDM objective, its dual, and the certificates that a solution is optimal.

Notation: m examples with labels :math:`y_i\in\{-1,+1\}`, Gram matrix G, margins
:math:`\gamma_i=y_if(x_i)` with mean :math:`\bar\gamma`; the model has no intercept. The primal (5) is

.. math::
    F(w)=\tfrac12\lVert w\rVert^2+\lambda_1V-\lambda_2\bar\gamma+C\sum_i(1-\gamma_i)_+,
    \qquad V=\tfrac2m\sum_i(\gamma_i-\bar\gamma)^2 .

The dual (12) is written for the shifted variable :math:`\beta'=\beta+\tfrac{\lambda_2}me`, in which it is the
dual of a support vector machine with Gram matrix H (:mod:`marginbook.ldm.model.whitening`) and a shifted box:

.. math:: \min_{\beta'}\ \tfrac12\beta'^\top H\beta'-e^\top\beta'
    \quad\text{with}\quad \tfrac{\lambda_2}m\le\beta'_i\le C+\tfrac{\lambda_2}m .

:math:`H\beta'` are the margins of the primal solution that belongs to :math:`\beta'`, whether optimal or not.
"""

from __future__ import annotations

import numpy as np

from ...base.parameters import is_number

#: largest lambda1, lambda2 and finite C: products of two of them with margins stay in double precision
LARGEST = 1e100


def validate_parameters(lambda1: float, lambda2: float, C: float) -> None:
    """Raise ValueError unless lambda1, lambda2 >= 0 and C > 0, all finite and at most `LARGEST`."""
    for name, value in (("lambda1", lambda1), ("lambda2", lambda2)):
        if not (is_number(value) and value >= 0):
            raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
    if not (is_number(C) and C > 0):
        raise ValueError(f"C must be a finite number > 0, got {C!r}")
    for name, value in (("lambda1", lambda1), ("lambda2", lambda2), ("C", C)):
        if value > LARGEST:
            raise ValueError(
                f"{name} must be at most {LARGEST:.0e}, beyond which squares overflow, got {value!r}; "
                "lower it, or scale the features"
            )


def validate_signs(y: np.ndarray, m: int) -> np.ndarray:
    """Return the labels as an (m,) array of floats; raise ValueError unless all are -1 or +1."""
    signs = np.asarray(y, dtype=float)
    if signs.shape != (m,):
        raise ValueError(f"y has shape {signs.shape}, the Gram matrix asks for ({m},): one label per row")
    if not np.isin(signs, (-1.0, 1.0)).all():
        raise ValueError(f"labels must be -1 or +1, got {np.unique(signs)[:5].tolist()}; encode them first")
    return signs


def margin_mean(margins: np.ndarray) -> np.ndarray | float:
    r"""Return :math:`\bar\gamma=\frac1m\sum_i\gamma_i` (eq. 3) over the last axis of `margins`, (..., m)."""
    return np.mean(margins, axis=-1)


def margin_variance(margins: np.ndarray) -> np.ndarray | float:
    r"""Return the variance term of the model over the last axis of `margins`, (..., m).

    .. math:: V=\tfrac2{m^2}\bigl(m\,w^\top XX^\top w-w^\top Xyy^\top X^\top w\bigr)
        =\tfrac2m\sum_i(\gamma_i-\bar\gamma)^2,

    the right-hand side of (4): twice the variance with divisor m.
    """
    return 2.0 * np.var(margins, axis=-1)


def primal_objective(
    margins: np.ndarray,
    sq_norm: np.ndarray | float,
    lambda1: float,
    lambda2: np.ndarray | float,
    C: float,
) -> np.ndarray | float:
    r"""Return F(w) (eq. 5) from the margins, (..., m), and :math:`\lVert w\rVert^2`, (...)."""
    hinge = np.maximum(0.0, 1.0 - margins).sum(axis=-1)
    spread = lambda1 * margin_variance(margins) - lambda2 * margin_mean(margins)
    return 0.5 * np.asarray(sq_norm) + spread + C * hinge


def weighted_objective(
    margins: np.ndarray, sq_norm: float, weights: np.ndarray, lambda1: float, lambda2: float, C: float
) -> float:
    r"""Return F(w) where row i counts :math:`\omega_i` times, from the margins, (m,), and the squared norm.

    Mean and variance are weighted, with divisor :math:`M=\sum_i\omega_i`:

    .. math::
        \tfrac12\lVert w\rVert^2&+\frac{2\lambda_1}M\sum_i\omega_i(\gamma_i-\bar\gamma)^2\\
        &-\lambda_2\bar\gamma+C\sum_i\omega_i(1-\gamma_i)_+,\\
        \bar\gamma&=\frac1M\sum_i\omega_i\gamma_i .
    """
    total = float(weights.sum())
    mean = float(weights @ margins) / total
    spread = 2.0 * float(weights @ (margins - mean) ** 2) / total
    return (
        0.5 * sq_norm
        + lambda1 * spread
        - lambda2 * mean
        + C * float(weights @ np.maximum(0.0, 1.0 - margins))
    )


def squared_norm(shifted: np.ndarray, margins: np.ndarray, lambda1: float) -> np.ndarray | float:
    r"""Return :math:`\lVert w\rVert^2=\beta'^\top\gamma-2\lambda_1V` of the w that belongs to `shifted`.

    Parameters
    ----------
    shifted : (..., m) array
        :math:`\beta'`.
    margins : (..., m) array
        :math:`\gamma=H\beta'`.
    """
    inner = np.sum(shifted * margins, axis=-1)
    return np.maximum(0.0, inner - 2.0 * lambda1 * np.asarray(margin_variance(margins)))


def dual_objective(shifted: np.ndarray, margins: np.ndarray, lambda2: float) -> np.ndarray | float:
    r"""Return the dual value :math:`D=\sum_i\beta_i-\frac12\beta'^\top H\beta'`, a lower bound on F.

    Parameters
    ----------
    shifted : (..., m) array
        :math:`\beta'` in the box.
    margins : (..., m) array
        :math:`H\beta'`.
    lambda2 : float
    """
    return np.sum(shifted * (1.0 - 0.5 * margins), axis=-1) - lambda2


def dual_gap(
    shifted: np.ndarray, margins: np.ndarray, lambda2: np.ndarray | float, C: float
) -> np.ndarray | float:
    r"""Return F - D, by how much a point of the box can at most miss the optimum.

    The difference is a sum of products that are never negative, so nothing cancels:

    .. math:: F-D=\sum_i\beta_i(\gamma_i-1)_++(C-\beta_i)(1-\gamma_i)_+ .

    Parameters
    ----------
    shifted, margins : (..., m) arrays
        :math:`\beta'` in the box, and :math:`H\beta'`.
    lambda2 : float or (...) array
    C : float
    """
    lower = np.asarray(lambda2)[..., np.newaxis] / shifted.shape[-1]
    excess = margins - 1.0
    room = np.where(excess > 0, shifted - lower, shifted - (C + lower))
    return np.sum(room * excess, axis=-1)


def relative_gap(gap: np.ndarray | float, objective: np.ndarray | float) -> np.ndarray | float:
    """Return ``gap / max(1, |objective|)``, which every solver compares with its tolerance."""
    return np.asarray(gap) / np.maximum(1.0, np.abs(objective))


def coefficients(shifted: np.ndarray, margins: np.ndarray, y: np.ndarray, lambda1: float) -> np.ndarray:
    r"""Return the expansion coefficients of :math:`f(z)=\sum_i\alpha_ik(x_i,z)`, without any inverse.

    .. math:: \alpha_i=y_i\bigl(\beta'_i-\tfrac{4\lambda_1}m(\gamma_i-\bar\gamma)\bigr)

    The rounding of the margins counts :math:`4\lambda_1/m` times.

    Parameters
    ----------
    shifted, margins : (..., m) arrays
        :math:`\beta'` and :math:`H\beta'`.
    y : (m,) array of -1 and +1
    lambda1 : float
    """
    c = 4.0 * lambda1 / shifted.shape[-1]
    alpha: np.ndarray = y * (shifted - c * (margins - margins.mean(axis=-1, keepdims=True)))
    return alpha


def kkt_residual(shifted: np.ndarray, margins: np.ndarray, lambda2: float, C: float) -> float:
    r"""Return :math:`\max_i|\beta'_i-\Pi(\beta'_i-(\gamma_i-1))|`, with the projection on the box.

    Zero exactly at the solutions of (12): then :math:`\gamma_i\ge1` where :math:`\beta_i=0`,
    :math:`\gamma_i\le1` where :math:`\beta_i=C`, and :math:`\gamma_i=1` between.

    Parameters
    ----------
    shifted, margins : (m,) arrays
        :math:`\beta'` and :math:`H\beta'`.
    lambda2, C : float
    """
    lower = lambda2 / len(shifted)
    projected = np.clip(shifted - (margins - 1.0), lower, C + lower)
    return float(np.abs(shifted - projected).max(initial=0.0))
