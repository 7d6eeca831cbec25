"""Claims and experiments with workers that only pretend; the command; a proxy before the server."""

from __future__ import annotations

import json
import sys
import time

import pytest
from starlette.testclient import TestClient

from marginbook.serve import views
from marginbook.serve.app import application, notebook_bar
from marginbook.serve.command import gate_of
from marginbook.serve.site import Site
from marginbook.serve.subjects import Subjects

from .conftest import FORM

CLAIM = {
    "where": "Theorem <1>", "kind": "proof", "statement": "$a<b$", "notebook": "toy/01_small#here",
    "room": "Toy", "slug": "toy-thm-1", "paper": "toy",
}  # fmt: skip
EVIDENCE = {
    "verdict": "holds",
    "measured": "1 < 2",
    "claimed": "<",
    "slack": 1.0,
    "why": "it is",
    "seeds": [0],
}
TABLE = {
    "columns": ["dataset", "method", "g"],
    "rows": [["iris", "<b>", "0.5"]],
    "compared": [
        {
            "dataset": "iris",
            "method": "DRM",
            "printed_mean": 0.5,
            "ours_mean": 0.51234567,
            "ours_n": 5,
            "verdict": "x",
        },
        {
            "dataset": "wine",
            "method": "DRM",
            "printed_mean": 0.5,
            "ours_mean": None,
            "ours_n": 0,
            "verdict": "y",
        },
    ],
}
WORKER = f"""
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
print("so far <so good>")
kind = json.loads((folder / "run.json").read_text())["kind"]
result = {{"evidence": {EVIDENCE!r}}} if kind == "claim" else {{"table": json.loads({json.dumps(TABLE)!r})}}
(folder / "result.json").write_text(json.dumps({{"ok": True, **result}}))
"""


@pytest.fixture
def client(serving, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setattr(Subjects, "claims", lambda self: {"toy/thm-1": CLAIM})
    monkeypatch.setattr(Subjects, "experiments", lambda self: {"toy/table-1": "A & B"})
    monkeypatch.setattr(views, "ledger_verdict", lambda id: "fails")
    return serving(command=[sys.executable, "-c", WORKER])


def result(client: TestClient, path: str) -> str:
    place = client.post(path, data={"x": ""}).headers["location"]
    for _ in range(500):
        if client.get(f"{place}/progress").headers["x-run-over"] == "yes":
            return client.get(place).text
        time.sleep(0.02)
    raise AssertionError(place)


def test_a_claim_is_checked_here_and_now(client: TestClient) -> None:
    assert 'href="/-/claims/toy/thm-1"' in client.get("/-/claims").text
    page = client.get("/-/claims/toy/thm-1").text
    assert "Theorem &lt;1&gt;: $a&lt;b$" in page
    assert "/notebooks/toy/01_small.html#here" in page
    text = result(client, "/-/claims/toy/thm-1")
    assert "Here and now: holds" in text
    assert "the ledger says: fails (<mark>other</mark>)" in text
    assert "1 &lt; 2" in text
    # now means now: it is done again
    result(client, "/-/claims/toy/thm-1")
    assert len(client.queue.runs) == 2


def test_a_table_s_quick_slice_stands_beside_the_printed_one(client: TestClient) -> None:
    assert "A &amp; B" in client.get("/-/experiments/toy/table-1").text
    text = result(client, "/-/experiments/toy/table-1")
    assert "<td>0.512346</td>" in text
    assert "wine" not in text
    assert "&lt;b&gt;" in text


@pytest.mark.parametrize("path", ["/-/claims/toy/thm-2", "/-/claims/toy/..%2fx", "/-/experiments/toy/thm-1"])
def test_others_are_not_there(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
    assert client.post(path, data={"x": ""}).status_code in (404, 405)
    assert len(client.queue.runs) == 0


def test_the_ledger_of_the_checkout_is_read() -> None:
    assert views.ledger_verdict("drm/prop-III.1") == "holds"
    assert views.ledger_verdict("drm/prop-III.") == ""


def test_behind_a_proxy_only_its_name_counts(home, queues) -> None:
    gate = gate_of("127.0.0.1", 8765, "Book.Example.org", token="the-token")
    assert gate.address() == "https://book.example.org/-/enter?token=the-token"
    subjects = Subjects()
    app = application(gate, Site(home / "_build" / "html", notebook_bar(subjects)), queues(), subjects)
    own = "https://book.example.org"
    client = TestClient(app, base_url=own, follow_redirects=False)
    cookie = client.get("/-/enter?token=the-token").headers["set-cookie"]
    assert cookie.startswith("__Host-marginbook=")
    assert "Secure" in cookie
    assert client.get("/").status_code == 200
    assert client.get("/", headers={"host": "127.0.0.1:8765"}).status_code == 400
    assert client.get("/", headers={"x-forwarded-host": "evil.example"}).status_code == 200
    for origin, status in ((own, 422), ("http://book.example.org", 403), ("http://127.0.0.1:8765", 403)):
        assert client.post(FORM, data={"n": "0"}, headers={"origin": origin}).status_code == status


def test_a_taken_port_is_told(home, cli) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        shown = cli("serve", "--port", str(taken.getsockname()[1]))
    assert shown.exit_code == 1
    assert "is taken; give another with --port" in shown.output
