"""A build that asks another machine fails, and one without any network does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from marginbook.book import BuildFailed
from marginbook.book.compiling import compile_book

CONFIG = """title: Tiny
only_build_toc_files: true
execute: {execute_notebooks: "off"}
sphinx:
  local_extensions: {asking: .}
"""
ASKING = """
import socket

def setup(app):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("ADDRESS", 9))  # sends nothing
"""


def tiny(folder: Path, address: str) -> Path:
    """Return a book of one page whose extension asks a machine."""
    source = folder / "source"
    source.mkdir()
    (source / "_config.yml").write_text(CONFIG)
    (source / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (source / "index.md").write_text("# First\n")
    (source / "asking.py").write_text(ASKING.replace("ADDRESS", address))
    return source


def test_a_strict_build_fails_on_an_attempt_to_reach_another_machine(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match=r"WARNING: the build asks another machine: 192\.0\.2\.1"):
        compile_book(tiny(tmp_path, "192.0.2.1"), tmp_path / "html", strict=True)


def test_this_machine_is_no_other() -> None:
    code = (
        "import socket; from marginbook.book.network import watch; watch(); watch();"
        "server = socket.create_server(('127.0.0.1', 0));"
        "socket.create_connection(server.getsockname()); socket.getaddrinfo('localhost', 1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def _namespaces() -> bool:
    program = shutil.which("unshare")
    return bool(program) and subprocess.run([program, "-rn", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(os.name != "posix" or not _namespaces(), reason="needs a network namespace: unshare -rn")
def test_a_book_compiles_where_there_is_no_network(tmp_path: Path) -> None:
    source = tiny(tmp_path, "127.0.0.1")
    (source / "asking.py").write_text("def setup(app):\n    pass\n")
    code = (
        "from pathlib import Path; from marginbook.book.compiling import compile_book;"
        f"print(compile_book(Path({str(source)!r}), Path({str(tmp_path / 'html')!r}), strict=True))"
    )
    done = subprocess.run(["unshare", "-rn", sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
    assert (tmp_path / "html" / "index.html").is_file()
