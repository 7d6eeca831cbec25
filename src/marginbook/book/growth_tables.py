"""How estimators grow beside SVC: the tables of ``benchmarks/growth.py`` on the page about speed."""

from __future__ import annotations

from ..quality.benchmarking.tables import Row
from .myst import NOTHING, dropdown, plain, table

#: what is shown: column of ``growth.csv``, its ratio, heading
SHOWN = (
    ("fit_s", "fit_ratio", "Seconds of a fit"),
    ("predict_s", "predict_ratio", "Seconds of 2,000 predictions"),
    ("memory_mb", "memory_ratio", "MB that a fit needs"),
    ("pickle_bytes", "pickle_ratio", "Bytes of a pickle"),
)


def growth_section(rows: list[Row]) -> str:
    """Return what exact machines cost, and apart from them approximations by landmarks."""
    if not rows:
        return "Nothing is stored; `python benchmarks/growth.py` measures it.\n"
    landmarks = [row for row in rows if "landmarks" in row["estimator"]]
    exact = [row for row in rows if row not in landmarks]
    parts = [f"### Exact machines\n\n{_quantities(exact, 'exact')}"]
    if landmarks:
        parts.append(f"### Approximations by landmarks\n\n{_quantities(landmarks, 'landmarks')}")
    return "\n".join(parts)


def _quantities(rows: list[Row], which: str) -> str:
    """Return a table for each quantity: estimators by numbers of rows, each with its ratio to the peer."""
    of: dict[str, dict[int, Row]] = {}
    for row in rows:
        of.setdefault(row["estimator"], {})[int(row["rows"])] = row
    sizes = sorted({size for each in of.values() for size in each})
    headings = ["", *(f"{size:,} rows" for size in sizes)]
    parts = []
    for column, ratio, title in SHOWN:
        cells = [
            [plain(name), *(_grown(each.get(size), column, ratio) for size in sizes)]
            for name, each in of.items()
        ]
        shown = table(headings, cells, classes="wide")
        parts.append(f"{title}:\n\n{shown}" if column == "fit_s" else dropdown(f"{title}, {which}", shown))
    told = ["", "rows", "certificate", "right, %", "labels of the exact machine, %", "beyond"]
    if which == "exact":
        told.remove("labels of the exact machine, %")
    ends = [_end(name, each, which == "exact") for name, each in of.items()]
    title = f"How far each went, and what its certificate said there, {which}"
    parts.append(dropdown(title, table(told, ends, classes="")))
    return "\n".join(parts)


def _grown(row: Row | None, column: str, ratio: str) -> str:
    if row is None:
        return NOTHING
    if row["ended"]:
        return "refused" if "Error" in row["ended"] else "too long"
    shown = number_of(float(row[column]))
    return f"{shown} (×\u00a0{number_of(float(row[ratio]))})" if row.get(ratio) else shown


def _end(name: str, each: dict[int, Row], exact: bool) -> list[str]:
    done = [row for _, row in sorted(each.items()) if not row["ended"]]
    last = done[-1] if done else {}
    beyond = next((row["ended"] for _, row in sorted(each.items()) if row["ended"]), "")
    return [
        plain(name),
        f"{int(last['rows']):,}" if last else NOTHING,
        plain(last.get("certificate", "")) or NOTHING,
        _percent(last.get("accuracy", "")),
        *([] if exact else [_percent(last.get("labels_equal", ""))]),
        plain(beyond) or NOTHING,
    ]


def grid_section(rows: list[Row]) -> str:
    """Return the times of the same grid search with many classes."""
    if not rows:
        return "Nothing is stored; `python benchmarks/growth.py --grid` measures it.\n"
    cells = [
        [
            plain(row["estimator"]),
            number_of(float(row["search_s"])) if row.get("search_s") else plain(row["ended"]),
            number_of(float(row["ratio"])) if row["ratio"] else NOTHING,
            _percent(row.get("accuracy", "")),
        ]
        for row in rows
    ]
    size, classes, points, folds = (rows[0][name] for name in ("rows", "classes", "points", "folds"))
    told = f"{int(size):,} rows, {classes} classes, {points} points of the grid, {folds} folds.\n\n"
    return told + table(["", "CPU seconds", "times SVC of the same kernel", "right, %"], cells, classes="")


def _percent(share: str) -> str:
    return f"{100 * float(share):.1f}" if share else NOTHING


def number_of(value: float) -> str:
    """Return three digits of a number, all of a large one."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
