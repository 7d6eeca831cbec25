r"""Simulated matrices whose class probability is known: what estimates of it are measured against.

All matrices have independent N(0, 1) entries. A truth turns a score g, of mean 0 and variance 1, into the
probability of the positive class:

.. math::

   \text{logit:}&\quad g(X)=\langle B,X\rangle,\ \operatorname{rank}B=r,\ \lVert B\rVert_F=1,
      \quad p=1/(1+e^{-sg}),\\
   \text{step:}&\quad g\text{ the same},\quad p=0.8\text{ for }g>0,\text{ else }0.2,\\
   \text{bumps:}&\quad g(X)=c^{-1}\sum_{k\le r}\sum_{i\le d_1}U_{ik}\bigl(\phi_k(X_{i\cdot})-m_k\bigr),\quad
      \phi_k(x)=e^{-\gamma\lVert x-z_k\rVert^2},\quad p=1/(1+e^{-sg}).

The last one is linear of rank r in the feature space of the Gaussian kernel on rows: its V has the columns
:math:`h(z_k)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ...base.parameters import validate_choice
from ...experiments.splits import seed_of

#: s, and the two values of the step
SCALE, STEPS = 3.0, (0.2, 0.8)
#: of the Gaussian bumps on rows
GAMMA = 0.5
FAMILIES = ("logit", "step", "bumps")
#: what the seeds of a draw are made of; independent of each other
PARTS = ("train", "tune", "test")
_NAME = re.compile(r"(?P<family>[a-z]+)-n(?P<n>\d+)-d(?P<d1>\d+)(x(?P<d2>\d+))?-r(?P<rank>\d+)")


class Draw(NamedTuple):
    """Matrices (n, d1, d2), labels -1 or 1 (n,), and P(y = 1 | X), (n,)."""

    X: np.ndarray
    y: np.ndarray
    probability: np.ndarray


class Setting(NamedTuple):
    """What the name of a simulated set says: family, training size, shape, rank."""

    family: str
    n: int
    shape: tuple[int, int]
    rank: int


def setting(name: str) -> Setting:
    """Read the name of a simulated set, such as ``"logit-n400-d20-r2"`` or ``"bumps-n400-d6x2-r1"``.

    Parameters
    ----------
    name : str
        Family, n, d1 (and d2 where it differs), r.

    Raises
    ------
    ValueError
        The name is not of that form, the family unknown, or r larger than d1 or d2.

    Examples
    --------
    >>> setting("logit-n400-d20-r2")
    Setting(family='logit', n=400, shape=(20, 20), rank=2)
    """
    found = _NAME.fullmatch(name)
    if found is None or found["family"] not in FAMILIES:
        raise ValueError(
            f"no simulated set {name!r}; write one of {', '.join(FAMILIES)} and sizes, as logit-n400-d20-r2"
        )
    d1, n, rank = (int(found[key]) for key in ("d1", "n", "rank"))
    d2 = int(found["d2"] or d1)
    # the bumps live in a feature space of rows that has no end of dimensions
    most = d1 if found["family"] == "bumps" else min(d1, d2)
    if not 1 <= rank <= most or n < 1:
        raise ValueError(f"{name}: rank {rank} and n {n}, wanted a rank of 1 to {most} and n of at least 1")
    return Setting(found["family"], n, (d1, d2), rank)


@dataclass(frozen=True)
class Truth:
    """One true probability function, drawn with a seed.

    Parameters
    ----------
    family : {"logit", "step", "bumps"}
    shape : (int, int)
        d1 and d2.
    rank : int
    number : int
        Which one; the same number gives the same function, and matrices of which the first n are the same
        for every n.

    Examples
    --------
    >>> truth = Truth("logit", (6, 4), 1, number=1)
    >>> draw = truth.draw(50, "train")
    >>> draw.X.shape, int(np.linalg.matrix_rank(truth.direction))
    ((50, 6, 4), 1)
    """

    family: str
    shape: tuple[int, int]
    rank: int
    number: int

    @cached_property
    def direction(self) -> np.ndarray:
        """B of length 1, (d1, d2), of the families that have it; of the bumps U, (d1, r), of length 1."""
        rng = self._rng("direction")
        left = rng.standard_normal((self.shape[0], self.rank))
        if self.family != "bumps":
            left = left @ rng.standard_normal((self.rank, self.shape[1]))
        return np.asarray(left / np.linalg.norm(left))

    @cached_property
    def centres(self) -> np.ndarray:
        """The centres of the bumps, (r, d2)."""
        return self._rng("centres").standard_normal((self.rank, self.shape[1]))

    @cached_property
    def moments(self) -> tuple[np.ndarray, float]:
        r"""The means m, (r,), of the bumps at a Gaussian row, and the standard deviation c of their sum.

        :math:`E e^{-a\lVert x-z\rVert^2}=(1+2a)^{-d_2/2}e^{-a\lVert z\rVert^2/(1+2a)}` for x of N(0, I), and
        the product of two bumps is a bump of twice the :math:`\gamma` around the mean of their centres.
        """
        z = self.centres
        apart = ((z[:, None] - z[None]) ** 2).sum(axis=2)
        between = _mean_bump((z[:, None] + z[None]) / 2, 2 * GAMMA)
        mean = _mean_bump(z, GAMMA)
        covariance = np.exp(-GAMMA * apart / 2) * between - np.outer(mean, mean)
        U = self.direction
        return mean, float(np.sqrt(np.einsum("ik,kl,il->", U, covariance, U)))

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return g of matrices `X`, (n, d1, d2): mean 0 and variance 1 over Gaussian matrices."""
        if self.family != "bumps":
            return np.asarray(np.einsum("ij,nij->n", self.direction, X))
        mean, deviation = self.moments
        squared = ((X[:, :, None, :] - self.centres) ** 2).sum(axis=3)
        return np.asarray(np.einsum("ik,nik->n", self.direction, np.exp(-GAMMA * squared) - mean) / deviation)

    def probability(self, X: np.ndarray) -> np.ndarray:
        """Return P(y = 1 | X) of matrices `X`, (n, d1, d2)."""
        score = self.score(X)
        if self.family == "step":
            return np.where(score > 0, STEPS[1], STEPS[0])
        return np.asarray(expit(SCALE * score))

    def draw(self, n: int, part: str) -> Draw:
        """Draw n matrices and labels.

        Parameters
        ----------
        n : int
            A larger n only adds samples at the end.
        part : {"train", "tune", "test"}
            Parts are independent of each other.
        """
        validate_choice("part", part, PARTS)
        X = self._rng(part, "X").standard_normal((n, *self.shape))
        p = self.probability(X)
        return Draw(X, np.where(self._rng(part, "y").random(n) < p, 1, -1), p)

    def _rng(self, *what: str) -> np.random.Generator:
        # one direction and one stream of matrices for all linear families: they differ in the labels only
        family = "bumps" if self.family == "bumps" else "linear"
        d1, d2 = self.shape
        return np.random.default_rng(seed_of("smm", family, d1, d2, self.rank, self.number, *what))


def _mean_bump(centres: np.ndarray, gamma: float) -> np.ndarray:
    spread = 1 + 2 * gamma
    squared = (centres**2).sum(axis=-1)
    return np.asarray(spread ** (-centres.shape[-1] / 2) * np.exp(-gamma * squared / spread))
