"""A URI of object storage → whether its store answers us, or what is wrong, within seconds.

Asked before Spark is started, because Spark's own file systems retry for minutes. A store's reply
is searched for its error code. Nothing else of it is shown, because a request holds a signature.
"""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import from_url

from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.runtime.deadline import within
from aclkit.runtime.object_store import as_s3, is_s3, s3_access
from aclkit.runtime.uri import split_scheme

SECONDS: Final = 12.0
"""For all of it, however slow names are found and connections made."""

_STORES: Final = ("s3", "s3a", "gs", "abfs", "abfss")
_RETRIES: Final[obstore.store.RetryConfig] = {
    "max_retries": 2,
    "retry_timeout": timedelta(seconds=6),
}
_STATUS: Final = re.compile(r"status code: (\d{3})")
_CODE: Final = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")

_OF_KEYS: Final = ("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken")
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
    if split_scheme(uri)[0] not in _STORES:
        return
    try:
        problem = within(seconds, lambda: _ask(uri))
    except TimeoutError:
        raise SurroundingsError(
            f"{_tried(uri)}: no answer within {seconds:g} s. {_address(uri)}"
        ) from None
    if problem is not None:
        raise problem


def _ask(uri: str) -> AclkitError | None:
    """List what lies directly below a URI; return what is wrong."""
    limits: obstore.store.ClientConfig = {
        "timeout": timedelta(seconds=5),
        "connect_timeout": timedelta(seconds=5),
        # These options replace all options from the environment.
        "allow_http": s3_access().allow_http,
    }
    try:
        store = from_url(as_s3(uri), client_options=limits, retry_config=_RETRIES)
        obstore.list_with_delimiter(store)
    except (BaseError, OSError, ValueError) as error:
        return _explained(uri, str(error))
    return None


def _explained(uri: str, told: str) -> AclkitError:
    """Return the error for what the client reports."""
    status = next(iter(_STATUS.findall(told)), None)
    code = next(iter(_CODE.findall(told)), None)
    said = code or (f"status {status}" if status else "")
    tried = _tried(uri)
    if any(mark in told.partition("\n")[0] for mark in _METADATA):
        return UsageError(f"{tried}: there are no credentials. {_credentials(uri)}")
    if code in _OF_REGIONS or status == "301":
        return UsageError(
            f"{tried}: it is in another region ({said}). Set AWS_REGION, or region of [storage]."
        )
    if code in _OF_KEYS or status == "401":
        return UsageError(f"{tried}: the credentials are rejected ({said}). {_credentials(uri)}")
    if status == "403":
        return UsageError(
            f"{tried}: these credentials are not allowed to list it ({said}). They need the "
            "permissions to list and read, and for runs to write and delete."
        )
    if status == "404":
        return UsageError(f"{tried}: the bucket does not exist ({said}). Check its name.")
    if status is not None:
        return SurroundingsError(f"{tried}: the object store fails ({said}). Try again later.")
    return _not_connected(uri, tried, told)


def _not_connected(uri: str, tried: str, told: str) -> AclkitError:
    """Return the error for a store that never answered."""
    if "BadScheme" in told:
        return UsageError(
            f"{tried}: the address is plain HTTP. Use https://, or set AWS_ALLOW_HTTP=true."
        )
    if host := _unknown_host(uri):
        return UsageError(f"{tried}: the host {host} does not exist. {_address(uri)}")
    if "ConnectionRefused" in told:
        return UsageError(f"{tried}: nothing listens there. {_address(uri)}")
    if "kind: Timeout" in told:
        return SurroundingsError(f"{tried}: no answer in time. {_address(uri)}")
    if "kind: Connect" in told:
        return UsageError(
            f"{tried}: no connection; perhaps the server does not use TLS. {_address(uri)}"
        )
    return SurroundingsError(f"{tried}: the connection ended without an answer. Try again later.")


def _unknown_host(uri: str) -> str | None:
    """Return the host of the store, if its name does not resolve."""
    host = _host(uri)
    if host is not None:
        try:
            socket.getaddrinfo(host, 443)
        except OSError:
            return host
    return None


def _host(uri: str) -> str | None:
    if not is_s3(uri):
        return urlsplit(uri).hostname if uri.startswith("abfs") else None
    access = s3_access()
    with suppress(ValueError):
        return urlsplit(access.endpoint or f"https://s3.{access.region}.amazonaws.com").hostname
    return None


def _tried(uri: str) -> str:
    """Describe what was tried, without what may be secret."""
    place = uri.partition("?")[0]
    access = s3_access()
    if not is_s3(uri):
        return f"Cannot open {place}"
    if access.endpoint is None:
        return f"Cannot open {place} at AWS, region {access.region or 'us-east-1'}"
    url = urlsplit(access.endpoint)
    return f"Cannot open {place} at {url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"


def _address(uri: str) -> str:
    """Describe which settings a store's address is made of."""
    if is_s3(uri):
        return "Check AWS_ENDPOINT_URL and AWS_REGION, or [storage] of the settings."
    return "Check its name."


def _credentials(uri: str) -> str:
    """Describe where a store's credentials come from."""
    if is_s3(uri):
        return (
            "Set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for a role, AWS_SESSION_TOKEN "
            '(eval "$(aws configure export-credentials --format env)"), or give this '
            "machine a role."
        )
    if uri.startswith("gs"):
        return "Set GOOGLE_APPLICATION_CREDENTIALS to a file, or give this machine an account."
    return "Set AZURE_STORAGE_ACCOUNT_KEY, or AZURE_CLIENT_ID with its secret and AZURE_TENANT_ID."
