"""What every claim about a printed table says, on a table of a few cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from marginbook.claims import Verdict
from marginbook.claims.pass_rates import Calibration
from marginbook.claims.printed_tables import LEVEL, PaperTables, _without_results, paired, unavailable
from marginbook.claims.read_as import NOT_STORED, all_readings, best, of_tables, told
from marginbook.drm.paper.printed import PAPER_TABLES
from marginbook.experiments.protocol import Protocol


def test_pairs_are_the_data_sets_of_both() -> None:
    """Differences 1, 2, 3, -4, 0: of all signs, those of a sum at least as far off are counted."""
    a = pd.Series({"one": 2.0, "two": 3.0, "three": 4.0, "four": 1.0, "five": 5.0, "six": 1.0})
    b = pd.Series({"one": 1.0, "two": 1.0, "three": 1.0, "four": 5.0, "five": 5.0, "seven": 1.0})
    higher, lower, pairs, mean, p = paired(a, b)
    assert (higher, lower, pairs) == (3, 1, 5)
    assert mean == pytest.approx(0.4)
    ranks = np.array([1.0, 2.0, 3.0, 4.0, 5.0])  # the zero has the first, shared between the signs
    signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T
    sums = signs @ ranks[1:]
    assert p == pytest.approx((np.abs(sums) >= abs(2 + 3 + 4 - 5)).mean())


@pytest.mark.parametrize("by", [[1.0, 1.0, 1.0], [0.25, 0.5, 0.75], [1.0, 0.5, 3.0]])
def test_differences_of_one_sign_are_as_far_off_as_can_be(by: list[float]) -> None:
    """Of the 8 ways to give signs to three ranks, two are."""
    zero = pd.Series([0.0] * 3)
    mean = pytest.approx(sum(by) / 3)
    assert paired(pd.Series(by), zero) == (3, 0, 3, mean, pytest.approx(0.25))
    assert paired(zero, pd.Series(by)) == (0, 3, 3, pytest.approx(-sum(by) / 3), pytest.approx(0.25))


def test_equal_columns_have_no_difference_to_test() -> None:
    a = pd.Series({"one": 0.3, "two": 0.7})
    assert paired(a, a + 1e-15) == (0, 0, 2, 0.0, 1.0)
    assert paired(a, pd.Series({"three": 1.0})) == (0, 0, 0, 0.0, 1.0)
    # 0.3 - 0.1 and 0.2 - 0.0 differ in the last bit, and have one rank all the same
    c, d = (
        pd.Series({"one": 0.3, "two": 0.0, "three": 0.9}),
        pd.Series({"one": 0.1, "two": 0.2, "three": 0.1}),
    )
    assert paired(c, d)[4] == paired(pd.Series([0.2, 0.0, 0.8]), pd.Series([0.0, 0.2, 0.0]))[4]


def test_one_in_twenty_is_significant() -> None:
    assert LEVEL == 1 / 20


def test_data_sets_that_are_not_available_are_named_with_their_homes() -> None:
    from marginbook.datasets.registry import entry

    assert unavailable(["iris", "wine"], ["wine", "iris"]) == ""
    homes = [entry(name).home for name in ("iris", "wine")]
    assert unavailable(["iris", "glass", "wine"], ["glass"]) == (
        f" Not available: iris ({homes[0]}), wine ({homes[1]})."
    )


@dataclass(frozen=True)
class Toy(PaperTables):
    """The tables of a room with a calibration that is given."""

    def calibration(self, table: str) -> Calibration:
        return Calibration(faithful=0.95, wrong=0.1, shifted=0.1)


def frame(agree: int, differ: int, missing: int = 0) -> pd.DataFrame:
    """Return cells of iris: of DRM those that agree, of NB those that differ, one higher, all else lower."""
    verdicts = ["reproduced"] * agree + ["not-reproduced"] * differ + ["not-testable"] * missing
    directions = [""] * agree + ["ours higher"][:differ] + ["ours lower"] * (differ - 1) + [""] * missing
    return pd.DataFrame(
        {
            "dataset": "iris", "verdict": verdicts, "direction": directions, "ours_n": 5,
            "method": ["DRM(RBF)"] * agree + ["NB"] * differ + ["C4.5"] * missing,
        }
    )  # fmt: skip


def toy(**options: object) -> Toy:
    return Toy(room="drm", own="DRM", **options)  # type: ignore[arg-type]


def test_agreement_is_told_in_numbers() -> None:
    cells = frame(20, 3, 3)
    cells.loc[0, "verdict"] = "not printed"
    found = toy().agreement("table-3", cells)
    # nineteen in twenty runs of which each cell agrees with probability 0.95 have at least 19 of 22
    assert found.measured == (
        "19 of 22 cells agree, 19 of 19 of the DRM; of the 3 that differ, our mean is higher in 1"
    )
    assert found.claimed == "the printed means: at least 19 of 22 cells, as in a faithful re-run"
    assert (found.verdict, found.slack) == (Verdict.REPRODUCED, 0.0)
    assert toy().agreement("table-3", frame(20, 2)).slack == pytest.approx(1 / 22)
    assert (found.sizes["cells"], found.sizes["tested"]) == (25, 22)
    assert "Cells that differ, by method: NB 3. " in found.why
    assert found.reading == ""
    cells.attrs["reading"] = "as text"
    assert toy().agreement("table-3", cells).reading == "as text"


def test_agreement_of_all_cells_tells_of_none_that_differ() -> None:
    found = toy().agreement("table-3", frame(20, 0))
    assert found.measured == "20 of 20 cells agree, 20 of 20 of the DRM"
    assert "Cells that differ" not in found.why
    assert "Not tested" not in found.why
    others = replace(toy(), own="SVM").agreement("table-3", frame(20, 0))
    assert others.measured == "20 of 20 cells agree"


def test_agreement_names_data_that_differ_and_what_was_not_run() -> None:
    differs = toy(other_data=lambda: {"iris": "it has two rows more", "wine": "not here"})
    why = differs.agreement("table-3", frame(20, 0)).why
    assert "Not tested, as the data differ: iris, it has two rows more. " in why
    cells = frame(18, 2, 1)
    cells.loc[cells["method"] == "C4.5", "ours_n"] = 0
    assert " Not run: C4.5 (J48" in toy().agreement("table-3", cells).why
    nothing = toy().agreement("table-3", frame(0, 0, 2))
    assert (nothing.verdict, nothing.measured, nothing.slack) == (Verdict.NOT_TESTABLE, "nothing", None)
    assert nothing.sizes["tested"] == 0


def test_methods_that_lack_cells_are_named_in_the_order_of_the_print() -> None:
    """One split is a result."""
    cells = [("NB", "iris", 1), ("NB", "wine", 0), ("C4.5", "iris", 1), ("C4.5", "wine", 0)]
    lacking = pd.DataFrame(cells, columns=["method", "dataset", "ours_n"]).assign(verdict="not-testable")
    told = _without_results(lacking, toy().protocol("table-3"))
    assert told == " Not run: NB on wine; C4.5 on wine."


def test_a_table_without_results_is_nothing_to_claim() -> None:
    found = toy().nothing("as printed", "table-3")
    assert (found.verdict, found.slack, found.sizes) == (Verdict.NOT_TESTABLE, None, {"sets": 0})
    assert "`marginbook experiment run drm/table-3 --profile paper`" in found.why


def test_no_result_of_ours_leaves_all_printed_cells_not_testable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PaperTables, "measured", lambda *_: None)
    cells = PAPER_TABLES.cells("table-3")
    assert len(cells) == len(PAPER_TABLES.rows("table-3"))
    assert set(cells["verdict"]) <= {"not-testable", "not printed"}
    assert PAPER_TABLES.tested("table-3").empty
    with pytest.raises(
        AssertionError, match="There are no results yet: `marginbook experiment run drm/table-3"
    ):
        PAPER_TABLES.calibration("table-3")
    given = PAPER_TABLES.rows("table-3").query("mean != ''").head(3)
    plan = PAPER_TABLES.protocol("table-3")
    scores = dict.fromkeys((plan.metric, *plan.better_of), 0.5)
    ours = given[["dataset", "method"]].assign(split=1, **scores)
    at = PAPER_TABLES.cells("table-3", ours).set_index(["dataset", "method"])["ours_n"]
    assert sorted(at[at > 0].index) == sorted(zip(given["dataset"], given["method"], strict=True))


def test_printed_means_are_the_numbers_of_the_rows() -> None:
    rows = PAPER_TABLES.rows("table-3")[["dataset", "method", "mean"]].to_numpy(str)
    printed = PAPER_TABLES.printed("table-3")
    assert printed.size == len(rows)
    for dataset, method, text in rows:
        assert printed.loc[dataset, method] == pytest.approx(float(text or "nan"), rel=0, abs=0, nan_ok=True)


def test_the_calibration_is_that_of_the_stored_results(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = pd.DataFrame({"split": [1]})
    monkeypatch.setattr(PaperTables, "measured", lambda *_: stored)
    compare = import_module("marginbook.experiments.compare")  # the package has a function of that name
    monkeypatch.setattr(compare, "calibrated", lambda plan, ours: (plan.id, ours is stored))
    assert PAPER_TABLES.calibration("table-3") == ("drm/table-3", True)


def test_the_reading_with_the_largest_share_is_the_best_and_the_first_of_equals() -> None:
    assert best({"a": (0, 0), "b": (1, 3), "c": (2, 6), "d": (1, 4)}) == "b"
    assert best({"a": (0, 0), "b": (0, 5)}) == "a"
    assert best({"a": (0, 1), "b": (1, 1)}) == "b"


def test_readings_are_told_with_those_that_are_not_stored() -> None:
    assert told({"a": (1, 3), "b": (2, 3), "c": (0, 3)}, ["d", "e"]) == (
        "b: 2 of 3 agree. The others: a: 1 of 3; c: 0 of 3. Not stored: d; e."
    )
    assert told({"a": (1, 3)}) == "a: 1 of 3 agree."


@dataclass(frozen=True)
class Read(Toy):
    """Two tables with readings; of the second nothing is stored."""

    def measured(self, table: str) -> pd.DataFrame | None:
        return None if table == "table-8" else pd.DataFrame({"reading": ["first"]})

    def tested(self, table: str, ours: pd.DataFrame | None = None) -> pd.DataFrame:
        assert ours is not None
        return frame(*{"first": (20, 0), "third": (3, 17)}[ours["reading"][0]]).assign(
            difference=[-0.5, 0.1] * 10
        )


def test_every_reading_of_a_table_has_its_verdict() -> None:
    def readings(ours: pd.DataFrame) -> dict[str, pd.DataFrame | None]:
        return {"first": ours, "second": None, "third": ours.assign(reading="third")}

    tables = Read(room="drm", own="DRM", readings={"table-8": readings, "table-3": readings})
    for points in (1.0, 100.0):
        rows = of_tables(tables, points)
        assert [tuple(row)[:4] for row in rows] == [
            ("table-3", "first", 20, 20), ("table-3", "second", 0, 0), ("table-3", "third", 3, 20),
        ]  # fmt: skip
        assert [row.verdict for row in rows] == ["reproduced", NOT_STORED, "not-reproduced"]
        assert rows[0].distance == pytest.approx(0.3 * points)
        assert np.isnan(rows[1].distance)
    assert of_tables(tables)[0].distance == pytest.approx(0.3)


def test_the_best_reading_of_a_table_comes_first_and_those_not_stored_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from types import SimpleNamespace

    from marginbook.claims import read_as
    from marginbook.claims.read_as import ReadAs

    rows = [
        ReadAs("t", "none", 0, 0, 0.0, NOT_STORED), ReadAs("t", "zero", 0, 3, 0.0, ""),
        ReadAs("t", "half", 1, 2, 0.0, ""), ReadAs("t", "more", 2, 3, 0.0, ""),
        ReadAs("t", "equal", 3, 6, 0.0, ""), ReadAs("s", "fair", 1, 2, 0.0, ""),
        ReadAs("s", "other", 1, 1, 0.0, ""),
    ]  # fmt: skip
    rooms = {"one": SimpleNamespace(package="one"), "two": SimpleNamespace(package="two")}
    monkeypatch.setattr(read_as, "papers", lambda: rooms)
    monkeypatch.setattr(read_as, "find_spec", lambda name: name == "two.claims.side_by_side")
    monkeypatch.setattr(read_as, "import_module", lambda name: SimpleNamespace(side_by_side=lambda: rows))
    found = all_readings()
    assert list(found) == ["two"]
    assert [row.reading for row in found["two"]] == ["other", "fair", "more", "half", "equal", "zero", "none"]


def test_the_protocol_of_a_table_is_that_of_its_room() -> None:
    assert isinstance(toy().protocol("table-3"), Protocol)
    assert toy().protocol("table-3").id == "drm/table-3"
