"""What the pages beside the code promise: files that exist, an example that runs."""

from __future__ import annotations

import re

import pytest
import yaml
from pybtex.database import parse_file

from marginbook import __version__
from marginbook.base.project import root
from marginbook.base.rooms import papers
from marginbook.claims import ROOMS, Kind, Verdict, command, find
from marginbook.claims.ledger_file import MARKS, board, put_board

from .settled import SETTLED

HERE = root()
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def local_links(page: str) -> list[str]:
    """Return the targets of the page's links and images that are files of this repository."""
    text = re.sub(r"^\s*```.*?^\s*```", "", (HERE / page).read_text("utf-8"), flags=re.M | re.S)
    targets = (target.partition("#")[0] for target in _LINK.findall(text))
    return [target for target in targets if target and not re.match(r"[a-z]+:", target)]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_local_links_and_images_exist(page):
    assert [target for target in local_links(page) if not (HERE / target).exists()] == []


#: where the version stands, beside the package itself
VERSIONS = (
    ("pyproject.toml", r'^version = "(.+)"$'),
    ("CITATION.cff", r"^version: (.+)$"),
    ("book/guide.md", r"marginbook-(\d[\d.]*)-py3-none-any\.whl"),
    ("book/cluster/kubernetes.yaml", r"/marginbook:(\d[\w.]*)"),
)


@pytest.mark.parametrize(("page", "version"), VERSIONS)
def test_the_version_is_the_same_everywhere(page, version):
    assert set(re.findall(version, (HERE / page).read_text("utf-8"), flags=re.M)) == {__version__}


def test_whoever_cites_a_verdict_finds_the_knownbeside_it():
    """With the titles and authors of the bibliography, in the order of the book."""
    listed = yaml.safe_load((HERE / "CITATION.cff").read_text("utf-8"))["references"]
    entries = parse_file(str(HERE / "book" / "references.bib")).entries
    known = [(room, entries[room.citation]) for room in papers().values() if room.key in SETTLED]
    assert len(listed) == len(known)
    for told, (room, entry) in zip(listed, known, strict=True):
        assert told["title"] == entry.fields["title"].replace("{", "").replace("}", "")
        names = [
            " ".join(each.get(part, "") for part in ("given-names", "family-names"))
            for each in told["authors"]
        ]
        assert [
            name.strip() or each["name"] for name, each in zip(names, told["authors"], strict=True)
        ] == list(room.authors)
        assert told.get("year") == room.year


def released(changes: str) -> tuple[str, str]:
    """Return version and date of the newest release that a changelog has."""
    (version, date), *_ = re.findall(r"^## \[?(\d+\.\d+\.\d+)\]? - (\S+)$", changes, flags=re.M)
    return version, date


def test_the_changelog_has_the_version_and_its_date():
    """What comes above, if anything, is unreleased."""
    changes = (HERE / "CHANGELOG.md").read_text("utf-8")
    version, date = released(changes)
    assert version == __version__, "name `## Unreleased` after the version: CONTRIBUTING.md, A release"
    assert f'date-released: "{date}"' in (HERE / "CITATION.cff").read_text("utf-8")
    above = changes[: changes.index(f"{version} - {date}")]
    assert set(re.findall("^## (.+)$", above, flags=re.M)) <= {"Unreleased"}


def stage_fits(status: int, version: str) -> bool:
    """Return whether a development status of PyPI fits: 3 is Alpha, 4 is Beta, 5 is stable."""
    return (status >= 4) == (int(version.partition(".")[0]) >= 1)


def test_the_classifier_is_alpha_before_1_0_0_and_not_after():
    (status,) = re.findall(r'"Development Status :: (\d) -', (HERE / "pyproject.toml").read_text("utf-8"))
    assert stage_fits(int(status), __version__)
    assert not stage_fits(3, "1.0.0")
    assert stage_fits(5, "1.2.0")


def test_the_guide_to_a_release_names_each_place_of_the_version():
    text = (HERE / "CONTRIBUTING.md").read_text("utf-8").partition("## A release\n")[2].partition("\n## ")[0]
    places = [file for file, _ in VERSIONS] + ["src/marginbook/__init__.py", "CHANGELOG.md"]
    assert [file for file in places if f"`{file}`" not in text] == []
    assert "cp tests/promised.txt tests/promised-" in text


def test_the_links_of_the_readme_are_found():
    assert {"book/_static/book.png", "CONTRIBUTING.md", "LICENSE"} <= set(local_links("README.md"))


