"""The claim about Figure 3: how far the accuracy moves with each parameter.

The figure prints no numbers. What the text reads off it is checked on ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim, share
from ...claims.read_as import best
from ...claims.wrong_runs import WrongRuns, all_ways
from ...experiments.equivalence import largest_mean
from ..paper.printed import PAPER_TABLES
from ..paper.readings import LDM
from .figures_readings import bound, calm, machine_of, not_stored

if TYPE_CHECKING:
    import pandas as pd

#: a machine that is not the paper's, in the results of Figure 3
OTHER = "LDM(C/m)"
PARAMETERS = ("lambda1", "lambda2", "C")


def sensitivity() -> pd.DataFrame | None:
    """Return the accuracy at each value of each parameter, means over the splits; None before any results.

    Returns
    -------
    DataFrame
        Columns `dataset`, `method`, `parameter`, `step` (1 is the smallest value of the grid), `accuracy`,
        `deviation` (over the splits, n - 1), `splits`.
    """
    import pandas as pd

    frame = PAPER_TABLES.results("fig-3")
    if frame is None:
        return None
    rows = []
    for (name, method), part in frame.groupby(["dataset", "method"], sort=False):
        for parameter in PARAMETERS:
            steps = [
                c for c in frame.columns if c.startswith(f"{parameter}_") and c.rpartition("_")[2].isdigit()
            ]
            for column in steps:
                values = part[column].dropna()
                step = int(column.rpartition("_")[2])
                spread = float(values.std()) if len(values) > 1 else float("nan")
                rows.append((name, method, parameter, step, float(values.mean()), spread, len(values)))
    columns = ["dataset", "method", "parameter", "step", "accuracy", "deviation", "splits"]
    return pd.DataFrame(rows, columns=columns)


@claim(
    "ldm/fig-3",
    kind="experiment",
    where="Figure 3; Section 4.6, last sentence",
    statement=r"the performance of LDM is not very sensitive to the setting of $\lambda_1$, $\lambda_2$ "
    r"and $C$",
    notebook="ldm/06_margin_distributions#ldm-fig-3",
    depends=("results/ldm/fig-3.csv",),
    rivals=(
        Rival("no curve moves by a quarter of a point", {"calm_range": 0.25}),
        Rival("the losses averaged, with C/m in the place of C", {"machines": ("LDM(C/m)",)}),
    ),
)
def check_fig_3(calm_range: float | None = None, machines: Sequence[str] = tuple(LDM)) -> Evidence:
    """Ask by how many points the mean accuracy moves while one parameter runs through its grid.

    Parameters
    ----------
    calm_range : float, default: that of the protocol
        Points by which a curve that is not very sensitive moves at most.
    machines : sequence of str
        The readings: "LDM", "LDM(4)"; "LDM(C/m)" is none.
    """
    table = sensitivity()
    if table is None or table.empty:
        return PAPER_TABLES.nothing("not very sensitive", "fig-3")
    ranges, noise = swings(table)
    most = bound("fig-3", "calm") if calm_range is None else calm_range
    scores = {one: score for one in machines if (score := calm(ranges, one, most))[1]}
    if not scores:
        return PAPER_TABLES.nothing("not very sensitive", "fig-3")
    machine = best(scores)
    printed = ranges[[machine_of(name[0]) == machine for name in ranges.index]]
    quiet, curves_of_it = scores[machine]
    worst = {
        str(method): ", ".join(f"{p} {part[p].max():.1f}" for p in PARAMETERS if p in part.index)
        for method, part in ((m, ranges[m]) for m in ranges.index.unique("method"))
    }
    shown = printed.groupby(level="parameter", sort=False).max()
    wrong = sensitive_runs(ranges, list(scores), most)
    upper = printed.groupby(level=["method", "parameter"], sort=False).apply(largest_mean).max()
    return Evidence(
        verdict=wrong.judge(quiet, curves_of_it) if wrong else share(quiet, curves_of_it),
        measured=f"{quiet} of {curves_of_it} curves move by at most {most:g} points; largest ranges: "
        + ", ".join(f"{p} {value:.1f}" for p, value in shown.items()),
        claimed="not very sensitive",
        slack=float(most - printed.max()),
        why="A curve is the mean test accuracy of one data set and kernel over the grid of one parameter, "
        "with the others chosen by cross-validation. For each kernel and parameter, the mean range over the "
        f"sets is at most {upper:.2g} points, by one-sided t-tests at 5 %. Largest ranges by method: "
        f"{'; '.join(f'{method} {text}' for method, text in worst.items())}. The standard deviation over the "
        f"random halves is {noise.min():.1f} to {noise.max():.1f} points. The parameter lambda2 moves the "
        "box of the dual, [0, C], by lambda2 / m. The bound on a range is ours. LDM(4) has the double sum "
        "of (4) in the place of the variance; LDM(C/m), with the mean of the losses, is not in the "
        f"paper.{f' {wrong}' if wrong else ''}",
        sizes={
            "sets": table["dataset"].nunique(),
            "curves": curves_of_it,
            "splits": int(table["splits"].max()),
        },
        reading="Both kernels count. The verdict is that of the reading with the most curves within the "
        "bound, or the first of these. Curves within the bound: "
        + "; ".join(f"{LDM.get(one, one)} {calm_ones} of {of}" for one, (calm_ones, of) in scores.items())
        + f".{not_stored(set(scores)) if machine in LDM else ''}",
    )


def sensitive_runs(ranges: pd.Series[float], machines: Sequence[str], most: float) -> WrongRuns | None:
    """Put another machine, which does depend on C, in the place of ours, on any of the sets and kernels.

    None where it has not been run, or is itself asked for.

    Parameters
    ----------
    ranges : Series
        As from `swings`.
    machines : sequence of str
        The readings, of which the best counts.
    most : float
    """
    found: dict[tuple[str, str], int] = {}
    for name, curve in (ranges <= most).items():
        method, _, dataset = map(str, name)  # type: ignore[call-overload]
        machine, _, kernel = method.rpartition("(")
        found[machine, f"{dataset} ({kernel}"] = found.get((machine, f"{dataset} ({kernel}"), 0) + bool(curve)
    panels = sorted({panel for machine, panel in found if machine == OTHER})
    if OTHER in machines or not panels:
        return None
    options = [
        [[found.get((machine, panel), 0) for machine in machines], [found[OTHER, panel]] * len(machines)]
        for panel in panels
    ]
    return WrongRuns(
        all_ways(options).as_well(lambda sums: sums.max(axis=1)),
        "a coin puts LDM(C/m) in the place of the LDM on each set and kernel",
        "as many curves are within the bound",
    )


def swings(table: pd.DataFrame) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return by method, parameter and set by how many points a curve moves, and its deviation over splits."""
    groups = table.groupby(["method", "parameter", "dataset"], sort=False)
    accuracy = groups["accuracy"]
    return 100 * (accuracy.max() - accuracy.min()), 100 * groups["deviation"].mean()
