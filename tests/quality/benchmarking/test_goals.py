"""The goals: each has rows in the stored tables, verdicts follow from them, exponents are slopes."""

from __future__ import annotations

import numpy as np
import pytest

from marginbook.claims.errata import PAPERS
from marginbook.quality.benchmarking.goals import Goal, exponent, goal_of, goals, lines, reached, read
from marginbook.quality.benchmarking.tables import stored

from ...settled import SETTLED

TABLES = dict.fromkeys(goal.table for goal in goals() if not goal.x)


@pytest.mark.parametrize("goal", goals(), ids=lambda goal: f"{goal.room}: {goal.goal}")
def test_each_goal_is_measured(goal: Goal) -> None:
    found = reached(goal, stored(goal.table))
    assert found.values
    assert found.least <= found.median <= found.most
    assert goal.room in PAPERS
    assert goal.table.startswith(goal.room)


@pytest.mark.parametrize("table", TABLES)
def test_stored_goals_and_verdicts_are_those_of_the_file(table: str) -> None:
    for row in stored(table):
        goal = goal_of(table, row["what"])
        assert (goal is not None) == bool(row["goal"])
        if goal is not None:
            value = float(row.get("ratio") or row["value"])
            assert float(row["goal"].replace(",", "")) == pytest.approx(goal.bound)
            assert row["met"] == ("yes" if goal.holds(value) else "no")


def test_each_paper_has_goals_in_its_order() -> None:
    assert list(dict.fromkeys(goal.room for goal in goals())) == SETTLED


def given(**fields: object) -> Goal:
    return Goal("drm", "Section 1", "fit", "peer", "drm", "^fit", **fields)  # type: ignore[arg-type]


def test_a_goal_holds_on_its_side_of_the_bound() -> None:
    least, most = given(at_least=10.0), given(at_most=2.0)
    assert [least.holds(9.9), least.holds(10.0), most.holds(2.0), most.holds(2.1)] == [
        False,
        True,
        True,
        False,
    ]
    assert (least.share(20.0), most.share(4.0)) == (2.0, 0.5)


def test_what_is_reached_has_the_range_of_repetitions_where_it_is_stored() -> None:
    rows = [
        {"what": "fit, a", "ratio": "8", "least": "7", "most": "30"},
        {"what": "fit, b", "ratio": "12", "least": "", "most": ""},
        {"what": "other", "ratio": "1"},
    ]
    found = reached(given(at_least=10.0), rows)
    assert (found.values, found.median, found.least, found.most, found.met) == (
        (8.0, 12.0),
        10.0,
        7.0,
        30.0,
        1,
    )
    assert reached(given(at_least=10.0), rows[2:]).values == ()


def test_a_row_of_two_goals_or_of_the_other_direction_is_refused() -> None:
    least, most = given(at_least=10.0), given(at_most=2.0)
    with pytest.raises(ValueError, match="belongs to 2 goals"):
        goal_of("drm", "fit, a", [least, least])
    with pytest.raises(ValueError, match="do not agree whether less is better"):
        goal_of("drm", "fit, a", [most])
    assert goal_of("drm", "fit (at most)", [most]) is most
    assert goal_of("ldm", "fit", [least]) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [("", "goal 1: give one of"), ("at_least = 1\nat_most = 2", "give one of"), ("at_last = 1", "at_last")],
)
def test_a_goal_without_one_bound_is_refused(tmp_path, text: str, told: str) -> None:
    fields = "\n".join(f'{name} = "x"' for name in ("room", "where", "goal", "peer", "table", "rows"))
    path = tmp_path / "goals.toml"
    path.write_text(f"[[goal]]\n{fields}\n{text}\n")
    with pytest.raises(ValueError, match=told):
        read(path)


def test_an_exponent_is_a_slope_of_the_largest_sizes_or_between_two() -> None:
    sizes = 2.0 ** np.arange(8)
    seconds = np.where(sizes < 16, 1e-3, 1e-3 * (sizes / 16) ** 2)
    assert exponent(sizes, seconds) == pytest.approx(2)
    assert exponent(sizes, seconds, (1, 8)) == pytest.approx(0)
    assert np.isnan(exponent(sizes[:1], seconds[:1]))
    rows = [{"what": "fit, n", "x": "n", "value": str(v), "seconds": str(v**3)} for v in (4, 1, 2)]
    (((what, x), (ordered, _)),) = lines(rows).items()
    assert (what, x, ordered.tolist()) == ("fit", "n", [1, 2, 4])
    goal = Goal("drm", "", "", "", "drm-scaling", "^fit$", at_most=1.25, x="n", sizes=(1, 4))
    assert reached(goal, rows).values == (pytest.approx(3),)
    assert reached(goal, rows).met == 0
