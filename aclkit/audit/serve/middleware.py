"""The application → one for those who are let in only, whose answers no cache keeps."""

from __future__ import annotations

import logging
import time
from http.cookies import SimpleCookie
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aclkit.audit.serve.auth import READING, Auth, Refusal, RequestHead
from aclkit.model.groups import grouped

ENTRY: Final = "token"
"""The parameter of an address that holds the token."""

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
        answer = self._answer(request, head, user)
        await (answer or self._app)(scope, receive, with_headers)
        path = scope["path"] if scope["path"] in self._paths else "(no page)"
        milliseconds = (time.perf_counter() - started) * 1_000
        _log.info("%s %s %s %.0f ms, %s", head.method, path, status, milliseconds, user or "-")

    def _answer(self, request: Request, head: RequestHead, user: str | None) -> Response | None:
        """Return the answer to those who do not come in; None for the others."""
        if refusal := self._door.refusal(head):
            return _refused(refusal)
        query = request.scope["query_string"]
        if len(query) > LONGEST_QUERY:
            return _refused(Refusal(414, f"Addresses are limited to {LONGEST_QUERY:,} characters."))
        given = parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True)
        tokens = [value for name, value in given if name == ENTRY]
        if tokens and head.method in READING and self._door.posts.from_pages:
            return self._exchange(request, tokens, [p for p in given if p[0] != ENTRY])
        if user is None:
            return _refused(
                Refusal(401, f"The token is missing or wrong. {self._door.posts.advice}")
            )
        return None

    def _exchange(
        self, request: Request, tokens: list[str], rest: list[tuple[str, str]]
    ) -> Response:
        """Give a cookie for the token, and lead to the address without it."""
        if len(tokens) != 1 or not self._door.knows(tokens[0]):
            return _refused(Refusal(403, f"Wrong token. {self._door.posts.advice}"))
        # Two slashes at the beginning would lead to another server.
        place = "/" + quote(request.scope["path"].lstrip("/\\"))
        response = RedirectResponse(f"{place}?{urlencode(rest)}" if rest else place, 303)
        cookie = SimpleCookie({self._door.cookie: self._door.session})[self._door.cookie]
        cookie["path"], cookie["httponly"], cookie["samesite"] = "/", True, "Strict"
        response.headers["Set-Cookie"] = cookie.OutputString()
        return response


def head_of(request: Request) -> RequestHead:
    """Take the head of a request; of a header that is there twice, both count as one wrong one."""
    values = grouped(request.headers.items())
    headers = {name: ", ".join(several) for name, several in values.items()}
    peer = request.client.host if request.client else ""
    return RequestHead(method=request.method, headers=headers, peer=peer)


def _refused(refusal: Refusal) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
    return PlainTextResponse(f"{refusal.message}\n", refusal.status, headers)
