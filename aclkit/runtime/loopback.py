"""Paths and what answers them → an HTTP server on this machine's loopback, in a thread of its own.

It answers GET and nothing else, only those who ask for a name of the loopback, so that no page in a
browser can read it under a name of its own.
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from typing import Final, NamedTuple

from aclkit.errors import SurroundingsError, UsageError


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

    class Server(ThreadingHTTPServer):
        address_family = AF_INET6 if ":" in host else AF_INET
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Write nothing where a client hangs up."""

    try:
        server = Server((host, port), _handler(replies))
    except OSError as error:
        raise SurroundingsError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}. Pass a free port."
        ) from None
    thread = threading.Thread(target=server.serve_forever, name="aclkit-loopback", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def _handler(replies: Replies) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _SECONDS
        server_version = "aclkit"
        sys_version = ""

        def do_GET(self) -> None:
            asked = replies.get(self.path.partition("?")[0])
            if not _is_local(self.headers.get("Host", "")):
                reply = Reply(403, _TEXT, "Only for this machine.\n")
            elif asked is None:
                reply = Reply(404, _TEXT, f"Only {', '.join(replies)}.\n")
            else:
                reply = asked()
            body = reply.text.encode("utf-8", "replace")
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write nothing: who asks every few seconds is no news."""

    return Handler


def _is_local(host: str) -> bool:
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    name = name.removeprefix("[").removesuffix("]")
    try:
        return ipaddress.ip_address(_NAMES.get(name, name)).is_loopback
    except ValueError:
        return False


_TEXT: Final = "text/plain; charset=utf-8"
_SECONDS: Final = 10
"""That a request may take."""
