"""The command line answers at once: quick commands import neither numpy nor a room. And Ctrl-C ends all."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from marginbook.claims import ROOMS, listed
from marginbook.cli.subcommands import COMMANDS, main

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "joblib", "numba", "cvxpy", "pooch", *(
    f"marginbook.{room}" for room in ROOMS
))  # fmt: skip
#: runs a command and then says on its last line which modules it imported
PROGRAM = """
import json, sys
from marginbook.cli import main
try:
    main(prog_name="marginbook")
except SystemExit as end:
    print(json.dumps([end.code or 0, sorted(sys.modules)]))
"""


def call(*arguments: str) -> tuple[int, str, set[str]]:
    """Return exit code, output, and which of the heavy modules a command imported."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    output, _, last = done.stdout.strip().rpartition("\n")
    code, modules = json.loads(last)
    return code, output + done.stderr, set(modules) & set(HEAVY)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["bok"], []], ids=str)
def test_what_needs_no_command_imports_nothing(arguments):
    assert call(*arguments)[2] == set()


def test_a_cached_claim_imports_no_room_and_starts_no_worker(tmp_path, monkeypatch):
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path))
    code, computed, imported = call("claims", "drm/prop-III.1", "--json", "--n-jobs", "1")
    assert code == 0
    assert {name for name in imported if name.startswith("marginbook.")} == {"marginbook.drm"}
    assert call("claims", "drm/prop-III.1", "--json") == (0, computed, set())
    assert json.loads(computed)[0]["verdict"] == "holds"


def test_near_claims_are_named_from_all_rooms():
    assert [claim.id for claim in listed()] == [claim.id for claim in listed(ROOMS)]
    with pytest.raises(KeyError, match=r"did you mean ldm/thm-3"):
        listed(["ldn/thm-3"])


def test_the_help_of_the_table_is_that_of_the_commands():
    context = main.make_context("marginbook", ["claims"], resilient_parsing=True)
    for name, entry in COMMANDS.items():
        command = main.get_command(context, name)
        assert command.name == name
        assert entry.help == command.get_short_help_str(limit=200)


def test_misspelt_names_get_the_nearest(cli):
    for arguments, told in (
        (["bok"], "no command 'bok'; did you mean book?"),
        (["experiment", "statsu"], "no command 'statsu'; did you mean status?"),
        (["data", "ftch"], "no command 'ftch'; did you mean fetch?"),
        (["coursework", "grad"], "no command 'grad'; did you mean grade?"),
        (["qqqq"], f"no command 'qqqq'; there are {', '.join(COMMANDS)}"),
        (["run", "nope"], "no notebook 'nope'; `marginbook run --list` shows them"),
        (["run", "imbalanced"], "did you mean drm/05_imbalanced"),
        (["errata", "dmr"], "; did you mean ldm or drm?"),
        (["trust", "--room", "kdfa"], "; did you mean kfda?"),
        (["experiment", "run", "drm/table-8", "--profile", "quik"], "; did you mean quick?"),
        (["trust", "zzz"], "'certificates', 'conditioning'; see --help"),
    ):
        shown = cli(*arguments)
        assert shown.exit_code == 2
        assert shown.output.strip().endswith(told) or told in shown.output.splitlines()[-1]
    asked = cli("errata", "dmr").output
    assert [paper for paper in ("drm", "ldm", "kfda", "clasmk", "smm") if f"'{paper}'" not in asked] == []


def interrupt(wait_for: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """Start a command, send Ctrl-C to its process group once it imported a module; return code and errors.

    ``-v`` of Python tells on standard error what is imported, so that nothing depends on how fast that is.
    """
    program = "from marginbook.cli import main; main(prog_name='marginbook')"
    process = subprocess.Popen(
        [sys.executable, "-v", "-c", program, *arguments],
        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    said: list[str] = []
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line)
        if line.startswith(f"import '{wait_for}'"):
            os.killpg(process.pid, signal.SIGINT)
            break
    rest = process.stderr.read()
    assert process.wait(timeout=120) is not None
    return process.returncode, "".join(said[-3:]) + rest


@pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")
@pytest.mark.parametrize(
    ("module", "arguments", "sentence"),
    [
        ("click.core", ["--help"], "stopped"),
        (
            "marginbook.drm",
            ["claims", "drm/prop-III.1", "--fresh", "--n-jobs", "1"],
            "the same command checks",
        ),
        (
            "marginbook.quality.trust.stability",
            ["trust", "stability", "--out", "TMP"],
            "rooms that were measured",
        ),
        ("jupytext", ["coursework", "write", "--out", "TMP"], "problem sets that were"),
        ("marginbook.book.missing_data", ["book"], "the same command goes on"),
        ("marginbook.experiments.compare", ["experiment", "status"], "stopped"),
    ],
    ids=["help", "claims", "trust", "coursework", "book", "status"],
)
def test_ctrl_c_is_one_sentence_and_130(tmp_path: Path, module, arguments, sentence):
    arguments = [str(tmp_path) if given == "TMP" else given for given in arguments]
    for _ in range(5):
        code, said = interrupt(module, *arguments)
        if "Exception ignored in" not in said:  # an import's own callback: there Python loses the signal
            break
    assert code == 130, said
    assert "Traceback" not in said
    # at the end of a line: -v of Python may have been stopped before the line break of its own
    told = re.findall(r"stopped(?:; .*)?$", said, flags=re.M)
    assert len(told) == 1
    assert sentence in told[0]


@pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")
def test_ctrl_c_with_workers_keeps_what_was_checked(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-m", "marginbook", "claims", "drm", "--n-jobs", "2"],
        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "MARGINBOOK_CACHE": str(tmp_path)},
    )  # fmt: skip
    deadline = time.monotonic() + 200
    while not (kept := list(tmp_path.glob("claims/*.json"))):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert "Traceback" not in said
    assert said.splitlines()[-1] == (
        "stopped; claims that were checked are kept, the same command checks the others"
    )
    assert all(json.loads(path.read_text())["verdict"] for path in kept)


def test_nothing_is_said_after_the_sentence_of_a_stop() -> None:
    """Workers that are dropped when the program ends would warn of what they had not done."""
    program = (
        "import warnings\n"
        "from marginbook.cli.stopping import one_sentence\n"
        "class Dropped:\n"
        "    def __del__(self):\n"
        "        warnings.warn('3 tasks have been cancelled')\n"
        "held = Dropped()\n"
        "with one_sentence():\n"
        "    raise KeyboardInterrupt('all is kept')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "stopped; all is kept\n")
