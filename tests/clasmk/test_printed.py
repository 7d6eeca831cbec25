"""The printed numbers against the text of the paper, where it is at hand, and the claims about them."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from marginbook.claims import Verdict
from marginbook.clasmk.claims import printed_audit, printed_sets, printed_table_1, printed_time
from marginbook.clasmk.paper import printed as table_cells
from marginbook.clasmk.paper.printed import BOLD, SINGLE, SUMMARY, printed, seconds, sizes

#: the text of the paper is not ours to ship: a folder of papers is named, or lies beside the checkout
FOLDER = os.environ.get("MARGINBOOK_PAPERS")
PLACES = [Path(FOLDER)] if FOLDER else sorted(Path(__file__).parents[3].glob("*/papers"))
#: a cell, its ± and what follows up to the next cell: the same again, as LaTeX
CELL = r"([\d.]+)±([\d.]+)plus-or-minus(.*?)(?= [\d.]+±|$)"
#: lines of Table 4 begin with these
NAMES = [name.capitalize() for name in BOLD]


def text_of_paper():
    texts = [place / "clasmk" / "paper.txt" for place in PLACES if (place / "clasmk" / "paper.txt").is_file()]
    if not texts:
        pytest.skip("no clasmk/paper.txt in a folder beside the checkout; MARGINBOOK_PAPERS names its folder")
    return texts[0].read_text(encoding="utf-8")


def test_table_4_is_that_of_the_text():
    means, deviations = printed("table-4"), printed("table-4", "std")
    lines = text_of_paper().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Dataset CLASMK-ML 2L-"))
    for name, line in zip(NAMES, lines[start + 1 :], strict=False):
        assert line.startswith(name)
        cells = re.findall(CELL, line)
        assert [float(mean) for mean, _, _ in cells] == means.loc[name.lower()].tolist()
        assert [float(std) for _, std, _ in cells] == deviations.loc[name.lower()].tolist()
        bold = [column for column, (_, _, rest) in zip(means.columns, cells, strict=True) if "bf" in rest]
        assert tuple(bold) == BOLD[name.lower()]


def test_table_1_is_that_of_the_text():
    lines = text_of_paper().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Dataset LS-SVM Classification Error"))
    stop = next(i for i, line in enumerate(lines) if line.startswith("Table 1:"))
    found = [
        (float(mean), float(std)) for line in lines[start:stop] for mean, std, _ in re.findall(CELL, line)
    ]
    means, deviations = printed("table-1"), printed("table-1", "std")
    assert found == list(zip(means.to_numpy().ravel(), deviations.to_numpy().ravel(), strict=True))


def test_sizes_are_those_of_the_text():
    text = text_of_paper()
    pairs = re.findall(r"\((\d+), (\d+)\)", text[text.index("Dataset Diabetes") : text.index("Table 3: ")])
    table = sizes().query("table == 'table-3'")
    assert [(int(p), int(n)) for p, n in pairs] == list(
        zip(table["printed_p"], table["printed_n"], strict=True)
    )
    assert len(sizes()) == 4 + 12 + 6


def test_layout():
    assert printed("table-1").shape == (4, 10)
    assert printed("table-4").shape == (13, 4)
    assert printed("table-4").index[-1] == SUMMARY
    assert set(seconds()["method"]) == {*SINGLE, "CLASMK-ML"}


CHECKS = {
    printed_audit.check_summary: Verdict.HOLDS,
    printed_audit.check_wins: Verdict.HOLDS,
    printed_audit.check_bold: Verdict.HOLDS,
    printed_audit.check_spread: Verdict.HOLDS,
    printed_sets.check_sizes: Verdict.CORRECTED,
    printed_table_1.check_best: Verdict.HOLDS,
    printed_table_1.check_class: Verdict.HOLDS,
    printed_table_1.check_equal_cells: Verdict.HOLDS,
    printed_time.check_block: Verdict.HOLDS,
    printed_time.check_sums: Verdict.HOLDS,
    printed_time.check_widths: Verdict.HOLDS,
}


@pytest.mark.parametrize("check", CHECKS)
def test_what_the_printed_numbers_say(check):
    evidence = check()
    assert evidence.verdict == CHECKS[check], evidence.measured
    assert not re.search(r"\bnan\b", evidence.measured + evidence.why)


def test_the_version_of_a_set_that_agrees_is_named():
    """UCI's Ionosphere has a constant column, which Table 3 does not count."""
    assert "33 features in that without its constant column, and 34 in" in printed_sets.check_sizes().reading


@pytest.fixture
def changed(monkeypatch):
    """Return a function that changes one printed cell."""

    def change(table, row, column, mean, value="mean"):
        def other(name, what="mean"):
            frame = printed(name, what)
            if (name, what) == (table, value):
                frame.loc[row, column] = mean
            return frame

        for module in (printed_audit, printed_table_1):
            monkeypatch.setattr(module, "printed", other)

    return change


def test_verdicts_follow_the_cells(changed):
    changed("table-4", "german", "2L-CLASMK-ML", 74.3)
    assert printed_audit.check_wins().verdict == Verdict.FAILS
    assert printed_audit.check_bold().verdict == Verdict.FAILS
    changed("table-4", SUMMARY, "2L-MKL", 85.1)
    assert printed_audit.check_bold().verdict == Verdict.FAILS
    assert printed_audit.check_summary().verdict == Verdict.FAILS
    changed("table-4", SUMMARY, "CLASMK-ML", 2.3, "std")
    evidence = printed_audit.check_summary()
    assert evidence.verdict == Verdict.HOLDS
    assert "rounded, in 4 of 4; exceptions: none" in evidence.why
    changed("table-1", "phoneme", "CLASMK-ML", 9.94)
    assert printed_table_1.check_best().verdict == Verdict.FAILS
    changed("table-1", "banana", "CLASK-ML", 8.0)
    assert printed_table_1.check_class().verdict == Verdict.FAILS


def test_binomial_deviation_by_simulation():
    row = printed_audit.spreads().query("dataset == 'heart' and method == 'MKL'").iloc[0]
    drawn = np.random.default_rng(0).binomial(135, 0.83, 200000) / 135
    assert row["n_test"] == 135
    assert row["binomial"] == pytest.approx(100 * drawn.std(), rel=0.01)
    assert 100 * np.sqrt(0.83 * 0.17 / row["rows"]) == pytest.approx(row["std"])


def test_seconds_that_do_not_add_up_fail(monkeypatch):
    frame = table_cells.seconds()
    frame.loc[(frame["dataset"] == "banana") & (frame["method"] == "CLASMK-ML"), "basis_seconds"] = 4.0
    monkeypatch.setattr(printed_time, "seconds", lambda: frame)
    assert printed_time.check_sums().verdict == Verdict.FAILS
    assert printed_time.check_block().verdict == Verdict.FAILS
