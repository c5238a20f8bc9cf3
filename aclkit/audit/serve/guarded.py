"""A connection of anyone → requests for uvicorn, each within its time, and none for ever.

A thin protocol around uvicorn's own: it counts connections, sets deadlines for head and body, and
learns from the door which connection is a user's. See ``runtime.connections``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, cast
from urllib.parse import unquote

import h11
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from aclkit.runtime.connections import (
    SECONDS_FOR_BODY,
    SECONDS_FOR_HEAD,
    Connections,
    Rank,
    host_and_path,
)

VOUCH: Final = "aclkit.vouch"
"""The key of a request's scope that has what the door calls for a user's request."""


class GuardedProtocol(H11Protocol):
    """uvicorn's protocol with deadlines; its class is made by ``guarded``."""

    guests: Connections
    is_proxy: Callable[[str], bool]

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Stand between the connection and the application."""
        super().__init__(config, server_state, app_state, _loop)
        self.app = self._noting(cast(ASGIApp, self.app))
        self._rank = Rank.UNKNOWN
        self._waits_for: object = None
        self._alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Take a place; without one the connection ends."""
        super().connection_made(transport)
        if self.client is not None and self.is_proxy(self.client[0]):
            self._rank = Rank.OF_PROXY
        if not self.guests.admit(self, self._rank):
            transport.abort()
            return
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self.guests.leave(self)
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hand it on; a head or a body that does not end in time ends the connection."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request, which uvicorn does for some seconds."""
        self.guests.move(self, self._rank)
        super().on_response_complete()
        self._watch()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: any stranger can ask for a WebSocket, and it is answered without one."""

    def close_now(self) -> None:
        """End at once."""
        self._disarm()
        self.transport.abort()

    def _noting(self, app: ASGIApp) -> ASGIApp:
        async def noted(scope: Scope, receive: Receive, send: Send) -> None:
            _name_host(scope)
            scope[VOUCH] = self._vouch
            await app(scope, receive, send)

        return noted

    def _vouch(self) -> None:
        """Note that a user's request is being answered."""
        self._rank = Rank.KNOWN
        self.guests.move(self, Rank.BUSY if self._is_complete else Rank.KNOWN)

    @property
    def _is_complete(self) -> bool:
        return self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)

    def _watch(self) -> None:
        """Arm the alarm for what is waited for: the rest of a head, the rest of a body."""
        waits_for = None if self._is_complete else self.conn.their_state
        # Between two requests uvicorn's own alarm is armed.
        if waits_for is h11.IDLE and self.timeout_keep_alive_task is not None:
            waits_for = None
        if waits_for is self._waits_for:
            return
        self._disarm()
        self._waits_for = waits_for
        if waits_for is not None and not self.transport.is_closing():
            seconds = SECONDS_FOR_HEAD if waits_for is h11.IDLE else SECONDS_FOR_BODY
            self._alarm = self.loop.call_later(seconds, self.close_now)
        elif self._rank is Rank.KNOWN and self.cycle and not self.cycle.response_complete:
            self.guests.move(self, Rank.BUSY)

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm, self._waits_for = None, None


def _name_host(scope: Scope) -> None:
    """Make of ``GET http://HOST/PATH`` a request for PATH with HOST in the header."""
    host, path = host_and_path(scope["raw_path"].decode("ascii"))
    if host is not None:
        scope["path"], scope["raw_path"] = unquote(path), path.encode("ascii")
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        scope["headers"] = [(b"host", host.encode("ascii")), *others]


def guarded(is_proxy: Callable[[str], bool]) -> type[GuardedProtocol]:
    """Return the protocol of one server.

    Args:
        is_proxy: whether an address is a trusted proxy's, whose connections are many users'.
    """
    guests = Connections()
    return type(
        "GuardedProtocol",
        (GuardedProtocol,),
        {"guests": guests, "is_proxy": staticmethod(is_proxy)},
    )
