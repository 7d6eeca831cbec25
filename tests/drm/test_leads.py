"""Leads of the DRM: what the splits can tell of them; bounds of ours that decide; counts in words."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from marginbook.claims import printed_tables
from marginbook.drm.claims import figures_3_iterations, who_leads
from marginbook.drm.claims.counted_arithmetic import formula
from marginbook.drm.claims.stored_results import protocol
from marginbook.drm.claims.who_leads import AHEAD, BEHIND, OPEN, standing


def scores(**leads: float) -> pd.DataFrame:
    """Five splits; the DRM leads another method by so much on average, with a deviation of 0.01."""
    noise = 0.01 * np.array([-1.0, 1.0, 0.0, -1.0, 1.0])
    return pd.DataFrame({"DRM": 0.8, **{name: 0.8 - lead - noise for name, lead in leads.items()}})


#: what a lead must exceed with five splits of four parts to train and one to test
NEEDED = float(t.ppf(0.95, 4)) * 0.01 * np.sqrt(1 / 5 + 1 / 4)


@pytest.mark.parametrize(
    ("leads", "found"),
    [
        ({"A": 1.01 * NEEDED}, AHEAD),
        ({"A": 0.99 * NEEDED}, OPEN),
        ({"A": -0.99 * NEEDED}, OPEN),
        ({"A": -1.01 * NEEDED}, BEHIND),
        ({"A": 1.0, "B": 0.0}, OPEN),
        # of two methods one leads by chance more easily: that counts
        ({"A": 1.0, "B": -1.01 * NEEDED}, OPEN),
        ({"A": 1.0, "B": -1.5 * NEEDED}, BEHIND),
    ],
)
def test_a_lead_must_be_wider_than_what_the_splits_vary(leads: dict[str, float], found: str) -> None:
    assert standing(scores(**leads), 1 / 4, shared=True) == found


def test_equal_scores_are_a_lead_where_a_shared_first_place_counts() -> None:
    equal = pd.DataFrame({"DRM": [0.9, 0.8], "A": [0.9, 0.8]})
    assert standing(equal, 0.25, shared=True) == AHEAD
    assert standing(equal, 0.25, shared=False) == BEHIND
    assert standing(equal[:1], 0.25, shared=True) == OPEN


def test_the_overlap_is_that_of_the_splits() -> None:
    assert who_leads.overlap("table-8", "glass4") == pytest.approx(1 / 4)
    assert who_leads.overlap("table-3", "iris") == pytest.approx(36 / 114)


def test_of_a_method_the_better_kernel_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = list(protocol("table-3").better_of)
    rows = [
        {"dataset": "iris", "method": method, "split": split, **dict.fromkeys(columns, value)}
        for method, value in {"DRM(R)": 0.8, "DRM(P)": 0.9, "NB": 0.7, "entropy tree": 1.0}.items()
        for split in (1, 2)
    ]
    monkeypatch.setattr(who_leads, "results", lambda table: pd.DataFrame(rows))
    frame = who_leads.by_family("table-3")["iris"]
    assert set(frame.columns) == {"DRM", "NB"}
    assert frame["DRM"].tolist() == [0.9, 0.9]
    monkeypatch.setattr(who_leads, "results", lambda table: None)
    assert who_leads.by_family("table-3") == {}


def test_bounds_that_decide_stand_in_the_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read when a claim is checked, and every one has a note that says when it was set."""
    own = figures_3_iterations.check_tens()
    plan = protocol("fig-3")
    monkeypatch.setitem(plan.thresholds, "tens", 1)
    other = figures_3_iterations.check_tens()
    assert (own.verdict, own.measured) != (other.verdict, other.measured)
    assert "at most 1 iteration" in other.measured
    for table in ("table-3", "table-9", "fig-3", "fig-5"):
        plan = protocol(table)
        assert plan.thresholds
        assert any("; set " in text for text in plan.not_stated.values()), table


def test_cells_without_a_result_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = protocol("table-3")
    cells = [
        {"dataset": name, "method": method, "ours_n": number, "verdict": "agrees"}
        for name, method, number in (
            ("iris", "C4.5", 5), ("wine", "C4.5", 0), ("nakayama", "C4.5", 0),
            ("iris", "NB", 5), ("wine", "NB", 5), ("gcm", "NB", 0),
        )
    ]  # fmt: skip
    frame = pd.DataFrame(cells)
    assert printed_tables._without_results(frame, plan) == " Not run: C4.5 on wine, nakayama."
    none = frame.assign(ours_n=frame["ours_n"].where(frame["method"] == "NB", 0))
    assert printed_tables._without_results(none, plan).startswith(" Not run: C4.5 (J48 of Weka")
    assert printed_tables._without_results(frame.assign(ours_n=0), plan) == ""


def test_a_count_is_told_as_the_formula_that_it_is() -> None:
    shapes = [(2, 1, 1), (3, 5, 1), (7, 2, 2), (9, 4, 3), (5, 3, 2)]
    counts = [(2 * p + 6) * n + p * g for n, p, g in shapes]
    assert formula(shapes, counts, ["pn", "n", "pg"]) == "(2p+6)n+pg"
    assert formula(shapes, counts, ["pn", "n", "pg", ""]) == "(2p+6)n+pg"
    assert formula(shapes, [n * n + 2 for n, _, _ in shapes], ["n^2", "n"]) == "no sum of n^2, n"
    assert formula(shapes, [0] * 5, ["n"]) == "0"
