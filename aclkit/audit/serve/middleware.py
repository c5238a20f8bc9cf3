"""The application → one for those who are let in only, each request within its time, none for ever.

What is let in is answered as no cache keeps. A thin protocol around uvicorn's own counts
connections, sets deadlines for head and body, and learns from the door which connection is a
user's. See ``runtime.connections``.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, Final, cast
from urllib.parse import parse_qsl, quote, unquote, urlencode

import h11
import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from aclkit.audit.serve.auth import AGE, READING, Auth, Refusal, RequestHead
from aclkit.model.groups import grouped
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


ENTRY: Final = "token"
"""The parameter of an address that holds the token."""

SIGN_OUT: Final = "/sign-out"
"""The path to which a form ends the session of its browser."""

SESSION: Final = "aclkit.session"
"""The key of a request's scope that has the session of its cookie, or None."""

DECIDER: Final = "aclkit.decider"
"""The key of a request's scope that has the user whom a trusted proxy names."""

LONGEST_QUERY: Final = 16_384

_HEADERS: Final = {
    "Content-Security-Policy": "; ".join((
        "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src data:",
        "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    )),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: a form's Origin would be null then.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip

_METHODS: Final = frozenset((*READING, "POST"))
"""Those that are logged by name: a stranger's word may have any length."""

_log = logging.getLogger(__name__)


class AuthMiddleware:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, door: Auth, paths: frozenset[str]) -> None:
        """Stand before ``app``, whose pages are ``paths``: others are not logged by name."""
        self._app, self._door, self._paths = app, door, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; there is nothing else but the start and the end of the server."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        request = Request(scope, receive)
        head = head_of(request)
        user = self._door.user(head)
        scope[DECIDER] = self._door.proxy_user(head)
        scope[SESSION] = self._door.session_of(head)
        answer = self._answer(request, head, user)
        if answer is None and VOUCH in scope:
            scope[VOUCH]()
        await (answer or self._app)(scope, receive, with_headers)
        path = scope["path"] if scope["path"] in self._paths else "(no page)"
        method = head.method if head.method in _METHODS else "(no method)"
        milliseconds = (time.perf_counter() - started) * 1_000
        _log.info("%s %s %s %.0f ms, %s", method, path, status, milliseconds, user or "-")

    def _answer(self, request: Request, head: RequestHead, user: str | None) -> Response | None:
        """Return the answer to those who do not come in; None for the others."""
        if refusal := self._door.refusal(head):
            return _Refused(refusal)
        query = request.scope["query_string"]
        if len(query) > LONGEST_QUERY:
            return _Refused(Refusal(414, f"Addresses are limited to {LONGEST_QUERY:,} characters."))
        given = parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True)
        tokens = [value for name, value in given if name == ENTRY]
        if tokens and head.method in READING and self._door.posts.from_pages:
            return self._exchange(request, head, tokens, [p for p in given if p[0] != ENTRY])
        if user is None:
            return _Refused(
                Refusal(401, f"The token is missing or wrong. {self._door.posts.advice}")
            )
        if request.scope["path"] == SIGN_OUT and head.method == "POST":
            return self._sign_out(request)
        return None

    def _exchange(
        self,
        request: Request,
        head: RequestHead,
        tokens: list[str],
        rest: list[tuple[str, str]],
    ) -> Response:
        """Give a cookie for the token, and lead to the address without it."""
        if len(tokens) != 1 or not self._door.knows(tokens[0]):
            return _Refused(Refusal(403, f"Wrong token. {self._door.posts.advice}"))
        # Two slashes at the beginning would lead to another server.
        place = "/" + quote(request.scope["path"].lstrip("/\\"))
        response = RedirectResponse(f"{place}?{urlencode(rest)}" if rest else place, 303)
        secure = "; Secure" if self._door.sees_https(head) else ""
        response.headers["Set-Cookie"] = self._cookie(self._door.sessions.begin(), AGE) + secure
        return response

    def _sign_out(self, request: Request) -> Response:
        """End the session, at the server too: a copy of the cookie is worth nothing."""
        if session := request.scope[SESSION]:
            self._door.sessions.end(session)
        response = PlainTextResponse(f"You are signed out. {self._door.posts.advice}\n")
        response.headers["Set-Cookie"] = self._cookie("", 0)
        return response

    def _cookie(self, value: str, age: int) -> str:
        return f"{self._door.cookie}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}"


def head_of(request: Request) -> RequestHead:
    """Take the head of a request; of a header that is there twice, both count as one wrong one."""
    values = grouped(request.headers.items())
    headers = {name: ", ".join(several) for name, several in values.items()}
    repeated = frozenset(name for name, several in values.items() if len(several) > 1)
    peer = request.client.host if request.client else ""
    return RequestHead(method=request.method, headers=headers, peer=peer, repeated=repeated)


class _Refused(PlainTextResponse):
    """A refusal ends its connection: a stranger has to connect for each."""

    def __init__(self, refusal: Refusal) -> None:
        headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
        super().__init__(f"{refusal.message}\n", refusal.status, headers | {"Connection": "close"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all of it, then read what still comes: closed before, TCP could drop the answer."""

        async def unended(message: Message) -> None:
            await send({**message, "more_body": True} if "body" in message else message)

        await super().__call__(scope, receive, unended)
        # The protocol ends a body that takes too long.
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.body", "body": b""})
