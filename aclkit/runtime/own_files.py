"""A path that is written → it, unless another user's link or pipe lies there. Reads only.

A stronger user who follows a stranger's link writes where the stranger cannot. The kernel refuses
that in sticky folders alone. What aclkit itself names is opened without following any link; what a
user names may be a link of that user's own, or of root's, such as ``/dev/stdout``.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from aclkit.errors import SurroundingsError

_MOST_LINKS: Final = 40
_OPEN: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def require_own_links(path: Path) -> None:
    """Insist that a path's last part, and all that it links to, is no link of another user.

    Raises:
        SurroundingsError: it is.
    """
    link = path
    for _ in range(_MOST_LINKS):
        try:
            found = link.lstat()
        except OSError:  # writing reports it
            return
        if not stat.S_ISLNK(found.st_mode):
            return
        if found.st_uid not in (0, os.geteuid()):
            raise SurroundingsError(
                f"{path} is a symbolic link that another user made (uid {found.st_uid}), so it is "
                "not written to. Remove the link, or pass the path of a file."
            )
        link = link.parent / os.readlink(link)  # noqa: PTH115 -- a Path would drop ".."


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
