"""A path that a user named → its bytes or its text, whatever lies there.

The one way to a user's file on this machine. Nothing is waited for without end, and never more is
read than the caller allows: a pipe without a writer, a device without an end and a file
that is far too large are refused in words. A pipe that does end is read like a file, for shells
make one of ``<(command)``.
"""

from __future__ import annotations

import codecs
import errno
import os
import select
import stat
from contextlib import suppress
from typing import Final

from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.runtime.deadline import Deadline
from aclkit.runtime.uri import is_remote, shown

MIB: Final = 1 << 20

LARGEST_TEXT: Final = 4 * MIB
"""Bytes of a file that people write: options, assertions, mutes, an address, properties."""

LARGEST_DATA: Final = 128 * MIB
"""Bytes of a file that programs write: an inventory, a change set, a baseline."""

PATIENCE: Final = 10.0
"""Seconds in which a pipe or a device must have come to its end."""

_CHUNK: Final = MIB
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NO_SUCH_FILE: Final = (errno.ENOENT, errno.ENOTDIR)
_NO_FILE: Final = (errno.ELOOP, errno.ENAMETOOLONG, errno.ENXIO, errno.EISDIR, errno.EINVAL)
UTF_16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Byte order marks with which a text in UTF-16 begins."""


def read_file(path: str, most: int) -> bytes:
    """Read a file, pipe or device to its end.

    Args:
        path: on this machine, or a URI of an object store.
        most: how many bytes it may have.

    Raises:
        UsageError: there is none, it is a folder, it is larger, or it comes to no end in time.
        SurroundingsError: it cannot be read.
    """
    if is_remote(path):
        return _read_object(path, most)
    try:
        descriptor = os.open(path, _FLAGS)
        try:
            return _read(descriptor, path, most)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _as_ours(error, path) from None
    except ValueError:  # a NUL in the path, or half a surrogate pair
        raise UsageError(f"Expected the path of a file, found {path!a}") from None


def _read_object(uri: str, most: int) -> bytes:
    # Imported here, so that reading files of this machine does not wait for obstore.
    from aclkit.runtime.objects import get_object

    try:
        content = get_object(uri, most)
    except FileNotFoundError:
        raise UsageError(f"{shown(uri)}: the file does not exist") from None
    except OSError as error:
        raise SurroundingsError(f"cannot be read: {error}") from None
    if content is None:
        raise too_large(shown(uri), most)
    return content


def read_text(path: str, most: int = LARGEST_TEXT) -> str:
    """Read a file of text, as ``read_file`` does; UTF-8, or UTF-16 with its byte order mark.

    Raises:
        UsageError: as in ``read_file``, or other bytes than text.
        SurroundingsError: it cannot be read.
    """
    return decode(read_file(path, most), path)


def decode(data: bytes, path: str) -> str:
    """Return the text of a file, without a byte order mark; ``path`` is for the message.

    UTF-16 is what spreadsheets and shells on Windows write; its mark tells it from UTF-8.

    Raises:
        UsageError: it is neither.
    """
    encoding = "utf-16" if data.startswith(UTF_16_MARKS) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        name = encoding.removesuffix("-sig").upper()
        raise UsageError(f"{path}: expected {name}, found other bytes in line {line}") from None


def too_large(path: str, most: int) -> UsageError:
    """Return the error about a file of more than ``most`` bytes."""
    amount = f"{most // MIB} MiB" if most >= MIB else f"{most:,} bytes"
    return UsageError(f"{path}: expected a file of at most {amount}, found a larger one")


def _read(descriptor: int, path: str, most: int) -> bytes:
    about = os.fstat(descriptor)
    if stat.S_ISDIR(about.st_mode):
        raise UsageError(f"{path}: expected a file, found a folder")
    is_regular = stat.S_ISREG(about.st_mode)
    if is_regular and about.st_size > most:
        raise too_large(path, most)
    deadline = None if is_regular else Deadline(PATIENCE)
    content = bytearray()
    while chunk := _next_chunk(descriptor, path, deadline):
        content += chunk
        if len(content) > most:
            raise too_large(path, most)
    return bytes(content)


def _next_chunk(descriptor: int, path: str, deadline: Deadline | None) -> bytes:
    """Return what comes next; of a file at once, else as soon as something is there."""
    if deadline is None:
        return os.read(descriptor, _CHUNK)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while poll.poll(deadline.left * 1_000):
        with suppress(BlockingIOError):  # another reader was quicker
            return os.read(descriptor, _CHUNK)
    raise UsageError(
        f"{path}: expected a file, found a pipe or device that did not end within {PATIENCE:g} s"
    )


def _as_ours(error: OSError, path: str) -> AclkitError:
    if error.errno in _NO_SUCH_FILE:
        return UsageError(f"{path}: the file does not exist")
    if error.errno in _NO_FILE:
        return UsageError(f"{path}: expected a file: {error.strerror}")
    return SurroundingsError(f"{path}: cannot be read: {error.strerror or error}")
