"""What a process and all below it hold, in memory and in files, looked at again and again."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

_SECONDS = 0.5


class Peaks:
    """The most of each number that a function tells, asked twice a second in a thread of its own.

    Attributes:
        most: name → the highest number that was told under it; 0 under all others.
    """

    def __init__(self, look: Callable[[], Mapping[str, int]], seconds: float = _SECONDS) -> None:
        self.most: Counter[str] = Counter()
        self._look, self._seconds = look, seconds
        self._ended, self._pool = threading.Event(), ThreadPoolExecutor(1)

    def __enter__(self) -> Peaks:
        self._watching = self._pool.submit(self._watch)
        return self

    def __exit__(self, *_: object) -> None:
        """End the thread; what the function raised is raised here."""
        self._ended.set()
        self._pool.shutdown()
        self._watching.result()

    def _watch(self) -> None:
        while True:
            self.most |= Counter(self._look())
            if self._ended.wait(self._seconds):
                return


def held(pid: int) -> Mapping[str, int]:
    """Return the resident bytes of a process and all below it: JVMs, ``driver`` and all others.

    ``driver`` is the eldest that is no JVM: the process itself, or the Python that spark-submit
    starts. ``memory`` is all of it. Memory that processes share counts in each of them, as it does
    in most tools. A JVM that starts a program is seen twice for a moment, with the same memory both
    times: it counts once.
    """
    sizes: Counter[str] = Counter(driver=0, jvm=0, workers=0)
    machines: set[bytes] = set()
    for member in family(pid):
        try:
            command = Path(f"/proc/{member}/cmdline").read_bytes()
            pages = int(Path(f"/proc/{member}/statm").read_text(encoding="utf-8").split()[1])
        except OSError:
            continue
        is_jvm = command.partition(b"\0")[0].endswith(b"java")
        if is_jvm and command in machines:
            continue
        machines |= {command} if is_jvm else set()
        kind = "jvm" if is_jvm else "workers" if sizes["driver"] else "driver"
        sizes[kind] += pages * os.sysconf("SC_PAGE_SIZE")
    return {**sizes, "memory": sizes.total()}


def family(pid: int) -> Sequence[int]:
    """Return the ids of a process and of all below it."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(
                stat.read_text(encoding="utf-8").rpartition(")")[2].split()[1]
            )
        except (OSError, IndexError):
            continue
    members = {pid}
    while new := {child for child, parent in parents.items() if parent in members} - members:
        members |= new
    return sorted(members)


def kill_family(pid: int) -> None:
    """Kill a process that was started here, and all below it, those too that start meanwhile."""
    killed: set[int] = set()
    while new := set(family(pid)) - killed:
        for member in new:
            with suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
        killed |= new


def stored(folder: Path) -> int:
    """Return the bytes of the files below a folder; what goes meanwhile counts or not."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.lstat(Path(place, name)).st_size
    return size
