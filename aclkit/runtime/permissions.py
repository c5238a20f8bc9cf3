"""The mode and the group of what is written: of the whole process, as the umask is.

Spark, deltalake and Python all follow the umask, so it is set once, and no code passes modes.
"""

from __future__ import annotations

import grp
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from aclkit.errors import UsageError
from aclkit.model.values import dataclass

FILE_MODE: Final = 0o640
"""Of a new file; a new folder is open for the same users who can read the file: 0750."""

FOR_EVERYBODY: Final = 0o644
"""Of a file that a stranger's program collects."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _WritingAs:
    is_mode_given: bool = False
    group: int | None = None


_chosen = _WritingAs()


@contextmanager
def writing_as(mode: int | None, group: int | None) -> Iterator[None]:
    """Write with this mode of files and this group meanwhile, whatever the umask was.

    Args:
        mode: None is ``FILE_MODE``, or what an existing warehouse has.
        group: its number; None is whatever the system gives.
    """
    global _chosen
    wanted = FILE_MODE if mode is None else mode
    before, umask = _chosen, os.umask(0o777 & ~(wanted | 0o100 | (wanted & 0o044) >> 2))
    _chosen = _WritingAs(is_mode_given=mode is not None, group=group)
    try:
        yield
    finally:
        _chosen = before
        os.umask(umask)


@contextmanager
def writing_like(folder: Path) -> Iterator[None]:
    """Make new files readable for the users who can read a folder; change no existing mode.

    Where the folder is not there, or a mode was asked for, that of ``writing_as`` holds.
    """
    try:
        mode = None if _chosen.is_mode_given else stat.S_IMODE(folder.stat().st_mode)
    except OSError:  # not there, or nothing of this user's: writing will report it
        mode = None
    if mode is None:
        yield
        return
    before = os.umask(0o777 & ~(mode | 0o700))
    try:
        yield
    finally:
        os.umask(before)


def current_umask() -> int:
    """Return the umask of this process; the system tells it only to who sets one."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing; one that is there stays as it is.

    A new folder hands its group on to all that is made in it.

    Raises:
        OSError: it cannot be made.
    """
    if folder.is_dir():
        if _chosen.group not in (None, folder.stat().st_gid):
            log.info("%s exists, so its group stays as it is", folder)
        return
    make_folder(folder.parent)
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise
        return
    if _chosen.group is not None:
        os.chown(folder, -1, _chosen.group)
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_ISGID)


def set_modes(descriptor: int, replaced: os.stat_result | None, *, for_everybody: bool) -> None:
    """Give an open file its mode and group: those of the file that it replaces, or of a new one."""
    if replaced is not None:
        _set_group(descriptor, replaced.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(replaced.st_mode) & 0o777)
        return
    if _chosen.group is not None:
        os.chown(descriptor, -1, _chosen.group)
    os.fchmod(descriptor, FOR_EVERYBODY if for_everybody else 0o666 & ~current_umask())


def parse_mode(text: str) -> int:
    """Read the mode of files, in octal.

    Raises:
        UsageError: it is none, or its owner could not write, or every user could.
    """
    mode = int(text, 8) if text.isascii() and text.isdecimal() and not set(text) & {*"89"} else -1
    if mode & ~0o664 or mode & 0o600 != 0o600:
        raise UsageError(
            f"Invalid file mode {text!r}: expected an octal number between 0600 and 0664, such "
            "as 0640"
        )
    return mode


def parse_group(text: str) -> int:
    """Read the name or the number of a group that this user may give to a file.

    Raises:
        UsageError: there is none, or this user is no member of it.
    """
    try:
        number = int(text) if text.isdecimal() else grp.getgrnam(text).gr_gid
    except (KeyError, ValueError):
        raise UsageError(f"The group {text!r} does not exist on this machine") from None
    if os.geteuid() and number not in (os.getegid(), *os.getgroups()):
        raise UsageError(
            f"This user is not a member of the group {text!r}, so it cannot give files to that "
            "group"
        )
    return number


def _set_group(descriptor: int, group: int) -> None:
    if os.fstat(descriptor).st_gid != group:
        try:
            os.chown(descriptor, -1, group)
        except PermissionError:
            log.info("Cannot keep the group %s of a replaced file", group)
