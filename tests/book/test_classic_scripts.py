"""Modules become classic scripts; the built book works when a reader opens it as a file, without a server."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from marginbook.base.rooms import rooms
from marginbook.book.classic_scripts import bundled, make_classic

#: a chapter with an explorable, tables to sort, claims to filter, many formulas, figures to enlarge
OPENED = {
    **{f"book/{room}.html": ".explore" for room in ("drm", "ldm", "kfda", "clasmk", "smm", "bridge")},
    "search.html?q=margin": "#search-results li",
    "book/results-drm.html": "table.sortable .sort-by",
    "book/claims-drm.html": ".ledger-filter output",
    "notebooks/ldm/03_leave_one_out.html": "mjx-container",
    "notebooks/smm/06_real_matrices.html": "button.enlarge",
}


def module(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.js"
    path.write_text(text)
    return path


def test_what_is_imported_comes_first_and_once(tmp_path: Path) -> None:
    module(tmp_path, "base", "export const ONE = 1;\nexport function two() { return 2; }\n")
    module(tmp_path, "other", 'import { ONE } from "./base.js";\nexport class Three {}\n')
    entry = module(
        tmp_path,
        "entry",
        'import {\n  ONE as FIRST,\n  two,\n} from "./base.js";\nimport { Three } from "./other.js";\n'
        "console.log(FIRST, two(), Three, import.meta.url);\n",
    )
    text = bundled(entry)
    assert text.index("base.js") < text.index("other.js") < text.index("entry.js")
    assert text.count("const ONE = 1;") == 1
    assert "const {\n  ONE: FIRST,\n  two,\n} = module0;" in text
    assert "return { ONE, two };" in text
    assert not any(word in text for word in ("import", "export"))
    assert "currentScript" in text
    assert "currentScript" not in bundled(tmp_path / "base.js")  # which may still be imported as it is


def test_a_circle_is_refused(tmp_path: Path) -> None:
    module(tmp_path, "one", 'import { b } from "./two.js";\nexport const a = 1;\n')
    entry = module(tmp_path, "two", 'import { a } from "./one.js";\nexport const b = 1;\n')
    with pytest.raises(ValueError, match=r"two\.js imports itself, by one\.js"):
        bundled(entry)


@pytest.mark.parametrize(
    "line",
    [
        'import * as all from "./x.js";',
        "export default 1;",
        "export let a = 1;",
        "await x;",
        "  y = import(x);",
    ],
)
def test_a_form_that_would_be_lost_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(ValueError, match="cannot become part of a classic script"):
        bundled(module(tmp_path, "entry", line + "\n"))


def test_tags_are_deferred_and_other_scripts_stay(tmp_path: Path) -> None:
    (tmp_path / "book").mkdir()
    module(tmp_path, "own", "const a = 1;\n")
    page = tmp_path / "book" / "page.html"
    others = '<script src="x.js"></script><script type="module" src="https://example.org/x.js"></script>'
    page.write_text(f'<script type="module" src="../own.js?v=1"></script>{others}')
    make_classic(tmp_path)
    (mark,) = re.findall(r"v=(\w{8})", page.read_text())
    assert page.read_text() == f'<script defer="defer" src="../own.js?v={mark}"></script>{others}'
    assert hashlib.sha256((tmp_path / "own.js").read_bytes()).hexdigest().startswith(mark)
    assert "const a = 1;" in (tmp_path / "own.js").read_text()


@pytest.mark.browser
@pytest.mark.parametrize("where", OPENED)
def test_the_book_works_as_a_file(html: Path, chromium, where: str) -> None:
    page = chromium.new_context().new_page()
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
    page.goto(f"{html.as_uri()}/{where}")
    page.wait_for_selector(OPENED[where], state="attached")
    assert not trouble


def test_every_chapter_with_an_explorable_is_opened() -> None:
    from marginbook.base.project import resource

    scripts = {path.stem for path in resource("book", "_static", "explore").glob("*.js")}
    assert {room for room in rooms() if room in scripts} == {
        Path(where).stem for where, wanted in OPENED.items() if wanted == ".explore"
    }
