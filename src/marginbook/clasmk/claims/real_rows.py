"""Real rows for the claims: sets that come with scikit-learn, divided in three."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...datasets import load
from ...kernels import Kernel
from ..model.statistics import Separation, separation
from ..model.subspaces import Subspace, fit_subspaces

#: name in the registry and most rows of a class
SETS = (("iris", 50), ("wine", 60), ("wdbc", 120), ("optdigits", 40))
PARTS = ("basis", "held_out", "new")
#: notebooks that show the claims beyond the paper
CHOICE, WEIGHTS = "clasmk/02_one_kernel_per_class", "clasmk/03_learning_weights"


@dataclass(frozen=True)
class Rows:
    r"""Standardised rows: for the subspaces, for the weights, and new ones.

    Attributes
    ----------
    name : str
    X, y : dict of arrays, (n, p) and (n,)
        For "basis", :math:`\mathcal M_B`; "held_out", :math:`\mathcal M_\nu`; and "new".
    """

    name: str
    X: dict[str, np.ndarray]
    y: dict[str, np.ndarray]

    def subspaces(self, kernels: Sequence[Kernel], *, tol: float = 1e-3) -> list[list[Subspace]]:
        """Return the subspaces that the rows "basis" span."""
        return fit_subspaces(self.X["basis"], self.y["basis"], kernels, tol=tol)

    def separation(
        self,
        subspaces: Sequence[Sequence[Subspace]],
        part: str = "held_out",
        *,
        combine: str = "sum",
        denominator: str = "energy",
    ) -> Separation:
        """Return the statistics of one part."""
        return separation(subspaces, self.X[part], self.y[part], combine=combine, denominator=denominator)


def real_rows(name: str, seed: int, per_class: int) -> Rows:
    """Draw at most `per_class` rows of each class and divide them in three equal parts, class by class.

    Features are standardised by mean and deviation of the first two parts; those without deviation are
    dropped.

    Parameters
    ----------
    name : str
        Of a set that comes with scikit-learn, so that nothing need be fetched.
    seed : int
    per_class : int
        At least 3.
    """
    data = load(name)
    codes = np.unique(data.y, return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    parts: dict[str, list[np.ndarray]] = {part: [] for part in PARTS}
    for c in range(codes.max() + 1):
        drawn = rng.permutation(np.flatnonzero(codes == c))[:per_class]
        for part, rows in zip(PARTS, np.array_split(drawn, 3), strict=True):
            parts[part].append(rows)
    rows_of = {part: np.concatenate(rows) for part, rows in parts.items()}
    X = np.asarray(data.X, dtype=float)
    known = X[np.concatenate([rows_of["basis"], rows_of["held_out"]])]
    deviation = known.std(axis=0)
    kept = deviation > 0
    scaled = (X[:, kept] - known.mean(axis=0)[kept]) / deviation[kept]
    return Rows(
        name,
        {part: scaled[rows] for part, rows in rows_of.items()},
        {p: codes[r] for p, r in rows_of.items()},
    )
