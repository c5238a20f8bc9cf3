"""An alert and the address of a webhook → delivered, or an error that names no secret.

The address of a webhook is a secret, and so is the token: they come from the environment or from
a file, never from the command line, and stand in no message, no log line and no exception.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Timer
from typing import Final
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from aclkit.audit.alerts.alerts import Alert, render_alert
from aclkit.errors import SurroundingsError, UsageError
from aclkit.runtime.user_file import read_text

ADDRESS_VARIABLE: Final = "ACLKIT_ALERT_WEBHOOK"
TOKEN_VARIABLE: Final = "ACLKIT_ALERT_TOKEN"  # noqa: S105 -- the name of a variable
LONGEST_WAIT: Final = 60.0
"""Seconds between two attempts, whatever the server asks for."""

_AGAIN: Final = (408, 425, 429)
"""Besides 5xx: what a server may answer otherwise a little later."""

_LOGGER: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where alerts go.

    Attributes:
        address: http or https; not shown.
        where: where the address was found, for messages.
        token: sent as a bearer token, where there is one; not shown.
        style: see ``alerts.STYLES``.
        timeout: seconds that one attempt may take.
        retries: how many attempts may follow the first.
        pause: seconds before the second attempt; doubled before each further one.
    """

    address: str = field(repr=False)
    where: str
    token: str | None = field(default=None, repr=False)
    style: str = "json"
    timeout: float = 10.0
    retries: int = 3
    pause: float = 1.0


def find_webhook(
    webhook_file: str | None,
    *,
    style: str = "json",
    timeout: float = 10.0,
    retries: int = 3,
    environ: Mapping[str, str] = os.environ,
) -> Webhook | None:
    """Find where alerts go: the file, else the environment, else nowhere.

    A token that would go unencrypted is warned of.

    Raises:
        UsageError: the file cannot be read, or what was found is no address.
    """
    if webhook_file is not None:
        address, where = _read(webhook_file), webhook_file
    else:
        address, where = environ.get(ADDRESS_VARIABLE, "").strip(), ADDRESS_VARIABLE
        if not address:
            return None
    parts = _parse(address, where)
    token = environ.get(TOKEN_VARIABLE, "").strip() or None
    if token is not None and not (token.isascii() and token.isprintable()):
        raise UsageError(f"expected a token of printable ASCII in {TOKEN_VARIABLE}")
    if token is not None and parts.scheme == "http":
        _LOGGER.warning(
            "warning: the address in %s is http, so the token of %s can be read on its way; use "
            "https",
            where,
            TOKEN_VARIABLE,
        )
    return Webhook(
        address=address, where=where, token=token, style=style, timeout=timeout, retries=retries
    )


def send_alert(alert: Alert, webhook: Webhook, sleep: Callable[[float], None] = time.sleep) -> None:
    """Deliver an alert; a server that is busy or away is asked again, later each time.

    A redirect is refused: it could take the alert, and the token, to somebody else.

    Raises:
        SurroundingsError: it could not be delivered.
    """
    body = json.dumps(render_alert(alert, webhook.style)).encode()
    pause = webhook.pause
    for attempt in range(1, webhook.retries + 2):
        problem, asked = _attempt(webhook, body)
        if problem is None:
            _LOGGER.info("alert delivered (webhook of %s)", webhook.where)
            return
        if asked is None or attempt > webhook.retries:
            break
        wait = min(max(pause, asked), LONGEST_WAIT)
        _LOGGER.info("alert: attempt %d: %s; again in %g s", attempt, problem, wait)
        sleep(wait)
        pause *= 2
    raise SurroundingsError(
        f"the alert was not delivered (webhook of {webhook.where}), attempts: {attempt}; {problem}"
    )


def _attempt(webhook: Webhook, body: bytes) -> tuple[str | None, float | None]:
    """Post once; return what went wrong, and how long to wait: None where that is no use."""
    try:
        status, retry_after = _post(webhook, body)
    except ssl.SSLCertVerificationError:
        return "its certificate is not trusted", None
    except TimeoutError:
        return f"no answer within {webhook.timeout:g} s", 0.0
    except (OSError, http.client.HTTPException) as error:
        # Its text may hold the address, its class does not.
        return f"it could not be reached ({type(error).__name__})", 0.0
    if 200 <= status < 300:
        return None, None
    if 300 <= status < 400:
        return f"it answered {status}, a redirect, which is refused", None
    if status >= 500 or status in _AGAIN:
        return f"it answered {status}", retry_after
    return f"it answered {status}", None


def _post(webhook: Webhook, body: bytes) -> tuple[int, float]:
    """Send one request and return the status, and the seconds that the server asks to wait."""
    parts = _parse(webhook.address, webhook.where)
    connection = _connect(parts, webhook.timeout)
    headers = {"Content-Type": "application/json", "User-Agent": "aclkit", "Connection": "close"}
    if webhook.token is not None:
        headers["Authorization"] = f"Bearer {webhook.token}"
    path = parts.path or "/"
    end = time.monotonic() + webhook.timeout
    # A socket's own timeout is one of silence: a server that drips could go on for ever.
    timer = Timer(webhook.timeout, lambda: _hang_up(connection))
    timer.start()
    try:
        connection.request("POST", f"{path}?{parts.query}" if parts.query else path, body, headers)
        answer = connection.getresponse()
        return answer.status, _seconds(answer.headers.get("Retry-After", ""))
    except (OSError, http.client.HTTPException):
        if time.monotonic() >= end:
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
        connection.close()


def _hang_up(connection: http.client.HTTPConnection) -> None:
    sock: socket.socket | None = connection.sock
    if sock is not None:
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


def _connect(parts: SplitResult, timeout: float) -> http.client.HTTPConnection:
    """Make the connection, for https through the proxy that the environment names."""
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=timeout)
    context = ssl.create_default_context()
    proxy = urlsplit(getproxies().get("https", ""))
    if not proxy.hostname or proxy_bypass(host):
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
    through = http.client.HTTPSConnection(
        proxy.hostname, proxy.port, timeout=timeout, context=context
    )
    through.set_tunnel(host, port or 443)
    return through


def _seconds(text: str) -> float:
    return float(text) if text.isdecimal() and len(text) < 6 else 0.0


def _read(path: str) -> str:
    try:
        return read_text(path).strip()
    except UsageError as error:
        raise UsageError(f"{error}; expected the address of a webhook in it") from None


def _parse(address: str, where: str) -> SplitResult:
    """Return the parts of an address.

    Raises:
        UsageError: it is none; the message does not show it.
    """
    try:
        parts = urlsplit(address)
        # What the name system cannot hold (UnicodeError) would fail later, as no OSError.
        is_good = bool((parts.hostname or "").encode("idna")) and parts.port != 0
    except ValueError:
        is_good = False
    clean = address.isascii() and address.isprintable() and " " not in address
    if not is_good or not clean or parts.scheme not in ("http", "https"):
        raise UsageError(f"expected an address http://… or https://… in {where}, found another")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"the address in {where} holds a user or a password: put a token into {TOKEN_VARIABLE}"
        )
    return parts
