"""Two drivers on one warehouse, stopped, killed and delayed → that never two of them write.

A round is one run of each. What each says of itself is held against what the bucket has: the rows
that are published are those of the runs that ended well, no number of the lease was two runs', and
no version of a table was ever put twice.
"""

from __future__ import annotations

import json
import os
import random
import re
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from deltalake import DeltaTable

from aclkit.warehouse.store import Store as Tables
from tests.object_store import faults
from tests.object_store.bench import ROOT, Bucket
from tests.object_store.driver import ADDED, HELD, TABLE
from tests.pace import Limit

TERM: Final = 2.0
"""Seconds that a lease lasts here."""

_PATIENCE: Final = 120.0
_KINDS: Final = {"race": 11, "at once": 3, "stopped": 4, "late put": 1, "killed": 1}
"""Kind of round → how many of twenty are of it."""

_FAULTS: Final = (faults.LOST, faults.CONFLICT, faults.SLOW_DOWN, faults.CUT_AFTER)
_VERSION: Final = re.compile(r".*/_delta_log/\d{20}\.json")


@dataclass(slots=True)
class Told:
    """What has been seen.

    Attributes:
        rounds: kind → how many there were.
        winners: name of a driver → runs that ended well.
        messages: why runs failed, numbers and times left out → how often.
        published: the row of each run that ended well.
        numbers: number of the lease → the runs that had it.
        puts: version of a table → how often it was put.
        wrong: what must not be.
    """

    rounds: Counter[str] = field(default_factory=Counter)
    winners: Counter[str] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)
    published: set[tuple[str, int]] = field(default_factory=set)
    numbers: dict[int, set[tuple[str, int]]] = field(default_factory=dict)
    puts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Driver:
    """A driver's process, and what it said last."""

    def __init__(self, name: str, uri: str, env: dict[str, str]):
        self.name = name
        self._command = [
            sys.executable, "-m", "tests.object_store.driver", uri, str(TERM),
        ]  # fmt: skip
        self._env = {**os.environ, **env, "PYTHONPATH": str(ROOT)}
        self.start()

    def start(self) -> None:
        """Start it, anew where it was killed."""
        self.process = subprocess.Popen(
            self._command, cwd=ROOT, env=self._env, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._rest = b""
        assert self.hear("ready")

    def tell(self, number: int, timeout: float, pause: str = "") -> None:
        line = {"name": self.name, "round": number, "timeout": timeout, "pause": pause}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")

    def go(self) -> None:
        """Let it go on where it paused."""
        self.process.stdin.write(b"\n")

    def hear(self, *keys: str, seconds: float = _PATIENCE) -> dict[str, Any]:
        """Return the next that it says of these, with what it said before."""
        heard: dict[str, Any] = {}
        limit = Limit(seconds)
        while not heard.keys() & {*keys, "failed"}:
            line = self._line(limit)
            heard |= json.loads(line)
        return heard

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()

    def _line(self, limit: Limit) -> bytes:
        while b"\n" not in self._rest:
            while not select.select([self.process.stdout], [], [], 1.0)[0]:
                if limit.is_over():
                    raise TimeoutError(f"driver {self.name} said nothing more in time")
            said = os.read(self.process.stdout.fileno(), 65_536)
            if not said:
                raise TimeoutError(f"driver {self.name} has ended")
            self._rest += said
        line, _, self._rest = self._rest.partition(b"\n")
        return line


@contextmanager
def drivers(uri: str, env: dict[str, str]) -> Iterator[tuple[Driver, Driver]]:
    """Run two of them, and end them behind the block."""
    started: list[Driver] = []
    try:
        for name in ("a", "b"):
            started.append(Driver(name, uri, env))
        yield started[0], started[1]
    finally:
        for driver in started:
            driver.end()


def race(
    bucket: Bucket, rounds: int, seed: int, say: Callable[[str], None] = lambda _: None
) -> Told:
    """Do the rounds, and return what was seen."""
    chance, told = random.Random(seed), Told()
    uri = f"{bucket.uri}/race"
    with drivers(uri, bucket.env) as pair:
        for number in range(1, rounds + 1):
            kind = "race" if number == 1 else chance.choices([*_KINDS], [*_KINDS.values()])[0]
            if kind in ("race", "at once") and chance.random() < 0.25:
                where = chance.choice(("*.aclkit.lease", "*/_delta_log/*"))
                bucket.store.fail(chance.choice(_FAULTS), "PUT", where, skip=chance.randrange(3))
            first, second = chance.sample(pair, 2)
            _ROUNDS[kind](bucket, number, first, second, chance, told)
            told.rounds[kind] += 1
            _look(bucket, uri, told, is_whole=number % 10 == 0 or number == rounds)
            if number % 10 == 0:
                say(f"{number} rounds: {sum(told.winners.values())} runs published")
    return told


def _race(bucket, number, first, second, chance, told) -> None:
    """Both begin, and each waits for the other."""
    for driver in (first, second):
        driver.tell(number, timeout=_PATIENCE)
    for driver in (first, second):
        _note(driver, number, driver.hear("done"), told)


def _at_once(bucket, number, first, second, chance, told) -> None:
    """Both begin, and neither waits."""
    for driver in (first, second):
        driver.tell(number, timeout=0)
    for driver in (first, second):
        _note(driver, number, driver.hear("done"), told)


def _stopped(bucket, number, first, second, chance, told) -> None:
    """The first one is stopped while it holds the lease, until the second one had its turn."""
    where = chance.choice((HELD, ADDED, ""))
    first.tell(number, timeout=_PATIENCE, pause=where)
    heard = first.hear("paused") if where else first.hear("number")
    if not where:
        time.sleep(chance.uniform(0, 0.5))
    first.signal(signal.SIGSTOP)
    second.tell(number, timeout=_PATIENCE)
    _note(second, number, second.hear("done"), told)
    first.signal(signal.SIGCONT)
    if where:
        first.go()
    _note(first, number, heard | first.hear("done"), told)


def _late_put(bucket, number, first, second, chance, told) -> None:
    """A version that the first one puts comes when its lease is over, the process being stopped."""
    bucket.store.fail(faults.STALL, "PUT", "*/_delta_log/*", seconds=2 * TERM)
    first.tell(number, timeout=_PATIENCE, pause=HELD)
    heard = first.hear("paused")
    first.go()
    _until(lambda: bucket.store.met().get(faults.STALL))
    first.signal(signal.SIGSTOP)
    second.tell(number, timeout=_PATIENCE)
    _note(second, number, second.hear("done"), told)
    first.signal(signal.SIGCONT)
    _note(first, number, heard | first.hear("done"), told)


def _killed(bucket, number, first, second, chance, told) -> None:
    """The first one is killed while it holds the lease."""
    first.tell(number, timeout=_PATIENCE, pause=chance.choice((HELD, ADDED)))
    heard = first.hear("paused")
    first.end()
    _note(first, number, heard | {"failed": "killed"}, told)
    second.tell(number, timeout=_PATIENCE)
    _note(second, number, second.hear("done"), told)
    first.start()


_ROUNDS: Final = {
    "race": _race, "at once": _at_once, "stopped": _stopped, "late put": _late_put,
    "killed": _killed,
}  # fmt: skip


def _until(is_so: Callable[[], object]) -> None:
    limit = Limit(_PATIENCE)
    while not is_so():
        if limit.is_over():
            raise TimeoutError("the fault was never met")
        time.sleep(0.02)


def _note(driver: Driver, number: int, heard: dict[str, Any], told: Told) -> None:
    """Note how a run of a driver ended."""
    if "number" in heard:
        told.numbers.setdefault(heard["number"], set()).add((driver.name, number))
    if "failed" in heard:
        told.messages[re.sub(r"\d[\d:.\- ]*|[0-9a-f]{16,}", "…", heard["failed"])] += 1
        return
    told.winners[driver.name] += 1
    told.published.add((driver.name, number))


def _look(bucket: Bucket, uri: str, told: Told, *, is_whole: bool) -> None:
    """Hold what was said against the bucket."""
    for request in bucket.store.requests():
        if request.method == "PUT" and request.status == 200 and _VERSION.fullmatch(request.key):
            told.puts[request.key] += 1
    bucket.store.reset()
    told.wrong = [f"{key} was put {times} times" for key, times in told.puts.items() if times > 1]
    told.wrong += [
        f"number {number} of the lease was that of {sorted(runs)}"
        for number, runs in told.numbers.items()
        if len(runs) > 1
    ]
    if is_whole:
        version = Tables(None, uri).published[TABLE]
        rows = DeltaTable(f"{uri}/{TABLE}", version=version).to_pyarrow_table().to_pylist()
        found = Counter((row["cluster_id"], row["from_offset"]) for row in rows)
        lost, more = told.published - found.keys(), found.keys() - told.published
        told.wrong += [f"lost: {sorted(lost)}"] * bool(lost) + [f"more: {sorted(more)}"] * bool(
            more
        )
        told.wrong += [f"{run} is there {n} times" for run, n in found.items() if n > 1]
    if told.wrong:
        raise AssertionError("; ".join(told.wrong))
