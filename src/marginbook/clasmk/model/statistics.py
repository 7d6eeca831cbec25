r"""What the weights are learned from: how much of each class the subspaces catch (section 3.2).

For the subspaces of class c, with class-balanced means over the samples of :math:`M_\nu`,

.. math::
    N_c[i,j]=\frac1{C-1}\sum_{c'\ne c}\operatorname{mean}_{x\in c'}z_{ci}(x)^\top z_{cj}(x),\qquad
    D_c[i,j]=\operatorname{mean}_{x\in c}z_{ci}(x)^\top z_{cj}(x)\ \text{ or }\ m_{ci}^\top m_{cj},

so that with :math:`s_c=\sqrt{\nu_c}` the objective of (32)-(33), or of criterion 3, is
:math:`\sum_cs_c^\top N_cs_c/\sum_cs_c^\top D_cs_c`. Coordinate vectors of different lengths are filled up
with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...base.parameters import validate_choice
from .embedding import Subspace
from .self_similarity import validate_rows
from .subspaces import class_coordinates, validate_codes

DENOMINATORS = ("energy", "mean")
#: coordinates of all kernels that are held at once (64 MB), but those of so many samples at least
TOGETHER_ENTRIES, SHORTEST_CHUNK = 2**23, 128


@dataclass(frozen=True)
class Separation:
    r"""The matrices of the objective, and the energy that each kernel's subspace catches of its own class.

    Attributes
    ----------
    numerator, denominator : (C, K, K) arrays
        :math:`N_c` and :math:`D_c`, positive semidefinite; diagonal if the kernels are concatenated.
    energy : (C, K) array
        Mean over class c of :math:`\lVert z_{ci}(x)\rVert^2`, in [0, 1], whatever the denominator is: (35)
        sums it over the classes. Without it, the diagonals of `denominator`.
    """

    numerator: np.ndarray
    denominator: np.ndarray
    energy: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        shape = self.numerator.shape
        if len(shape) != 3 or shape[1] != shape[2] or self.denominator.shape != shape:
            raise ValueError(
                f"numerator and denominator have shapes {shape} and {self.denominator.shape}, "
                "wanted (C, K, K) twice"
            )
        if self.energy is None:
            object.__setattr__(self, "energy", np.einsum("cii->ci", self.denominator).copy())

    def keep(self, kernels: ArrayLike) -> Separation:
        """Return what is left with these kernels only, given by their indices or by a mask."""
        kept = np.arange(self.numerator.shape[1])[np.asarray(kernels)]
        square = np.ix_(range(len(self.numerator)), kept, kept)
        return Separation(self.numerator[square], self.denominator[square], self.energy[:, kept])


def separation(
    subspaces: Sequence[Sequence[Subspace]],
    X: ArrayLike,
    codes: ArrayLike,
    *,
    combine: str = "sum",
    denominator: str = "energy",
) -> Separation:
    r"""Compute :math:`N_c` and :math:`D_c` for all classes.

    Coordinates are made for one class and one chunk of the samples at a time.

    Parameters
    ----------
    subspaces : list of C lists of K Subspace
    X : (n, p) array
        The samples of :math:`M_\nu`.
    codes : (n,) array of int
        Their classes 0, ..., C-1; each class needs a sample.
    combine : {"sum", "concat"}
        ``"concat"``: the kernels' coordinates stand side by side, and only the diagonals remain.
    denominator : {"energy", "mean"}
        Mean of the squared length, as in (32)-(35), or squared length of the mean, as in (26)-(27) and
        criterion 3; by Jensen's inequality the former is the larger.

    Returns
    -------
    Separation
    """
    validate_choice("combine", combine, ("sum", "concat"))
    validate_choice("denominator", denominator, DENOMINATORS)
    rows = validate_rows(X)
    classes = validate_codes(codes, len(rows))
    counts = np.bincount(classes)
    if len(counts) != len(subspaces) or len(counts) < 2:
        raise ValueError(
            f"the samples are of {len(counts)} classes and the subspaces of {len(subspaces)}, wanted the "
            "same number, at least 2"
        )
    K = len(subspaces[0])
    N, D, energy = (np.zeros(shape) for shape in ((len(counts), K, K), (len(counts), K, K), (len(counts), K)))
    # a balanced mean over the other classes: each sample weighs one over the size of its class
    roots = np.sqrt(1.0 / counts[classes])
    for c, of_class in enumerate(subspaces):
        own = classes == c
        N[c], _ = _moments(of_class, rows[~own], roots[~own], combine)
        N[c] /= len(counts) - 1
        second, mean = _moments(of_class, rows[own], roots[own], combine)
        energy[c] = np.diag(second)
        D[c] = second if denominator == "energy" else mean
    return Separation(N, D, energy)


def _moments(
    of_class: Sequence[Subspace], X: np.ndarray, roots: np.ndarray, combine: str
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return sums over x of :math:`w_xz_i^\top z_j`, and products of the :math:`\sum_xw_xz_i`, as (K, K)."""
    dims = np.array([s.n_components for s in of_class])
    K, longest = len(dims), dims.max()
    second, sums = np.zeros((K, K)), np.zeros((K, longest))
    # longest first: the coordinates that several kernels have are then the first rows of each slice
    rank = np.argsort(-dims, kind="stable")
    place = np.argsort(rank)
    active = (dims[:, None] > np.arange(longest)).sum(axis=0)
    together: np.ndarray | None = None
    chunk = max(SHORTEST_CHUNK, TOGETHER_ENTRIES // (K * longest))
    for part, i, z in class_coordinates(of_class, X, chunk):
        z *= roots[part]
        sums[i, : dims[i]] += z @ roots[part]
        if combine == "concat":
            second[i, i] += np.einsum("ij,ij->", z, z)
            continue
        if together is None or together.shape[2] != z.shape[1]:
            together = np.empty((longest, K, z.shape[1]))
        together[: dims[i], place[i]] = z
        if i == K - 1:
            for t, k in enumerate(active):
                second[np.ix_(rank[:k], rank[:k])] += together[t, :k] @ together[t, :k].T
    products = sums @ sums.T
    return (second + second.T) / 2, np.diag(np.diag(products)) if combine == "concat" else products
