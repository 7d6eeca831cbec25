"""``marginbook run`` from the outside: good runs, wrong names and types, failing cells."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import matplotlib
import nbformat
import pytest
from click.testing import CliRunner

from marginbook.base import progress
from marginbook.datasets import UnknownDataset
from marginbook.notebooks import find, run_command, running


def invoke(*arguments: str):
    return CliRunner().invoke(run_command, list(arguments))


def outputs(path: Path) -> str:
    return json.dumps([cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells])


@pytest.mark.usefixtures("home")
def test_a_good_run_uses_the_values_and_writes_a_page_that_loads_nothing(tmp_path: Path) -> None:
    out = tmp_path / "done.ipynb"
    result = invoke(
        "drm/01_small", "-p", "datasets", '["z"]', "-p", "n_jobs", "3", "--out", str(out), "--html"
    )
    assert result.exit_code == 0, result.output
    assert f"wrote {out}" in result.output
    assert "['z'] 3 quick" in outputs(out)
    page = out.with_suffix(".html").read_text()
    assert "['z'] 3 quick" in page or "[&#39;z&#39;] 3 quick" in page
    for loads in ('src="http', "src='http", '<link rel="stylesheet" href="http', "from 'http", "cdnjs"):
        assert loads not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("drm/01_small", "-p", "n_job", "2"),
            "no parameter 'n_job'; did you mean n_jobs? (it takes: datasets:",
        ),
        (("drm/01_small", "-p", "n_jobs", "two"), "n_jobs must be int, such as '1', got \"two\""),
        (("drm/01_smal",), "no notebook 'drm/01_smal'; did you mean drm/01_small?"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    home: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert not (home / "_build" / "runs").exists()


def test_a_failing_cell_is_one_line_with_its_number_and_keeps_the_partial_notebook(home: Path) -> None:
    result = invoke("drm/01_small", "-p", "n_jobs", "10")
    assert result.exit_code == 1
    (line,) = [line for line in result.output.splitlines() if line.startswith("Error")]
    # papermill's own cells do not count: text, import, declarations, print, and the one that fails
    assert "drm/01_small: cell 5 (In [5]) raised AssertionError: too many jobs" in line
    (kept,) = (home / "_build" / "runs").glob("*.ipynb")
    assert str(kept) in line
    assert "'b'] 10 quick" in outputs(kept)


@pytest.mark.usefixtures("home")
def test_the_list_shows_names_types_defaults_and_documentation() -> None:
    result = invoke("--list")
    assert result.exit_code == 0
    for piece in ("drm/01_small", "n_jobs", "int", "worker processes", "0.5", "list[str]"):
        assert piece in result.output


@pytest.mark.fault("Ctrl-C", "in run")
def test_ctrl_c_is_one_line_that_says_what_is_kept(home: Path, told) -> None:
    text = home / "notebooks" / "drm" / "01_small.md"
    text.write_text(text.read_text().replace("print(datasets", "import time; time.sleep(60); print(datasets"))
    started = home / "_build" / "runs"
    process = subprocess.Popen(
        [sys.executable, "-c", "from marginbook.notebooks import run_command as r; r()", "drm/01_small"],
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        if any('"execution_count": 2' in path.read_text() for path in started.glob("*.ipynb")):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    *progress, last = said.splitlines()
    told(last)
    (kept,) = started.glob("*.ipynb")
    assert last == f"stopped; nothing was kept but the cells until then, in {kept}"
    assert all(line.startswith("drm/01_small: ") and " cells, " in line for line in progress)


@pytest.mark.usefixtures("home")
def test_a_run_tells_how_many_cells_are_done(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY", 0.01)
    running.run("drm/01_small", {"n_jobs": 2}, progress=True)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("drm/01_small: ")]
    done = [int(re.match(r"drm/01_small: (\d+)/\d+ cells", line)[1]) for line in lines]
    assert len(set(done)) > 2
    assert done == sorted(done)
    assert re.fullmatch(r"drm/01_small: (\d+)/\1 cells, done in 0:\d\d:\d\d", lines[-1])


def test_help_has_an_example() -> None:
    assert "marginbook run drm/05_imbalanced -p datasets" in invoke("--help").output


@pytest.mark.parametrize(
    ("id", "typo", "near"),
    [
        ("drm/03_high_dimensional", "win", "did you mean wine"),
        ("drm/05_imbalanced", "glas2", "did you mean glass2"),
    ],
)
def test_a_slice_names_the_near_set_before_anything_is_drawn(id: str, typo: str, near: str) -> None:
    chosen, imports = [cell.source for cell in find(id).read().cells if cell.cell_type == "code"][:2]
    values: dict[str, object] = {}
    exec(chosen, values)
    values["datasets"] = [typo]
    with matplotlib.rc_context(), pytest.raises(UnknownDataset, match=near):
        exec(imports, values)
