"""Execution is repeatable and cached; storing goes from text to notebook only."""

from pathlib import Path

import pytest

from marginbook.notebooks import NotebookFailed, drift, execute, find, store


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
