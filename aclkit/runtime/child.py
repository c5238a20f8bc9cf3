"""A command → a program that ends with this process, however this process ends.

A program that outlives a killed run could still write into the warehouse whose lock is free
again. So the kernel ends it with its parent (Linux), and it holds what its parent holds: the
warehouse's lock and the scratch folder's are free when both are gone. A Python among them takes
no module from the current folder: it may be a stranger's checkout.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

SAFE_PATH: Final = {"PYTHONSAFEPATH": "1"}
"""The variable with which a Python, and what it starts, takes no module from the current folder."""

_PR_SET_PDEATHSIG: Final = 1
_SECONDS_TO_DIE: Final = 10
# Looked up now: a child that was forked among threads may take no lock.
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
_running: list[subprocess.Popen[bytes]] = []
_held: set[int] = set()


@contextmanager
def held_by_children(descriptor: int) -> Iterator[None]:
    """Let programs that are started meanwhile hold a locked file too, until they have ended.

    Who frees the lock earlier must unlock it: to close the file is not enough.
    """
    _held.add(descriptor)
    try:
        yield
    finally:
        _held.discard(descriptor)


def start(command: Sequence[str], **settings: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 -- Popen's own
    """Start a program; ``end`` or ``kill_all`` ends it, at the latest the end of this process.

    Ctrl-C is none of its business: a terminal sends it to all programs, and what is to be done
    about it this one knows.

    Args:
        command: the program and its arguments.
        settings: what else ``subprocess.Popen`` takes.

    Raises:
        OSError: it does not start.
    """
    settings["env"] = {**settings.get("env", os.environ), **SAFE_PATH}
    process = subprocess.Popen(  # noqa: S603 -- arguments made here
        command, pass_fds=tuple(_held), preexec_fn=bound(), **settings
    )
    _running.append(process)
    return process


def python_module(module: str) -> list[str]:
    """Return the command of a module of ours; the rest of its arguments may follow.

    ``-P``: no module from the current folder. ``-B``: what may not write compiles no files.
    """
    return [sys.executable, "-P", "-B", "-m", module]


def module_path() -> str:
    """Return PYTHONPATH for such a command: where modules come from, but the current folder."""
    return os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)


def bound() -> Callable[[], None]:
    """Return what a child calls before its work, as ``preexec_fn`` or as an initializer.

    The kernel watches the thread that starts the program, so only the main thread's are bound:
    another thread may end long before this process.
    """
    is_main = threading.current_thread() is threading.main_thread()
    return partial(_bind, os.getpid() if is_main else None)


def _bind(parent: int | None) -> None:
    """Leave Ctrl-C to the parent, and end with it where it is known."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _prctl is not None and parent is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)  # it was killed before the kernel knew


def end(process: subprocess.Popen[bytes], patience: float = 0) -> None:
    """Close a program's stdin, which asks it to end; kill it after ``patience`` seconds."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        _kill(process)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS_TO_DIE)
    if process in _running:
        _running.remove(process)


def kill_all() -> None:
    """Kill every program that runs, at once, and wait for none."""
    for process in _running:
        _kill(process)


def end_all() -> None:
    """Kill every program that runs, and wait until they are gone."""
    for process in [*_running]:
        end(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(PermissionError):  # this process has become another user
        process.kill()
