"""Is the one better, worse, or practically the same? Bayesian signed-rank comparison over data sets.

The test of Benavoli and others: a Dirichlet process gives the unknown distribution of the difference over
data sets; the posterior probabilities that a difference is below, within and above the region of practical
equivalence add up to one. Unlike a test of significance it can say "the same". Its authors' library has no
wheel, so that no lock of wheels can hold it; the draws are a few lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...experiments import load_protocol

if TYPE_CHECKING:
    import pandas as pd

_BOUNDS = load_protocol("study/accuracy").thresholds
#: points of accuracy that make no difference in practice, and what else is tried
ROPE, ROPES = float(_BOUNDS["rope"]), tuple(map(float, _BOUNDS["ropes"]))
#: draws of the posterior; a probability near one half has a standard error of 0.8 points
DRAWS = 4000
#: what a posterior must reach before it is called a decision
SURE = float(_BOUNDS["sure"])


class Posterior(NamedTuple):
    """Probabilities that the first is worse than the second, practically the same, and better."""

    worse: float
    same: float
    better: float

    @property
    def decision(self) -> str:
        """ "worse", "same" or "better" where its probability reaches `SURE`, else "open"."""
        name, value = max(self._asdict().items(), key=lambda item: item[1])
        return str(name) if value >= SURE else "open"


def posterior(first: ArrayLike, second: ArrayLike, rope: float = ROPE, *, draws: int = DRAWS) -> Posterior:
    r"""Return how probable it is that a difference over data sets lies below, within and above the rope.

    With differences :math:`z_1,\dots,z_q`, the pseudo-difference :math:`z_0=0` and weights :math:`w` from a
    Dirichlet distribution with parameters :math:`(\frac12,1,\dots,1)`, one draw is

    .. math:: \theta_+=\sum_{i,j}w_iw_j\,I(z_i+z_j>2r),\qquad
        \theta_-=\sum_{i,j}w_iw_j\,I(z_i+z_j<-2r),\qquad\theta_0=1-\theta_+-\theta_-,

    and a probability is the share of draws in which the event has the largest :math:`\theta`.

    Parameters
    ----------
    first, second : (q,) arrays
        Scores of two methods on the same q data sets; higher is better.
    rope : float
        r > 0, in the units of the scores.
    draws : int

    References
    ----------
    Benavoli, Corani, Demšar, Zaffalon (2017), Time for a change: a tutorial for comparing multiple
    classifiers through Bayesian analysis, JMLR 18(77), 1-36.

    Examples
    --------
    >>> one = np.array([80.1, 90.2, 70.0, 85.3, 77.7, 91.0])
    >>> posterior(one, one + 0.1).decision, posterior(one, one - 5).decision
    ('same', 'better')
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"scores of shapes {a.shape} and {b.shape}, but both must have the same (q,)")
    if not np.isfinite([a, b]).all():
        raise ValueError("scores are NaN or infinite; drop the data sets that are not complete first")
    if not rope > 0:
        raise ValueError(f"rope = {rope}, expected a positive number: half the width of what counts as equal")
    z = np.append(0.0, a - b)
    sums = z[:, None] + z
    # sums on the edge of the rope count half for each side
    above, below = (np.heaviside(side - 2 * rope, 0.5) for side in (sums, -sums))
    prior = np.append(0.5, np.ones(len(a)))
    weights = np.random.default_rng(0).dirichlet(prior, draws)  # a fixed seed: every build has the same pages
    thetas = np.empty((draws, 3))
    for column, counts in ((0, below), (2, above)):
        thetas[:, column] = np.einsum("di,ij,dj->d", weights, counts, weights, optimize=True)
    thetas[:, 1] = 1 - thetas[:, 0] - thetas[:, 2]
    # where two events are equally large, each gets its part of the draw
    largest = np.isclose(thetas, thetas.max(axis=1, keepdims=True), rtol=0, atol=1e-12)
    shares = (largest / largest.sum(axis=1, keepdims=True)).mean(axis=0)
    return Posterior(*map(float, shares))


def against(table: pd.DataFrame, reference: str, rope: float = ROPE, *, draws: int = DRAWS) -> pd.DataFrame:
    """Return the posterior of every other method against `reference`: columns worse, same, better, decision.

    Parameters
    ----------
    table : DataFrame
        Sets by methods.
    reference : str
        A column of it.
    """
    import pandas as pd

    found = {
        name: posterior(table[name], table[reference], rope, draws=draws)
        for name in table.columns
        if name != reference
    }
    rows = {name: {**one._asdict(), "decision": one.decision} for name, one in found.items()}
    return pd.DataFrame.from_dict(rows, orient="index")


def pairwise(table: pd.DataFrame, rope: float = ROPE, *, draws: int = DRAWS) -> pd.DataFrame:
    """Return for each two methods, once, in the order of the columns: worse, same, better, decision.

    The index is (first, second).
    """
    import pandas as pd

    found = {
        (a, b): posterior(table[a], table[b], rope, draws=draws) for a, b in combinations(table.columns, 2)
    }
    rows = [{**one._asdict(), "decision": one.decision} for one in found.values()]
    return pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(found, names=["first", "second"]))


def better_matrix(pairs: pd.DataFrame, order: Sequence[str]) -> np.ndarray:
    """Return how probable it is that the row's method beats the column's: (k, k), NaN on the diagonal.

    Parameters
    ----------
    pairs : DataFrame
        As of `pairwise`.
    order : sequence of k names
    """
    place = {name: i for i, name in enumerate(order)}
    matrix = np.full((len(order), len(order)), np.nan)
    for (a, b), better, worse in zip(pairs.index, pairs["better"], pairs["worse"], strict=True):
        matrix[place[a], place[b]], matrix[place[b], place[a]] = better, worse
    return matrix


def sensitivity(
    table: pd.DataFrame, reference: str, ropes: Sequence[float] = ROPES, *, draws: int = DRAWS
) -> pd.DataFrame:
    """Return the decisions against `reference`, one column for each rope."""
    import pandas as pd

    return pd.DataFrame({rope: against(table, reference, rope, draws=draws)["decision"] for rope in ropes})
