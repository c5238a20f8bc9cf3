"""Paths and what answers them → an HTTP server on this machine's loopback, in a thread of its own.

It answers GET and nothing else, only those who ask for a name of the loopback, so that no page in a
browser can read it under a name of its own. Each connection is for one request and has seconds for
it; there are few at once, and the oldest that asks nothing makes room, see ``connections``.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from socket import AF_INET, AF_INET6
from typing import Final, NamedTuple, cast

from aclkit.errors import SurroundingsError, UsageError
from aclkit.runtime.connections import (
    AT_ONCE,
    WAITING,
    Connections,
    Rank,
    host_and_path,
    most_connections,
)


class Reply(NamedTuple):
    """An answer: its status, its type and its text."""

    status: int
    kind: str
    text: str


Replies = Mapping[str, Callable[[], Reply]]
"""Path → what answers it."""


def parse_loopback(text: str) -> tuple[str, int]:
    """Read ``ADDRESS:PORT`` of the loopback.

    Raises:
        UsageError: it is something else, or an address that other machines reach.

    >>> parse_loopback("127.0.0.1:9179"), parse_loopback("[::1]:0")
    (('127.0.0.1', 9179), ('::1', 0))
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        is_loopback = ipaddress.ip_address(_NAMES.get(host, host)).is_loopback
        number = int(port) if port.isascii() and port.isdigit() else -1
    except ValueError:
        is_loopback, number = False, -1
    if not is_loopback or not 0 <= number < 1 << 16:
        raise UsageError(
            f"Invalid --listen {text!r}. Pass an address of the loopback and a port, such as "
            "127.0.0.1:9179. There is no password, so other machines are not served."
        )
    return _NAMES.get(host, host), number


_NAMES: Final = {"localhost": "127.0.0.1"}


@contextmanager
def answering(host: str, port: int, replies: Replies) -> Iterator[int]:
    """Answer meanwhile, and hand out the port; 0 takes any that is free.

    Raises:
        SurroundingsError: the address is taken.
    """
    try:
        listening = socket.create_server((host, port), family=AF_INET6 if ":" in host else AF_INET)
    except OSError as error:
        raise SurroundingsError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}. Pass a free port."
        ) from None
    loop = asyncio.new_event_loop()
    guests = Connections(most=min(_MOST, most_connections()))
    made = loop.create_server(
        lambda: _Request(replies, guests, loop), sock=listening, backlog=AT_ONCE
    )
    server = loop.run_until_complete(made)
    listening.listen(WAITING)
    thread = threading.Thread(target=loop.run_forever, name="aclkit-loopback", daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(_end(server, guests), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(server: asyncio.Server, guests: Connections) -> None:
    server.close()
    guests.close_all()
    for _ in range(2):  # what ends closes its socket in the loop's next round
        await asyncio.sleep(0)


class _Request(asyncio.Protocol):
    """One connection: its request, the answer, and the end."""

    def __init__(
        self, replies: Replies, guests: Connections, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._replies, self._guests, self._loop = replies, guests, loop
        self._head = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._alarm = self._loop.call_later(_SECONDS, self.close_now)
        if not self._guests.admit(self, Rank.UNKNOWN):
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._alarm.cancel()
        self._guests.leave(self)

    def close_now(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        before = len(self._head)
        self._head += data
        if self._head.find(_END, max(0, before - len(_END))) >= 0:
            self._write(_answer(bytes(self._head), self._replies))
        elif len(self._head) > _LONGEST_HEAD:
            self._write(Reply(431, _TEXT, "The request is too long.\n"))

    def _write(self, reply: Reply) -> None:
        body = reply.text.encode("utf-8", "replace")
        head = (
            f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}\r\nServer: aclkit\r\n"
            f"Content-Type: {reply.kind}\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n"
        )
        self._transport.pause_reading()
        self._transport.write(head.encode() + body)
        self._transport.close()


def _answer(head: bytes, replies: Replies) -> Reply:
    """Answer a request."""
    line, *rest = head.partition(_END)[0].decode("latin-1").split("\r\n")
    method, _, target = line.partition(" ")
    named, target = host_and_path(target.rpartition(" ")[0])
    path = target.partition("?")[0]
    fields = (part.partition(":") for part in rest)
    hosts = [value.strip() for name, _, value in fields if name.lower() == "host"]
    if method != "GET":
        return Reply(501, _TEXT, "Only GET.\n")
    if len(hosts) != 1 or not _is_local(hosts[0] if named is None else named):
        return Reply(403, _TEXT, "Only for this machine.\n")
    if path not in replies:
        return Reply(404, _TEXT, f"Only {', '.join(replies)}.\n")
    try:
        return replies[path]()
    except Exception:  # noqa: BLE001 -- the next one who asks is answered
        return Reply(500, _TEXT, "It cannot be answered now.\n")


def _is_local(host: str) -> bool:
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    name = name.removeprefix("[").removesuffix("]")
    try:
        return ipaddress.ip_address(_NAMES.get(name, name)).is_loopback
    except ValueError:
        return False


_TEXT: Final = "text/plain; charset=utf-8"
_SECONDS: Final = 10.0
"""That a request and its answer may take."""

_MOST: Final = 64
_LONGEST_HEAD: Final = 16_384
_END: Final = b"\r\n\r\n"
