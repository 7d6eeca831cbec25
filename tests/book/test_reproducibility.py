"""The page on what papers leave unstated says what the protocols and the records say."""

from __future__ import annotations

from pathlib import Path

import pytest

from marginbook.book import large_page, reproducibility_pages
from marginbook.book.myst import plain
from marginbook.claims.errata import PAPERS
from marginbook.experiments import experiments, load_protocol


def test_every_assumption_of_every_protocol_is_on_the_page(tmp_path: Path) -> None:
    reproducibility_pages.write(tmp_path)
    text = (tmp_path / "reproducibility.md").read_text()
    seen = 0
    for id in experiments():
        if id.partition("/")[0] in PAPERS:
            for gap, choice in load_protocol(id).not_stated.items():
                assert f"* - {plain(gap)}\n  - {plain(choice)}\n" in text
                seen += 1
            assert f"](#results-{id.replace('/', '-')})\\\n" in text
    assert seen > 100


def test_equal_assumptions_share_a_row() -> None:
    plans = [load_protocol("drm/table-3"), load_protocol("drm/table-8")]
    text = reproducibility_pages.assumptions(plans)
    assert text.count("* - polynomial kernel\n") == 1
    assert "[table-3](#results-drm-table-3), [table-8](#results-drm-table-8)" in text


def test_sizes_hours_and_versions_are_those_of_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table-8.timing.csv").write_text("dataset,split,method,seconds\na,1,m,3600\nb,1,m,1800.5\n")
    (tmp_path / "table-8.provenance.json").write_text(
        '{"tasks": {"exported": 2, "in the profile": 900}, '
        '"environments": [{"python": "3.11.7", "numpy": "2.4.6"}]}'
    )
    monkeypatch.setattr(reproducibility_pages, "resource", lambda *parts: tmp_path / parts[-1])
    assert reproducibility_pages.seconds("drm/table-8") == 5400.5
    assert reproducibility_pages.seconds("drm/table-9") is None
    plans = [load_protocol("drm/table-8"), load_protocol("drm/table-9")]
    text = reproducibility_pages.runs(plans)
    quick, full = (len(plans[0].tasks(profile)) for profile in ("quick", "paper"))
    assert f"  - 5\n  - {quick}\n  - {full}\n  - 1.5\n" in text
    assert "  - 5\n  - 6\n  - 675\n  - \\-\n" in text
    said = reproducibility_pages.versions(plans)
    assert "Python 3.11.7, NumPy 2.4.6." in said
    assert "drm/table-8 (2 of 975)" in said
    assert "Not run on this checkout: drm/table-9." in said


@pytest.mark.parametrize(
    ("environment", "clock", "shown"),
    [
        ("{}", None, "1"),
        ('{"processor": "a"}', None, "≥\u00a01"),
        ('{"processor": "a"}', "thread", "≥\u00a01"),
        ('{"processor": "a"}', "process", "1"),
    ],
)
def test_hours_without_the_threads_of_a_task_are_a_lower_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: str, clock: str | None, shown: str
) -> None:
    more, told = ("", "") if clock is None else (",clock", f",{clock}")
    (tmp_path / "table-8.timing.csv").write_text(f"dataset,split,method,seconds{more}\na,1,m,3600{told}\n")
    (tmp_path / "table-8.provenance.json").write_text(f'{{"environments": [{environment}]}}')
    monkeypatch.setattr(reproducibility_pages, "resource", lambda *parts: tmp_path / parts[-1])
    assert f"\n  - {shown}\n" in reproducibility_pages.runs([load_protocol("drm/table-8")])
    assert ("For 1 of the 1 runs these are lower bounds" in large_page.cost(["drm/table-8"])) == (
        shown != "1"
    )


def test_data_that_are_not_available_are_named_with_the_reason() -> None:
    text = reproducibility_pages.section("drm", [load_protocol("drm/table-3")])
    assert "### Data that are not available" in text
    assert "\ngcm\n: " in text
