r"""Which kernels take part, (35)-(36), and which weights are kept, (37)-(39)."""

from __future__ import annotations

import numpy as np


class AllTruncated(ValueError):
    """No kernel represents the classes."""


def representative(energy: np.ndarray, eta: float, truncation: str = "sum") -> np.ndarray:
    r"""Return the kernels whose subspaces hold enough of rows that they have not seen.

    Kernel i stays when :math:`\sum_c\frac1{N_c}\sum_{x\in\mathcal M_{\nu_c}}\lVert U_{c,i}^\top\varphi_i(x)
    \rVert^2>\eta`. Each of the C terms is in [0, 1], so that the same :math:`\eta` asks less of each class
    where there are more; their mean is a share of the energy. Source: (35), (36).

    Parameters
    ----------
    energy : (C, K) array
        The terms of the sum.
    eta : float
    truncation : {"sum", "mean"}
        Sum over the classes, as printed, or mean.

    Returns
    -------
    (m,) array of int, ascending

    Raises
    ------
    AllTruncated
        If no kernel stays.
    """
    total = energy.sum(axis=0) if truncation == "sum" else energy.mean(axis=0)
    kept = np.flatnonzero(total > eta)
    if len(kept) == 0:
        raise AllTruncated(
            f"all {len(total)} kernels are truncated: their subspaces hold at most {total.max():.2g} of the "
            f"energy of held-out rows, {truncation} over {len(energy)} classes, wanted more than "
            f"eta={eta:g}; lower eta, take wider kernels or scale the features"
        )
    return kept


def thresholded(weights: np.ndarray, threshold: float) -> np.ndarray:
    r"""Return the weights without those below a share of the largest of the class, rescaled to sum 1.

    .. math::
       \tilde\nu_{c,k}=\nu_{c,k}\text{ if }\nu_{c,k}\ge t\max_k\nu_{c,k}\text{ else }0,\qquad
       \nu_{c,k}\leftarrow\tilde\nu_{c,k}\Big/\sum_i\tilde\nu_{c,i}

    With t = 1 only the largest remains: one kernel a class, chosen by (39). Source: (37), (38).

    Parameters
    ----------
    weights : (C, K) array, rows of sum 1
    threshold : float
        t, in [0, 1].
    """
    largest = weights.max(axis=1, keepdims=True)
    kept = np.where(weights >= threshold * largest, weights, 0.0)
    return kept / kept.sum(axis=1, keepdims=True)


def largest_weights(weights: np.ndarray) -> np.ndarray:
    r"""Return :math:`i_c^*=\arg\max_i\nu_{c,i}`, (39): the kernel that serves a class best; (C,) of int."""
    return np.argmax(weights, axis=1)
