r"""The separation ratio (33) of the kernel weights, its gradient, and how far a point is from stationary.

Notation: C classes, K kernels; for each class c symmetric positive semidefinite K x K matrices :math:`N_c`
(how large the other classes are in the subspaces of c) and :math:`D_c` (how large the class is there itself);
weights :math:`\nu_c\ge0` with :math:`\sum_i\nu_{ci}=1`, and their roots :math:`s_{ci}=\sqrt{\nu_{ci}}`, a
nonnegative unit vector for each class. With ``combine="sum"`` the objective is

.. math::
    F(s)=\frac{\sum_cs_c^\top N_cs_c}{\sum_cs_c^\top D_cs_c},

and with ``combine="concat"`` only the diagonals :math:`n_{ci}`, :math:`d_{ci}` of the matrices enter,

.. math::
    F(\nu)=\frac{\sum_c n_c^\top\nu_c}{\sum_c d_c^\top\nu_c}.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...base.parameters import validate_choice

COMBINE = ("sum", "concat")
#: an eigenvalue below minus this times the largest entry makes a matrix indefinite
INDEFINITE = 1e-8


def validate_matrices(numerator: ArrayLike, denominator: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return both stacks as symmetric (C, K, K) arrays of floats.

    Raises
    ------
    ValueError
        If a shape does not fit, there are fewer than two classes, an entry is not finite, a matrix is not
        symmetric or not positive semidefinite, or all denominators are zero.
    """
    stacks = []
    for name, given in (("numerator", numerator), ("denominator", denominator)):
        stack = np.asarray(given, dtype=float)
        if stack.ndim != 3 or stack.shape[1] != stack.shape[2] or stack.shape[1] == 0:
            raise ValueError(f"{name} has shape {stack.shape}, wanted (C, K, K): one K x K matrix per class")
        if len(stack) < 2:
            raise ValueError(f"{name} has {len(stack)} class, wanted at least 2: the ratio compares classes")
        if not np.isfinite(stack).all():
            raise ValueError(
                f"{name} has entries that are not finite; look for zero rows or overflow in the kernels"
            )
        largest = np.abs(stack).max()
        if np.abs(stack - stack.transpose(0, 2, 1)).max() > INDEFINITE * largest:
            raise ValueError(f"{name} has a matrix that is not symmetric; give (A + A') / 2")
        stack = 0.5 * (stack + stack.transpose(0, 2, 1))
        if largest > 0:
            scaled = stack / largest
            if not _has_factor(scaled + INDEFINITE * np.eye(stack.shape[1])):
                least = float(np.linalg.eigvalsh(scaled).min())
                raise ValueError(
                    f"{name} has a matrix with smallest eigenvalue {least * largest:.3g}, wanted positive "
                    "semidefinite ones; compute them from inner products of the same coordinates"
                )
        stacks.append(stack)
    top, bottom = stacks
    if top.shape != bottom.shape:
        raise ValueError(f"numerator has shape {top.shape} and denominator {bottom.shape}, wanted the same")
    if not np.einsum("cii->ci", bottom).max() > 0:
        raise ValueError(
            "all denominators are zero, wanted a kernel whose subspace holds some energy of its class; "
            "lower the tolerance of the bases, or change the kernels"
        )
    return top, bottom


def _has_factor(stack: np.ndarray) -> bool:
    """Return whether all matrices have a Cholesky factor: many times faster than their eigenvalues."""
    try:
        np.linalg.cholesky(stack)
    except np.linalg.LinAlgError:
        return False
    return True


def validate_kernel_weights(weights: ArrayLike, n_classes: int, n_kernels: int) -> np.ndarray:
    """Return `weights` as a (C, K) array whose rows sum to 1; raise ValueError if it is not one."""
    checked = np.asarray(weights, dtype=float)
    if checked.shape != (n_classes, n_kernels):
        raise ValueError(f"weights have shape {checked.shape}, wanted ({n_classes}, {n_kernels})")
    if not (checked >= 0).all() or not np.allclose(checked.sum(axis=1), 1.0, rtol=0, atol=1e-6):
        raise ValueError("weights must be >= 0 with rows that sum to 1; divide each row by its sum")
    return checked / checked.sum(axis=1, keepdims=True)


def diagonals(stack: np.ndarray) -> np.ndarray:
    """Return the diagonals of a (C, K, K) stack, (C, K)."""
    return np.einsum("cii->ci", stack).copy()


def forms(roots: np.ndarray, stack: np.ndarray) -> np.ndarray:
    r"""Return :math:`s_c^\top A_cs_c` for each class, (C,)."""
    values: np.ndarray = np.einsum("ci,cij,cj->c", roots, stack, roots)
    return values


