"""A webhook on this machine: a real HTTP server that answers as told and keeps what it got."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat

SECRET = "/services/T0/B0/very-secret"


@dataclass
class Hook:
    """Answers in turn, the last one for ever: a status, ``silence`` or ``drip``, without end."""

    answers: list[int | str]
    headers: dict[str, str] = field(default_factory=dict)
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    address: str = ""
    over: threading.Event = field(default_factory=threading.Event)


class _Server(ThreadingHTTPServer):
    """A server of one hook."""

    hook: Hook


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        hook = self.server.hook
        body = self.rfile.read(int(self.headers["Content-Length"]))
        hook.got.append((self.path, dict(self.headers), body))
        answer = hook.answers.pop(0) if len(hook.answers) > 1 else hook.answers[0]
        if answer == "silence":
            hook.over.wait()
        elif answer == "drip":
            self._drip(hook)
        elif answer == "hang-up":
            self.connection.close()
        else:
            self.send_response(int(answer))
            for name, value in hook.headers.items():
                self.send_header(name, value)
            self.end_headers()

    def _drip(self, hook: Hook) -> None:
        """Answer a letter at a time, until nobody listens."""
        with suppress(OSError):
            for letter in chain("HTTP/1.1 200 OK", repeat(" ")):
                self.wfile.write(letter.encode())
                if hook.over.wait(0.05):
                    return

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(*answers: int | str, **headers: str) -> Iterator[Hook]:
    """Serve on 127.0.0.1; ``Retry_After`` is the header Retry-After."""
    hook = Hook(list(answers), {name.replace("_", "-"): value for name, value in headers.items()})
    server = _Server(("127.0.0.1", 0), _Handler)
    server.hook = hook
    hook.address = f"http://127.0.0.1:{server.server_port}{SECRET}?k=v"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield hook
    finally:
        hook.over.set()
        server.shutdown()
        server.server_close()
