"""The process of the bucket: HTTP on 127.0.0.1 → moto's S3, and JSON below ``/-/`` → its control.

``python -m tests.object_store.server`` prints its port, and ends when its input ends: with the
process that started it, however that ends. moto looks at a condition and puts without a lock, so
one request is done at a time here; a body is read before its turn.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any, Final
from urllib.parse import unquote
from xml.sax.saxutils import escape

import moto.core.utils
import moto.s3.models
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import create_backend_app
from werkzeug.test import run_wsgi_app

from tests.object_store import faults
from tests.object_store.counts import Counts, Request, kind_of
from tests.object_store.faults import Fault, Faults
from tests.object_store.signature import refusal

KEY: Final = ("AKIDACLKITTESTS00000", "a-secret-that-nobody-may-see-anywhere")
REGION: Final = "eu-central-1"
CLOCK: Final = "ACLKIT_TEST_CLOCK"
"""Seconds by which the server's clock is ahead when it starts."""

_CONTROL: Final = "/-/"
_SECONDS: Final = 60
_CHUNK: Final = 1 << 20


class Clock:
    """The time that objects get: that of the machine, moved."""

    def __init__(self, ahead: float):
        self.ahead = ahead

    def utcnow(self) -> datetime:
        """Return the time as moto has it, without a zone."""
        return datetime.now(UTC).replace(tzinfo=None) + timedelta(seconds=self.ahead)


class Store:
    """Everything that requests share."""

    def __init__(self, clock: Clock):
        self.clock, self.faults, self.counts = clock, Faults(), Counts()
        self._app = create_backend_app("s3")
        self._turn = threading.Lock()

    def answer(self, environ: dict[str, Any]) -> tuple[int, list[tuple[str, str]], bytes]:
        """Let moto answer, when it is the request's turn."""
        with self._turn:
            parts, status, headers = run_wsgi_app(self._app, environ, buffered=True)
            body = b"".join(parts)
        return int(status.split()[0]), list(headers.items()), body

    def control(self, path: str, said: dict[str, Any]) -> object:
        """Do what the control is told, and return what it answers."""
        if path == "bucket":
            with self._turn:
                backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
                backend.create_bucket(said["name"], REGION)
        elif path == "fault":
            self.faults.add(Fault(**said))
        elif path == "clock":
            self.clock.ahead = said["ahead"]
        elif path == "reset":
            self.faults.clear()
            self.counts.clear()
        elif path == "met":
            return self.faults.met
        elif path == "totals":
            return self.counts.totals()
        elif path == "requests":
            return self.counts.requests()
        else:
            raise KeyError(path)
        return {}


class Cut(Exception):
    """The connection ends here."""


class Handler(BaseHTTPRequestHandler):
    """Requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _SECONDS
    store: Store

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def serve(self) -> None:
        if self.path.startswith(_CONTROL):
            self._serve_control()
            return
        path, _, query = self.path.partition("?")
        key = unquote(path).strip("/")
        self._sent = self._status = self._received = 0
        with self.store.counts.answering():
            try:
                self._serve_s3(key, self.store.faults.next_for(self.command, key))
            except Cut:
                self._cut()
            finally:
                said = self.headers.get("Range", "")
                told = Request(self.command, key, kind_of(self.command, key, query), self._status,
                               self._received, self._sent, said)  # fmt: skip
                self.store.counts.add(told)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = serve

    def _serve_s3(self, key: str, fault: Fault | None) -> None:
        kind = fault.kind if fault else ""
        if kind == faults.CUT_BEFORE:
            raise Cut
        body = self._body()
        self._received = len(body)
        if kind == faults.CUT_AFTER:
            raise Cut
        if fault and kind == faults.STALL:
            time.sleep(fault.seconds)
        headers = {name.lower(): value for name, value in self.headers.items()}
        refused = refusal(self.command, self.path, headers, KEY, REGION)
        if refused or kind in faults.REFUSED:
            self._refuse(*(refused or faults.REFUSED[kind]))
            return
        status, answered, content = self.store.answer(self._environ(body))
        if kind == faults.LOST:
            raise Cut
        self._answer(status, answered, content, is_half=kind == faults.HALF)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self._read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return b"".join(parts)
        return self._read(int(self.headers.get("Content-Length") or 0))

    def _read(self, size: int) -> bytes:
        """Read exactly so much; a client that was killed half way has said nothing."""
        content = self.rfile.read(size)
        if len(content) < size:
            raise Cut
        return content

    def _environ(self, body: bytes) -> dict[str, Any]:
        path, _, query = self.path.partition("?")
        environ = {
            "wsgi.version": (1, 0), "wsgi.url_scheme": "http", "wsgi.input": BytesIO(body),
            "wsgi.errors": sys.stderr, "wsgi.multithread": True, "wsgi.multiprocess": False,
            "wsgi.run_once": False, "wsgi.input_terminated": True,
            "REQUEST_METHOD": self.command, "SCRIPT_NAME": "", "QUERY_STRING": query,
            "PATH_INFO": unquote(path).encode().decode("latin-1"),
            "REQUEST_URI": self.path, "RAW_URI": self.path,
            "SERVER_NAME": "127.0.0.1", "SERVER_PORT": str(self.server.server_address[1]),
            "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "127.0.0.1",
        }  # fmt: skip
        for name, value in self.headers.items():
            plain = name.upper().replace("-", "_")
            is_own = plain in ("CONTENT_TYPE", "CONTENT_LENGTH")
            environ[plain if is_own else f"HTTP_{plain}"] = value
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        return environ | {"CONTENT_LENGTH": str(len(body))}

    def _answer(
        self, status: int, headers: list[tuple[str, str]], body: bytes, *, is_half: bool = False
    ) -> None:
        self._status = status
        is_head = self.command == "HEAD"
        size = next((v for n, v in headers if n.lower() == "content-length"), None)
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "connection", "date", "server"):
                self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", (size or "0") if is_head else str(len(body)))
        self.end_headers()
        if is_head or status in (204, 304):
            return
        sent = body[: len(body) // 2] if is_half else body
        self._sent = len(sent)
        self.wfile.write(sent)
        if is_half:
            raise Cut

    def _refuse(self, status: int, code: str, message: str) -> None:
        text = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code>'
            f"<Message>{escape(message)}</Message><RequestId>0</RequestId></Error>"
        )
        self._answer(status, [("Content-Type", "application/xml")], text.encode())

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.close()

    def _serve_control(self) -> None:
        said = json.loads(self._body() or b"{}")
        try:
            status, answer = 200, self.store.control(self.path.removeprefix(_CONTROL), said)
        except Exception as error:  # noqa: BLE001 - whoever tells the control hears what is wrong
            status, answer = 400, f"{type(error).__name__}: {error}"
        body = json.dumps(answer).encode()
        self._answer(status, [("Content-Type", "application/json")], body)


class Server(ThreadingHTTPServer):
    """A thread per connection."""

    daemon_threads = True
    request_queue_size = 128


def main() -> None:
    """Serve until the input ends."""
    logging.disable(logging.WARNING)
    clock = Clock(float(os.environ.get(CLOCK) or 0))
    moto.core.utils.utcnow = moto.s3.models.utcnow = clock.utcnow
    handler = type("OneStore", (Handler,), {"store": Store(clock)})
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    while sys.stdin.buffer.read(_CHUNK):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
