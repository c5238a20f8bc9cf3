"""The authorizer log of a real broker, made as long as one likes: ``python -m`` this LINES PATH.

The lines come in their order, again and again, in equal steps of time from the first day of the
real log on. Clients come from 200 hosts where no ACL of the line names one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import cycle, islice
from pathlib import Path

from tests.questions.usage.pasts import LOG

DAYS = 5
HOSTS = 200
FIRST = datetime(2026, 11, 21, 10, 28, 20)  # noqa: DTZ001 -- as the broker writes it
_FROM = "from host = 127.0.0.1"
_BATCH = 10_000


def long_log(count: int, days: float = DAYS) -> Iterator[str]:
    """Yield lines of a log over some days, without their ends."""
    ends = [line.partition("]")[2] for line in LOG.read_text(encoding="utf-8").splitlines()]
    hosts = [f"from host = 10.0.{n // 250}.{n % 250}" for n in range(HOSTS)]
    step = timedelta(days=days) / count
    clients = cycle(hosts)
    at = FIRST
    for end in islice(cycle(ends), count):
        at += step
        own = end if "host=127" in end else end.replace(_FROM, next(clients), 1)
        yield f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}]{own}"


def write_log(path: Path, count: int, days: float = DAYS) -> None:
    """Write such a log."""
    lines = long_log(count, days)
    with path.open("w", encoding="utf-8") as file:
        while batch := list(islice(lines, _BATCH)):
            file.write("\n".join(batch) + "\n")


if __name__ == "__main__":
    write_log(Path(sys.argv[2]), int(sys.argv[1]))
