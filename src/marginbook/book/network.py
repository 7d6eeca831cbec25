"""No page is compiled with the help of another machine: attempts are warnings, which fail a strict build."""

from __future__ import annotations

import ipaddress
import sys
from typing import Any

_EVENTS = {"socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"}


def watch() -> None:
    """Report every attempt of this process to reach another machine, as a warning like those of Sphinx.

    The hook stays for the life of the process; it hinders nothing, so that a lenient build goes on.
    """
    seen: set[str] = set()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _EVENTS:
            return
        host = _host(event, arguments)
        if host and host not in seen:
            seen.add(host)
            print(f"WARNING: the build asks another machine: {host}", file=sys.stderr, flush=True)

    sys.addaudithook(hook)


def _host(event: str, arguments: tuple[Any, ...]) -> str:
    """Return the other machine that an event names; nothing for this machine and for local sockets."""
    address = arguments[0] if event.startswith("socket.get") else arguments[1]
    host = address[0] if isinstance(address, tuple) else address if event.startswith("socket.get") else None
    if isinstance(host, bytes):
        host = host.decode("idna")
    if not isinstance(host, str) or host in ("", "localhost"):
        return ""
    try:
        return "" if ipaddress.ip_address(host.partition("%")[0]).is_loopback else host
    except ValueError:
        return host
