"""A table that is too wide for a phone: each row is a card, and each value has the name of its column."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from marginbook.base.project import root

from .looking import open_context

STATIC = (root() or pytest.skip("no source tree", allow_module_level=True)) / "book" / "_static"
KEYS = [("linear", "one", 1), ("linear", "one", 2), ("linear", "two", 3), ("rbf", "one", 4)]
COLUMNS = ["ahead of all others", "behind all others", "level with the others", "mean of the differences"]


@pytest.mark.browser
def test_values_below_a_cell_that_spans_rows_have_the_names_of_their_columns(chromium: Any) -> None:
    index = pd.MultiIndex.from_tuples(KEYS, names=["kernel", "kind", "number"])
    frame = pd.DataFrame([[f"{row}.{column}" for column in COLUMNS] for row in range(4)], index, COLUMNS)
    page = open_context(chromium, 390, 844, "light").new_page()
    page.set_content(f"<article class='bd-article'><div>{frame.to_html()}</div></article>")
    page.add_style_tag(path=STATIC / "reading.css")
    page.add_script_tag(path=STATIC / "tables.js")
    page.wait_for_selector("table.stacked")
    rows = page.evaluate(
        """[...document.querySelectorAll("tbody tr")].map((row) => ({
            under: row.dataset.under ?? "",
            cells: [...row.cells].map((cell) => [cell.dataset.label ?? "", cell.textContent]),
        }))"""
    )
    seen = [dict(zip(["kernel", "kind", "number"], map(str, key), strict=True)) for key in KEYS]
    for number, (row, key) in enumerate(zip(rows, seen, strict=True)):
        told = {label or "kernel": text for label, text in row["cells"]}
        assert told.items() <= (key | {column: f"{number}.{column}" for column in COLUMNS}).items()
        # a row whose first value stands above has it as its title
        assert (row["under"] or told["kernel"]) == key["kernel"]
        assert all(f"{number}.{column}" in told.values() for column in COLUMNS)


@pytest.mark.browser
def test_a_card_leaves_out_what_is_empty(chromium: Any) -> None:
    frame = pd.DataFrame([[1, "", 3] * 5, [4, 5, 6] * 5], columns=[f"column {k}" for k in range(15)])
    page = open_context(chromium, 390, 844, "light").new_page()
    page.set_content(f"<article class='bd-article'><div>{frame.to_html()}</div></article>")
    page.add_style_tag(path=STATIC / "reading.css")
    page.add_script_tag(path=STATIC / "tables.js")
    page.wait_for_selector("table.stacked")
    shown = [page.locator(f"tbody tr:nth-child({row}) td:visible").count() for row in (1, 2)]
    assert shown == [10, 15]
