r"""Which rows of a training set give the bases, and which the weights.

Section 3 of the paper divides :math:`\mathcal D=\mathcal M_B\cup\mathcal M_\nu`: subspaces fitted to
:math:`\mathcal M_B` hold all of its rows whatever the kernel, so that only rows they have not seen can tell
which kernels represent the class.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ...base.user_line import user_level


@dataclass(frozen=True)
class Split:
    r"""Rows for the bases and rows for the weights.

    Attributes
    ----------
    basis : (b,) array of int
        :math:`\mathcal M_B`, ascending.
    held_out : (h,) array of int
        :math:`\mathcal M_\nu`, ascending; disjoint from `basis`, except in classes of one row.
    """

    basis: np.ndarray
    held_out: np.ndarray


def split_rows(codes: np.ndarray, basis_fraction: float, rng: np.random.RandomState) -> Split:
    """Divide the rows class by class, at random.

    A class of n rows gives ``basis_fraction * n`` of them, rounded, to the bases, but at least one to either
    part. Which rows these are follows from one permutation of all rows, so that it does not depend on the
    names or the order of the classes.

    Parameters
    ----------
    codes : (n,) array of int
        Class of each row, 0 to C - 1.
    basis_fraction : float
        In (0, 1).
    rng : RandomState

    Warns
    -----
    UserWarning
        For classes of one row, which is then in both parts.
    """
    shuffled = rng.permutation(len(codes))
    basis, held_out, lone = [], [], []
    for code in np.unique(codes):
        rows = shuffled[codes[shuffled] == code]
        if len(rows) == 1:
            lone.append(code)
            basis.append(rows)
            held_out.append(rows)
            continue
        count = int(np.clip(np.floor(basis_fraction * len(rows) + 0.5), 1, len(rows) - 1))
        basis.append(rows[:count])
        held_out.append(rows[count:])
    if lone:
        warnings.warn(
            f"{len(lone)} of {len(np.unique(codes))} classes have one row, which gives both their basis and "
            "their weights; take more rows to a class",
            UserWarning,
            stacklevel=user_level(),
        )
    return Split(np.sort(np.concatenate(basis)), np.sort(np.concatenate(held_out)))
