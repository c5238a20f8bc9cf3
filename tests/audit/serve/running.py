"""A server of a warehouse in a thread of its own, and who asks it."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from re import sub
from urllib.parse import urlencode, urlsplit

from aclkit.audit.serve.answers import Answers
from aclkit.audit.serve.listening import Serving
from aclkit.audit.serve.server import prepare
from aclkit.audit.serve.workers import Limits

SECONDS = 60


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    html: str

    @property
    def text(self) -> str:
        """What a person reads, tags aside."""
        return sub(r"\s+", " ", unescape(sub(r"<[^>]*>", " ", self.html)))


@dataclass
class Client:
    """Asks a server; what it is given goes along every time."""

    address: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    @property
    def token(self) -> str:
        return urlsplit(self.address).query.partition("=")[2]

    def ask(self, path, form=None, *, method=None, headers=None, **given) -> Answer:
        """GET an address, or POST a form from a page of the server itself."""
        place = f"{path}?{urlencode(given)}" if given else path
        said = {**self.headers, **(headers or {})}
        body = None
        if form is not None:
            body = form if isinstance(form, str) else urlencode(form)
            own = {"Origin": f"http://{self.host}",
                   "Content-Type": "application/x-www-form-urlencoded"}  # fmt: skip
            said = own | said
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        try:
            connection.request(method or ("GET" if form is None else "POST"), place, body, said)
            got = connection.getresponse()
            headers_ = {name.lower(): value for name, value in got.getheaders()}
            return Answer(got.status, headers_, got.read().decode())
        finally:
            connection.close()

    def enter(self) -> Client:
        """Exchange the token for the cookie, as a browser does."""
        given = self.ask("/", token=self.token)
        assert given.status == 303, given
        return Client(self.address, {"Cookie": given.headers["set-cookie"].partition(";")[0]})


@contextmanager
def serving(warehouse: Path | str, *, limits=None, judge=None, **options) -> Iterator[Client]:
    """Serve a warehouse while the block runs; who gets the client has no cookie yet."""
    wanted = Serving(warehouse=str(warehouse), **options)
    prepared = prepare(wanted, Answers(judge), limits or Limits())
    thread = threading.Thread(target=prepared.run, daemon=True)
    thread.start()
    end = time.monotonic() + SECONDS
    while not prepared.server.started:
        assert time.monotonic() < end, "the server does not start"
        time.sleep(0.005)
    try:
        yield Client(prepared.address)
    finally:
        prepared.server.should_exit = True
        thread.join(SECONDS)
        assert not thread.is_alive()
