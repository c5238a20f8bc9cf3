"""An address, a body and headers → the answer to one POST, within a time that holds whatever comes.

No redirect is followed and nothing is sent twice. Where the caller allows it, the proxy that the
environment names is used, with its credentials. No message and no log line holds the address.
"""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, Self
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.retry import Retry

from aclkit.runtime.deadline import within

# At DEBUG it logs the path of each request, which is a secret here.
logging.getLogger("urllib3.connectionpool").setLevel(logging.WARNING)


class Answer(NamedTuple):
    """What a server answered.

    Attributes:
        status: of HTTP.
        retry_after: the seconds that it asks to wait, from a number or a date; 0 where it does not.
        body: its beginning, as long as the caller allows.
    """

    status: int
    retry_after: float
    body: bytes


class PostError(Exception):
    """The request did not come through; its text is the class of the cause alone.

    ``cause`` is what went wrong first. Its own text may hold the address.
    """

    def __init__(self, cause: BaseException) -> None:
        """Keep the cause."""
        super().__init__(type(cause).__name__)
        self.cause = cause


class UntrustedError(PostError):
    """The certificate of the server is not trusted."""


def post(
    address: str,
    body: bytes,
    headers: Mapping[str, str],
    seconds: float,
    *,
    tls: ssl.SSLContext | None = None,
    proxied: Collection[str] = ("https",),
    most: int = 0,
) -> Answer:
    """Send one request and return what the server answers.

    Args:
        address: http or https.
        body: what is sent.
        headers: sent along.
        seconds: how long all of it may take, even where the server sends letter by letter.
        tls: whom to trust, and as whom to connect; the system's without.
        proxied: schemes for which the proxy of the environment is used.
        most: how many bytes of the answer's body are read.

    Raises:
        TimeoutError: there was no whole answer in time. The connection is cut, so that the thread
            that waits for it ends, and its descriptor with it.
        UntrustedError: the certificate of the server is not trusted.
        PostError: it could not be reached.
    """
    wires = _Wires()

    def send() -> Answer:
        try:
            with wires, manager_for(address, tls, proxied) as manager:
                wires.attach(manager)
                answer = manager.request(
                    "POST",
                    address,
                    body=body,
                    headers={**headers, "Connection": "close"},
                    timeout=urllib3.Timeout(total=seconds),
                    retries=False,
                    redirect=False,
                    preload_content=False,
                )
                wait = _seconds(answer.headers.get("Retry-After"))
                found = answer.read(most) if most else b""
                answer.close()
                return Answer(answer.status, wait, found)
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise _as_ours(error) from None

    try:
        return within(seconds, send)
    except TimeoutError:
        wires.cut()
        raise


class _Wires:
    """The connections of one request, which another thread can cut.

    What is kept is a second descriptor of each: TLS takes the first one over.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[socket.socket] = []
        self._is_cut = False

    def attach(self, manager: urllib3.PoolManager) -> None:
        """Keep what a manager connects."""
        keep = self._keep

        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return keep(super()._new_conn())

        class Encrypted(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return keep(super()._new_conn())

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class EncryptedPool(HTTPSConnectionPool):
            ConnectionCls = Encrypted

        manager.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}

    def cut(self) -> None:
        """End the connections: what waits for them gets no more."""
        with self._lock:
            self._is_cut = True
            for kept in self._kept:
                with suppress(OSError):
                    kept.shutdown(socket.SHUT_RDWR)

    def _keep(self, connected: socket.socket) -> socket.socket:
        with self._lock:
            if self._is_cut:
                connected.close()
                raise TimeoutError
            self._kept.append(connected.dup())
        return connected

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            while self._kept:
                self._kept.pop().close()


def manager_for(
    address: str, tls: ssl.SSLContext | None = None, proxied: Collection[str] = ("https",)
) -> urllib3.PoolManager:
    """Return what makes the connection, where it is used through the proxy of the environment.

    A proxy without a port is asked on that of its own scheme.
    """
    # urllib3 would check the name of the server itself where the context does not.
    is_any_name = tls is not None and not tls.check_hostname
    options: dict[str, Any] = {
        "ssl_context": tls,
        "assert_hostname": False if is_any_name else None,
    }
    parts = urlsplit(address)
    proxy = getproxies().get(parts.scheme) if parts.scheme in proxied else None
    if not proxy or proxy_bypass(parts.hostname or ""):
        return urllib3.PoolManager(**options)
    where = urlsplit(proxy if "://" in proxy else "http://" + proxy)
    credentials = ":".join(map(unquote, (where.username or "", where.password or "")))
    headers = urllib3.make_headers(proxy_basic_auth=credentials) if where.username else None
    bare = where._replace(netloc=where.netloc.rpartition("@")[2])
    return urllib3.ProxyManager(bare.geturl(), proxy_headers=headers, **options)


def _seconds(text: str | None) -> float:
    """Read Retry-After: seconds, or a date."""
    try:
        return Retry().parse_retry_after(text) if text else 0.0
    except urllib3.exceptions.InvalidHeader:
        return 0.0


def _as_ours(error: Exception) -> Exception:
    """Return an error that reveals only the class of its cause."""
    if isinstance(error, urllib3.exceptions.TimeoutError) and not isinstance(
        error, urllib3.exceptions.NewConnectionError
    ):
        return TimeoutError()
    cause: BaseException = error
    while (behind := _behind(cause)) is not None:
        cause = behind
    if isinstance(cause, ssl.SSLCertVerificationError):
        return UntrustedError(cause)
    return TimeoutError() if isinstance(cause, TimeoutError) else PostError(cause)


def _behind(error: BaseException) -> BaseException | None:
    last = error.args[-1] if error.args else None
    return error.__cause__ or (last if isinstance(last, Exception) else None)
