"""A URI of object storage → whether its store answers us, or what is wrong, within seconds.

Asked before Spark is started, because Spark's own file systems retry for minutes. A store's reply
is searched for its error code. Nothing else of it is shown, because a request holds a signature.
"""

from __future__ import annotations

import re
import socket
from datetime import timedelta
from typing import Final

import obstore
from obstore.exceptions import BaseError
from obstore.store import from_url

from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.runtime.deadline import within
from aclkit.runtime.object_stores import ObjectStore, store_of
from aclkit.runtime.uri import shown, split_scheme

SECONDS: Final = 12.0
"""For all of it, however slow names are found and connections made."""

_RETRIES: Final[obstore.store.RetryConfig] = {
    "max_retries": 2,
    "retry_timeout": timedelta(seconds=6),
}
_STATUS: Final = re.compile(r"status code: (\d{3})")
_CODE: Final = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")

_OF_KEYS: Final = (
    "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
    "AuthenticationFailed",
)  # fmt: skip
_OF_REGIONS: Final = (
    "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException",
)  # fmt: skip
_METADATA: Final = ("169.254.", "metadata", "/latest/api/token", "Credential")


def require_reachable(uri: str, seconds: float = SECONDS) -> None:
    """Insist that a bucket is there, and that it lets us list it; other places are not asked.

    Raises:
        UsageError: no such bucket, host or region, nothing that listens there, or credentials that
            are missing or not let in.
        SurroundingsError: it does not answer in time, or has trouble of its own.
    """
    store = store_of(uri)
    if store is None or split_scheme(uri)[0] not in store.spark_schemes:
        return
    try:
        problem = within(seconds, lambda: _ask(store, uri))
    except TimeoutError:
        raise SurroundingsError(
            f"{_tried(store, uri)}: no answer within {seconds:g} s. {store.address_advice}"
        ) from None
    if problem is not None:
        raise problem


def _ask(store: ObjectStore, uri: str) -> AclkitError | None:
    """List what lies directly below a URI; return what is wrong."""
    limits: obstore.store.ClientConfig = {
        "timeout": timedelta(seconds=5),
        "connect_timeout": timedelta(seconds=5),
        # These options replace all options from the environment.
        "allow_http": store.allows_http(),
    }
    try:
        found = from_url(store.plain_uri(uri), client_options=limits, retry_config=_RETRIES)
        obstore.list_with_delimiter(found)
    except (BaseError, OSError, ValueError) as error:
        return _explained(store, uri, str(error))
    return None


def _explained(store: ObjectStore, uri: str, told: str) -> AclkitError:
    """Return the error for what the client reports."""
    status = next(iter(_STATUS.findall(told)), None)
    code = next(iter(_CODE.findall(told)), None)
    answered = code or (f"status {status}" if status else "")
    kind: type[AclkitError] = UsageError
    if any(mark in told.partition("\n")[0] for mark in _METADATA):
        said = f"there are no credentials. {store.credentials_advice}"
    elif code in _OF_REGIONS or status == "301":
        said = f"it is in another region ({answered}). Set AWS_REGION, or region of [storage]."
    elif code in _OF_KEYS or status == "401":
        said = f"the credentials are rejected ({answered}). {store.credentials_advice}"
    elif status == "403":
        said = (
            f"these credentials are not allowed to list it ({answered}). They need the "
            "permissions to list and read, and for runs to write and delete."
        )
    elif status == "404":
        said = f"the bucket does not exist ({answered}). Check its name."
    elif status is not None:
        kind, said = SurroundingsError, f"the object store fails ({answered}). Try again later."
    else:
        kind, said = _not_connected(store, uri, told)
    return kind(f"{_tried(store, uri)}: {said}")


def _not_connected(store: ObjectStore, uri: str, told: str) -> tuple[type[AclkitError], str]:
    """Return the kind of the error for a store that never answered, and what it says."""
    advice = store.address_advice
    if "BadScheme" in told:
        return UsageError, "the address is plain HTTP. Use https://, or set AWS_ALLOW_HTTP=true."
    if host := _unknown_host(store, uri):
        return UsageError, f"the host {host} does not exist. {advice}"
    if "ConnectionRefused" in told:
        return UsageError, f"nothing listens there. {advice}"
    if "kind: Timeout" in told:
        return SurroundingsError, f"no answer in time. {advice}"
    if "kind: Connect" in told:
        return UsageError, f"no connection; perhaps the server does not use TLS. {advice}"
    return SurroundingsError, "the connection ended without an answer. Try again later."


def _unknown_host(store: ObjectStore, uri: str) -> str | None:
    """Return the host of the store, if its name does not resolve."""
    host = store.host(uri)
    if host is not None:
        try:
            socket.getaddrinfo(host, 443)
        except OSError:
            return host
    return None


def _tried(store: ObjectStore, uri: str) -> str:
    """Describe what was tried, without what may be secret."""
    return f"Cannot open {shown(uri.partition('?')[0])}{store.where()}"
