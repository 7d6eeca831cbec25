"""From the README and from the home page to any claim, its verdict and its evidence, in three clicks."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

from marginbook.base.project import root
from marginbook.claims import ROOMS, Claim, Evidence, Kind, Verdict, check_all, ledger
from marginbook.claims.ledger_file import COMMAND, NAME, line, markdown, section

from ..settled import SETTLED, WITH_CHAPTER
from .looking import open_context
from .test_links import places, soup

#: one statement of each paper, a theorem where it has one
STATEMENTS = (
    "drm/thm-VI.3",
    "ldm/thm-3",
    "kfda/zeros-finite",
    "clasmk/thm-1",
    "smm/full-rank",
    "bridge/ldm-mean",
)
#: place, notebook, verdict and id
ENTRY = re.compile(r"^- \[(.+?)\]\((notebooks/[^)]+)\), \w+: \*\*([\w-]+)\*\*.*`(\S+)`$", re.MULTILINE)


def end(page: Path, link: Tag) -> tuple[Path, str]:
    """Return the page at which a link ends, and the name of the place on it."""
    url = urlsplit(link["href"])
    return ((page.parent / unquote(url.path)).resolve() if url.path else page), unquote(url.fragment)


def slug_of_github(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_the_readme_leads_to_the_claims_of_each_paper() -> None:
    home = root()
    assert home is not None
    headings = {
        slug_of_github(title)
        for title in re.findall(r"^## (.+)$", (home / NAME).read_text("utf-8"), flags=re.MULTILINE)
    }
    linked = set(re.findall(rf"\({re.escape(NAME)}#([\w-]+)\)", (home / "README.md").read_text("utf-8")))
    assert linked <= headings
    assert {slug_of_github(ROOMS[room]) for room in SETTLED} <= linked


def test_the_file_lists_every_claim_and_its_notebooks_exist() -> None:
    home = root()
    assert home is not None
    listed = ENTRY.findall((home / NAME).read_text("utf-8"))
    # in a process that has imported parts of rooms before, the ledger has another order
    assert sorted(id for *_, id in listed) == sorted(ledger(WITH_CHAPTER)), f"out of date: {COMMAND}"
    assert {verdict for _, _, verdict, _ in listed} <= {str(verdict) for verdict in Verdict}
    assert [path for _, path, *_ in listed if not (home / path).is_file()] == []


def test_a_line_names_the_section_and_code_is_no_section() -> None:
    claim = ledger()["drm/thm-VI.3"]
    title = section(*claim.notebook.split("#"))
    assert title
    assert not title.startswith(("import", "-"))
    found = Evidence(verdict=Verdict.HOLDS, measured="", claimed="", slack=None, why="")
    ending = rf"In “{re.escape(title)}”\. Refutes (\d+) of \1 rivals\. `drm/thm-VI\.3`$"
    assert re.search(ending, line(claim, found))
    assert section("drm/99_no", "x") == ""


@pytest.mark.browser
def test_the_file_has_the_verdicts_that_the_checks_give(html: Path) -> None:
    home = root()
    assert home is not None
    # after a build all evidence is in the cache
    fresh = markdown(ledger(WITH_CHAPTER), check_all(WITH_CHAPTER, n_jobs=1))
    stored = (home / NAME).read_text("utf-8")
    assert sorted(stored.splitlines()) == sorted(fresh.splitlines()), f"out of date: {COMMAND}"


@pytest.mark.browser
def test_every_claim_leads_to_its_evidence_and_to_its_section(html: Path) -> None:
    found: list[str] = []
    ledgers = {room: html.resolve() / "book" / f"claims-{room}.html" for room in ROOMS}
    ids = {room: {tag["id"]: tag for tag in soup(page).find_all(id=True)} for room, page in ledgers.items()}

    def see(claim: Claim) -> None:
        page, by_id = ledgers[claim.paper], ids[claim.paper]
        row = by_id[f"claim-{claim.slug}"].find_parent("tr")
        links = [end(page, link) for link in row.find_all("a", href=True)]
        if (page, f"evidence-{claim.slug}") not in links:
            found.append(f"{claim.id}: no link to its evidence")
        id, _, anchor = claim.notebook.partition("#")
        target = html.resolve() / "notebooks" / f"{id}.html"
        if (target, anchor.lower()) not in [(where, place.lower()) for where, place in links]:
            found.append(f"{claim.id}: the row leads to {links}, wanted {claim.notebook}")
        evidence = by_id[f"evidence-{claim.slug}"]
        box = evidence if evidence.name == "details" else evidence.find_next("details")
        inside = [end(page, link) for link in box.find_all("a", href=True)]
        if not any(where == target and place in places(target) for where, place in inside):
            found.append(f"{claim.id}: its evidence does not lead to {claim.notebook}")
        if f"marginbook claims {claim.id}" not in box.get_text():
            found.append(f"{claim.id}: {box.summary.get_text()!r} is the evidence of another claim")

    for claim in ledger().values():
        see(claim)
    assert found == []


@pytest.mark.browser
@pytest.mark.parametrize("room", ROOMS)
def test_the_chapter_of_a_paper_leads_to_the_same(html: Path, room: str) -> None:
    page = html.resolve() / "book" / f"{room}.html"
    ends = {end(page, link) for link in soup(page).select("article a[href]")}
    missing = [
        claim.id
        for claim in ledger().values()
        if claim.paper == room
        and (page.with_name(f"claims-{room}.html"), f"evidence-{claim.slug}") not in ends
    ]
    assert missing == []


@pytest.mark.browser
def test_a_row_without_its_links_is_seen(html: Path) -> None:
    page = html / "book" / "claims-drm.html"
    lone = BeautifulSoup('<a href="#x">x</a><a href="../notebooks/drm/01_x.html#y">y</a>', "html.parser")
    assert [end(page, link)[1] for link in lone.find_all("a")] == ["x", "y"]
    assert end(page, lone.find_all("a")[1])[0] == (html / "notebooks/drm/01_x.html").resolve()


@pytest.mark.browser
@pytest.mark.parametrize("id", STATEMENTS)
def test_three_clicks_from_the_home_page(site: str, chromium, id: str) -> None:
    claim, clicks = ledger()[id], 0
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "book/index.html", wait_until="load")

    def click(selector: str) -> None:
        nonlocal clicks
        page.locator(selector).first.click()
        clicks += 1

    verdict = check_all([id], n_jobs=1)[id].verdict
    kind = "ours" if claim.kind == Kind.OURS else "paper"
    click(f'a.count[href^="claims-{claim.paper}.html?kind={kind}&verdict={verdict}#"]')
    page.wait_for_selector(".ledger-filter output:not(:empty)")
    row = page.locator(f"tr:has(#claim-{claim.slug})")
    assert row.is_visible()
    assert row.locator(".verdict").inner_text() == verdict.replace("-", " ")
    click(f'#claim-{claim.slug} a[href="#evidence-{claim.slug}"]')
    opened = page.locator("main details[open]", has_text=f"marginbook claims {id}")
    opened.wait_for()
    shown = opened.locator("summary").inner_text().replace("‘", "'").replace("’", "'")
    assert claim.where in shown
    assert "Measured:" in opened.inner_text()
    opened.locator('a[href*="notebooks/"]').first.click()
    clicks += 1
    page.wait_for_url(f"**/notebooks/{claim.notebook.partition('#')[0]}.html#*")
    target = page.locator(f"[id='{urlsplit(page.url).fragment}']")
    target.wait_for(state="attached")
    assert clicks <= 3
    page.context.close()
