"""What the page says of a goal that is missed: every such goal has a reason, and its numbers come out."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from marginbook.base.project import resource
from marginbook.book.performance_page import reason
from marginbook.quality.benchmarking.goals import Goal, goals, measured, reached
from marginbook.quality.benchmarking.tables import Row, stored


def of(room: str, goal: str) -> Goal:
    return next(each for each in goals() if each.room == room and each.goal.startswith(goal))


def missed(goal: Goal) -> list[Row]:
    return [
        row
        for row in stored(goal.table)
        if goal.counts(row["what"]) and not goal.holds(float(row.get("ratio") or row["value"]))
    ]


def test_a_goal_that_a_row_misses_says_why() -> None:
    silent = [
        f"{goal.room}: {goal.goal}"
        for goal in goals()
        if (found := reached(goal, stored(goal.table))).met < len(found.values) and not goal.why
    ]
    assert not silent, silent


def test_the_reason_stands_below_a_goal_that_is_missed_and_below_no_other() -> None:
    goal = replace(of("kfda", "shrinking"), why="A costs\nN³ operations.", rows="fit")
    rows = [{"what": "fit", "ratio": "4"}, {"what": "fit", "ratio": "6"}]
    assert reason(3, reached(goal, rows)) == "**Goal 3.** A costs N³ operations.\n"
    assert reason(3, reached(goal, rows[1:])) == reason(3, reached(goal, [])) == ""


def test_slsqp_stops_higher_and_random_forms_take_the_time_where_it_does_not() -> None:
    what = re.compile(r" SLSQP (in the \w+)(?: \(at most\))?, (.*)$")
    quotients = {what.search(row["what"]).groups(): row for row in stored("clasmk") if "SLSQP" in row["what"]}
    rows = [row for row in stored("clasmk") if of("clasmk", "weights of 17").counts(row["what"])]
    over = {
        what.search(row["what"]).groups(): float(row["ratio"])
        for row in stored("clasmk")
        if row["what"].startswith("F over that of SLSQP")
    }
    assert len(quotients) == len(rows) == len(over) == 16
    weights = [value for (where, _), value in over.items() if where == "in the weights"]
    assert (sum(value < 0.999 for value in weights), len(weights)) == (7, 8)
    same = [row for row in rows if over[what.search(row["what"]).groups()] > 0.999]
    slow = [row["what"] for row in same if float(row["ratio"]) < 100]
    assert (len(same), len(slow)) == (6, 2)
    assert "rank 17" in slow[0]
    assert "wishart" in slow[1]


def test_local_steps_are_between_the_goal_and_the_bound() -> None:
    goal = next(each for each in goals() if each.sizes == (17, 98))
    only = replace(goal, rows="^weights, local steps$")
    assert goal.bound < reached(only, stored("clasmk-scaling")).median < 2
    assert "weights, local steps" in measured("clasmk-scaling", "K")


def test_the_missed_embedding_has_few_directions() -> None:
    for row in missed(of("clasmk", "embeddings")):
        assert "dimension 89 against 153, poly d=2, pendigits" in row["what"]


def test_the_hinge_loss_leaves_the_time_of_few_programs() -> None:
    goal = of("smm", "fit of rank 3")
    ends = {row["problem"]: row for row in stored("smm-ends") if row["solver"] == "cvxpy, blocks in turns"}
    higher = {
        row["what"].partition(", ")[2]: float(row["ratio"])
        for row in stored("smm")
        if "F over" in row["what"]
    }
    for row in missed(goal):
        size = row["what"].partition(", ")[2]
        assert size.startswith("hinge, ")
        assert higher[size] < 1
        sweeps = int(ends[size.partition(", n=")[0]]["sweeps"])
        assert 21 <= sweeps <= 36
        assert 0.8 <= round(2 * sweeps / goal.bound, 1) <= 1.4


def test_a_path_misses_by_little() -> None:
    for row in missed(of("smm", "path")):
        assert float(row["ratio"]) < 1.05 * 8
        assert "b = 0" in row["what"]


@pytest.fixture
def kfda(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(resource("benchmarks")))
    return importlib.import_module("kfda_peers")


@pytest.fixture
def solves(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the sizes of the systems that the shrinking iteration solves."""
    from marginbook.kfda.solvers import active_coefficients

    sizes: list[int] = []
    solve: Callable[..., Any] = active_coefficients.solve

    def counted(matrix: np.ndarray, diagonal: float, right: np.ndarray) -> Any:
        sizes.append(len(right))
        return solve(matrix, diagonal, right)

    monkeypatch.setattr(active_coefficients, "solve", counted)
    return sizes


#: set, q, rho, the steps of (8), and how many coefficients stay
COUNTED = (
    ("banana", 0.5, 1e-2, 25, 13),
    ("banana", 0.5, 1e-4, 39, 47),
    ("splice", 1.0, 1e-4, 50, 862),
    ("splice", 0.5, 1e-4, 98, 736),
    ("waveform", 0.5, 1e-4, 57, 374),
)


@pytest.mark.parametrize(("name", "q", "rho", "steps", "stay"), COUNTED)
def test_the_missed_rows_of_shrinking_take_few_steps(kfda, solves, name, q, rho, steps, stay) -> None:
    if not kfda.can_load(name):
        pytest.skip(f"{name} is not fetched")
    from marginbook.kfda.solvers.majorise_minimise import shrinking_mm

    each = kfda.data(name, 1000)
    found = shrinking_mm(each.fresh(), q, rho)
    ours, least = sum(k**3 for k in solves) / 3e9, found.objective * (1 + kfda.SAME)
    descent = kfda.plain_descent(each.fresh(), q, rho, least, limit=30.0)
    # other processors round to a step or a sample more
    assert descent.at(least) == pytest.approx(steps, abs=2)
    assert found.retained_path[-1] == pytest.approx(stay, abs=3)
    if name == "banana":
        rank = max(solves[:2])
        # pivoted Cholesky, QR and the columns in the span, in units of N^3
        assert ours < (5 * 1000 * rank**2 - 4 / 3 * rank**3) / 1e9


def test_the_missed_rows_of_shrinking_are_those_that_are_counted() -> None:
    for row in missed(of("kfda", "shrinking")):
        assert any(f"q={q:g}, rho={rho:g}, {name}," in row["what"] for name, q, rho, *_ in COUNTED)
