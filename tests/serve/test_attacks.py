"""What another site, another process of the network, or a crafted address could try."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from marginbook.serve import guard
from marginbook.serve.command import way_in

from .conftest import FORM

OURS = "http://127.0.0.1:8765"


@pytest.mark.parametrize("path", ["/", "/-/runs", FORM, "/-/static/serve.js", "/nothing", "/-/claims"])
def test_nothing_is_shown_without_the_token(serving, path: str) -> None:
    stranger = serving(cookie=False)
    for cookie in (
        "",
        "marginbook-8765=",
        "marginbook-8765=wrong",
        "marginbook-8765=the-toke",
        "x=the-token",
    ):
        answer = stranger.get(path, headers={"cookie": cookie})
        assert answer.status_code == 403
        assert "marginbook serve" in answer.text
        assert "the-token" not in answer.text


@pytest.mark.parametrize(
    "token", ["", "wrong", "the-token2", "THE-TOKEN", "the-toke\N{LATIN SMALL LETTER N WITH ACUTE}"]
)
def test_a_wrong_token_sets_no_cookie(serving, token: str) -> None:
    answer = serving(cookie=False).get("/-/enter", params={"token": token})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_cookie_is_for_this_server_and_no_script(serving) -> None:
    answer = serving(cookie=False).get("/-/enter?token=the-token")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "domain" not in cookie
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:8765",
     "0.0.0.0:8765", "[::1]:8765", "127.0.0.1:8765@evil.example", ""],
)  # fmt: skip
def test_another_name_for_this_address_is_refused(client, host: str) -> None:
    """DNS rebinding: a name of the attacker leads to this address, and the browser sends that name."""
    for method in ("get", "post"):
        assert getattr(client, method)("/", headers={"host": host}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"},
     {"origin": "http://127.0.0.1:8888"},
     {"origin": "https://127.0.0.1:8765"}, {"origin": ""}, {"origin": "http://127.0.0.1:8765.evil.example"},
     {"origin": "http://localhost:8765"},
     {"origin": "http://evil.example", "sec-fetch-site": "same-origin"}],
)  # fmt: skip
def test_a_form_of_another_site_starts_nothing(client, headers: dict[str, str]) -> None:
    answer = client.post(FORM, data={"n": "4"}, headers=headers)
    assert answer.status_code == 403
    assert len(client.queue.runs) == 0


@pytest.mark.parametrize("site", [None, "cross-site", "same-site", "none"])
def test_a_form_without_an_origin_counts_only_from_our_own_page(client, site: str | None) -> None:
    del client.headers["origin"]
    headers = {"sec-fetch-site": site} if site else {}
    assert client.post(FORM, data={"n": "4"}, headers=headers).status_code == 403
    assert len(client.queue.runs) == 0


@pytest.mark.skipif(os.name == "nt", reason="needs modes of files")
def test_other_users_of_the_machine_read_no_run(home: Path, client, gate) -> None:
    assert (home / "_build" / "serve").stat().st_mode & 0o077 == 0
    page = way_in(home / "_build" / "serve", gate)
    assert page.stat().st_mode & 0o077 == 0
    assert gate.address() in page.read_text()


def test_an_address_starts_nothing(client) -> None:
    for method in ("get", "head"):
        assert getattr(client, method)(f"{FORM}?n=4").status_code == 200
    assert len(client.queue.runs) == 0


def test_a_link_on_another_site_asks_again_from_here_and_only_once(serving) -> None:
    stranger = serving(cookie=False)
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert 'http-equiv="refresh"' in stranger.get("/", headers=headers).text
    assert "refresh" not in stranger.post("/", headers=headers).text
    assert "refresh" not in stranger.get("/", headers={"sec-fetch-site": "same-origin"}).text


ESCAPES = [
    "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/%2e%2e%2fsecret.txt", "/....//secret.txt",
    "/notebooks/../../secret.txt", "/notebooks/%2e%2e/%2e%2e/secret.txt", "//etc/passwd", "/%2fetc/passwd",
    "/..\\secret.txt", "/%5c..%5csecret.txt", "/secret.txt%00.html", "/-/static/../../secret.txt",
    "/-/static/%2e%2e%2fapp.py", "/-/static/..%2f__init__.py", "/file:///etc/passwd", "/C:/secret.txt",
    "/-/runs/../../secret.txt", "/-/runs/%2e%2e%2f%2e%2e%2fsecret", "/-/runs/..%2f..%2fsecret.txt/notebook",
    "/link.txt", "/folder/secret.txt", "/swapped.html",
]  # fmt: skip


@pytest.mark.parametrize("path", ESCAPES)
def test_no_path_from_outside_reaches_the_file_system(home: Path, client, path: str) -> None:
    (home / "_build" / "secret.txt").write_text("TOP SECRET")
    (home / "secret.txt").write_text("TOP SECRET")
    outside = home / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("TOP SECRET")
    html = home / "_build" / "html"
    (html / "link.txt").symlink_to(home / "secret.txt")
    (html / "folder").symlink_to(outside)
    swapped = html / "swapped.html"
    swapped.write_text("fine")
    assert client.get("/swapped.html").text == "fine"  # the table is made
    swapped.unlink()
    swapped.symlink_to(home / "secret.txt")
    answer = client.get(path)
    assert answer.status_code in (400, 404), path
    assert "SECRET" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize(
    "path", ["/-/run/toy/..%2f..%2fx", "/-/run/%2e%2e/x", "/-/run/toy/01_small.md", "/-/run/drm/__init__"]
)
def test_only_notebooks_of_the_table_have_a_form(client, path: str) -> None:
    assert client.get(path).status_code == 404
    assert client.post(path, data={"n": "4"}).status_code in (404, 405)


def test_a_planted_folder_is_no_run(home: Path, serving) -> None:
    place = home / "_build" / "serve"
    outside = home / "outside"
    outside.mkdir()
    (outside / "run.json").write_text("{}")
    (place / "0123456789abcdef").parent.mkdir(parents=True)
    (place / "0123456789abcdef").symlink_to(outside)
    (place / "not-an-id").mkdir()
    (place / "not-an-id" / "run.json").write_text('{"id": "../../x"}')
    client = serving()
    assert client.queue.runs.all() == []
    assert client.get("/-/runs/0123456789abcdef").status_code == 404


BAD = {
    "n": ["0", "10", "1e400", "nan", "1_0", "3.5", "", " ", "²", "0x3", "--3", "3;import os", "9" * 5000],
    "scale": ["nan", "inf", "-inf", "1e999", "1e10", "True", "[]", "__import__('os')"],
    "mode": ["", "other", "quick,paper", "quick\x00"],
    "loud": ["", "yes", "1", "True"],
    "dataset": ["../../etc/passwd", "iris; rm -rf", "no-such-set", "", "/etc/passwd"],
    "word": ["a\nb", "a\x00b", "x" * 201, "\x1b[31m"],
    "numbers": ["a", "[1, [2]]", "[NaN]", "{}", "[" * 3000, "1," * 200, '["a"]', "[1e999]"],
    "limit": ["x", "1.5", "[]"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BAD.items() for text in texts])
def test_values_out_of_type_or_bounds_start_nothing(client, name: str, text: str) -> None:
    answer = client.post(FORM, data={name: text})
    assert answer.status_code == 422, answer.text
    assert 'role="alert"' in answer.text
    assert len(client.queue.runs) == 0


@pytest.mark.parametrize(
    "name", ["m", "__class__", "n ", "N", "cwd", "<script>alert(1)</script>", "kernel_name", ""]
)
def test_only_declared_names_are_taken(client, name: str) -> None:
    answer = client.post(FORM, data={name: "1"})
    assert answer.status_code == 422
    assert "<script>alert" not in answer.text
    assert len(client.queue.runs) == 0


def test_a_value_twice_is_refused(client) -> None:
    answer = client.post(FORM, data={"n": ["1", "2"]})
    assert answer.status_code == 422
    assert "expected one value" in answer.text


@pytest.mark.parametrize(
    "text", ['"><script>alert(1)</script>', "' onfocus='alert(1)", "</textarea><img src=x onerror=alert(1)>"]
)
def test_what_comes_in_goes_out_as_text(client, text: str) -> None:
    for answer in (client.get(FORM, params={"word": text, "n": text}), client.get(FORM, params={text: "1"})):
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text
        assert "' onfocus='alert" not in answer.text


def test_a_large_body_is_refused_announced_or_not(client) -> None:
    much = b"n=" + b"1" * guard.LARGEST_BODY
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post(FORM, content=much, headers=form).status_code == 413
    pieces = (b"n=" + b"1" * 1000 for _ in range(100))
    assert client.post(FORM, content=pieces, headers=form).status_code == 413
    assert client.get(f"{FORM}?n={'1' * 9000}").status_code == 414
    many = "&".join("n=1" for _ in range(2000))
    assert client.post(FORM, content=many, headers=form).status_code == 400
    assert len(client.queue.runs) == 0


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", ""])
def test_only_a_form_is_read(client, kind: str) -> None:
    assert client.post(FORM, content=b"n=4", headers={"content-type": kind}).status_code == 415


def test_bytes_that_are_no_text_are_refused(client) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    for body in (b"word=\xff\xfe", b"word=%ff%fe"):
        assert client.post(FORM, content=body, headers=form).status_code == 400


def test_wrong_methods_and_addresses_are_answered_in_a_sentence(client) -> None:
    for method in ("put", "delete", "patch", "options"):
        assert getattr(client, method)(FORM).status_code == 405
    assert client.post("/").status_code == 405
    assert client.get("/-/runs/0123456789abcdef/cancel").status_code == 404
    for path in ("/-/nothing", "/nothing.html", "/-/runs/ffffffffffffffff", "/-/runs/%00"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "There is nothing at this address." in answer.text
        assert "Traceback" not in answer.text


@pytest.mark.parametrize("path", ["/", "/-/runs", "/nothing", FORM, "/notebooks/toy/01_small.html"])
def test_every_answer_has_the_headers(client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy
    assert "http:" not in policy
    if path.startswith("/-/"):
        assert "unsafe" not in policy
    assert "server" not in headers
    assert "access-control-allow-origin" not in headers


def test_a_web_socket_is_refused(client) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/"):
        pass


def test_the_socket_is_this_machine_s_own(cli, home: Path) -> None:
    for address in ("0.0.0.0", "::", "192.168.1.5", "example.org"):
        shown = cli("serve", "--bind", address)
        assert shown.exit_code == 2
        assert "--behind-proxy" in shown.output


def test_a_run_does_not_see_the_token() -> None:
    assert "the-token" not in " ".join(os.environ.values())
