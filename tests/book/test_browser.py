"""The built book in Chromium: search, tables that sort, evidence that opens."""

from __future__ import annotations

import pytest

from .looking import open_context

pytestmark = pytest.mark.browser


def test_search_finds_a_page(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "search.html?q=leave-one-out")
    page.wait_for_selector("#search-results li a")
    assert page.locator("#search-results li a").count() >= 1


def test_tables_sort_by_mouse_and_keyboard(site: str, chromium) -> None:
    from playwright.sync_api import expect

    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "book/data.html", wait_until="load")
    table = page.locator("table.sortable").first
    heading = table.locator("thead th").nth(2)

    def rows() -> list[int]:
        cells = table.locator("tbody tr td:nth-child(3)").all_text_contents()
        return [int(cell) for cell in cells if cell.strip().isdigit()]

    heading.click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    assert rows() == sorted(rows())
    heading.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending")
    assert rows() == sorted(rows(), reverse=True)


def test_a_link_to_evidence_opens_it(site: str, chromium) -> None:
    page = open_context(chromium, 390, 844, "light").new_page()
    page.goto(site + "book/claims-ldm.html", wait_until="load")
    closed = page.locator("details.sd-dropdown").first
    closed.locator("summary").click()
    assert closed.get_attribute("open") is not None
    assert "marginbook claims" in closed.inner_text()
