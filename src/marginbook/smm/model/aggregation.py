r"""From level sets to a probability: the three rules, and how far the sets cross.

Of a sample X let :math:`f_h(X)`, h = 1, ..., H-1, be the decision values of the classifiers with weights
:math:`\pi_h=h/H`, and :math:`s_h=1\{f_h(X)>0\}` say whether X is in the h-th level set. In the population
:math:`s_1\ge s_2\ge\dots\ge s_{H-1}`; fitted level sets cross, and then the rules differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...base.parameters import validate_choice


def levels(n_levels: int) -> np.ndarray:
    """Return h / H for h = 1, ..., H-1, where H is `n_levels`: (H-1,)."""
    return np.arange(1, n_levels) / n_levels


def count_rule(decisions: np.ndarray) -> np.ndarray:
    r"""Return the share of levels that X is above.

    .. math:: \hat p(X)=\frac1H\Bigl(\frac12+\sum_{h=1}^{H-1}1\{f_h(X)>0\}\Bigr)

    It is within 1/(2H) of p where the level sets are exact. The draft's S.4 counts the complements, for h = 1
    to H, and so estimates 1 - p.

    Parameters
    ----------
    decisions : (n, H-1) array
        ``f_h(X_i)``.

    Returns
    -------
    (n,) array, in [1/(2H), 1 - 1/(2H)]
    """
    decisions = _checked(decisions)
    return (0.5 + (decisions > 0).sum(axis=1)) / (decisions.shape[1] + 1)


def interval_rule(decisions: np.ndarray) -> np.ndarray:
    r"""Return the middle between the highest level that X is above and the lowest that it is not.

    .. math::
       \hat p(X)=\tfrac12\bigl(\max\{\pi_h:f_h(X)>0\}+\min\{\pi_h:f_h(X)\le0\}\bigr)

    The highest of no levels is 0, the lowest 1. Source: Wang, Shen & Liu (2008). Where level sets cross the
    two ends change places, and the levels between them have no say.

    Parameters
    ----------
    decisions : (n, H-1) array

    Returns
    -------
    (n,) array, in [1/(2H), 1 - 1/(2H)]
    """
    decisions = _checked(decisions)
    count = decisions.shape[1]
    h = np.arange(1, count + 1)
    above = np.where(decisions > 0, h, 0).max(axis=1)
    below = np.where(decisions > 0, count + 1, h).min(axis=1)
    return (above + below) / (2.0 * (count + 1))


def isotonic_rule(decisions: np.ndarray) -> np.ndarray:
    r"""Return the share of levels that X is above after its decision values were made to fall.

    .. math::
       g&=\arg\min_{g_1\ge\dots\ge g_{H-1}}\sum_h(f_h(X)-g_h)^2,\\
       \hat p(X)&=\frac1H\Bigl(\frac12+\#\{h:g_h>0\}\Bigr)

    By the max-min formula :math:`g_h>0` exactly if the sums :math:`S_k=f_1(X)+\dots+f_k(X)` rise to a new
    maximum at some :math:`k\ge h`. So the count is the first k, from 0, at which :math:`S_k` is largest.
    Of the indicators in place of the values the regression would keep the sum: :func:`count_rule` is already
    the mean of their projection on the indicators' falling order.

    Parameters
    ----------
    decisions : (n, H-1) array

    Returns
    -------
    (n,) array, in [1/(2H), 1 - 1/(2H)]
    """
    decisions = _checked(decisions)
    sums = np.zeros((len(decisions), decisions.shape[1] + 1))
    np.cumsum(decisions, axis=1, out=sums[:, 1:])
    return (0.5 + sums.argmax(axis=1)) / (decisions.shape[1] + 1)


_RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "count": count_rule,
    "interval": interval_rule,
    "isotonic": isotonic_rule,
}
AGGREGATES = tuple(_RULES)


def aggregate(decisions: np.ndarray, rule: str) -> np.ndarray:
    """Return the probability that `rule`, one of ``AGGREGATES``, makes of `decisions`, (n, H-1): (n,).

    >>> decisions = [[1.0, 0.5, -0.2], [0.3, -0.1, 0.4]]
    >>> {rule: aggregate(decisions, rule).round(3).tolist() for rule in AGGREGATES}
    {'count': [0.625, 0.625], 'interval': [0.625, 0.625], 'isotonic': [0.625, 0.875]}
    """
    validate_choice("aggregate", rule, AGGREGATES)
    return _RULES[rule](decisions)


@dataclass(frozen=True)
class Crossings:
    """How far the level sets cross on some samples, and what the repairs do about it.

    Attributes
    ----------
    n_samples, n_levels : int
        n and H.
    n_crossed : int
        Samples that are in a level set but not in one of a lower level.
    share : float
        ``n_crossed / n_samples``.
    pairs : int
        Over all samples, pairs of levels h < k with the sample in the k-th set but not in the h-th.
    largest_pairs : int
        The most such pairs of one sample; at most (H-1)^2/4.
    moved_by_interval, moved_by_isotonic : float
        The mean distance of these rules' probabilities from those of the count.
    """

    n_samples: int
    n_levels: int
    n_crossed: int
    share: float
    pairs: int
    largest_pairs: int
    moved_by_interval: float
    moved_by_isotonic: float


def crossing_pairs(decisions: np.ndarray) -> np.ndarray:
    """Return for each sample the pairs of levels h < k with ``f_h <= 0 < f_k``: (n,) array of int.

    Parameters
    ----------
    decisions : (n, H-1) array
    """
    inside = _checked(decisions) > 0
    missed = np.cumsum(~inside, axis=1)
    return np.sum(missed * inside, axis=1)


def crossings(decisions: np.ndarray) -> Crossings:
    """Return the report on the crossing level sets of `decisions`, (n, H-1).

    >>> report = crossings([[1.0, 0.5, -0.2], [0.3, -0.1, 0.4]])
    >>> report.share, report.pairs, report.moved_by_isotonic
    (0.5, 1, 0.125)
    """
    pairs = crossing_pairs(decisions)
    count = count_rule(decisions)
    return Crossings(
        n_samples=len(pairs),
        n_levels=np.shape(decisions)[1] + 1,
        n_crossed=int(np.count_nonzero(pairs)),
        share=float(np.mean(pairs > 0)),
        pairs=int(pairs.sum()),
        largest_pairs=int(pairs.max()),
        moved_by_interval=float(np.mean(np.abs(interval_rule(decisions) - count))),
        moved_by_isotonic=float(np.mean(np.abs(isotonic_rule(decisions) - count))),
    )


def _checked(decisions: np.ndarray) -> np.ndarray:
    try:
        found = np.asarray(decisions, dtype=float)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(
            f"decisions must be an (n, H-1) array of real numbers, got {type(decisions).__name__}"
        ) from None
    if found.ndim != 2 or 0 in found.shape:
        raise ValueError(f"decisions has shape {found.shape}, wanted (n, H-1) with a sample and a level")
    if not np.isfinite(found).all():
        raise ValueError("decisions holds values that are not finite")
    return found
