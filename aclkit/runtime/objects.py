"""Bytes → one object of an object store, whole or not at all; obstore's errors as the system's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from aclkit.errors import UsageError, first_line
from aclkit.runtime.object_stores import plain_uri
from aclkit.runtime.uri import shown

if TYPE_CHECKING:
    from obstore.store import ObjectStore


def put_object(uri: str, content: BinaryIO) -> None:
    """Put an object in the place of what is there; a reader sees the one or the other.

    Raises:
        UsageError: no such kind of store is known, or the URI names a bucket and no object.
        OSError: it could not be put.
    """
    store, name = _place(uri)
    with as_os_errors(shown(uri)):
        obstore.put(store, name, content)


def get_object(uri: str, most: int) -> bytes | None:
    """Return what an object holds, or None where it has more than ``most`` bytes.

    Raises:
        UsageError: no such kind of store is known, or the URI names a bucket and no object.
        FileNotFoundError: there is no such object.
        OSError: it could not be read.
    """
    store, name = _place(uri)
    with as_os_errors(shown(uri)):
        found = obstore.get(store, name)
        return None if found.meta["size"] > most else bytes(found.bytes())


def _place(uri: str) -> tuple[ObjectStore, str]:
    """Return the store of a folder, and the name of an object there."""
    folder, _, name = plain_uri(uri).rpartition("/")
    if not name or folder.endswith(":/"):
        raise UsageError(f"{shown(uri)}: expected a path after the bucket's name")
    try:
        return from_url(folder), name
    except (BaseError, ValueError):
        raise UsageError(f"{shown(uri)}: expected a path, or a URI of s3a, gs or abfss") from None


@contextmanager
def as_os_errors(path: str) -> Iterator[None]:
    """Raise the system's errors for obstore's own: of these the first line, without its causes.

    What a condition of the request forbids is a FileExistsError.
    """
    try:
        yield
    except (AlreadyExistsError, PreconditionError) as error:
        raise FileExistsError(path) from error
    except BaseError as error:
        raise OSError(f"{path}: {first_line(error)}") from error
