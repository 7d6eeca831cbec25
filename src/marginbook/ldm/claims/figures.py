"""The claims about the figures: margins (1), CPU time (2), influence of the parameters (3).

The figures print no numbers. What the text reads off them is checked on ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim, share
from ...claims.changed_results import moved
from ...claims.read_as import best
from ..paper.printed import PAPER_TABLES, sizes
from ..paper.readings import LDM
from .figures_readings import calm, machine_of, not_stored
from .tables_wins import nothing

if TYPE_CHECKING:
    import pandas as pd

#: "much faster" is by this factor or more; "competitive" is up to, "slightly slower" up to the next two
MUCH, COMPETITIVE, SLIGHTLY = 2.0, 1.25, 2.0
CLOCKED = ("SVMl", "SVMa", "LDM")
#: a difference of margins that a figure shows; the hinge has its kink at 1
VISIBLE = 0.01
PARAMETERS = ("lambda1", "lambda2", "C")
#: points of accuracy by which a curve that is "not very sensitive" moves at most
CALM = 2.0


def seconds() -> pd.DataFrame | None:
    """Return mean CPU seconds by data set and method, of sets that have the three methods of the figure.

    The column `stand_in` is True for synthetic rows in place of a set that cannot be had.
    """
    frame = PAPER_TABLES.results("fig-2")
    if frame is None:
        return None
    table = frame.pivot_table(index="dataset", columns="method", values="seconds", sort=False)
    if not set(CLOCKED) <= set(table.columns):
        return None
    table = table.dropna(subset=list(CLOCKED))
    return table.assign(stand_in=[name not in sizes().index for name in table.index])


#: sets on which Section 4.5 calls the LDM slightly slower than the SVM by averaged SGD; on the nine others it
#: is "highly competitive"
SLOWER_SETS = ("news20", "real-sim", "skin")


@claim(
    "ldm/fig-2",
    kind="experiment",
    where="Figure 2; Section 4.5, fourth and fifth sentences",
    statement="with averaged SGD, SVM and LDM are much faster than LIBLINEAR; this LDM is slightly slower "
    "than this SVM on news20, real-sim and skin, and highly competitive on the nine other sets",
    notebook="ldm/05_large_scale#ldm-fig-2",
    depends=("results/ldm/fig-2.csv",),
    rivals=(
        Rival("LIBLINEAR in half its seconds", swaps=moved("ldm", ["fig-2"], "SVMl", "seconds", times=0.5)),
        Rival("LDM on skin competitive, as on the others, where that is up to twice the time", {
            "slower_sets": (), "competitive": 2.0,
        }),
    ),
)  # fmt: skip
def check_fig_2(
    much: float = MUCH,
    competitive: float = COMPETITIVE,
    slower_sets: tuple[str, ...] = SLOWER_SETS,
) -> Evidence:
    """Compare CPU seconds of one fit, on the available sets; stand-ins are reported separately.

    Parameters
    ----------
    much, competitive : float
        Factors that count as much faster, and as competitive.
    slower_sets : tuple of str
        Sets on which the LDM is slightly slower; competitive on the others.
    """
    table = seconds()
    if table is None or table["stand_in"].all():
        return nothing("much faster; competitive", "fig-2")
    told = []
    for name, line in table.to_dict("index").items():
        gains = line["SVMl"] / line["SVMa"], line["SVMl"] / line["LDM"]
        ratio = line["LDM"] / line["SVMa"]
        text = f"SVMl / SVMa {gains[0]:.2g}, SVMl / LDM {gains[1]:.2g}, LDM / SVMa {ratio:.2g}"
        if "LDM(exact)" in line and line["LDM(exact)"] > 0:
            text += f", LDM / LDM(exact) {line['LDM'] / line['LDM(exact)']:.2g}"
        told.append(f"{name}: {text}")
    own = table[~table["stand_in"]]
    gains_of = {name: own["SVMl"] / own[name] for name in ("SVMa", "LDM")}
    quick = {name: int((gain >= much).sum()) for name, gain in gains_of.items()}
    ratios = own["LDM"] / own["SVMa"]
    slower = {str(name) for name in own.index if competitive < ratios[name] <= SLIGHTLY}
    level = {str(name) for name in own.index if ratios[name] <= competitive}
    wanted = {str(name) for name in own.index if name in slower_sets}
    others = {str(name) for name in own.index} - wanted
    parts = [quick["SVMa"] == len(own), quick["LDM"] == len(own), level >= others]
    if wanted:  # without such a set the sentence cannot be tested
        parts.append(slower >= wanted)
    return Evidence(
        verdict=share(sum(parts), len(parts)),
        measured=f"averaged SGD (SVMa) is much faster than LIBLINEAR (SVMl) on {quick['SVMa']} of {len(own)} "
        f"sets, the LDM on {quick['LDM']}; the LDM is competitive with SVMa on {len(level)} "
        f"({', '.join(sorted(level)) or 'none'}), slightly slower on {len(slower)} "
        f"({', '.join(sorted(slower)) or 'none'})",
        claimed=f"both much faster on all sets; competitive on {len(others)}, slightly slower on "
        f"{len(wanted)} ({', '.join(sorted(wanted)) or 'none'}); of all 12 sets, on 9 and 3",
        slack=float(sum(parts) - len(parts)),
        why="Times are CPU seconds of one fit, from the committed benchmark. The paper gives no factors, so "
        f"the thresholds are ours. 'Much faster' means by a factor of {much:g}, 'competitive' up to "
        f"{competitive:g} times the seconds, 'slightly slower' up to {SLIGHTLY:g} times. Ratios of times: "
        f"{'; '.join(told)}. The stand-ins ({int(table['stand_in'].sum())} of {len(table)}) are not "
        "compared with the paper. LDM(exact) is our solver, run to a certified gap. The parts of the "
        "claim: SVM and LDM are each much faster than LIBLINEAR on all sets; the LDM is competitive, and "
        "slightly slower, on the sets that the paper names. Slack is minus the number of parts that fail.",
        sizes={"sets": len(own), "stand-ins": int(table["stand_in"].sum())},
    )


def curves(prefix: str = "margin_") -> pd.DataFrame | None:
    """Return quantiles of the training margins, means over the splits, by data set and method.

    None where there are no results.

    Parameters
    ----------
    prefix : {"margin_", "unit_"}
        Margins y f(x), or these divided by the length of w.

    Returns
    -------
    DataFrame
        Columns are percentages: 0 is the smallest margin, 100 the largest.
    """
    frame = PAPER_TABLES.results("fig-1")
    if frame is None:
        return None
    names = [name for name in frame.columns if name.startswith(prefix) and name[len(prefix) :].isdigit()]
    table = frame.groupby(["dataset", "method"], sort=False)[names].mean()
    return table.rename(columns=lambda name: int(name.removeprefix(prefix)))


def shifts(table: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Compare two margin distributions on each data set that has both.

    Parameters
    ----------
    table : DataFrame
        As from `curves`.
    first, second : str
        Methods, such as "LDM(linear)" and "SVM(linear)".

    Returns
    -------
    DataFrame
        By data set: `smallest` (difference of the smallest margins, first less second), `right`, `left`:
        shares of the inner quantiles that are visibly larger, or smaller, for the first.
    """
    import pandas as pd

    rows = {}
    for name in table.index.unique("dataset"):
        part = table.loc[name]
        if {first, second} <= set(part.index):
            gap = part.loc[first] - part.loc[second]
            inner = gap[[percent for percent in gap.index if 0 < percent < 100]]
            rows[name] = {
                "smallest": float(gap[0]),
                "right": float((inner > VISIBLE).mean()),
                "left": float((inner < -VISIBLE).mean()),
            }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["smallest", "right", "left"])


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
def check_fig_3(calm_range: float = CALM, machines: Sequence[str] = tuple(LDM)) -> Evidence:
    """Ask by how many points the mean accuracy moves while one parameter runs through its grid.

    Parameters
    ----------
    calm_range : float
        Points by which a curve that is not very sensitive moves at most.
    machines : sequence of str
        The readings: "LDM", "LDM(4)"; "LDM(C/m)" is none.
    """
    table = sensitivity()
    if table is None or table.empty:
        return nothing("not very sensitive", "fig-3")
    ranges, noise = swings(table)
    scores = {one: score for one in machines if (score := calm(ranges, one, calm_range))[1]}
    if not scores:
        return nothing("not very sensitive", "fig-3")
    machine = best(scores)
    printed = ranges[[machine_of(name[0]) == machine for name in ranges.index]]
    quiet, curves_of_it = scores[machine]
    worst = {
        str(method): ", ".join(f"{p} {part[p].max():.1f}" for p in PARAMETERS if p in part.index)
        for method, part in ((m, ranges[m]) for m in ranges.index.unique("method"))
    }
    shown = printed.groupby(level="parameter", sort=False).max()
    return Evidence(
        verdict=share(quiet, curves_of_it),
        measured=f"{quiet} of {curves_of_it} curves move by at most {calm_range:g} points; largest ranges: "
        + ", ".join(f"{p} {value:.1f}" for p, value in shown.items()),
        claimed="not very sensitive",
        slack=float(calm_range - printed.max()),
        why="A curve is the mean test accuracy of one data set and kernel over the grid of one parameter, "
        "with the others chosen by cross-validation. Largest ranges in points by method: "
        f"{'; '.join(f'{method} {text}' for method, text in worst.items())}. The standard deviation over the "
        f"random halves is {noise.min():.1f} to {noise.max():.1f} points. The parameter lambda2 can hardly "
        "matter, since it moves the box of the dual, [0, C], by only lambda2 / m. The bound on a range is "
        "ours. LDM(C/m), with the mean of the losses, is not in the paper.",
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


def swings(table: pd.DataFrame) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return by method, parameter and set by how many points a curve moves, and its deviation over splits."""
    groups = table.groupby(["method", "parameter", "dataset"], sort=False)
    accuracy = groups["accuracy"]
    return 100 * (accuracy.max() - accuracy.min()), 100 * groups["deviation"].mean()
