"""The rule for printed cells at its borders: what each side lacks, few splits, rounding, and choices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from marginbook.claims.cell_verdicts import Spread, compare_cells


def compared(
    mean: str, std: str, scores: list[float], *, n: int = 5, rows: int | None = None, **options: object
) -> pd.Series:
    """Return the one cell of a table."""
    printed = pd.DataFrame([{"dataset": "d", "method": "m", "mean": mean, "std": std, "note": ""}])
    ours = pd.DataFrame({"dataset": "d", "method": "m", "split": range(len(scores)), "score": scores})
    if rows is not None:
        ours["test_rows"] = rows
    found = compare_cells(printed, ours, **{"metric": "score", "printed_splits": n} | options)  # type: ignore[arg-type]
    return found.iloc[0]


@pytest.mark.parametrize(("n", "point"), [(1, 12.7062), (2, 12.7062), (3, 4.30265), (6, 2.57058)])
def test_few_printed_splits_have_a_wide_range(n: int, point: float) -> None:
    """Ours does not vary: the degrees of freedom are n - 1, and one where a single split has a deviation."""
    border = point * 0.02 / np.sqrt(n) + 0.00005
    for shift, verdict in ((border - 2e-6, "reproduced"), (border + 2e-6, "not-reproduced")):
        assert compared("0.5000", "0.02", [0.5 + shift] * 4, n=n)["verdict"] == verdict


def test_a_spread_that_one_side_lacks_is_that_of_the_other() -> None:
    """Two of our splits stand in for five printed ones, with their one degree of freedom."""
    found = compared("0.5", "", [0.4, 0.6], n=5)
    assert found["ours_std"] == pytest.approx(np.sqrt(0.02))
    assert found["se"] == pytest.approx(np.sqrt(0.02 / 5 + 0.02 / 2))
    # Welch: (v1 + v2)^2 / (v1^2 + v2^2) degrees of freedom, v1 : v2 = 2 : 5
    border = stats.t.ppf(0.975, 49 / 29) * found["se"] + 0.05
    for shift, verdict in ((border - 1e-6, "reproduced"), (border + 1e-6, "not-reproduced")):
        assert compared("0.5", "", [0.4 - shift, 0.6 - shift], n=5)["verdict"] == verdict


def test_a_choice_made_once_counts_on_both_sides() -> None:
    """Where nothing else varies, the range is that of the difference of two choices among n."""
    for n, point in ((5, 2.77645), (3, 4.30265)):
        choices = {("d", "m"): Spread(0.01, n)}
        border = point * np.sqrt(2) * 0.01 + 0.00005
        for shift, verdict in ((border - 2e-6, "reproduced"), (border + 2e-6, "not-reproduced")):
            found = compared("0.5000", "", [0.5 + shift] * 4, choices=choices)
            assert found["verdict"] == verdict
            assert found["se"] == pytest.approx(np.sqrt(2) * 0.01)
    other = compared("0.5000", "0.02", [0.5] * 4, choices={("d", "other"): Spread(9.0, 3)})
    assert other["se"] == pytest.approx(0.02 / np.sqrt(5))


def test_where_nothing_says_how_scores_vary_only_the_rounding_is_allowed() -> None:
    for rows in (None, 0):
        assert compared("0.50", "", [0.504], n=1, rows=rows)["verdict"] == "reproduced"
        found = compared("0.50", "", [0.506], n=1, rows=rows)
        assert (found["verdict"], found["se"]) == ("not-reproduced", 0.0)


def test_what_is_no_share_has_no_error_of_a_share() -> None:
    assert compared("70", "", [70.4], n=1, rows=100)["se"] == 0.0
    assert compared("0.5", "", [0.5], n=1, rows=100)["se"] == pytest.approx(0.05)
    assert compared("0.5", "", [1.0], n=1, rows=100)["se"] == 0.0


def test_the_last_bits_of_a_mean_do_not_decide() -> None:
    """0.505 is half a unit of the last digit off 0.50, and as a number of the machine a little more."""
    assert 0.505 - 0.5 > 0.5e-2
    assert compared("0.50", "", [0.505], n=1)["verdict"] == "reproduced"
    assert compared("0.50", "", [0.50501], n=1)["verdict"] == "not-reproduced"
    for text, unit in (("3", 1.0), ("3.0", 0.1), (" 3.00 ", 0.01)):
        assert compared(text, "", [3 + 0.49 * unit] * 5)["verdict"] == "reproduced"
        assert compared(text, "", [3 - 0.51 * unit] * 5)["direction"] == "ours lower"


def test_a_cell_that_was_not_run_has_no_error() -> None:
    found = compared("0.5", "0.02", [float("nan")])
    assert (found["verdict"], found["ours_n"]) == ("not-testable", 0)
    assert np.isnan(found["se"])
    assert np.isnan(found["ours_mean"])


def test_a_cell_of_another_method_is_none_of_ours() -> None:
    printed = pd.DataFrame([{"dataset": "d", "method": "other", "mean": "0.5", "std": "0.1", "note": ""}])
    ours = pd.DataFrame({"dataset": "d", "method": "m", "score": [0.5, 0.6]})
    found = compare_cells(printed, ours, metric="score", printed_splits=5).iloc[0]
    assert (found["verdict"], found["ours_n"], found["direction"]) == ("not-testable", 0, "")


@pytest.mark.parametrize("names", [("empty", "full"), ("full", "empty")])
@pytest.mark.parametrize("higher", [True, False])
def test_a_column_without_numbers_is_not_the_better_one(names: tuple[str, str], higher: bool) -> None:
    printed = pd.DataFrame([{"dataset": "d", "method": "m", "mean": "0.5", "std": "", "note": ""}])
    ours = pd.DataFrame({"dataset": "d", "method": "m", "full": [0.5, 0.7], "empty": [np.nan] * 2})
    found = compare_cells(
        printed, ours, metric="full", better_of=names, printed_splits=2, higher_is_better=higher
    )
    assert found["column"].tolist() == ["full"]


def test_a_column_that_does_not_vary_may_be_the_better_one() -> None:
    printed = pd.DataFrame([{"dataset": "d", "method": "m", "mean": "0.5", "std": "", "note": ""}])
    ours = pd.DataFrame({"dataset": "d", "method": "m", "a": [0.75, 0.75], "b": [0.5, 0.6]})
    found = compare_cells(printed, ours, metric="b", better_of=("b", "a"), printed_splits=2)
    assert found["column"].tolist() == ["a"]


def test_each_data_set_has_its_number_of_printed_splits() -> None:
    printed = pd.DataFrame(
        [{"dataset": name, "method": "m", "mean": "0.5", "std": "0.1", "note": ""} for name in "ab"]
    )
    ours = pd.DataFrame({"dataset": ["a", "a", "b", "b"], "method": "m", "score": [0.5] * 4})
    found = compare_cells(printed, ours, metric="score", printed_splits={"a": 4, "b": 25})
    assert found["se"].tolist() == pytest.approx([0.05, 0.02])