INCLUDED = re.compile(r"^```\{include\} \.\./(\S+\.md)\n((?::.*\n)*)```$", re.MULTILINE)
PREFIX = re.compile(r"^:relative-docs: (\S+)$", re.MULTILINE)


def including_pages() -> list[tuple[str, str, str]]:
    """Return pages of the book that include one of the root, which one, and the options of the directive."""
    pages = sorted((HERE / "book").glob("*.md"))
    return [(path.name, *found) for path in pages for found in INCLUDED.findall(path.read_text("utf-8"))]


@pytest.mark.parametrize(("page", "included", "options"), including_pages())
def test_links_of_an_included_page_lead_on_from_the_page_that_includes_it(page, included, options):
    """MyST turns only those with the prefix of ``:relative-docs:``; the strict build warns of the others."""
    prefixes = tuple(PREFIX.findall(options))
    wrong = [target for target in local_links(included) if not target.startswith(prefixes)]
    assert wrong == [], f"book/{page} turns links to {prefixes} only"


def test_the_pages_that_include_one_of_the_root_are_found():
    assert ("contributing.md", "CONTRIBUTING.md") in [found[:2] for found in including_pages()]
    assert "book/decisions.md" in local_links("CONTRIBUTING.md")


ENTRY = re.compile(r"^- .*\), (\w+): \*\*([\w-]+)\*\*.*`(\S+)`$", re.MULTILINE)


def test_the_scoreboard_counts_what_the_ledger_lists():
    """LEDGER.md has a line for each claim, and is tested against the checks."""
    lines = ENTRY.findall((HERE / "LEDGER.md").read_text("utf-8"))
    kinds = {id: Kind(kind) for kind, _, id in lines}
    text = board(kinds, {id: Verdict(verdict) for _, verdict, id in lines})
    page = (HERE / "README.md").read_text("utf-8")
    stored = page.partition(MARKS[0])[2].partition(MARKS[1])[0]
    assert stored.strip() == text.strip(), "out of date: marginbook claims --scoreboard README.md"


def test_the_scoreboard_has_a_column_for_each_verdict_and_ours_apart():
    kinds = {"drm/a": Kind.PROOF, "drm/b": Kind.EXPERIMENT, "drm/c": Kind.OURS, "bridge/d": Kind.OURS}
    verdicts = dict.fromkeys(kinds, Verdict.HOLDS) | {"drm/b": Verdict.NOT_REPRODUCED}
    head, rule, *rows, last = board(kinds, verdicts).splitlines()
    assert head == "|  | holds | not reproduced | ours |"
    assert rule == "| --- | --: | --: | --- |"
    assert rows == [f"| {ROOMS['drm']} | 1 | 1 | 1 holds |", f"| {ROOMS['bridge']} |  |  | 1 holds |"]
    assert last == "| **All** | 1 | 1 | 2 holds |"


def test_the_scoreboard_is_put_between_its_marks(tmp_path, cli, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{MARKS[0]}\nold\n{MARKS[1]}\nafter\n", encoding="utf-8")
    put_board(page, "| new |\n")
    assert page.read_text("utf-8") == f"before\n{MARKS[0]}\n\n| new |\n\n{MARKS[1]}\nafter\n"
    page.write_text("nothing", encoding="utf-8")
    with pytest.raises(ValueError, match="no place for the scoreboard"):
        put_board(page, "")
    monkeypatch.setattr(command, "listed", lambda _: find(["drm/prop-IV.1"]))  # all would take minutes
    shown = cli("claims", "--scoreboard", str(page), "--n-jobs", "1")
    assert shown.exit_code == 1
    assert "no place for the scoreboard" in shown.output


def test_the_library_examples_run():
    texts = re.findall(r"^```python\n(.*?)^```", (HERE / "README.md").read_text("utf-8"), flags=re.M | re.S)
    assert len(texts) == 1
    names: dict = {}
    exec(texts[0], names)
    assert 0.95 < names["drm"].best_score_ <= 1
    assert names["drm"].kkt_residual_ < 1e-8
    assert 0.95 < names["ldm"].best_score_ <= 1
    assert f"grid of {len(names['ldm'].cv_results_['params'])} points" in texts[0]
    assert 0 < names["bound"] < 0.2
    assert names["kfda"].is_local_minimum_
    assert 0 < names["kfda"].retained_fraction_ < 0.05
    assert names["clasmk"].solution_.gap <= 1e-8
    assert f"weights of {names['clasmk'].weights_.shape[1]} kernels for each class" in texts[0]
    assert names["smm"].global_gap_ <= 1e-4 * names["smm"].objective_
