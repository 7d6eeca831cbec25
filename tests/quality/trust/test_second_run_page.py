"""The page tells of a second run what its files hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marginbook.book import second_run_page

COUNTS = ("0", "1e-12", "1e-09", "1e-06", "1e-03", "more")


def numbers(*rows: tuple[int, ...]) -> list[dict[str, str]]:
    """Return rows as they are stored, of counts in the order of the columns."""
    return [
        {
            "experiment": f"toyroom/e{k}",
            "rows": "4",
            "cells": str(sum(counts)),
            **dict(zip(COUNTS, map(str, counts), strict=True)),
            "where": "iris, m: accuracy" if sum(counts[1:]) else "",
        }
        for k, counts in enumerate(rows)
    ]


ABOUT = {"share": 0.25, "seed": 0, "threads": 2, "other": {"blas": "openblas 0.3 Nehalem", "numpy": "9.9"}}


def verdict(second: str) -> dict[str, str]:
    return {"experiment": "toyroom/e0", "claim": "toyroom/a", "first": "holds", "second": second}


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ([], "No claim reads them."),
        ([verdict("holds")], "None of 1 verdicts on claims that read them changes."),
        ([verdict("holds"), verdict("fails")], "1 of 2 verdicts on claims that read them changes:"),
    ],
)
def test_counts_and_verdicts_are_those_of_the_files(verdicts, told):
    text = second_run_page.section("far", numbers((10, 1, 0, 2, 0, 0), (5, 0, 0, 0, 3, 4)), verdicts, ABOUT)
    assert "**far:** 25 % of the seconds of each of 2 experiments" in text
    assert "with 2 threads of BLAS (blas openblas 0.3 Nehalem; numpy 9.9)" in text
    assert "Of 25 numbers and texts in 8 rows 15 are the same to 12 digits, and 18 to six." in text
    assert told in text
    assert ("`toyroom/a` was holds and is fails" in text) == (len(verdicts) == 2)


def test_without_a_second_run_there_is_no_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_run_page, "resource", lambda *parts: tmp_path.joinpath(*parts))
    second_run_page.write(tmp_path)
    assert (tmp_path / "trust-twice.md").read_text() == ""
    assert not list(tmp_path.glob("*.png"))


def test_a_stored_second_run_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_run_page, "resource", lambda *parts: tmp_path.joinpath(*parts))
    home = tmp_path / "results" / "twice" / "far"
    home.mkdir(parents=True)
    rows = numbers((10, 1, 0, 2, 0, 0), (5, 0, 0, 0, 3, 4))
    lines = [",".join(rows[0]), *(",".join(f'"{value}"' for value in row.values()) for row in rows)]
    (home / "numbers.csv").write_text("\n".join(lines) + "\n")
    (home / "about.json").write_text(json.dumps(ABOUT))
    second_run_page.write(tmp_path)
    assert "No claim reads them" in (tmp_path / "trust-twice.md").read_text()
    assert (tmp_path / "trust-twice-far.png").stat().st_size > 5000
