"""Execution is repeatable and cached; storing goes from text to notebook only."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from marginbook.claims import ledger
from marginbook.datasets import DatasetNotFetched, registry
from marginbook.notebooks import (
    NotebookFailed,
    available,
    came_out_as_stored,
    drift,
    execute,
    find,
    run,
    store,
)
from marginbook.notebooks.executing import _modules, grouped, key


@pytest.fixture
def seen() -> list[tuple[str, str]]:
    return []


def test_two_fresh_executions_give_the_same_bytes(home: Path) -> None:
    first = execute(["drm/01_small"], n_jobs=1)["drm/01_small"].read_bytes()
    assert b"['a', 'b'] 1 quick" in first
    assert execute(["drm/01_small"], n_jobs=1, fresh=True)["drm/01_small"].read_bytes() == first


def test_the_cache_notices_an_edit_and_new_results(home: Path, seen: list[tuple[str, str]]) -> None:
    def run() -> str:
        execute(["drm/01_small"], n_jobs=1, progress=lambda *event: seen.append(event))
        return seen[-1][1].split()[0]

    assert [run(), run()] == ["executed", "cached"]
    text = home / "notebooks/drm/01_small.md"
    text.write_text(text.read_text().replace("n_jobs = 1", "n_jobs = 2"))
    assert [run(), run()] == ["executed", "cached"]
    (home / "results/drm").mkdir(parents=True)
    (home / "results/drm/table-8.csv").write_text("a,b\n")
    assert [run(), run()] == ["executed", "cached"]
    assert len(list((home / "_build/executed").glob("*.ipynb"))) == 1


def test_a_failing_notebook_is_named_and_kept_and_the_others_finish(home: Path) -> None:
    good = home / "notebooks/drm/01_small.md"
    (home / "notebooks/drm/02_bad.md").write_text(good.read_text().replace("n_jobs = 1", "n_jobs = 11"))
    with pytest.raises(NotebookFailed) as caught:
        execute(["drm/02_bad", "drm/01_small"], n_jobs=1)
    message = str(caught.value)
    assert "drm/02_bad: cell 5 (In [4]) raised AssertionError: too many jobs; kept in " in message
    assert Path(message.rpartition("kept in ")[2]).is_file()
    assert list((home / "_build/executed").glob("drm-01_small-*.ipynb"))


def test_store_writes_outputs_once_and_never_the_text(home: Path) -> None:
    notebook = find("drm/01_small")
    before = notebook.text.read_bytes()
    assert drift(notebook) == ["01_small.ipynb is missing"]
    assert [changed.id for changed in store(["drm/01_small"], n_jobs=1)] == ["drm/01_small"]
    assert store(["drm/01_small"], n_jobs=1) == []
    assert drift(notebook) == []
    assert notebook.text.read_bytes() == before
    notebook.text.write_bytes(before.replace(b"print(datasets", b"print(mode, datasets"))
    assert drift(notebook) == ["cell 4: source differs"]
    notebook.text.write_bytes(
        before.replace(b"{code-cell} ipython3\nprint", b"{code-cell} ipython3\n:tags: [x]\n\nprint")
    )
    assert drift(notebook) == ["cell 4: metadata differs"]


def test_what_the_book_has_compared_is_known_until_code_text_or_outputs_change(home: Path) -> None:
    notebook = find("drm/01_small")
    assert not came_out_as_stored(notebook)
    store(["drm/01_small"], n_jobs=1)
    assert came_out_as_stored(notebook)
    stored, text = notebook.stored.read_text(), notebook.text.read_text()
    notebook.stored.write_text(stored.replace("1 quick", "2 quick"))
    assert not came_out_as_stored(notebook)
    notebook.stored.write_text(stored)
    notebook.text.write_text(text.replace("n_jobs = 1", "n_jobs = 2"))
    assert not came_out_as_stored(notebook)


def test_a_notebook_of_the_book_does_not_see_sets_of_a_url(home: Path, tmp_path: Path) -> None:
    """Whatever was fetched: outputs and the key of the cache are the same. A reader's own run sees them."""
    text = home / "notebooks/drm/01_small.md"
    shown = 'import os; os.environ.get("MARGINBOOK_SOURCES", "all")'
    text.write_text(text.read_text().replace("round(2 / scale, 3)", shown))
    assert "'bundled,wheel'" in execute(["drm/01_small"], n_jobs=1)["drm/01_small"].read_text()
    own = run("drm/01_small", {"n_jobs": 2}, out=tmp_path / "own.ipynb")
    assert "'all'" in own.notebook.read_text()


def test_the_key_depends_on_the_check_of_every_claim_that_is_shown() -> None:
    known, found = ledger(), set()
    for notebook in available().values():
        node = notebook.read()
        shown = {id for id in known if any(f'"{id}"' in cell.source for cell in node.cells)}
        assert {known[id].module for id in shown} <= _modules(node, notebook.room), notebook.id
        found |= shown
    assert len(found) > len(known) / 2  # else claims are shown by other words than those looked for


def test_the_key_depends_on_data_of_every_machine_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = find("drm/01_small")
    first = key(notebook)
    monkeypatch.setenv("MARGINBOOK_CACHE", str(home / "another"))
    (home / "another" / "data").mkdir(parents=True)
    (home / "another" / "data" / "0123456789abcdef-sonar.arff").touch()
    assert key(notebook) == first
    known = registry()
    module = sys.modules["marginbook.datasets.registry"]
    monkeypatch.setattr(module, "registry", lambda: {**known, "sonar": replace(known["sonar"], sources=())})
    assert key(notebook) == first
    monkeypatch.setattr(module, "registry", lambda: {**known, "iris": replace(known["iris"], sources=())})
    assert key(notebook) != first


def test_one_want_of_data_is_one_line() -> None:
    raised = "{}: cell 7 (In [3]) raised {}; kept in /x/{}.ipynb"
    fetch = DatasetNotFetched.__name__ + ": {0} is not on this machine; run `marginbook data fetch {0}`"
    failures = [
        raised.format(id, error, id)
        for id, error in [
            ("drm/05", fetch.format("glass2")),
            ("kfda/04", fetch.format("liver")),
            ("ldm/01", "ValueError: no"),
            ("drm/06", fetch.format("glass2")),
        ]
    ]
    assert grouped(failures) == [
        failures[2],
        "drm/05, drm/06, kfda/04: data are needed that are not on this machine; "
        "run `marginbook data fetch glass2 liver`",
    ]
