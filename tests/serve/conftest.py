"""A tiny checkout with a built book of two pages, and the server of it, with and without a socket."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from starlette.testclient import TestClient

from marginbook.serve import subjects as subjects_module
from marginbook.serve.app import application, notebook_bar
from marginbook.serve.command import gate_of
from marginbook.serve.guard import Gate
from marginbook.serve.queue import Limits, Queue
from marginbook.serve.runs import Run, Runs
from marginbook.serve.site import Site
from marginbook.serve.subjects import Subjects

from ..tiny_checkout import tiny_checkout

#: no room is imported: a run takes as long as its kernel
SMALL = """# A small notebook

With maths, $x^2$, and a remark.

```{code-cell} ipython3
from typing import Literal
```

```{code-cell} ipython3
:tags: [parameters]

n: int = 3  # how many lines, 1 to 9
scale: float = 0.5  # a factor
mode: Literal["quick", "paper"] = "quick"  # how much to run
loud: bool = False  # whether to shout
dataset: str = "iris"  # of the example
word: str = "plain"  # to print
numbers: list[float] = [1.0, 2.5]  # to add up
limit: int | None = None  # no more than this
pause: float = 0.0  # seconds, 0 to 120
memory: int = 1  # megabytes to take, 0 to 100000
```

## Lines

```{code-cell} ipython3
for line in range(n):
    print("line", line)
```

```{code-cell} ipython3
print("always the same")
```

## A pause

```{code-cell} ipython3
import time
time.sleep(pause)
block = bytearray(memory * 2**20)
print(repr(word), sum(numbers), mode, loud, dataset, limit)
```

```{code-cell} ipython3
from IPython.display import HTML
HTML(f"<p onclick='x()'>as <b>HTML</b>: {word}</p>")
```
"""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>{title}</title></head>
<body><main><article class="bd-article"><h1>{title}</h1></article></main></body></html>
"""
#: published outputs of the cells that print, in their order
PUBLISHED = ["line 0\nline 1\nline 2\n", "always the same\n", "'plain' 3.5 quick False iris None\n"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tiny_checkout(tmp_path, "toy/01_small", SMALL, monkeypatch)
    html = tmp_path / "_build" / "html"
    (html / "notebooks" / "toy").mkdir(parents=True)
    (html / "index.html").write_text(PAGE.format(title="The book"))
    (html / "notebooks" / "toy" / "01_small.html").write_text(PAGE.format(title="A small notebook"))
    monkeypatch.setattr(subjects_module, "_stamp", lambda: "one code")
    _publish()
    return tmp_path


def _publish() -> None:
    from marginbook.notebooks import find

    notebook = find("toy/01_small")
    node = notebook.read()
    printing = [cell for cell in node.cells if "print(" in cell.source]
    for cell, text in zip(printing, PUBLISHED, strict=True):
        cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)]
    shown = next(cell for cell in node.cells if "HTML(f" in cell.source)
    data = {"text/html": "<p onclick='x()'>as <b>HTML</b>: plain</p>", "text/plain": "<HTML>"}
    shown.outputs = [nbformat.v4.new_output("execute_result", data=data, execution_count=1)]
    nbformat.write(node, notebook.stored)


@pytest.fixture
def queues(home: Path) -> Iterator[Callable[..., Queue]]:
    made: list[Queue] = []

    def make(**limits: float) -> Queue:
        command = limits.pop("command", None)
        made.append(Queue(Runs(home / "_build" / "serve"), Limits(**limits), command))
        return made[-1]

    yield make
    for queue in made:
        queue.close()


@pytest.fixture
def gate() -> Gate:
    return gate_of("127.0.0.1", 8765, token="the-token")


@pytest.fixture
def serving(home: Path, queues: Callable[..., Queue], gate: Gate) -> Callable[..., TestClient]:
    """Return a client of a server with such limits; it has the cookie."""

    def make(cookie: bool = True, **limits: float) -> TestClient:
        subjects = Subjects()
        queue = queues(**limits)
        site = Site(home / "_build" / "html", notebook_bar(subjects))
        client = TestClient(
            application(gate, site, queue, subjects), base_url="http://127.0.0.1:8765", follow_redirects=False
        )
        client.headers["origin"] = "http://127.0.0.1:8765"
        if cookie:
            assert client.get("/-/enter?token=the-token").status_code == 303
        client.queue = queue
        return client

    return make


@pytest.fixture
def client(serving: Callable[..., TestClient]) -> TestClient:
    return serving()


FORM = "/-/run/toy/01_small"


def ask(client: TestClient, **values: object) -> Run:
    """Post the form and return the run."""
    answer = client.post(FORM, data=values or {"n": "3"})
    assert answer.status_code == 303, answer.text
    return client.queue.runs.get(answer.headers["location"].rpartition("/")[2])


def until(client: TestClient, run: Run, *states: str, seconds: float = 60) -> Run:
    """Wait until a run is in one of the states."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = client.queue.runs.get(run.id)
        if found.state in (states or ("done", "failed", "cancelled")):
            return found
        time.sleep(0.05)
    raise AssertionError(f"{client.queue.runs.get(run.id)} after {seconds} seconds")


@pytest.fixture
def listening(home: Path, queues: Callable[..., Queue]) -> Iterator[tuple[int, Gate]]:
    """The same with a socket."""
    from marginbook.serve.command import _free
    from marginbook.serve.listening import server

    port = _free("127.0.0.1")
    gate = gate_of("127.0.0.1", port, token="the-token")
    subjects = Subjects()
    site = Site(home / "_build" / "html", notebook_bar(subjects))
    running = server(application(gate, site, queues(), subjects), "127.0.0.1", port)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield port, gate
    running.should_exit = True
    thread.join(timeout=10)
