r"""How good estimated probabilities are, against a known probability or against labels.

With a known p(X) every score is an expectation over the label given X, so that the only noise left is that
of the test matrices. With labels p is 0 or 1, and the same formulas give the usual scores.
"""

from __future__ import annotations

import numpy as np

#: probabilities nearer to 0 or 1 than this count as this far away in the logarithmic loss
CLIP = 1e-3
BINS = 10


def probability_scores(estimate: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    r"""Score probabilities `estimate` of the positive class, (m,), against `truth`, (m,).

    Parameters
    ----------
    estimate : (m,) array
        Of values in [0, 1].
    truth : (m,) array
        The true probabilities, or 1 and 0 for the labels.

    Returns
    -------
    dict
        ``mae`` :math:`E|\hat p-p|`; ``brier`` :math:`E[(\hat p-p)^2+p(1-p)]`; ``log_loss``
        :math:`-E[p\log\hat p+(1-p)\log(1-\hat p)]` of estimates clipped to [0.001, 0.999]; ``ece``, see
        `calibration_error`; ``error``, the share of wrong labels, in %, when the estimate above 1/2 says
        positive.
    """
    q, p = np.asarray(estimate, dtype=float), np.asarray(truth, dtype=float)
    if q.shape != p.shape or q.ndim != 1 or not len(q):
        raise ValueError(f"estimates {q.shape} and truths {p.shape}, wanted two equal shapes (m,), m > 0")
    if not (np.all((q >= 0) & (q <= 1)) and np.all((p >= 0) & (p <= 1))):
        raise ValueError("estimates and truths must be probabilities, from 0 to 1")
    clipped = np.clip(q, CLIP, 1 - CLIP)
    return {
        "mae": float(np.mean(np.abs(q - p))),
        "brier": float(np.mean((q - p) ** 2 + p * (1 - p))),
        "log_loss": float(-np.mean(p * np.log(clipped) + (1 - p) * np.log1p(-clipped))),
        "ece": calibration_error(q, p),
        "error": 100 * float(np.mean(np.where(q > 0.5, 1 - p, p))),
    }


def best_scores(truth: np.ndarray) -> dict[str, float]:
    """Return what the truth itself scores: ``bayes_brier``, ``bayes_log_loss``, ``bayes_error``."""
    found = probability_scores(truth, truth)
    return {f"bayes_{name}": found[name] for name in ("brier", "log_loss", "error")}


def calibration_error(estimate: np.ndarray, truth: np.ndarray) -> float:
    r"""Return the expected calibration error over `BINS` bins of equal width.

    .. math:: \sum_k\tfrac{m_k}m\,\bigl|\operatorname{mean}_k\hat p-\operatorname{mean}_k p\bigr|

    where bin k has the :math:`m_k` samples with :math:`(k-1)/K\le\hat p<k/K` (1 is in the last one).

    Examples
    --------
    >>> calibration_error(np.array([0.1, 0.1, 0.9]), np.array([0.0, 0.0, 1.0]))
    0.1
    """
    place = np.minimum((estimate * BINS).astype(int), BINS - 1)
    difference = np.bincount(place, weights=estimate - truth, minlength=BINS)
    return float(np.round(np.abs(difference).sum() / len(estimate), 12))


def level_errors(inside: np.ndarray, truth: np.ndarray, levels: np.ndarray) -> np.ndarray:
    r"""Return for each level the probability of the symmetric difference of estimated and true level set.

    Averaged over all levels in [0, 1] it is :math:`E|\hat p-p|` where the sets are those of an estimate
    :math:`\hat p`; sets that cross do worse than the estimate that counts them.

    Parameters
    ----------
    inside : (m, k) array of bool
        Whether a sample is in the estimated set of a level.
    truth : (m,) array
    levels : (k,) array

    Returns
    -------
    (k,) array
        The mean of :math:`1\{[X\in\hat S(\pi)]\ne[p(X)>\pi]\}`.
    """
    inside, levels = np.asarray(inside, dtype=bool), np.asarray(levels, dtype=float)
    if inside.shape != (len(truth), len(levels)):
        raise ValueError(f"membership {inside.shape}, wanted {(len(truth), len(levels))}: samples, levels")
    return np.asarray(np.mean(inside != (np.asarray(truth)[:, None] > levels), axis=0))
