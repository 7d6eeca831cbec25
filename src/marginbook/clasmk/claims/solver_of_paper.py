"""Whose weights our results have: the global minimum's, or those of the paper's solver.

The paper names fmincon's interior-point technique, a local solver. Our curves, heat maps and Table 4 have the
global minimum of (33). Where a search of the paper's kind ends before it has converged, its weights may be
others, and what these give has not been run. So one rule is for all claims about them: what rests on a set is
open, unless the weights are by a solver of the paper's kind, or all of its stored searches have converged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...claims.changed_results import Swaps, in_results
from ..paper.printed import PAPER_TABLES, SINGLE
from ..paper.readings import MARK
from .tables import LEAST, OF_THE_PAPER, means_of, with_columns

if TYPE_CHECKING:
    import pandas as pd

#: the paper's solver, as far as it is stated: SciPy's method of that kind with fmincon's default limit
LIMITED = OF_THE_PAPER[0]


def learned_by(results: pd.DataFrame, solver: str) -> pd.DataFrame:
    """Return the results with weights by a solver of (33); a method that names none has the global minimum.

    The names of the methods returned are without the solver, such as ``"K=98"`` for ``"K=98, SLSQP"``.
    """
    parts = [str(method).partition(MARK) for method in results["method"]]
    wanted = "" if solver == LEAST else solver
    rows = results.assign(method=[name for name, _, _ in parts])
    return rows[[how == wanted for _, _, how in parts]]


def as_the_papers(
    table: str,
    column: str = "",
    method: str = "",
    by: float = 0.0,
    times: float = 1.0,
    of: Sequence[str] = (),
) -> Swaps:
    """Return the swaps that take our results for those of the paper's solver, with some numbers moved.

    `of` are the methods that learn weights, if not all do.
    """

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        rows = frame["method"].str.startswith(method)
        if column:
            frame.loc[rows, column] = frame.loc[rows, column] * times + by
        return frame.assign(
            method=[f"{name}{MARK}{LIMITED}" if not of or name in of else name for name in frame["method"]]
        )

    return in_results("clasmk", [table], change)


def searches() -> dict[tuple[str, int], list[bool]]:
    """Return by set and number of kernels whether each stored search of the paper's kind has converged.

    They are those of the halves of Figures 9 to 15, in one layer, and with eight kernels those of Table 1.
    """
    found: dict[tuple[str, int], list[bool]] = {}
    limited, folds = PAPER_TABLES.results("limited"), PAPER_TABLES.results("solvers")
    if limited is not None:
        for name, K, done in zip(limited["dataset"], limited["n_kernels"], limited["converged"], strict=True):
            found.setdefault((str(name), int(K)), []).append(bool(done))
    if folds is not None:
        for name, rows in folds[folds["method"] == LIMITED].groupby("dataset", sort=False):
            found[str(name), len(SINGLE)] = [bool(done) for done in rows["converged"]]
    return found


def arrives(name: str, *numbers: float) -> bool:
    """Return whether all searches of the paper's kind converged on a set, with these numbers of kernels.

    Where none are stored for one of the numbers, nothing says so.
    """
    found = searches()
    return all(found.get((name, int(K))) and all(found[name, int(K)]) for K in numbers)


def named(solver: str) -> str:
    """Return a solver as it stands in a sentence."""
    return f"the {LEAST}" if solver == LEAST else solver


def told(solver: str, wanted: Mapping[str, Sequence[float]], what: str = "these figures") -> str:
    """Say whose weights the results have, and where searches of the paper's kind end.

    Parameters
    ----------
    solver : str
        Whose results were judged.
    wanted : mapping
        By set, the numbers of kernels for which it matters.
    what : str
        What has not been run.
    """
    if solver != LEAST:
        return f"The weights are by a solver of the paper's kind: {solver}."
    found, ends, none = searches(), [], []
    for name, numbers in wanted.items():
        done = [one for K in numbers for one in found.get((name, int(K)), [])]
        if done:
            ends.append(f"{name} {sum(done)} of {len(done)}")
        else:
            none.append(name)
    frame = with_columns(means_of("solvers", "error"), LIMITED, LEAST)
    errors = ""
    if frame is not None:
        at = str((frame[LEAST] - frame[LIMITED]).abs().idxmax())
        errors = (
            f" How much this can matter Table 1 shows: on {at} the error with this solver is "
            f"{float(frame[LIMITED][at]):.2f} %, at the minimum {float(frame[LEAST][at]):.2f} %."
        )
    return (
        "Our weights are the global minimum of (33). The paper names fmincon's interior-point technique; "
        f"with that we have not run {what}. "
        + (
            "Of the stored searches of that kind, SciPy's with fmincon's default limit, these converged: "
            f"{', '.join(ends)}. " + (f"None are stored of {', '.join(none)}. " if none else "")
            if ends
            else "No searches of that kind are stored of these sets. "
        )
        + "A set is also open where not all of its searches converged, or none is stored: the paper's "
        "weights can differ from ours there." + errors
    )
