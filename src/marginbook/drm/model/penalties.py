r"""The penalty :math:`g(w)=\beta\rho(N(w))` of eq. (8), where :math:`N(w)=\lVert w|C\rVert_{q,r}`.

N is the r-norm of the vector of the q-norms of the class parts of w. Its dual norm :math:`N_*` has both
exponents conjugate: :math:`\lVert\cdot\rVert_{q^*,r^*}` with :math:`1/q+1/q^*=1`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...base.parameters import validate_choice

INF = float("inf")

#: the norms (q, r) that the solvers know
NORMS: tuple[tuple[float, float], ...] = ((2, 2), (1, 1), (2, 1), (INF, 1), (1, 2), (INF, INF))

#: c in rho(t) = c t^2, None for the identity
RHOS: dict[str, float | None] = {"identity": None, "square": 1.0, "half-square": 0.5}


def validate_penalty(q: float, r: float, rho: str) -> None:
    """Raise ValueError, with the supported choices, unless (q, r) and `rho` are among them."""
    validate_choice("rho", rho, RHOS)
    if (q, r) not in NORMS:
        pairs = ", ".join(f"({a:g}, {b:g})" for a, b in NORMS)
        raise ValueError(f"unsupported norm (q, r) = ({q!r}, {r!r}); choose from {pairs}")


def conjugate_exponent(q: float) -> float:
    """Return q* with 1/q + 1/q* = 1, of 1, 2 or infinity."""
    return {1.0: INF, 2.0: 2.0, INF: 1.0}[float(q)]


def _reduce(values: np.ndarray, starts: np.ndarray, q: float) -> np.ndarray:
    """Return the q-norm of each run of rows of nonnegative `values`, (n, m)."""
    if q == 1:
        return np.add.reduceat(values, starts, axis=0)
    largest = np.maximum.reduceat(values, starts, axis=0)
    if q == INF:
        return largest
    # relative to the largest entry, so that squares neither overflow nor vanish
    scale = np.where(largest > 0, largest, 1.0)
    runs = np.diff(np.append(starts, len(values)))
    return scale * np.sqrt(np.add.reduceat((values / np.repeat(scale, runs, axis=0)) ** 2, starts, axis=0))


def mixed_norm(W: np.ndarray, sizes: Sequence[int] | np.ndarray, q: float, r: float) -> np.ndarray:
    r"""Return :math:`\lVert w|C\rVert_{q,r}` of each column of `W`, (n, m), as an (m,) array."""
    starts = np.cumsum(np.asarray(sizes)) - np.asarray(sizes)
    norms = _reduce(np.abs(W), starts.astype(int), float(q))
    return _reduce(norms, np.zeros(1, dtype=int), float(r))[0]


@dataclass(frozen=True)
class Penalty:
    r"""The penalty :math:`\beta\rho(\lVert w|C\rVert_{q,r})` with its conjugate.

    Parameters
    ----------
    sizes : (g,) class sizes; rows of the weights are grouped by class
    beta : float
        Above 0.
    q, r : float
        One of ``NORMS``.
    rho : str
        One of ``RHOS``.
    """

    sizes: np.ndarray
    beta: float
    q: float = 2
    r: float = 2
    rho: str = "half-square"

    def __post_init__(self) -> None:
        validate_penalty(self.q, self.r, self.rho)

    @property
    def curvature(self) -> float | None:
        """c in g(w) = c N(w)^2, or None for the identity."""
        factor = RHOS[self.rho]
        return None if factor is None else factor * self.beta

    def norm(self, W: np.ndarray) -> np.ndarray:
        """Return N of each column, (m,)."""
        return mixed_norm(W, self.sizes, self.q, self.r)

    def dual_norm(self, U: np.ndarray) -> np.ndarray:
        """Return the dual norm of each column, (m,)."""
        return mixed_norm(U, self.sizes, conjugate_exponent(self.q), conjugate_exponent(self.r))

    def value(self, norm: np.ndarray) -> np.ndarray:
        """Return beta rho(t)."""
        c = self.curvature
        return self.beta * norm if c is None else c * norm**2

    def slope(self, norm: np.ndarray) -> np.ndarray:
        """Return beta rho'(t)."""
        c = self.curvature
        return np.full_like(norm, self.beta) if c is None else 2 * c * norm

    def groups(self) -> np.ndarray:
        """Return the sizes of the groups whose 2-norms add up to N: for (1, 1), (2, 1) and (2, 2) only."""
        n = int(np.sum(self.sizes))
        known: dict[tuple[float, float], np.ndarray] = {
            (1, 1): np.ones(n, dtype=int),
            (2, 1): np.asarray(self.sizes),
            (2, 2): np.array([n]),
        }
        if (self.q, self.r) not in known:
            raise ValueError(
                f"no closed form of the proximal map of (q, r) = ({self.q:g}, {self.r:g}): use "
                "solver='cvxpy', or one of (1, 1), (2, 1), (2, 2)"
            )
        return known[self.q, self.r]


def threshold(norms: np.ndarray, step: float, penalty: Penalty) -> np.ndarray:
    r"""Return by how much the proximal map of `step` times the penalty shrinks the group norms.

    For the identity that is :math:`\tau=t\beta` (soft threshold). For :math:`c(\sum_ga_g)^2` the minimum of
    :math:`\frac12\lVert a-v\rVert^2+tc(\sum a)^2` over :math:`a\ge0` is :math:`a=(v-\tau)_+` with
    :math:`\tau=2tc\sum a`; with the k largest v left, :math:`\tau=2tc\,(v_{(1)}+\dots+v_{(k)})/(1+2tck)`, and
    k is the last index with :math:`v_{(k)}>\tau_k`.

    Parameters
    ----------
    norms : (g, m) norms of the groups, one column a test point
    step : float

    Returns
    -------
    (m,) array
    """
    c = penalty.curvature
    if c is None:
        return np.full(norms.shape[1], step * penalty.beta)
    ordered = -np.sort(-norms, axis=0)
    counts = np.arange(1, len(norms) + 1)[:, None]
    candidates = 2 * step * c * np.cumsum(ordered, axis=0) / (1 + 2 * step * c * counts)
    last = np.maximum((ordered > candidates).sum(axis=0) - 1, 0)
    return candidates[last, np.arange(norms.shape[1])]


def proximal_map(V: np.ndarray, step: float, penalty: Penalty, groups: np.ndarray) -> np.ndarray:
    r"""Return :math:`\arg\min_w\frac12\lVert w-v\rVert^2+t\,\beta\rho(N(w))` for each column v of `V`.

    A group is shrunk along its own direction, so the map acts on the norms of the groups (``threshold``).
    """
    if len(groups) == len(V):
        return np.sign(V) * np.maximum(np.abs(V) - threshold(np.abs(V), step, penalty), 0)
    starts = np.cumsum(groups) - groups
    norms = _reduce(np.abs(V), starts, 2.0)
    left = np.maximum(norms - threshold(norms, step, penalty), 0)
    return V * np.repeat(left / np.where(norms > 0, norms, 1.0), groups, axis=0)
