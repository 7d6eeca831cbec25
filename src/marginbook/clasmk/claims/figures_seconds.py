"""Claims about Figures 9 to 18, seconds of the weights by kernels and by rows; they print no numbers."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from ...claims import Evidence, Rival, claim, decide
from ...claims.wrong_runs import WrongRuns, all_ways
from ..paper.printed import PAPER_TABLES
from .figures import COST, LAYERS_CSV, LIMITED_CSV, SIZES_CSV
from .stored_figures import bound, by_number, curves, row_text
from .tables import REGISTRY

if TYPE_CHECKING:
    import pandas as pd


def window() -> tuple[float, float]:
    """Return the exponents of seconds over kernels that are called linear: from the protocol."""
    least, most = PAPER_TABLES.protocol("limited").thresholds["linear"]
    return float(least), float(most)


def slopes(frame: pd.DataFrame) -> dict[str, float]:
    """Return by set the exponent b of seconds ~ number^b, by least squares of the logarithms.

    The seconds are medians over splits and layers of the solver's time.
    """
    return {name: _exponent(*line) for name, line in _lines(frame).items()}


def _lines(frame: pd.DataFrame) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return by set the logarithms of numbers and seconds, of sets with three numbers or more."""
    frame = frame.assign(seconds=[float(np.median(row)) for row in frame["weights_seconds"]])
    found = frame.pivot_table(index="dataset", columns="number", values="seconds", aggfunc="median")
    rows = {str(name): row.dropna() for name, row in found.iterrows()}
    return {
        name: (np.log(row.index.to_numpy(float)), np.log(row.to_numpy(float)))
        for name, row in rows.items()
        if len(row) >= 3 and (row > 0).all()
    }


def _exponent(number: np.ndarray, seconds: np.ndarray) -> float:
    return float(np.polyfit(number, seconds, 1)[0])


def wrong_runs(frame: pd.DataFrame) -> WrongRuns:
    """Count how often seconds that have nothing to do with the number of kernels are as often in the window.

    Parameters
    ----------
    frame : DataFrame
        As for `slopes`.
    """
    least, most = window()
    options = [
        [least <= _exponent(number, np.array(order)) <= most for order in permutations(seconds.tolist())]
        for number, seconds in _lines(frame).values()
    ]
    return WrongRuns(
        all_ways([np.array(option, dtype=int) for option in options]).as_well(),
        "the numbers of kernels are exchanged on each set",
        "as many exponents are in this range",
    )


@claim(
    "clasmk/fig-9",
    kind="experiment",
    where="Section 5.3.3, last sentence, Figures 9 to 18",
    statement="the training time of the optimisation is linear in the number of kernel functions",
    notebook=f"{COST}#clasmk-fig-9",
    depends=(LAYERS_CSV, LIMITED_CSV, REGISTRY),
    rivals=(Rival("our branch and bound in the place of the paper's method", {"table": "layers"}),),
)
def check_seconds(*, table: str = "limited") -> Evidence:
    """Fit powers of the number of kernels to the seconds of a method like the paper's, and to our own's.

    The paper times fmincon with its interior-point technique. `limited` is a method of that family with
    fmincon's default limit of evaluations; the window for its exponent is in ``protocol.toml``.
    """
    frames = {"limited": limited(), "layers": curves("layers")}
    named = {name: {} if frame is None else slopes(frame) for name, frame in frames.items()}
    found, own = named[table], named["layers"]
    if (frame := frames[table]) is None or not found:
        return PAPER_TABLES.nothing("an exponent of 1", table)
    wrong = wrong_runs(frame)
    least, most = window()
    good = [least <= b <= most for b in found.values()]
    ours = ", ".join(f"{name} {b:.2f}" for name, b in own.items()) or "nothing"
    return Evidence(
        verdict=wrong.judge(sum(good), len(good)),
        measured="exponents " + ", ".join(f"{name} {b:.2f}" for name, b in found.items()),
        claimed=f"1, between {least:g} and {most:g}",
        slack=float(min(most - max(found.values()), min(found.values()) - least)),
        why=f"{wrong} The limit ends {_ended()} searches; the time is then that of so many evaluations. Each "
        "evaluation has K^2 terms and a fixed cost, which matters more while K is small. On sets of ten "
        "classes SciPy's method also handles matrices of (CK)^2 numbers.",
        sizes={"sets": len(found)},
        reading="The verdict is on an interior-point method with fmincon's default limit of 3000 "
        "evaluations, which the paper does not state. Our own solver, a branch and bound that proves the "
        f"minimum, has the exponents {ours}.",
    )


def _ended() -> str:
    """Return how many of the stored searches reached the limit of evaluations."""
    frame, limit = (
        PAPER_TABLES.results("limited"),
        PAPER_TABLES.protocol("limited").settings["max_evaluations"],
    )
    return "none" if frame is None else f"{int((frame['n_evaluations'] >= limit).sum())} of {len(frame)}"


def limited() -> pd.DataFrame | None:
    """Return `number` and `weights_seconds` of the interior-point method with a limit; None before any."""
    frame = PAPER_TABLES.results("limited")
    if frame is None or frame.empty:
        return None
    each = frame["weights_seconds"].map(lambda seconds: np.array([seconds]))
    return frame.assign(number=frame["n_kernels"], weights_seconds=each)


def limited_slopes() -> dict[str, float]:
    """Return by set the exponent of the seconds of the interior-point method with a limit, or nothing."""
    frame = limited()
    return {} if frame is None else slopes(frame)


@claim(
    "clasmk/fig-16",
    kind="ours",
    where="Section 5.3.3, Figures 16 to 18",
    statement="the time of our search for the weights grows more slowly than the number of training rows",
    notebook=f"{COST}#clasmk-fig-16",
    depends=(SIZES_CSV, REGISTRY),
    rivals=(Rival("it does not grow, up to an exponent of a quarter", {"most": 0.25}),),
)
def check_rows(*, most: float = 1.0) -> Evidence:
    """Fit powers of the number of training rows to our solver's seconds.

    The text only says what the three figures show. What it times is the search for the weights alone, and
    (33) sees the rows only through C matrices of K x K numbers, whose size does not grow. What may change is
    how many steps the search takes. Seconds in proportion to the rows would have the exponent 1.
    """
    frame = curves("sizes")
    found = {} if frame is None else slopes(frame)
    if frame is None or not found:
        return PAPER_TABLES.nothing("an exponent below 1", "sizes")
    flat = bound("sizes", "flat")
    middle = frame.assign(seconds=[1000 * float(np.median(row)) for row in frame["weights_seconds"]])
    told = "; ".join(f"{name} {row_text(row, 2)}" for name, row in by_number(middle, "seconds").iterrows())
    return Evidence(
        verdict=decide(max(found.values()) < most),
        measured="exponents " + ", ".join(f"{name} {b:.2f}" for name, b in found.items()),
        claimed=f"below {most:g}",
        slack=float(most - max(found.values())),
        why=f"The exponent is at most {flat:g}, with which twice the rows cost at most a fifth more, on "
        f"{sum(abs(b) <= flat for b in found.values())} of {len(found)} sets. The matrices, which depend on "
        "the rows, are computed before the clock starts. Milliseconds of one layer, by training rows: "
        f"{told}.",
        sizes={"sets": len(found)},
    )
