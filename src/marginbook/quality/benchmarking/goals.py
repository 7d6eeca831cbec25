"""The speeds that were set as goals, from ``benchmarks/goals.toml``, and what was reached."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...base.project import resource
from .tables import Row, stored
from .timing import at_most

#: so many of the largest sizes make an exponent: constants have lost their weight there
LAST = 4
#: frames a second while a figure of the book moves, and the share of them that counts as reached: the clocks
#: of browser and machine differ by less
FRAMES, NEAR = 60, 0.98


@dataclass(frozen=True)
class Goal:
    """One goal; the head of ``goals.toml`` explains the fields."""

    room: str
    where: str
    goal: str
    peer: str
    table: str
    rows: str
    at_least: float | None = None
    at_most: float | None = None
    x: str = ""
    sizes: tuple[float, float] = (0.0, float("inf"))
    why: str = ""

    @property
    def bound(self) -> float:
        """The number to reach."""
        return float(self.at_most if self.at_least is None else self.at_least)  # type: ignore[arg-type]

    def holds(self, value: float) -> bool:
        """Say whether a ratio or an exponent reaches the goal."""
        return value >= self.bound if self.at_least is not None else value <= self.bound

    def counts(self, what: str) -> bool:
        """Say whether a row of the goal's table belongs to it."""
        return re.search(self.rows, what) is not None

    def share(self, value: float) -> float:
        """Return how many times better than the goal a value is; below 1 it is missed."""
        return value / self.bound if self.at_least is not None else self.bound / value


@dataclass(frozen=True)
class Reached:
    """A goal, with the values of its rows, and the least and the largest value of any repetition."""

    goal: Goal
    values: tuple[float, ...]
    least: float = float("nan")
    most: float = float("nan")

    @property
    def met(self) -> int:
        """How many rows reach the goal."""
        return sum(map(self.goal.holds, self.values))

    @property
    def median(self) -> float:
        """The middle of the rows."""
        return float(np.median(self.values)) if self.values else float("nan")


def read(path: Path) -> tuple[Goal, ...]:
    """Return the goals of a file; one with an unknown field or without exactly one bound is refused."""
    found = []
    for number, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["goal"], start=1):
        given: dict[str, Any] = {**entry, "sizes": tuple(entry.get("sizes", Goal.sizes))}
        try:
            goal = Goal(**given)
        except TypeError as error:
            raise ValueError(f"{path.name}, goal {number}: {error}") from None
        if (goal.at_least is None) == (goal.at_most is None):
            raise ValueError(f"{path.name}, goal {number}: give one of at_least and at_most")
        found.append(goal)
    return tuple(found)


@cache
def goals() -> tuple[Goal, ...]:
    """Return the goals of this checkout, in the order of the file; none in a plain installation."""
    path = resource("benchmarks", "goals.toml")
    return read(path) if path.is_file() else ()


def goal_of(table: str, what: str, among: Sequence[Goal] | None = None) -> Goal | None:
    """Return the goal that a row of a table of ratios has, if any; a row with two is an error."""
    among = goals() if among is None else among
    found = [goal for goal in among if goal.table == table and not goal.x and goal.counts(what)]
    if len(found) > 1:
        raise ValueError(f"{what!r} belongs to {len(found)} goals of goals.toml; make their rows narrower")
    if found and (found[0].at_most is not None) != at_most(what):
        raise ValueError(f"{what!r} and its goal in goals.toml do not agree whether less is better")
    return found[0] if found else None


def reached(goal: Goal, rows: Sequence[Row]) -> Reached:
    """Return what the rows of the goal's table say; rows without a spread count as their own."""
    if goal.x:
        found = tuple(
            exponent(sizes, seconds, goal.sizes)
            for (what, x), (sizes, seconds) in lines(rows).items()
            if x == goal.x and goal.counts(what)
        )
        return Reached(goal, found, *((min(found), max(found)) if found else ()))
    chosen = [row for row in rows if goal.counts(row["what"])]
    if not chosen:
        return Reached(goal, ())
    values = tuple(float(row.get("ratio") or row["value"]) for row in chosen)
    least = min(float(row.get("least") or value) for row, value in zip(chosen, values, strict=True))
    most = max(float(row.get("most") or value) for row, value in zip(chosen, values, strict=True))
    return Reached(goal, values, least, most)


def lines(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """Return sizes and seconds of the lines of a scaling table, by name and axis, by ascending size."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        what = row["what"].removesuffix(f", {row['x']}")
        found.setdefault((what, row["x"]), []).append((float(row["value"]), float(row["seconds"])))
    ascending = {key: np.array(sorted(points)) for key, points in found.items()}
    return {key: (points[:, 0], points[:, 1]) for key, points in ascending.items()}


def measured(table: str, against: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the :func:`lines` of a stored scaling table along one axis; none if it is not there."""
    return {what: line for (what, x), line in lines(stored(table)).items() if x == against}


def exponent(sizes: np.ndarray, seconds: np.ndarray, between: tuple[float, float] | None = None) -> float:
    """Return the slope in both logarithms between two sizes, else over the `LAST` sizes; NaN of one point."""
    if between is None:
        inside = np.arange(len(sizes)) >= len(sizes) - LAST
    else:
        inside = (sizes >= between[0]) & (sizes <= between[1])
    if inside.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes[inside]), np.log(seconds[inside]), 1)[0])
