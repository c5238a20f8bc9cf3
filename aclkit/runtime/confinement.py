"""This process → one that can write no file for the rest of its life, root's included.

Two walls of the operating system, which no code of this process can take down again. The limit
of the size of files is POSIX's, so it stands on every Linux and macOS: not a byte gets into a file.
Landlock is Linux's, from 5.13 on where it is switched on: nothing is opened for writing, made, cut
or removed, no program is started, and no connection made. Where it is missing, what the limit
lets through (emptying or removing a file) is left to code that has no such function:
``warehouse/published_files.py``.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sys
from pathlib import Path
from typing import Final


def confine() -> bool:
    """Take from this thread, and all that it starts, what writes; return whether Landlock does.

    The limits are the whole process's. Threads that are there already are not under Landlock, so
    this comes first.
    """
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    return _landlock()


def limit_memory(more: int) -> None:
    """Let this process ask the system for so many bytes more than it has now, where that is known.

    What DuckDB counts by itself ends sooner and in words of its own; this is for the rest.
    """
    with contextlib.suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
        limits = [pages * resource.getpagesize() + more, *resource.getrlimit(resource.RLIMIT_AS)]
        least = min(limit for limit in limits if limit != resource.RLIM_INFINITY)
        resource.setrlimit(resource.RLIMIT_AS, (least, least))


def _landlock() -> bool:
    """Forbid this thread all that Landlock knows but reading; return whether it could be done.

    The numbers are those of ``linux/landlock.h`` and ``asm-generic/unistd.h``.
    """
    if sys.platform != "linux":
        return False
    system = ctypes.CDLL(None)
    call = system.syscall
    version = call(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    if version < 1:
        return False
    files = _FILE_RIGHTS[min(version, len(_FILE_RIGHTS)) - 1] & ~_READING
    wanted = (ctypes.c_uint64 * 3)(files, _NETWORK, _SCOPES)
    size = 8 * (1 if version < _WITH_NETWORK else 2 if version < _WITH_SCOPES else 3)
    rules = call(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    try:
        nothing = ctypes.c_ulong(0)
        is_bound = system.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), nothing, nothing, nothing)
        return bool(is_bound == 0 and call(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)


_CREATE_RULESET: Final = 444
_RESTRICT_SELF: Final = 446
_ASK_VERSION: Final = 1
_NO_NEW_PRIVILEGES: Final = 38
_READING: Final = 0b1100
"""READ_FILE and READ_DIR."""

_FILE_RIGHTS: Final = (0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF)
"""What each version can forbid: REFER came with the second, TRUNCATE with the third."""

_WITH_NETWORK: Final = 4
_NETWORK: Final = 0b11
"""BIND_TCP and CONNECT_TCP."""

_WITH_SCOPES: Final = 6
_SCOPES: Final = 0b11
"""Abstract sockets and signals to processes outside."""