def ratio(
    weights: ArrayLike, numerator: np.ndarray, denominator: np.ndarray, *, combine: str = "sum"
) -> float:
    r"""Return F, the objective (33), in the weights.

    Parameters
    ----------
    weights : (C, K) array
        :math:`\nu`: nonnegative, rows that sum to 1.
    numerator, denominator : (C, K, K) arrays
        :math:`N_c` and :math:`D_c`.
    combine : {"sum", "concat"}

    Raises
    ------
    ValueError
        If the denominator is zero in these weights.

    Examples
    --------
    >>> import numpy as np
    >>> N = np.array([[[2.0, 1.0], [1.0, 4.0]], [[1.0, 0.0], [0.0, 3.0]]])
    >>> round(ratio([[0.5, 0.5], [1, 0]], N, np.array([np.eye(2)] * 2)), 12)
    2.5
    >>> ratio([[0.5, 0.5], [1, 0]], N, np.array([np.eye(2)] * 2), combine="concat")
    2.0
    """
    validate_choice("combine", combine, COMBINE)
    checked = validate_kernel_weights(weights, *np.shape(numerator)[:2])
    if combine == "concat":
        top = float((checked * diagonals(numerator)).sum())
        bottom = float((checked * diagonals(denominator)).sum())
    else:
        roots = np.sqrt(checked)
        top, bottom = float(forms(roots, numerator).sum()), float(forms(roots, denominator).sum())
        top = max(top, 0.0)  # a form that is positive semidefinite: below 0 by rounding only
    if not bottom > 0:
        raise ValueError("the denominator is zero in these weights: no class has energy in its subspaces")
    return top / bottom


def roots_gradient(roots: np.ndarray, numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    r"""Return the gradient of F in the roots, (C, K).

    .. math:: \nabla_{s_c}F=\frac{2\,(N_c-FD_c)\,s_c}{\sum_cs_c^\top D_cs_c}

    Its inner product with each :math:`s_c` need not vanish: only the sum over the classes does.
    """
    top = np.einsum("cij,cj->ci", numerator, roots)
    bottom = np.einsum("cij,cj->ci", denominator, roots)
    energy = float((bottom * roots).sum())
    value = float((top * roots).sum()) / energy
    slopes: np.ndarray = 2.0 * (top - value * bottom) / energy
    return slopes


def gradient(
    weights: np.ndarray, numerator: np.ndarray, denominator: np.ndarray, *, combine: str = "sum"
) -> np.ndarray:
    r"""Return the gradient of F in the weights, (C, K).

    .. math::
        \frac{\partial F}{\partial\nu_{ci}}=\frac1{2s_{ci}}\frac{\partial F}{\partial s_{ci}}
        \quad(\text{sum}),\qquad
        \frac{n_{ci}-F\,d_{ci}}{\sum_cd_c^\top\nu_c}\quad(\text{concat}).

    With ``"sum"`` it is infinite at a zero weight wherever the slope in the root is not zero: the objective
    (33) is not differentiable at the boundary of the simplex.
    """
    validate_choice("combine", combine, COMBINE)
    if combine == "concat":
        top, bottom = diagonals(numerator), diagonals(denominator)
        energy = float((weights * bottom).sum())
        result: np.ndarray = (top - float((weights * top).sum()) / energy * bottom) / energy
        return result
    roots = np.sqrt(weights)
    slopes = roots_gradient(roots, numerator, denominator)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: np.ndarray = slopes / (2.0 * roots)
    return np.where(slopes == 0, 0.0, quotient)


def kkt_residual(
    weights: np.ndarray, numerator: np.ndarray, denominator: np.ndarray, *, combine: str = "sum"
) -> float:
    r"""Return by how much the conditions of stationarity fail, relative to the largest entry of the forms.

    With :math:`Q_c=N_c-FD_c` and :math:`\mu_c=s_c^\top Q_cs_c`, a local minimum on the nonnegative unit
    spheres has :math:`g_c=Q_cs_c-\mu_cs_c` equal to zero where :math:`s_{ci}>0` and at least zero elsewhere.
    The residual is

    .. math:: \max_{c,i}\,\bigl|s_{ci}-\max(s_{ci}-g_{ci}/\kappa,\,0)\bigr|,\qquad
        \kappa=\max_{c,i,j}\max(|N_{c,ij}|,F|D_{c,ij}|),

    zero exactly there. With ``"concat"`` it is the linear program's gap
    :math:`\sum_c(q_c^\top\nu_c-\min_iq_{ci})/\kappa` with :math:`q_c=n_c-Fd_c`, zero exactly at the minimum.
    """
    value = ratio(weights, numerator, denominator, combine=combine)
    scale = max(float(np.abs(numerator).max()), value * float(np.abs(denominator).max()))
    if scale == 0:
        return 0.0
    if combine == "concat":
        costs = diagonals(numerator) - value * diagonals(denominator)
        return float(((costs * weights).sum(axis=1) - costs.min(axis=1)).sum()) / scale
    roots = np.sqrt(weights)
    products = np.einsum("cij,cj->ci", numerator - value * denominator, roots)
    g = products - (products * roots).sum(axis=1, keepdims=True) * roots
    return float(np.abs(roots - np.maximum(roots - g / scale, 0.0)).max())
