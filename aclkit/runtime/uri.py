"""A path or a URI → which of the two it is, what of a URI is secret; an address → whose."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final

_MASK: Final = "***"
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_uri(text: str) -> bool:
    """Whether a text begins as a URI does.

    >>> is_uri("s3a://bucket/acls"), is_uri("/data/a://b"), is_uri("C:/data")
    (True, False, False)
    """
    return _URI.match(text) is not None


def split_scheme(text: str) -> tuple[str, str]:
    """Return the scheme of a URI in small letters, and what follows it; of a path no scheme.

    >>> split_scheme("S3A://bucket/acls"), split_scheme("/data/acls")
    (('s3a', 'bucket/acls'), ('', '/data/acls'))
    """
    scheme, mark, rest = text.partition("://")
    return (scheme.lower(), rest) if mark else ("", text)


def is_remote(text: str) -> bool:
    """Whether a text is a URI of another place than this machine's disks.

    >>> is_remote("s3a://bucket/acls"), is_remote("file:///data"), is_remote("/data")
    (True, False, False)
    """
    return is_uri(text) and not text.startswith("file://")


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
    if not is_remote(path):
        return []
    stem, query = split_query(path)
    password = stem.partition("://")[2].rpartition("@")[0].partition(":")[2]
    return [secret for secret in (password, query.removeprefix("?")) if secret]


def shown(path: str) -> str:
    """Return a path without the credentials of a URI.

    >>> shown("s3://KEY:SECRET@bucket/a.log?region=eu"), shown("a:b@c?d")
    ('s3://KEY:***@bucket/a.log?***', 'a:b@c?d')
    """
    return without_secrets(path, path)


def without_secrets(text: str, path: str) -> str:
    """Take the password and the query of a URI out of a text about it."""
    for secret in secrets_of(path):
        text = text.replace(secret, _MASK)
    return text


def child(folder: str, name: str) -> str:
    """Return the path of a file in a folder; the query of a URI stays after it.

    >>> child("s3://b/d/?region=eu", "a.log")
    's3://b/d/a.log?region=eu'
    """
    stem, query = split_query(folder)
    return f"{stem.rstrip('/')}/{name}{query}"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address; of a name it is not known.

    >>> [is_loopback(host) for host in ("127.0.0.1", "[::1]", "localhost", "0.0.0.0", "::")]
    [True, True, True, False, False]
    """
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
