"""This process's temporary files: one folder, gone with the process or with the next run.

The folder is locked, with flock and not by a process's number: of several containers that share
``/tmp`` each has numbers of its own. A folder that no process holds is that of a killed run.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from aclkit.runtime.child import held_by_children

PREFIX: Final = "aclkit-run-"
_TRIES: Final = 100
_PAUSE: Final = 0.05
_open = ExitStack()
_folders: dict[int, Path] = {}
"""Of this process alone: a child that was forked makes its own."""


def scratch() -> Path:
    """Return the folder, 0700, made now if there is none; what killed runs left goes first."""
    folder = _folders.get(os.getpid())
    if folder is None:
        tidy(Path(tempfile.gettempdir()))
        folder = _folders[os.getpid()] = _make()
        atexit.register(remove_scratch)
    return folder


def remove_scratch() -> None:
    """Remove the folder with all that is in it."""
    folder = _folders.pop(os.getpid(), None)
    if folder is not None:
        for _ in range(_TRIES):  # Spark's Python workers end a little after their JVM
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(_PAUSE)
        _open.close()


def tidy(parent: Path) -> None:
    """Remove the folders that runs of this user left when they were killed."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError), held(folder, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
            if os.fstat(descriptor).st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def held(path: str | Path, flags: int) -> Iterator[int]:
    """Open and lock what a killed run may have left, for the time of a ``with``.

    Raises:
        OSError: another process holds it, it is gone meanwhile, or no lock can be had here.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor
    finally:
        os.close(descriptor)


def _make() -> Path:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # taken for a left one, in the moment before it was locked
            os.close(descriptor)
            continue
        except OSError:  # a disk without locks: nothing is tidied there
            pass
        if folder.is_dir():
            _open.callback(os.close, descriptor)
            _open.enter_context(held_by_children(descriptor))
            return folder
        os.close(descriptor)
