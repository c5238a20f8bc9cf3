"""An address, a body and headers → the status of one POST, within a time that holds whatever comes.

No redirect is followed and nothing is sent twice. For https the proxy counts that the environment
names, with its credentials. No message and no log line holds the address.
"""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.util.retry import Retry

# At DEBUG it logs the path of each request, which is a secret here.
logging.getLogger("urllib3.connectionpool").setLevel(logging.WARNING)


class Answer(NamedTuple):
    """What a server answered.

    Attributes:
        status: of HTTP.
        retry_after: the seconds that it asks to wait, from a number or a date; 0 where it does not.
    """

    status: int
    retry_after: float


class PostError(Exception):
    """The request did not come through; its text is the class of the cause alone."""


class UntrustedError(PostError):
    """The certificate of the server is not trusted."""


def post(address: str, body: bytes, headers: Mapping[str, str], seconds: float) -> Answer:
    """Send one request and return what the server answers.

    Raises:
        TimeoutError: there was no whole answer in time, even where the server sends letter by
            letter.
        UntrustedError: the certificate of the server is not trusted.
        PostError: it could not be reached.
    """
    held: list[Answer | Exception] = []
    # A socket's time limit starts anew with every byte: who sends slowly is left alone.
    asking = threading.Thread(
        target=_ask, args=(held, address, body, headers, seconds), daemon=True
    )
    asking.start()
    asking.join(seconds)
    if not held:
        raise TimeoutError
    if isinstance(held[0], Exception):
        raise held[0]
    return held[0]


def _ask(
    held: list[Answer | Exception],
    address: str,
    body: bytes,
    headers: Mapping[str, str],
    seconds: float,
) -> None:
    try:
        with manager_for(address) as manager:
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
            held.append(Answer(answer.status, _seconds(answer.headers.get("Retry-After"))))
            answer.close()
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        held.append(_as_ours(error))


def manager_for(address: str) -> urllib3.PoolManager:
    """Return what makes the connection, for https through the proxy of the environment.

    A proxy without a port is asked on that of its own scheme.
    """
    parts = urlsplit(address)
    proxy = getproxies().get("https") if parts.scheme == "https" else None
    if not proxy or proxy_bypass(parts.hostname or ""):
        return urllib3.PoolManager()
    where = urlsplit(proxy if "://" in proxy else "http://" + proxy)
    credentials = ":".join(map(unquote, (where.username or "", where.password or "")))
    told = urllib3.make_headers(proxy_basic_auth=credentials) if where.username else None
    bare = where._replace(netloc=where.netloc.rpartition("@")[2])
    return urllib3.ProxyManager(bare.geturl(), proxy_headers=told)


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
        return UntrustedError(type(cause).__name__)
    return TimeoutError() if isinstance(cause, TimeoutError) else PostError(type(cause).__name__)


def _behind(error: BaseException) -> BaseException | None:
    last = error.args[-1] if error.args else None
    return error.__cause__ or (last if isinstance(last, Exception) else None)
