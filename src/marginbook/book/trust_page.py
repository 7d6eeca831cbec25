"""How far the numbers can be trusted: ``results/trust/`` as tables and a figure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..base.plotting import COLOURS, MARKERS, STYLE
from ..base.project import resource
from ..base.rooms import papers
from . import portable_table, second_run_page
from .myst import NOTHING, dropdown, plain, table
from .stored import Row, stored_rows

#: what a user is told and gets, in the order of concern
OUTCOMES = {
    "right": "at least 6 digits",
    "as the data allow": "fewer, but a rounding of the data alone changes the decisions as much",
    "objective right": "6 digits of the objective, fewer of the decisions",
    "as certified": "fewer, as many as the certificate announces",
    "warned": "a `ConvergenceWarning` with the number that missed its tolerance",
    "refused": "a `ValueError` that says what to change",
    "unknown": "no optimum to 40 digits to compare with",
    "silent": "fewer than 6 digits, and no word of it",
    "optimistic": "a certificate smaller than the truth",
}
#: outcomes that are drawn hollow
HOLLOW = ("warned", "refused")
FIGURE = """
```{{figure}} /book/_generated/trust-digits.png
:name: trust-digits
:alt: A panel for each paper, of correct digits of the decision values over the condition number of Hilbert \
matrices, from 1e4 on. A dashed line falls from 16 digits by one for each power of ten. Lines of direct \
solvers stay near 15 digits, those of iterations near what their tolerance asks for.

Correct digits on Hilbert matrices.{hollow} Dashed line: 16 digits minus those lost to the condition number.
```
"""
#: doubles hold so many digits
FULL = 16


def write(folder: Path) -> None:
    """Write the parts of the page on trust, ``trust-*.md``, and ``trust-digits.png``."""
    for name, section in (
        ("stability", stability),
        ("laws", laws),
        ("meetings", meetings),
        ("certificates", certificates),
        ("conditioning", conditioning),
    ):
        rows = stored(name)
        command = f"Nothing is stored; `marginbook trust {name}` measures it.\n"
        folder.joinpath(f"trust-{name}.md").write_text(section(rows) if rows else command, encoding="utf-8")
    portable = resource("results", "portable")
    told = portable_table.section(portable_table.outcomes(portable), portable_table.left_out(portable))
    folder.joinpath("trust-processors.md").write_text(told, encoding="utf-8")
    folder.joinpath("trust-recheck.md").write_text(rechecked(stored("recheck")), encoding="utf-8")
    second_run_page.write(folder)
    rows = stored("conditioning")
    folder.joinpath("trust-found.md").write_text(found(stored("certificates"), rows), encoding="utf-8")
    folder.joinpath("trust-digits.md").write_text(digits(rows) if rows else "", encoding="utf-8")
    draw(rows, folder / "trust-digits.png")


def found(certificates: Sequence[Row], problems: Sequence[Row]) -> str:
    """Return in a sentence how many certificates are honest, and how many hard problems end silently."""
    asked = [row["honest"] for row in certificates if row["honest"] in ("yes", "no")]
    if not (asked and problems):
        return ""
    silent = sum(row["outcome"] == "silent" for row in problems)
    return (
        f"In short: {asked.count('yes')} of {len(asked)} certificates are honest, and {silent} of "
        f"{len(problems)} hard problems end with fewer than 6 correct digits and no warning.\n"
    )


def stored(name: str) -> list[Row]:
    """Return the rows of ``results/trust/NAME.csv``, none if it is not there."""
    return stored_rows(resource("results", "trust", f"{name}.csv"))


def rechecked(rows: Sequence[Row]) -> str:
    """Return how many of the stored results drawn came out again, and the table behind it."""
    if not rows:
        command = "marginbook experiment recheck --out results/trust/recheck.csv"
        return f"Nothing is stored; `{command}` measures it.\n"
    lines = [
        [
            f"`{row['experiment']}`",
            row["rows"],
            row["same"],
            row["largest"] or NOTHING,
            plain(row["where"]) or NOTHING,
            row["made by"],
        ]
        for row in rows
    ]
    columns = ["experiment", "compared", "same", "largest difference", "where it differs", "made by"]
    made = table(columns, lines)
    return f"{came_out(rows)}{at_commit(rows)}.\n\n" + dropdown("Each experiment", made)


def came_out(rows: Sequence[Row]) -> str:
    """Return how many stored rows came out again, counted apart by the code that had made them."""
    told = []
    for code in sorted({row["made by"] for row in rows}, reverse=True):
        own = [row for row in rows if row["made by"] == code]
        compared, same = (sum(int(row[name]) for row in own) for name in ("rows", "same"))
        experiments = "1 experiment" if len(own) == 1 else f"{len(own)} experiments"
        told.append(f"{same} of {compared} rows of {experiments} that {code} made")
    return " and ".join(told) + " came out again"


def at_commit(rows: Sequence[Row]) -> str:
    """Return by the code of which commits rows were computed, to end a sentence; "" if none says so."""
    commits = sorted({row["commit"] for row in rows if row.get("commit")})
    return f", by the code of commit {' and '.join(commits)}" if commits else ""


def stability(rows: Sequence[Row]) -> str:
    """Return the differences of decision values and of the objectives, each behind a button."""
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    asked = [row for row in rows if row["kept"]]
    kept = sum(row["kept"] == "yes" for row in asked)
    again = [row for row in asked if row["variant"] == "again"]
    same = sum(float(row["decisions"]) == 0.0 for row in again)
    text = (
        f"{kept} of {len(asked)} differences are within their limits; {same} of {len(again)} repeated fits "
        "give the same bits. Bold: outside.\n"
    )
    parts = [text]
    for column, title in (("decisions", "Each estimator"), ("objective", "The same for the objectives")):
        lines = []
        for name, own in _by_estimator(rows).items():
            if column == "objective" and not any(row["objective"] for row in own):
                continue
            cells = {row["variant"]: _difference(row, column) for row in own}
            limit = max((row["limit"] for row in own), key=float)
            lines.append([name, *(cells.get(variant, NOTHING) for variant in variants), limit])
        headings = ["estimator", *variants, "limit"]
        if column == "objective":
            headings, lines = headings[:-1], [line[:-1] for line in lines]
        parts.append(dropdown(title, table(headings, lines, classes="sortable wide")))
    return "\n".join(parts)


def laws(rows: Sequence[Row]) -> str:
    """Return which estimator obeys which law, and below the reasons of those that do not."""
    names = list(dict.fromkeys(row["law"] for row in rows))
    asked = [row for row in rows if row["obeys"]]
    reasons = list(dict.fromkeys(row["why"] for row in asked if row["obeys"] == "no"))
    lines = []
    for name, own in _by_estimator(rows).items():
        told = {row["law"]: row for row in own}
        cells = [_obeyed(told[law], reasons) for law in names]
        lines.append([name, *cells])
    kept = sum(row["obeys"] == "yes" for row in asked)
    text = f"{kept} of {len(asked)} pairs of fits agree. A letter says why another pair does not:\n\n"
    text += "".join(f"{_letter(k)}\n: {plain(reason)}\n\n" for k, reason in enumerate(reasons))
    made = table(["estimator", *names], lines, classes="sortable wide")
    return text + dropdown("Each estimator and law", made)


def meetings(rows: Sequence[Row]) -> str:
    """Return which estimators answer alike where they are one machine."""
    agree = sum(row["agrees"] == "yes" for row in rows)
    largest = max(float(row["decisions"]) for row in rows)
    text = f"{agree} of {len(rows)} pairs agree; the largest difference is {_number(str(largest))}.\n\n"
    lines = [
        [_name(row), f"`{row['other']}`", plain(row["where"]), _number(row["decisions"]), row["limit"]]
        for row in rows
    ]
    headings = ["estimator", "answers as", "where", "difference", "limit"]
    return text + dropdown("Each pair", table(headings, lines))


def certificates(rows: Sequence[Row]) -> str:
    """Return what each certificate says beside what is true."""
    asked = [row for row in rows if row["honest"] in ("yes", "no")]
    honest = sum(row["honest"] == "yes" for row in asked)
    right = [row for row in rows if _known(row["objective_digits"])]
    fewest = min((float(row["objective_digits"]) for row in right), default=math.nan)
    text = (
        f"{honest} of {len(asked)} certificates are not below the truth by more than rounding. All "
        f"{len(right)} reported objectives are those of the returned solutions to at least "
        f"{math.floor(fewest)} digits.\n"
    )
    headings = ["estimator", "certificate", "says", "truth", "honest", "objective", "optimum", "decisions"]
    lines = [
        [
            _name(row),
            "none" if row["certificate"] == "none" else plain(row["certificate"]),
            _number(row["reported"]),
            _number(row["true"]),
            row["honest"] if row["honest"] != "-" else NOTHING,
            *(_number(row[f"{kind}_digits"]) for kind in ("objective", "optimum", "decision")),
        ]
        for row in rows
    ]
    made = table(headings, lines, classes="sortable wide")
    return text + "\n" + dropdown("Each certificate", made)


def conditioning(rows: Sequence[Row]) -> str:
    """Return how the hard problems came out: counts, one line an estimator and suite, then every row."""
    counts = Counter(row["outcome"] for row in rows)
    lines = [[name, str(counts[name]), meaning] for name, meaning in OUTCOMES.items() if counts[name]]
    parts = [table(["outcome", "problems", "what a user gets"], lines, widths=[22, 14, 64], classes="")]
    suites = list(dict.fromkeys(row["suite"] for row in rows))
    worst = []
    for name, own in _by_estimator(rows).items():
        cells = []
        for suite in suites:
            hard = [row for row in own if row["suite"] == suite]
            if not hard:
                cells.append(NOTHING)
                continue
            found = max(hard, key=lambda row: list(OUTCOMES).index(row["outcome"]))
            cells.append(f"{found['outcome']} ({found['level']})" if found["outcome"] != "right" else "right")
        worst.append([name, *map(plain, cells)])
    parts.append("The worst of each suite, with the level where it happened:\n")
    parts.append(table(["estimator", *suites], worst, classes="sortable wide"))
    headings = [
        "estimator",
        "suite",
        "level",
        "condition",
        "certificate",
        "objective",
        "decisions",
        "possible",
        "outcome",
    ]
    every = [
        [
            _name(row),
            row["suite"],
            plain(row["level"]),
            _number(row["condition"]),
            _number(row["reported"]),
            *(_number(row[f"{kind}_digits"]) for kind in ("objective", "decision", "possible")),
            row["outcome"],
        ]
        for row in rows
    ]
    parts.append(dropdown("Every problem, to sort", table(headings, every, classes="sortable wide")))
    return "\n".join(parts)


def digits(rows: Sequence[Row]) -> str:
    """Return the figure of `draw` with its caption, which explains hollow marks where one is drawn."""
    hollow = any(
        row["suite"] == "hilbert" and row["outcome"] in HOLLOW and not math.isnan(_reached(row))
        for row in rows
    )
    return FIGURE.format(hollow=" Hollow marks: the estimator warned." if hollow else "")


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw digits of the decisions over the condition number of Hilbert matrices, a panel a room."""
    import matplotlib.pyplot as plt  # only where a book is built

    hilbert = [row for row in rows if row["suite"] == "hilbert"]
    panels = {key: room.short for key, room in papers().items() if any(row["room"] == key for row in hilbert)}
    if not panels:
        return
    with plt.rc_context(STYLE):  # type: ignore[arg-type]
        size = (6.4, 3.6 * len(panels))
        figure, axes = plt.subplots(len(panels), 1, squeeze=False, figsize=size)
        for (room, title), axis in zip(panels.items(), axes[:, 0], strict=True):
            axis.plot([1, 1e16], [FULL, 0], color="#777777", linestyle="--", linewidth=1)
            for k, (name, own) in enumerate(
                _by_estimator([row for row in hilbert if row["room"] == room]).items()
            ):
                colour, marker = list(COLOURS.values())[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
                points = sorted((float(row["condition"]), _reached(row), row["outcome"]) for row in own)
                points = [point for point in points if not math.isnan(point[1])]
                if points:
                    axis.plot(*zip(*[point[:2] for point in points], strict=True), color=colour)
                for x, y, outcome in points:
                    hollow = outcome in HOLLOW
                    axis.plot(x, y, marker, color=colour, markerfacecolor="white" if hollow else colour)
                axis.plot([], [], marker=marker, color=colour, label=name.replace("`", "").replace("\\", ""))
            axis.set_xlabel("condition number of the Hilbert matrix")
            axis.set(xscale="log", xlim=(1e3, 1e17), ylim=(-0.5, 17.5), ylabel="digits", title=title)
            # below: letters beside the lines would leave a phone no room for these
            axis.legend(fontsize=9, loc="upper left", bbox_to_anchor=(-0.08, -0.2), ncols=2)
        figure.savefig(path, metadata={"Software": None})
        plt.close(figure)


def _obeyed(row: Row, reasons: Sequence[str]) -> str:
    if not row["obeys"]:
        return NOTHING
    return "yes" if row["obeys"] == "yes" else _letter(reasons.index(row["why"]))


def _letter(number: int) -> str:
    return "ABCDEFGHIJ"[number]


def _by_estimator(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(_name(row), []).append(row)
    return found


def _name(row: Row) -> str:
    return f"`{row['estimator']}` {plain(row['setting'])}".rstrip()


def _difference(row: Row, column: str) -> str:
    if not row[column]:
        return NOTHING
    outside = column == "decisions" and row["kept"] == "no"
    told = row[column] if float(row[column]) else "0"
    return f"**{told}**" if outside else told


def _known(number: str) -> bool:
    return not math.isnan(float(number))


def _number(number: str) -> str:
    return number if _known(number) else NOTHING


def _reached(row: Row) -> float:
    decisions = float(row["decision_digits"])
    return float(row["objective_digits"]) if math.isnan(decisions) else decisions
