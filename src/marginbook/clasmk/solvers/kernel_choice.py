r"""One kernel for each class: the minimum of criterion 2, eq. (26), over all :math:`K^C` choices.

.. math::
    \min_{k_1,\dots,k_C}\ F(k)=\frac{\sum_cn_{c,k_c}}{\sum_cd_{c,k_c}},\qquad n,d\ge0,

where :math:`n_{ck}` is how large the other classes are in the subspace of class c under kernel k and
:math:`d_{ck}` how large the class itself is. :func:`choose_exact` finds the minimum in a few passes over the
CK numbers, :func:`choose_exhaustive` tries every choice, :func:`choose_greedy` is the paper's rule (27).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

RULES = ("exact", "exhaustive", "greedy")
#: choices that are tried at most
MOST = 1_000_000


@dataclass(frozen=True, eq=False)
class KernelChoice:
    """A kernel for each class.

    Attributes
    ----------
    kernels : (C,) array of int
    objective : float
        The ratio (26).
    n_iter : int
        Passes over the CK numbers, or combinations tried.
    objective_path : tuple of float
        The ratio at the start and after each pass.
    """

    kernels: np.ndarray
    objective: float
    n_iter: int
    objective_path: tuple[float, ...]


def choice_ratio(kernels: ArrayLike, n: np.ndarray, d: np.ndarray) -> float:
    """Return F, the ratio (26), of a choice; infinite where the denominator is zero.

    Parameters
    ----------
    kernels : (C,) array of int
    n, d : (C, K) arrays
    """
    chosen = np.asarray(kernels)
    rows = np.arange(len(chosen))
    top, bottom = float(n[rows, chosen].sum()), float(d[rows, chosen].sum())
    return top / bottom if bottom > 0 else np.inf


def choose_exact(n: ArrayLike, d: ArrayLike) -> KernelChoice:
    r"""Return the choice with the smallest ratio, by Dinkelbach's iteration.

    From a choice with value :math:`\lambda`, every class takes its :math:`\arg\min_k(n_{ck}-\lambda d_{ck})`;
    that is repeated until nothing falls. Proof that the end is the minimum over all :math:`K^C` choices:

    1. For a choice k let :math:`G_\lambda(k)=\sum_c(n_{c,k_c}-\lambda d_{c,k_c})`. Where
       :math:`\sum_cd_{c,k_c}>0`, :math:`G_\lambda(k)<0` exactly if :math:`F(k)<\lambda`. The sum separates by
       class, so the argmin in each class minimises :math:`G_\lambda` over all choices.
    2. The current choice has :math:`G_\lambda=0`, so the minimum is at most 0. If it is 0, no choice has
       :math:`G_\lambda<0`, and no choice has a ratio below :math:`\lambda`.
    3. If it is below 0, then :math:`\lambda\sum_cd_{c,k_c}>\sum_cn_{c,k_c}\ge0` for the new choice: its
       denominator is positive and its ratio below :math:`\lambda`.
    4. The values fall strictly and there are finitely many choices: it ends. Moreover the denominator of the
       choice falls from pass to pass (add the two inequalities of optimality at two values of
       :math:`\lambda`), and :math:`k_c` moves only along the lower envelope of the K lines
       :math:`n_{ck}-\lambda d_{ck}`, to smaller slopes; so at most C(K-1) passes change something after
       the first, and in practice three or four do.

    Each pass reads the CK numbers once.

    Parameters
    ----------
    n, d : (C, K) arrays
        Nonnegative; d not all zero.

    Returns
    -------
    KernelChoice
        Among kernels that are equally good for a class, the first.

    Raises
    ------
    ValueError
        If the arrays do not fit, have fewer than two classes, negative or infinite entries, or d is zero.

    Examples
    --------
    >>> import numpy as np
    >>> n, d = np.array([[0.1, 0.4], [3.0, 2.0]]), np.array([[0.2, 1.0], [4.0, 2.0]])
    >>> choose_exact(n, d).kernels, choose_greedy(n, d).kernels
    (array([1, 0]), array([1, 0]))
    """
    top, bottom = validate_terms(n, d)
    # the largest entries to 1: neither the products nor the sums overflow
    top_scale, bottom_scale = float(top.max()) or 1.0, float(bottom.max())
    scaled_top, scaled_bottom = top / top_scale, bottom / bottom_scale
    rows = np.arange(len(top))
    best = np.argmax(scaled_bottom, axis=1)
    value = choice_ratio(best, scaled_top, scaled_bottom)
    path = [value]
    while True:
        candidate = np.argmin(scaled_top - value * scaled_bottom, axis=1)
        fallen = float((scaled_top - value * scaled_bottom)[rows, candidate].sum())
        now = choice_ratio(candidate, scaled_top, scaled_bottom) if fallen < 0 else np.inf
        path.append(min(now, value))
        if not now < value:
            break
        best, value = candidate, now
    factor = top_scale / bottom_scale
    return KernelChoice(best, choice_ratio(best, top, bottom), len(path) - 1, tuple(v * factor for v in path))


def choose_greedy(n: ArrayLike, d: ArrayLike) -> KernelChoice:
    r"""Return the paper's choice (27): for each class the kernel with the smallest :math:`n_{ck}/d_{ck}`.

    It minimises every class's own ratio, not the ratio of the sums. A kernel with :math:`d_{ck}=0` is taken
    only where all are so for the class.

    Parameters
    ----------
    n, d : (C, K) arrays
    """
    top, bottom = validate_terms(n, d)
    quotients = np.full(top.shape, np.inf)
    np.divide(top, bottom, out=quotients, where=bottom > 0)
    kernels = np.argmin(quotients, axis=1)
    value = choice_ratio(kernels, top, bottom)
    return KernelChoice(kernels, value, 1, (value, value))


def choose_exhaustive(n: ArrayLike, d: ArrayLike) -> KernelChoice:
    """Return the choice with the smallest ratio by trying all of them, the first where several have it.

    Parameters
    ----------
    n, d : (C, K) arrays

    Raises
    ------
    ValueError
        If there are more than `MOST` choices.
    """
    top, bottom = validate_terms(n, d)
    n_classes, n_kernels = top.shape
    count = n_kernels**n_classes
    if count > MOST:
        raise ValueError(
            f"{n_kernels} kernels for {n_classes} classes make {count} choices, wanted at most "
            f'{MOST}; use rule="exact", which finds the same minimum'
        )
    # the first class is the slowest index, as in itertools.product: sums of all choices, built class by class
    tops, bottoms = top[0], bottom[0]
    for row_top, row_bottom in zip(top[1:], bottom[1:], strict=True):
        tops = (tops[:, np.newaxis] + row_top).ravel()
        bottoms = (bottoms[:, np.newaxis] + row_bottom).ravel()
    quotients = np.full(count, np.inf)
    np.divide(tops, bottoms, out=quotients, where=bottoms > 0)
    best = int(np.argmin(quotients))
    kernels = np.array(np.unravel_index(best, (n_kernels,) * n_classes), dtype=np.intp)
    value = choice_ratio(kernels, top, bottom)
    return KernelChoice(kernels, value, count, (value, value))


def choose_kernels(n: ArrayLike, d: ArrayLike, *, rule: str = "exact") -> KernelChoice:
    """Return the choice of a rule: "exact", "exhaustive" (up to `MOST` choices) or "greedy".

    Raises
    ------
    ValueError
        If the rule is unknown, the terms are not as they must be, or there are too many choices.
    """
    if rule == "exhaustive":
        return choose_exhaustive(n, d)
    if rule not in RULES:
        raise ValueError(f"rule must be one of {RULES}, got {rule!r}")
    return choose_exact(n, d) if rule == "exact" else choose_greedy(n, d)


def validate_terms(n: ArrayLike, d: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return n and d as (C, K) arrays of floats; raise ValueError if they are no terms of criterion 2."""
    top, bottom = np.asarray(n, dtype=float), np.asarray(d, dtype=float)
    if top.ndim != 2 or top.shape != bottom.shape or top.shape[1] == 0:
        raise ValueError(
            f"n has shape {top.shape} and d {bottom.shape}, wanted both (C, K): classes by kernels"
        )
    if len(top) < 2:
        raise ValueError(
            f"got {len(top)} class, wanted at least 2: the ratio compares a class with the others"
        )
    for name, terms in (("n", top), ("d", bottom)):
        if not np.isfinite(terms).all() or (terms < 0).any():
            raise ValueError(f"{name} has entries that are negative or not finite, wanted mean squared norms")
    if not bottom.max() > 0:
        raise ValueError(
            "all denominators are zero, wanted a kernel whose subspace holds some energy of its class; "
            "lower the tolerance of the bases, or change the kernels"
        )
    return top, bottom
