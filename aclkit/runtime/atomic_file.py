"""A path → a file that exists as a whole or not at all, without remains of a killed run.

A stronger user who follows a stranger's link writes where the stranger cannot. The kernel refuses
that in sticky folders alone. What aclkit itself names is opened without following any link; what a
user names may be a link of that user's own, or of root's, such as ``/dev/stdout``.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, Final, TextIO, cast

from aclkit.errors import SurroundingsError
from aclkit.runtime.permissions import set_modes
from aclkit.runtime.scratch import held, scratch
from aclkit.runtime.signals import before_end
from aclkit.runtime.uri import is_uri

_SUFFIX: Final = ".part"
_LONGEST_NAME: Final = 200
_ESCAPED: Final = "backslashreplace"
"""What becomes of half surrogates, which UTF-8 cannot write: an escape, in JSON too."""
"""Bytes of the file's own name in that of its part; a name may have 255."""


def write_atomically(
    path: str | Path, text: str, *, for_everybody: bool = False, is_ours: bool = False
) -> None:
    """Write a text as ``open_atomically`` does."""
    with open_atomically(path, for_everybody=for_everybody, is_ours=is_ours) as file:
        file.write(text)


@contextmanager
def open_atomically(
    path: str | Path, *, for_everybody: bool = False, is_ours: bool = False
) -> Iterator[TextIO]:
    """Open a file so that a reader sees the old content or the new one, never a part.

    Prometheus reads whatever it finds at the moment it looks. A link of one's own stays one. What
    is no file, a pipe or a device, is written to: root could replace ``/dev/null``. A file that is
    replaced keeps its mode. What a URI names is put into its store at the end, in one piece.

    Args:
        path: where: a path, or a URI.
        for_everybody: others may read a new file; in a bucket the bucket's own rules decide.
        is_ours: no user named it, so whatever lies there is replaced, a link too.

    Raises:
        UsageError: no such kind of store is known.
        SurroundingsError: another user's link lies there.
        OSError: it cannot be written.
    """
    if is_uri(str(path)):
        with _put_at_the_end(str(path)) as file:
            yield file
        return
    path = Path(path)
    led = follow_own_links(path.parent) / path.name if is_ours else follow_own_links(path)
    if not is_ours and path.exists() and not path.is_file():
        descriptor = open_no_file(path)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors=_ESCAPED, newline="") as file:
            yield file
        return
    # Not what the last part links to by now: that was looked at.
    path = led.parent.resolve() / led.name
    _remove_left(path)
    descriptor, part = _make_part(path)
    try:
        with (
            before_end(lambda: part.unlink(missing_ok=True)),
            os.fdopen(descriptor, "w", encoding="utf-8", errors=_ESCAPED, newline="") as file,
        ):
            replaced = path.stat() if path.is_file() and not path.is_symlink() else None
            set_modes(descriptor, replaced, for_everybody=for_everybody)
            yield file
            file.flush()
            os.fsync(descriptor)
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _put_at_the_end(uri: str) -> Iterator[TextIO]:
    """Yield a temporary file that becomes an object when nothing has failed."""
    # Imported here, so that writing a file does not wait for obstore.
    from aclkit.runtime.objects import put_object

    with tempfile.TemporaryFile(dir=scratch()) as content:
        file = TextIOWrapper(content, encoding="utf-8", errors=_ESCAPED, newline="")
        yield file
        file.flush()
        content.seek(0)
        put_object(uri, cast(BinaryIO, content))


def _make_part(path: Path) -> tuple[int, Path]:
    """Make the file next to it that is written first, and lock it."""
    while True:
        # It does not end like the file, so that a collector of *.prom does not read it.
        descriptor, name = tempfile.mkstemp(_SUFFIX, _prefix(path), path.parent)
        with suppress(OSError):  # a disk without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return descriptor, Path(name)
        os.close(descriptor)  # taken for a left one, in the moment before it was locked


def _remove_left(path: Path) -> None:
    """Remove the parts of this file that killed runs left: no process locks them."""
    prefix = _prefix(path)
    with os.scandir(path.parent) as entries:
        left = [e.path for e in entries if e.name.startswith(prefix) and e.name.endswith(_SUFFIX)]
    for part in left:
        with suppress(OSError), held(part, os.O_WRONLY | os.O_NONBLOCK):
            Path(part).unlink()


def _prefix(path: Path) -> str:
    return f".{os.fsencode(path.name)[:_LONGEST_NAME].decode(errors='replace')}."


_MOST_LINKS: Final = 40
_OPEN: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def follow_own_links(path: Path) -> Path:
    """Return where a path leads by links of one's own or of root in its last part.

    That is no link now. A link may come there later, so who writes there replaces what is there.

    Raises:
        SurroundingsError: a link is another user's, or is changed meanwhile.
        OSError: the links lead in a circle.
    """
    link = path
    for _ in range(_MOST_LINKS):
        try:
            found = link.lstat()
        except OSError:  # writing reports it
            return link
        if not stat.S_ISLNK(found.st_mode):
            return link
        if found.st_uid not in (0, os.geteuid()):
            raise SurroundingsError(
                f"{path} is a symbolic link that another user made (uid {found.st_uid}), so it is "
                "not written to. Remove the link, or pass the path of a file."
            )
        target = os.readlink(link)  # noqa: PTH115 -- a Path would drop ".."
        if not _is_same(link, found):
            raise SurroundingsError(f"{path} was changed while it was opened. Run it again.")
        link = link.parent / target
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def open_no_file(path: Path) -> int:
    """Open a pipe or a device to write to it, whatever links lead there.

    Raises:
        SurroundingsError: it is a file by now.
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SurroundingsError(f"{path} was changed while it was opened. Run it again.")
    return descriptor


def _is_same(link: Path, before: os.stat_result) -> bool:
    now = link.lstat()
    return (now.st_ino, now.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


def open_own(path: Path) -> int:
    """Open a file of aclkit's own to read it and to add to it, made if it is not there.

    Raises:
        SurroundingsError: a link or something else than a file lies there.
        OSError: it cannot be opened.
    """
    try:
        descriptor = os.open(path, _OPEN, 0o666)
    except OSError:
        if path.is_symlink():
            raise SurroundingsError(_NO_FILE.format(path)) from None
        raise
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise SurroundingsError(_NO_FILE.format(path))
    return descriptor


_NO_FILE: Final = "{} is a link or no plain file, and aclkit makes none such. Remove it."
