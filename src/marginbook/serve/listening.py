"""The socket: uvicorn, with little patience for clients that are slow to say what they want."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

#: seconds in which the head of a request has to be there
PATIENCE = 10.0
#: connections at the same time; more are told to come back
CONNECTIONS = 64
LARGEST_HEAD = 16 * 1024


class Impatient(H11Protocol):
    """Closes a connection on which a request has begun, or none has come, for too long."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._reading():
            self._expect()
        else:
            self._arrived()

    def _reading(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _expect(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(PATIENCE, self._give_up)

    def _arrived(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self._reading():
            self.transport.close()


def server(app: ASGIApp, host: str, port: int) -> uvicorn.Server:
    """Return a server that is ready to run."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http=Impatient,
            ws="none",
            lifespan="on",
            loop="asyncio",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS,
            h11_max_incomplete_event_size=LARGEST_HEAD,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=3,
        )
    )
