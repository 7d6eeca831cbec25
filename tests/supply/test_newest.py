"""The sample with the newest packages: what is installed, what is called, whose exit code it is."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from .scripts import script


@pytest.mark.parametrize(("there", "code"), [(False, 0), (True, 3)])
def test_the_environment_is_made_once_and_the_run_gives_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, code: int
) -> None:
    newest = script("newest")
    monkeypatch.setattr(newest, "HOME", tmp_path)
    python = tmp_path / "bin" / "python"
    if there:
        python.parent.mkdir()
        python.touch()
    called: list[list[str]] = []

    def run(command: list[str], **options: object) -> SimpleNamespace:
        called.append(command)
        return SimpleNamespace(returncode=code)

    monkeypatch.setattr(subprocess, "run", run)
    assert newest.main(["drm/fig-3"]) == code
    assert len(called) == (2 if there else 3)
    *made, installed, ran = called
    assert all("venv" in command for command in made)
    assert "--upgrade" in installed
    assert installed[-1].endswith("[experiments,oracle]")
    assert ran[:5] == [str(python), "-m", "marginbook", "experiment", "twice"]
    assert ran[-1] == "drm/fig-3"


def test_help_installs_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("something was started"))
    with pytest.raises(SystemExit) as ended:
        script("newest").main(["--help"])
    assert ended.value.code == 0
    assert "marginbook experiment twice --help" in capsys.readouterr().out
