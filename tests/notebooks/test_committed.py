"""What every committed notebook must be: paired, executed, documented, with alternative text."""

import ast
import re

import pytest

from marginbook.notebooks import Notebook, available, drift, parameters

NOTEBOOKS = list(available().values())
each = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[notebook.id for notebook in NOTEBOOKS])


def has_image(cell) -> bool:
    outputs = cell.get("outputs", [])
    return any(kind.startswith("image/") for output in outputs for kind in output.get("data", {}))


def parsed(source: str) -> ast.Module:
    return ast.parse(
        "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!")))
    )


def calls(nodes: list[ast.stmt]) -> set[str]:
    found = (node for statement in nodes for node in ast.walk(statement))
    return {ast.unparse(node.func) for node in found if isinstance(node, ast.Call)}


def printers(sources: list[str]) -> set[str]:
    """Return what has an output where it is called: print and the like, and functions that use them."""
    known = {"print", "display", "plt.show"}
    defined = [node for text in sources for node in parsed(text).body if isinstance(node, ast.FunctionDef)]
    for _ in defined:  # one may call another
        known |= {function.name for function in defined if known & calls([function])}
    return known


def speaks(source: str, known: set[str]) -> bool:
    """Whether a cell must have an output: it calls one of `known`, or ends with an expression."""
    tree = parsed(source)
    # a function that prints does so where it is called
    run = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    last = tree.body[-1] if tree.body else None
    shown = isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call)
    return shown or bool(known & calls(run))


@each
def test_text_and_stored_notebook_have_the_same_cells(notebook: Notebook) -> None:
    assert drift(notebook) == [], f"run `marginbook run --store {notebook.id}`"


@each
def test_every_code_cell_was_executed_and_what_prints_has_an_output(notebook: Notebook) -> None:
    cells = notebook.read_stored().cells
    known = printers([cell.source for cell in cells if cell.cell_type == "code"])
    for number, cell in enumerate(cells, start=1):
        if cell.cell_type == "code" and cell.source.strip():
            assert cell.execution_count, f"cell {number} was never executed"
            assert not any(output.output_type == "error" for output in cell.outputs), f"cell {number} failed"
            if speaks(cell.source, known):
                assert cell.outputs, f"cell {number} prints or plots, but no output is stored"


@each
def test_parameters_are_declared_and_documented(notebook: Notebook) -> None:
    declared = parameters(notebook.read())
    assert declared, "a notebook has a cell tagged `parameters`"
    assert [item.name for item in declared if not item.doc] == []


@each
def test_every_figure_has_alternative_text(notebook: Notebook) -> None:
    for number, cell in enumerate(notebook.read_stored().cells, start=1):
        if has_image(cell):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 20, (
                f"cell {number} draws: say in mystnb.image.alt what the figure shows, got {alt!r}"
            )


@each
def test_no_warning_and_no_path_of_a_machine_is_stored(notebook: Notebook) -> None:
    for number, cell in enumerate(notebook.read_stored().cells, start=1):
        for output in cell.get("outputs", []):
            assert output.get("name") != "stderr", f"cell {number} stores {output.text[:200]!r}"
            assert "site-packages" not in str(output), f"cell {number} stores a path of a machine"


@each
def test_stored_metadata_name_no_machine(notebook: Notebook) -> None:
    stored = notebook.read_stored()
    assert set(stored.metadata) == {"kernelspec", "language_info"}
    assert "version" not in stored.metadata.language_info
    assert not any("execution" in cell.metadata for cell in stored.cells)


@each
def test_code_fits_into_79_columns_folded_or_not(notebook: Notebook) -> None:
    """Comments of parameters, too: they go on below their line, and are read as one sentence."""
    shown = [cell for cell in notebook.read().cells if cell.cell_type == "code"]
    lines = [line for cell in shown for line in cell.source.splitlines()]
    assert not [line for line in lines if len(line) > 79]


@each
def test_checks_and_results_of_exercises_open_with_a_click(notebook: Notebook) -> None:
    tags = [set(cell.metadata.get("tags", [])) for cell in notebook.read().cells]
    assert all("hide-input" in each for each in tags if each & {"check", "result", "solution"})


@each
def test_the_last_section_has_one_name_in_all_chapters(notebook: Notebook) -> None:
    if not re.search("exercises|speed|^bridge/|^study/", notebook.id):
        *_, last = re.findall(r"^## (.+)$", notebook.text.read_text(encoding="utf-8"), re.MULTILINE)
        assert last == "What to remember"


def test_a_claim_that_two_notebooks_show_says_the_same_in_both() -> None:
    """A changed claim needs all notebooks that show it stored again: one was forgotten."""
    told: dict[str, dict[str, str]] = {}
    for notebook in NOTEBOOKS:
        for cell in notebook.read_stored().cells:
            if cell.cell_type == "code" and re.fullmatch(r'show\("[^"]+"\)', cell.source.strip()):
                told.setdefault(cell.source.strip(), {})[notebook.id] = str(cell.outputs[0].data)
    twice = {source: cards for source, cards in told.items() if len(cards) > 1}
    assert twice
    assert {source: list(cards) for source, cards in twice.items() if len(set(cards.values())) > 1} == {}
