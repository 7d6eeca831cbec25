"""The form of a notebook inside of Jupyter."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("ipywidgets")

from marginbook.notebooks import UnknownNotebook, available, find, parameters
from marginbook.notebooks.form import form, source
from marginbook.notebooks.widgets import FILE_OF_KERNEL, Form, read


@pytest.mark.parametrize("id", available())
def test_a_form_left_as_it_is_means_the_defaults(id: str) -> None:
    shown = Form(id)
    assert shown.chosen() == {each.name: each.default for each in parameters(find(id).read())}


def test_bounds_become_sliders_and_choices_become_lists(home: Path) -> None:
    text = home / "notebooks" / "drm" / "01_small.md"
    declared = [
        "n: int = 3  # 1 to 9",
        "share = 0.5  # share of the rows",
        'dataset = "iris"  # any',
        "m = 5",
    ]
    text.write_text(text.read_text().replace("scale = 0.5", "\n".join([*declared, "scale = 0.5"])))
    fields = Form("drm/01_small").fields
    assert [type(fields[name]).__name__ for name in ("n", "share", "dataset", "mode", "m", "limit")] == [
        "IntSlider", "FloatSlider", "Dropdown", "Dropdown", "Text", "Text",
    ]  # fmt: skip
    assert (fields["n"].min, fields["n"].max, fields["share"].max) == (1, 9, 1)
    assert fields["mode"].options == ("quick", "paper")
    assert "wine" in fields["dataset"].options


def test_the_button_runs_the_cells_with_the_values(home: Path) -> None:
    out = _executed(
        'shown = form("drm/01_small")\n'
        'shown.fields["datasets"].value, shown.fields["mode"].value = "c, d", "paper"\n'
        "shown.button.click()\nshown",
        "print(shown.outputs.outputs, shown.progress.value, datasets, shown.button.disabled)",
    )
    assert "['c', 'd'] 1 paper" in out
    assert "'4.0'" in out  # what the last cell shows: 2 / 0.5
    assert out.endswith("3 ['c', 'd'] False\n")


def test_a_cell_that_fails_ends_the_run_and_is_shown(home: Path) -> None:
    out = _executed(
        'shown = form("drm/01_small")\nshown.fields["scale"].value = "0.0"\nshown.button.click()',
        "print(shown.outputs.outputs, shown.progress.value, shown.button.disabled)",
    )
    assert "ZeroDivisionError" in out
    assert out.endswith("2 False\n")


def test_values_that_the_notebook_does_not_take_are_said_and_nothing_runs(home: Path) -> None:
    shown = Form("drm/01_small")
    shown.fields["scale"].value = "many <b>"
    shown.fields["limit"].value = "1.5"
    shown.run()
    assert "scale: expected float" in shown.said.value
    assert "limit: " in shown.said.value
    assert "<b>" not in shown.said.value
    shown.fields["scale"].value, shown.fields["limit"].value = "2", ""
    with pytest.raises(RuntimeError, match="open the notebook in Jupyter"):
        shown.run()


def test_a_copy_taken_away_is_read_from_where_it_is_open(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNotebook):
        read("drm/09_gone")
    copy = home / "elsewhere" / "09_gone.ipynb"
    copy.parent.mkdir()
    nbformat.write(find("drm/01_small").read(), copy)
    assert len(Form(copy).fields) == 5
    monkeypatch.setenv(FILE_OF_KERNEL, str(copy))
    assert len(Form("drm/09_gone").fields) == 5
    monkeypatch.setenv(FILE_OF_KERNEL, str(copy.with_name("other.ipynb")))
    with pytest.raises(UnknownNotebook):
        read("drm/09_gone")


def test_a_run_leaves_out_the_cell_of_the_form(home: Path) -> None:
    notebook = find("drm/01_small").read()
    before = len(Form("drm/01_small").cells)
    notebook.cells.insert(1, nbformat.v4.new_code_cell(source("drm/01_small")))
    nbformat.write(notebook, home / "taken.ipynb")
    assert len(Form(home / "taken.ipynb").cells) == before


def test_without_ipywidgets_a_line_says_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    monkeypatch.delitem(sys.modules, "marginbook.notebooks.widgets")
    assert form("drm/01_small") is None
    assert "pip install 'marginbook[widgets]'" in capsys.readouterr().out


def _executed(*cells: str) -> str:
    """Return what the last of some cells prints, in a kernel, as Jupyter would run them."""
    from nbclient import NotebookClient

    imports = "from marginbook.notebooks.form import form"
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(each) for each in (imports, *cells)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    NotebookClient(notebook, timeout=120).execute()
    return "".join(each["text"] for each in notebook.cells[-1].outputs)
