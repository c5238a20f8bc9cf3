"""A path that is written → where it leads, if no other user's link or pipe lies there. Reads only.

A stronger user who follows a stranger's link writes where the stranger cannot. The kernel refuses
that in sticky folders alone. What aclkit itself names is opened without following any link; what a
user names may be a link of that user's own, or of root's, such as ``/dev/stdout``.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

from aclkit.errors import SurroundingsError

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
