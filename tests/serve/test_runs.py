"""Runs with a kernel of their own: progress, result, cancel, cache, limits, and what a restart keeps."""

from __future__ import annotations

import io
import os
import signal
import time

import nbformat

from marginbook.serve.queue import marked

from .conftest import FORM, ask, until


def shown(client, run) -> str:
    answer = client.get(f"/-/runs/{run.id}")
    assert answer.status_code == 200
    return answer.text


def test_a_run_from_the_form_to_the_page_beside_the_published_one(client) -> None:
    run = ask(client, n="4", word="<i>it's</i>")
    during = client.get(f"/-/runs/{run.id}")
    assert "Cancel" in during.text
    assert "data-poll" in during.text
    assert until(client, run).state == "done"
    text = shown(client, run)
    # the lines, the sum's line, the HTML; the cell without a parameter is as published
    assert "3 of 4 outputs differ" in text
    assert "<mark>line 3</mark>" in text
    assert "<mark><strong><code>4</code></strong></mark> instead of <code>3</code>" in text
    assert '<details class="pair same">' in text
    assert "<i>it's</i>" not in text.replace("<i>it&#x27;s</i>", "")
    assert "onclick" not in text.replace("onclick=&#x27;x()&#x27;", "")
    assert "<b>HTML</b>" in text

    page = client.get(f"/-/runs/{run.id}/page")
    assert "line 3" in page.text
    assert page.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in page.headers["content-security-policy"]
    assert "allow-same-origin" not in text
    taken = client.get(f"/-/runs/{run.id}/notebook")
    assert f'filename="toy-01_small-{run.id[:8]}.ipynb"' in taken.headers["content-disposition"]
    node = nbformat.read(io.StringIO(taken.text), as_version=4)
    assert any("line 3" in str(cell.get("outputs")) for cell in node.cells)
    assert "attachment" in client.get(f"/-/runs/{run.id}/download").headers["content-disposition"]

    listed = client.get("/-/runs").text
    assert f"/-/runs/{run.id}" in listed
    assert "n = 4" in listed
    assert "?n=4&amp;word=" in text  # to share

    # the same again, however it is written, is the run that there is
    again = client.post(FORM, data={"n": "+4", "word": "<i>it's</i>", "scale": "0.5"})
    assert again.headers["location"] == f"/-/runs/{run.id}"
    assert len(client.queue.runs) == 1


def test_a_string_is_a_string_in_the_kernel_too(client) -> None:
    word = '"]; import os; os._exit(3) #\\'
    run = until(client, ask(client, word=word))
    assert run.state == "done"
    text = client.get(f"/-/runs/{run.id}/notebook").text
    assert repr(word) in "".join(
        output.get("text", "")
        for cell in nbformat.reads(text, as_version=4).cells
        for output in cell.get("outputs", [])
    )


def test_progress_then_cancel_ends_the_kernel_too(client) -> None:
    run = ask(client, pause="60")
    until(client, run, "running")
    deadline = time.monotonic() + 60
    while "▸ A pause" not in (told := client.get(f"/-/runs/{run.id}/progress").text):
        assert time.monotonic() < deadline, told
        time.sleep(0.1)
    assert "✓ Lines" in told
    assert len(marked(run.id)) >= 2  # the worker and its kernel
    answer = client.post(f"/-/runs/{run.id}/cancel", data={"x": ""})
    assert answer.status_code == 303
    assert client.queue.runs.get(run.id).state == "cancelled"
    assert marked(run.id) == []
    assert "cancelled" in shown(client, run)
    assert client.get(f"/-/runs/{run.id}/page").status_code == 404
    assert client.get(f"/-/runs/{run.id}/progress").headers["x-run-over"] == "yes"


def test_a_killed_worker_is_told_and_leaves_nothing(client) -> None:
    run = ask(client, pause="60")
    deadline = time.monotonic() + 60
    while len(marked(run.id)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.kill(client.queue._processes[run.id].pid, signal.SIGKILL)
    found = until(client, run)
    assert found.state == "failed"
    assert found.message == "its process was ended by SIGKILL: from outside, or as memory ran out"
    assert marked(run.id) == []
    assert found.message in shown(client, run)
    # a failure is no result: the same is tried again
    assert ask(client, pause="60").id != run.id


def test_a_killed_kernel_is_told(client) -> None:
    """What the system ends first when memory runs out is what has taken it."""
    run = ask(client, pause="60")
    deadline = time.monotonic() + 60
    while "▸ A pause" not in client.get(f"/-/runs/{run.id}/progress").text:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    (kernel,) = set(marked(run.id)) - {client.queue._processes[run.id].pid}
    os.kill(kernel, signal.SIGKILL)
    found = until(client, run)
    assert (found.state, found.message) == (
        "failed",
        "its kernel was ended: from outside, or as memory ran out",
    )


def test_more_memory_than_allowed_is_told(serving) -> None:
    client = serving(megabytes=3000)
    found = until(client, ask(client, memory="9000"))
    assert found.state == "failed"
    assert "raised MemoryError" in found.message
    assert "cell" in found.message


def test_more_time_than_allowed_is_told(serving) -> None:
    client = serving(seconds=4)
    found = until(client, ask(client, pause="100"))
    assert (found.state, found.message) == ("failed", "it was ended after 4 seconds, the limit of a run")
    assert marked(found.id) == []


def test_a_cell_that_fails_is_named_without_a_path(client, home) -> None:
    text = home / "notebooks" / "toy" / "01_small.md"
    text.write_text(text.read_text().replace('print("always the same")', 'raise ValueError("<b>no</b>")'))
    found = until(client, ask(client))
    assert found.state == "failed"
    assert "raised ValueError: <b>no</b>" in found.message
    assert str(home) not in found.message
    assert "<b>no</b>" not in shown(client, found)
    assert "The notebook up to there" in shown(client, found)
    kept = client.get(f"/-/runs/{found.id}/notebook")
    assert "line 2" in kept.text
    assert "attachment" in kept.headers["content-disposition"]
    assert client.get(f"/-/runs/{found.id}/page").status_code == 404
