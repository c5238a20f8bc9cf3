"""An alert and the address of a webhook → delivered, or an error that names no secret.

The address of a webhook is a secret, and so is the token: they come from the environment or from
a file, never from the command line, and stand in no message, no log line and no exception.

A receiver may hang, and further tries take minutes. So a watcher waits for a short time only: what
is under way then lands in a later turn, and nothing else is sent before. Only what has landed is
noted, so a kill in between sends it once more, with the same ``alert_id``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from urllib.parse import SplitResult, urlsplit

from aclkit.audit.alerts.alert import Alert, render_alert
from aclkit.errors import SurroundingsError, UsageError
from aclkit.runtime import signals
from aclkit.runtime.deadline import start
from aclkit.runtime.safe_read import read_text

ADDRESS_VARIABLE: Final = "ACLKIT_ALERT_WEBHOOK"
TOKEN_VARIABLE: Final = "ACLKIT_ALERT_TOKEN"  # noqa: S105 -- the name of a variable
LONGEST_WAIT: Final = 60.0
"""Seconds between two attempts, whatever the server asks for."""

_AGAIN: Final = (408, 425, 429)
"""Status codes that are worth a retry, in addition to 5xx."""

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

    @property
    def receiver(self) -> str:
        """A digest of the address, by which its receiver is known without naming it."""
        return hashlib.blake2b(self.address.encode(), digest_size=16).hexdigest()


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
    # Imported here, so that a report without an alert does not load urllib3.
    from aclkit.runtime.http_post import PostError, UntrustedError, post

    try:
        answer = post(webhook.address, body, _headers(webhook.token), webhook.timeout)
    except UntrustedError:
        return "its certificate is not trusted", None
    except TimeoutError:
        return f"no answer within {webhook.timeout:g} s", 0.0
    except PostError as error:
        return f"it could not be reached ({error})", 0.0
    status = answer.status
    if 200 <= status < 300:
        return None, None
    if 300 <= status < 400:
        return f"it answered {status}, a redirect, which is refused", None
    if status >= 500 or status in _AGAIN:
        return f"it answered {status}", answer.retry_after
    return f"it answered {status}", None


def _headers(token: str | None) -> dict[str, str]:
    bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
    return {"Content-Type": "application/json", "User-Agent": "aclkit", **bearer}


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


class StillSendingError(SurroundingsError):
    """An alert is under way, and has neither arrived nor failed."""


@dataclass(slots=True, kw_only=True)
class Courier:
    """Takes alerts to one receiver.

    Attributes:
        webhook: the receiver.
        patience: seconds to wait for one; None waits for all of its tries.
    """

    webhook: Webhook
    patience: float | None = None
    _under_way: tuple[Future[None], Callable[[], None]] | None = None

    def send(self, alert: Alert, landed: Callable[[], None]) -> None:
        """Send an alert; nothing may be under way.

        Args:
            alert: what is sent.
            landed: notes that it has arrived; called here or by ``settle``.

        Raises:
            StillSendingError: it takes longer.
            SurroundingsError: it was not delivered.
        """
        if self.patience is None:
            send_alert(alert, self.webhook)
            landed()
            return
        sending = start(partial(send_alert, alert, self.webhook), "aclkit-alert")
        self._under_way = sending, landed
        self.settle(self.patience)

    def settle(self, patience: float = 0.0) -> bool:
        """Note what has arrived since; return whether anything has.

        Raises:
            StillSendingError: it is still under way.
            SurroundingsError: it was not delivered.
        """
        if self._under_way is None:
            return False
        sending, landed = self._under_way
        if not signals.wait_for(sending, patience):
            raise StillSendingError("An alert is still being sent.")
        self._under_way = None
        sending.result()
        landed()
        return True
