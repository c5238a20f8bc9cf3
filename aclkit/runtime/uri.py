"""A path or a URI → which of the two it is, what of a URI is secret; an address → whose."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final

_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_uri(text: str) -> bool:
    """Whether a text begins as a URI does.

    >>> is_uri("s3a://bucket/acls"), is_uri("/data/a://b"), is_uri("C:/data")
    (True, False, False)
    """
    return _URI.match(text) is not None


def split_query(path: str) -> tuple[str, str]:
    """Split off the query of a URI, with its question mark; a path has none."""
    stem, mark, query = path.partition("?") if is_uri(path) else (path, "", "")
    return stem, mark + query


def has_password(uri: str) -> bool:
    """Whether a URI names a password; one name before the @ is a container of Azure's."""
    user, at, _ = uri.partition("://")[2].partition("/")[0].rpartition("@")
    return bool(at) and ":" in user


def secrets_of(path: str) -> list[str]:
    """Return what of a path must not be shown: the password and the query of a URI.

    A password may hold a slash, so all before the last @ counts; too much is masked, not too
    little.
    """
    if not is_uri(path) or path.startswith("file://"):
        return []
    stem, query = split_query(path)
    password = stem.partition("://")[2].rpartition("@")[0].partition(":")[2]
    return [secret for secret in (password, query.removeprefix("?")) if secret]


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address; of a name it is not known.

    >>> [is_loopback(host) for host in ("127.0.0.1", "[::1]", "localhost", "0.0.0.0", "::")]
    [True, True, True, False, False]
    """
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
