"""The program git, for tests that make a repository of their own. Nothing else in the project needs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

#: an author, whatever the settings of whoever runs the tests
WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str, **environment: str) -> str:
    """Run git in a folder and return what it prints; where there is no git, the test is skipped."""
    if shutil.which("git") is None:
        pytest.skip("no git here")
    command = ["git", *WHO, *arguments]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def repository(folder: Path) -> Path:
    """Make a folder a repository with one commit of all that is in it."""
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        git(folder, *arguments)
    return folder
