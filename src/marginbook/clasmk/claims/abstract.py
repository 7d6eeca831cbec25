"""The claim that nothing is computed for pairs of samples: kernel values are counted as the samples grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...claims import Evidence, Rival, claim, decide
from ...datasets import make_waveform
from ...kernels import Kernel
from ...quality.benchmarking.goals import exponent, measured
from ..model import normalised_kernels
from ..model.kernel_sets import poly, rbf
from ..model.normalised_kernels import SharedPairs
from ..model.statistics import separation
from ..model.subspaces import fit_subspaces

TABLE = "clasmk-scaling"
#: of the stored times: from so many samples on, no class is small enough for their pairs to be kept
LARGE = 16_000
#: lines of the stored times whose basis has the same size whatever N
FIXED = ("basis of 50 rows", "basis, polynomial of degree 1", "statistics, 50 rows")
GROWING, PAIRS = "basis that grows", "one kernel of all pairs"
#: samples for which kernel values are counted, enough that the library takes columns one by one in each
#: class, and rows in a basis
COUNTED, RANK = (2000, 4000), 50
#: an exponent of a count is 1 up to what the ends of chunks add
TOLERANCE = 0.01


@contextmanager
def counting(keep: bool) -> Iterator[list[int]]:
    """Count the kernel values that are computed meanwhile, in the first entry of what is given.

    Parameters
    ----------
    keep : bool
        Let the library compute and keep all pairs of small classes, as it does to share them among kernels.
    """
    total, kept, plain = [0], normalised_kernels.KEPT_ENTRIES, SharedPairs._compute

    def compute(self: SharedPairs, *arguments: Any) -> np.ndarray:
        found = plain(self, *arguments)
        total[0] += found.size
        return found

    try:
        SharedPairs._compute = compute  # type: ignore[assignment,method-assign]
        normalised_kernels.KEPT_ENTRIES = kept if keep else 0
        yield total
    finally:
        SharedPairs._compute = plain  # type: ignore[method-assign]
        normalised_kernels.KEPT_ENTRIES = kept


def waveform(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n standardised samples of two classes, (n, 21), and the classes 0 and 1."""
    X, labels = make_waveform(n, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.unique(labels, return_inverse=True)[1]


def kernel_values(n: int, *, keep: bool = False, grow: bool = False) -> dict[str, int]:
    """Return how many kernel values bases and statistics of `n` samples of two classes take, by `FIXED`.

    Parameters
    ----------
    n : int
    keep : bool
        As of `counting`.
    grow : bool
        Let the Gaussian kernel's basis grow in proportion to n.
    """
    X, codes = waveform(n)
    gaussian, linear = rbf((8.0,)), poly((1,))
    rank = n * RANK // COUNTED[0] if grow else RANK

    def bases(kernels: list[Kernel], most: int | None) -> Any:
        return fit_subspaces(X, codes, kernels, max_rank=most)

    subspaces = bases(gaussian, RANK)
    works: tuple[Callable[[], Any], ...] = (
        lambda: bases(gaussian, rank),
        lambda: bases(linear, None),
        lambda: separation(subspaces, X, codes),
    )
    found = {}
    for what, work in zip(FIXED, works, strict=True):
        with counting(keep) as total:
            work()
        found[what] = total[0]
    return found


def by_tolerance(n: int) -> int:
    """Return how many kernel values a Gaussian kernel's bases take whose size is left to the tolerance."""
    X, codes = waveform(n)
    with counting(False) as total:
        fit_subspaces(X, codes, rbf((8.0,)))
    return total[0]


def times() -> str:
    """Return in words with which exponents the stored times grow; "" without them."""
    lines = measured(TABLE, "N")
    told = [
        f"{what} N^{exponent(*lines[what], (LARGE, np.inf)):.2f}"
        for what in FIXED
        if what in lines and np.sum(lines[what][0] >= LARGE) > 1
    ]
    others = [
        f"{what} N^{exponent(*lines[what], (0, np.inf)):.1f}" for what in (GROWING, PAIRS) if what in lines
    ]
    if not told:
        return ""
    most = ", ".join(others)
    return f" The stored CPU times from N = {LARGE:,} on grow like {', '.join(told)}" + (
        f"; on up to 4,000 samples, {most}." if others else "."
    )


@claim(
    "clasmk/no-pairwise",
    kind="statement",
    where="Abstract, 'The contribution is twofold: 1)'",
    statement="no pairwise computations are required",
    notebook="clasmk/09_speed#clasmk-no-pairwise",
    depends=(f"benchmarks/results/{TABLE}.csv",),
    rivals=(
        Rival("an exponent below 1", {"linear": 0.98}),
        Rival("all pairs of a class, as this library keeps them where it is small", {"keep": True}),
        Rival("a basis that grows with the samples", {"grow": True}),
    ),
)
def check_no_pairwise(*, linear: float = 1.0, keep: bool = False, grow: bool = False) -> Evidence:
    """Count kernel values as N doubles, with bases of a fixed size: in proportion to N without pairs.

    Parameters
    ----------
    linear : float
        The exponent that is claimed.
    keep, grow : bool
        As of `kernel_values`.
    """
    counts = [kernel_values(n, keep=keep, grow=grow) for n in COUNTED]
    slopes = {what: float(np.log2(counts[-1][what] / counts[-2][what])) for what in FIXED}
    far = max(abs(slope - linear) for slope in slopes.values())
    each = {what: counts[-1][what] / COUNTED[-1] for what in FIXED}
    growing = [by_tolerance(n // 2) for n in COUNTED]
    return Evidence(
        verdict=decide(far <= TOLERANCE),
        measured=f"kernel values as N grows from {COUNTED[-2]:,} to {COUNTED[-1]:,}: "
        + ", ".join(f"{what} N^{slope:.3f}" for what, slope in slopes.items()),
        claimed=f"an exponent of {linear:g}",
        slack=TOLERANCE - far,
        why="Each sample meets the rows of the bases and no other samples: it takes "
        + ", ".join(f"{number:.0f} kernel values ({what})" for what, number in each.items())
        + " at the larger N. That is so while the basis does not grow; if its size is left to the tolerance, "
        f"the values grow like N^{float(np.log2(growing[1] / growing[0])):.1f} from {COUNTED[0] // 2:,} to "
        f"{COUNTED[1] // 2:,} samples. For classes of up to "
        f"{int(normalised_kernels.KEPT_ENTRIES**0.5):,} samples this library computes all pairs all the "
        f"same, once for all kernels of a family; this is switched off here.{times()}",
        sizes={"classes": 2, "N": list(COUNTED), "lines": len(FIXED)},
        seeds=(0,),
    )
