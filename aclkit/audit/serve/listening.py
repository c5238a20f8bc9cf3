"""An address and a token → a listening socket, and the server of an application behind the door."""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from aclkit.audit.serve.auth import (
    FORMS,
    Auth,
    Posts,
    Sessions,
    TokenFile,
    host_to_open,
    parse_proxies,
    served_hosts,
)
from aclkit.audit.serve.guarded import guarded
from aclkit.audit.serve.middleware import ENTRY, LONGEST_QUERY
from aclkit.errors import SurroundingsError
from aclkit.runtime.connections import AT_ONCE, WAITING

_HEAD: Final = 32_768


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What the options of ``aclkit serve`` say.

    Attributes:
        warehouse: its folder.
        cluster: the only one that is served, where it is named.
        listen: the address, and ``port``; 0 is any that is free.
        allow_host: other names by which it is asked, such as a proxy's.
        trusted_proxy: addresses that name users in ``user_header``.
        token_file: the token; None makes one.
        reviews: the folder of reviews whose decisions are taken; None takes none.
    """

    warehouse: str
    cluster: str | None = None
    listen: str = "127.0.0.1"
    port: int = 0
    allow_host: tuple[str, ...] = ()
    trusted_proxy: tuple[str, ...] = ()
    user_header: str = "X-Forwarded-User"
    token_file: str | None = None
    reviews: str | None = None


class _Server(uvicorn.Server):
    """Signals are aclkit's own (``runtime.ending``): they end the process, which holds nothing."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the handlers as they are."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and let many wait to be accepted; asyncio accepts as many at once as may wait."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(WAITING)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A server that listens and does not answer yet.

    Attributes:
        server: answers.
        listening: the socket.
        place: the address without a path.
        token: the token that was made; None if it is in a file.
    """

    server: uvicorn.Server
    listening: socket.socket
    place: str
    token: str | None

    @property
    def address(self) -> str:
        """The address to open; it holds a token that was made."""
        return f"{self.place}/" + ("" if self.token is None else f"?{ENTRY}={self.token}")

    def run(self) -> None:
        """Answer until the process, or ``server.should_exit``, ends it."""
        with self.listening:
            self.server.run(sockets=[self.listening])


def listen(serving: Serving, make_app: Callable[[Auth], ASGIApp], posts: Posts = FORMS) -> Prepared:
    """Take the address, and put an application behind the door.

    Args:
        serving: the options.
        make_app: puts the application behind a door.
        posts: what the application is sent.

    Raises:
        UsageError: an option makes no sense.
        SurroundingsError: the address is taken, or none of this machine's.
    """
    made = secrets.token_urlsafe(32) if serving.token_file is None else None
    token = (lambda: made) if made is not None else TokenFile(str(serving.token_file))
    proxies = parse_proxies(serving.trusted_proxy)
    listening = _listen(serving.listen, serving.port)
    port = listening.getsockname()[1]
    door = Auth(
        token=token,
        sessions=Sessions(token=token),
        hosts=served_hosts(serving.listen, port, serving.allow_host),
        cookie=f"aclkit-{port}",
        proxies=proxies,
        user_header=serving.user_header.lower(),
        posts=posts,
    )
    config = uvicorn.Config(
        make_app(door), log_config=None, access_log=False, proxy_headers=False,
        server_header=False, ws="none", http=guarded(door.trusts), backlog=AT_ONCE,
        timeout_keep_alive=5, h11_max_incomplete_event_size=LONGEST_QUERY + _HEAD,
    )  # fmt: skip
    place = f"http://{host_to_open(serving.listen)}:{port}"
    return Prepared(_Server(config), listening, place, made)


def _listen(address: str, port: int) -> socket.socket:
    """Take an address.

    Raises:
        SurroundingsError: it is taken, or none of this machine's.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address.strip("[]"), port), family=family)
    except OSError as error:
        raise SurroundingsError(
            f"Cannot listen on {address} port {port}: {error.strerror or error}. "
            "Pass an address of this machine and a free port: --listen, --port."
        ) from None
