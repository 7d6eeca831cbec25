"""Where Weka is absent: one sentence, which says what to install. None of this needs Java."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from marginbook.base import weka


def test_the_variable_names_the_jar(monkeypatch, tmp_path):
    monkeypatch.delenv(weka.VARIABLE, raising=False)
    assert weka.jar() == weka.DEBIAN
    monkeypatch.setenv(weka.VARIABLE, str(tmp_path / "weka.jar"))
    assert weka.jar() == tmp_path / "weka.jar"
    assert weka.version() is None
    assert f"there is no {tmp_path / 'weka.jar'}; install all three with: apt-get" in weka.missing()


def test_another_jar_is_not_wekas(monkeypatch, tmp_path):
    other, text = tmp_path / "other.jar", tmp_path / "text.jar"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "")
    text.write_text("no archive")
    for path in (other, text):
        monkeypatch.setenv(weka.VARIABLE, str(path))
        assert f"{path} is not Weka's jar" in weka.missing()


def test_version(monkeypatch, tmp_path):
    with zipfile.ZipFile(tmp_path / "weka.jar", "w") as archive:
        archive.writestr("weka/core/version.txt", "3-6-14\n")
    monkeypatch.setenv(weka.VARIABLE, str(tmp_path / "weka.jar"))
    assert weka.version() == "3.6.14"


def test_without_any_of_it(monkeypatch):
    monkeypatch.setattr(weka, "_started_in", None)
    monkeypatch.setattr(weka.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv(weka.VARIABLE, str(Path("/nowhere/weka.jar")))
    with pytest.raises(
        weka.WekaMissing, match=r"JPype is not installed, there is no /nowhere/weka\.jar"
    ) as told:
        weka.java_class("weka.core.Instances")
    assert "pip install 'marginbook[weka]'" in str(told.value)


def test_nothing_of_it_is_imported_before_c45_is_asked_for():
    code = "import sys, marginbook.drm.peers; sys.exit('jpype' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
