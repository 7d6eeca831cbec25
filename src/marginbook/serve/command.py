"""``marginbook serve``: the book at a local address, with forms that run its pages again."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import threading
import webbrowser
from pathlib import Path

import click

from ..cli.commands import Command, keeping
from ..notebooks.catalogue import build_dir
from .app import application, notebook_bar
from .guard import Gate
from .listening import server
from .queue import Limits, Queue
from .runs import Runs
from .site import Site
from .subjects import Subjects


@click.command("serve", cls=Command)
@click.option(
    "--port", default=8765, show_default=True, type=click.IntRange(0, 65535), help="0: any free one."
)
@click.option(
    "--bind", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen at."
)
@click.option(
    "--behind-proxy",
    "name",
    metavar="NAME",
    help="Public host name of a proxy with TLS and a login of its own.",
)
@click.option("--seconds", default=900, show_default=True, type=click.IntRange(1), help="Limit of a run.")
@click.option(
    "--megabytes",
    default=4096,
    show_default=True,
    type=click.IntRange(256),
    help="Memory limit of a process.",
)
@click.option("--at-once", default=1, show_default=True, type=click.IntRange(1, 64), help="Runs at a time.")
@click.option(
    "--waiting", default=8, show_default=True, type=click.IntRange(0, 1000), help="Runs that may wait."
)
@click.option("--open", "opening", is_flag=True, help="Open the address in the browser.")
@keeping("runs that were done are kept")
def serve(
    port: int, bind: str, name: str | None, seconds: int, megabytes: int, at_once: int, waiting: int,
    opening: bool,
) -> None:  # fmt: skip
    """Serve the built book, with a form on each page that runs it again.

    Open the address that it prints: a token in it lets this browser in, and no other. Runs are kept in
    _build/serve. book/serve.md says what a server for a class needs.

    \b
    Example:
      marginbook serve
      marginbook serve --port 9000 --at-once 2 --seconds 300
    """
    if not name and not _loopback(bind):
        raise click.UsageError(
            f"--bind {bind} would let other machines in; that needs --behind-proxy NAME, see book/serve.md"
        )
    subjects = Subjects()
    site = Site(build_dir("html"), notebook_bar(subjects))
    if not site.built:
        raise click.ClickException(
            f"there is no built book in {site.folder}: run `make book` or `marginbook book` first"
        )
    if port == 0:
        port = _free(bind)
    elif not _can_listen(bind, port):
        raise click.ClickException(f"port {port} is taken; give another with --port, or 0 for a free one")
    gate = gate_of(bind, port, name)
    queue = Queue(Runs(build_dir("serve")), Limits(seconds, megabytes, at_once, waiting))
    click.echo(f"open {gate.address()}\nCtrl-C ends it, and all runs")
    if opening:
        threading.Timer(1.0, webbrowser.open, [way_in(queue.runs.folder, gate).as_uri()]).start()
    running = server(application(gate, site, queue, subjects), bind, port)
    try:
        running.run()
    finally:
        queue.close()


def way_in(folder: Path, gate: Gate) -> Path:
    """Write a page that leads to the address: as an argument of a browser other users would see the token."""
    path = folder / "open.html"
    path.unlink(missing_ok=True)
    path.touch(0o600)
    path.write_text(f'<meta http-equiv="refresh" content="0;url={gate.address()}">', encoding="utf-8")
    return path


def gate_of(bind: str, port: int, name: str | None = None, token: str | None = None) -> Gate:
    """Return who may come in: this machine by its own names, or what a proxy lets through by its name."""
    token = token or secrets.token_urlsafe(32)
    if name:
        return Gate(token, (name.lower(), f"{name.lower()}:443"), "https", "__Host-marginbook")
    own = f"[{bind}]" if ":" in bind else bind
    return Gate(
        token, tuple(dict.fromkeys((f"{own}:{port}", f"localhost:{port}"))), "http", f"marginbook-{port}"
    )


def _loopback(bind: str) -> bool:
    try:
        return ipaddress.ip_address(bind).is_loopback
    except ValueError:
        return bind == "localhost"


def _free(bind: str) -> int:
    with socket.create_server((bind, 0)) as found:
        port: int = found.getsockname()[1]
    return port


def _can_listen(bind: str, port: int) -> bool:
    try:
        # as uvicorn does: what a server before has left in TIME_WAIT is no hindrance
        with socket.create_server((bind, port), reuse_port=False):
            return True
    except OSError:
        return False
