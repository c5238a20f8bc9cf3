"""``aclkit watch`` beside a broker whose ACLs change: is each change told once, and how soon?

Meanwhile the broker is killed and started again, its log rolls, snapshots are made, old segments
go, and the watcher is killed, and asked to end, and started again.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aclkit.model.acl import Acl
from aclkit.warehouse.watch_state import ALERTED
from aclkit.warehouse.watched import FOLDER
from tests.audit.reports.hook import Hook, serving
from tests.tools.benchmarks.watching import held
from tests.tools.broker.client import connect
from tests.tools.broker.running import Difference, expect_equal, known_acls
from tests.tools.broker.server import Broker, BrokerError, run_broker

PROPERTIES: Final = {
    "metadata.log.max.record.bytes.between.snapshots": "4000",
    "metadata.log.max.snapshot.interval.ms": "40000",
    "metadata.log.segment.ms": "25000",
    "metadata.max.retention.ms": "60000",
    "metadata.max.idle.interval.ms": "500",
}
"""A broker that rolls its log every half minute, and keeps a minute of it."""

INTERVAL: Final = 5.0
"""Seconds between two polls."""
_PAUSE: Final = 4.0
_LAST: Final = 90.0
"""Seconds that the last change may take to be told."""
_SECONDS: Final = 120.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")

Say = Callable[[str], None]


class _Stamped(list[Any]):
    """What a webhook got, each with the time."""

    def append(self, item: Any) -> None:
        super().append((time.time(), item))


@dataclass
class _Changes:
    """What was changed: (added or removed, principal) → when the broker had committed it."""

    at: dict[tuple[str, str], float] = field(default_factory=dict)
    problems: list[Exception] = field(default_factory=list)
    end: threading.Event = field(default_factory=threading.Event)
    pause: threading.Lock = field(default_factory=threading.Lock)

    def work(self, broker: Broker) -> None:
        """Add an ACL every few seconds, and remove every third one again."""
        number = 0
        try:
            while not self.end.wait(_PAUSE):
                with self.pause, connect(broker) as client:
                    acl = _dangerous(f"User:w{number}")
                    self._note("added", client.create([acl]), acl)
                    if number % 3 == 2:
                        old = _dangerous(f"User:w{number - 2}")
                        self._note("removed", [old] * client.delete([old]), old)
                number += 1
        except Exception as error:  # noqa: BLE001 - told where the block ends, not lost
            self.problems.append(error)

    def _note(self, how: str, done: list[Acl], acl: Acl) -> None:
        if done != [acl]:
            raise Difference(f"the broker did not take what was to be {how}: {acl}")
        self.at[how, acl.principal] = time.time()


def _dangerous(principal: str) -> Acl:
    return Acl(
        acl_id="", resource_type="TOPIC", resource_name="*", pattern_type="LITERAL",
        principal=principal, host="*", operation="ALL", permission_type="ALLOW",
    )  # fmt: skip


def compare_watch(broker: Broker, folder: Path, say: Say, minutes: float) -> None:
    """Watch a broker for some minutes; insist that each change was told, and told once."""
    warehouse, changes = folder / "watched", _Changes()
    with serving(200) as hook, ExitStack() as stack:
        hook.got = _Stamped()
        watcher = _start(warehouse, broker, hook)
        stack.callback(watcher.kill)
        _wait_for_the_first(warehouse)
        writer = threading.Thread(target=changes.work, args=(broker,))
        writer.start()
        stack.callback(changes.end.set)
        outages: list[tuple[float, float]] = []
        began = time.time()
        acts = iter(_acts(minutes))
        due, act = next(acts)
        while (left := began + minutes * 60 - time.time()) > 0:
            if time.time() - began >= due:
                start = time.time()
                watcher = _do(act, watcher, warehouse, broker, hook, changes, stack)
                outages.append((start, time.time()))
                say(f"{act}: {time.time() - start:.1f} s")
                due, act = next(acts, (minutes * 120, ""))
            _tell_process(watcher.pid, hook, changes, say)
            time.sleep(min(left, 20.0 if minutes > 3 else 10.0))
        changes.end.set()
        writer.join()
        if changes.problems:
            raise changes.problems[0]
        _wait_for_the_last(changes, hook)
        with connect(broker) as client:
            expected = client.acls()
        watcher.send_signal(signal.SIGTERM)
        code = watcher.wait(_SECONDS)
        if code != 143:
            raise Difference(f"the watcher ended with {code}")
        _compare(changes, hook, outages, say)
        expect_equal("the watched warehouse", known_acls(warehouse), expected)
    segments, snapshots = (
        len([*broker.metadata_log.glob(f"*.{e}")]) for e in ("log", "checkpoint")
    )
    first = min(broker.metadata_log.glob("*.log")).name
    size = sum(path.stat().st_size for path in warehouse.rglob("*") if path.is_file())
    say(f"log: {segments} segments from {first}, {snapshots} snapshots; warehouse {size >> 20} MiB")


def _acts(minutes: float) -> list[tuple[float, str]]:
    """When what is done, in seconds since the beginning."""
    step = minutes * 60 / 5
    acts = ["kill the watcher", "restart the broker", "end the watcher", "kill the watcher"]
    return [(step * number, act) for number, act in enumerate(acts, start=1)]


def _do(
    act: str,
    watcher: subprocess.Popen[bytes],
    warehouse: Path,
    broker: Broker,
    hook: Hook,
    changes: _Changes,
    stack: ExitStack,
) -> subprocess.Popen[bytes]:
    """Do it, and return the watcher that is alive afterwards."""
    if act == "restart the broker":
        with changes.pause:
            stack.enter_context(_restarted(broker))
        return watcher
    watcher.send_signal(signal.SIGKILL if act.startswith("kill") else signal.SIGTERM)
    watcher.wait(_SECONDS)
    started = _start(warehouse, broker, hook)
    stack.callback(started.kill)
    return started


@contextmanager
def _restarted(broker: Broker) -> Iterator[None]:
    """Kill a broker and start it on the same folder."""
    os.killpg(broker.process.pid, signal.SIGKILL)
    broker.process.wait()
    (broker.folder / "server.log").rename(broker.folder / "server-before.log")
    config = broker.folder / "server.properties"
    with run_broker(config, broker.folder, _SECONDS, broker.version):
        yield


def _start(warehouse: Path, broker: Broker, hook: Hook) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from aclkit.cli import cli; cli()"]
    command += ["--warehouse", str(warehouse), "watch", "--interval", f"{INTERVAL:g}"]
    command += ["--source", f"metadata-log:{broker.metadata_log}", "--alert-on", "always"]
    command += ["--super-users", "User:ANONYMOUS;User:admin"]
    with (warehouse.parent / "watch.log").open("ab") as log:
        return subprocess.Popen(
            command,
            env={**os.environ, "ACLKIT_ALERT_WEBHOOK": hook.address},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _told(hook: Hook) -> dict[tuple[str, str], list[tuple[float, str]]]:
    """Return each change that was told: when, and in which alert."""
    told: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for at, (_, _, body) in list(hook.got):
        said = json.loads(body)
        for how in ("added", "removed"):
            for acl in said.get(f"acls_{how}", ()):
                told.setdefault((how, acl["principal"]), []).append((at, said["alert_id"]))
    return told


def _wait_for_the_first(warehouse: Path) -> None:
    """Wait until the first alert is told: what was there before it is no change."""
    end = time.monotonic() + _SECONDS
    while not (warehouse / FOLDER / ALERTED).exists():
        if time.monotonic() > end:
            raise Difference("the watcher told nothing at its beginning")
        time.sleep(0.2)


def _wait_for_the_last(changes: _Changes, hook: Hook) -> None:
    end = time.monotonic() + _LAST
    while changes.at.keys() - _told(hook).keys() and time.monotonic() < end:
        time.sleep(0.5)


def _compare(changes: _Changes, hook: Hook, outages: list[tuple[float, float]], say: Say) -> None:
    """Insist that each change was told once.

    Raises:
        Difference: one was not, or twice.
    """
    told = _told(hook)
    twice = {change: found for change, found in told.items() if len(found) > 1}
    if any(len({alert for _, alert in found}) > 1 for found in twice.values()):
        raise Difference(f"told in two alerts: {twice}")
    seconds = {
        change: found[0][0] - changes.at[change]
        for change, found in told.items()
        if change in changes.at
    }
    quiet = [
        took
        for change, took in seconds.items()
        if not any(a - 30 < changes.at[change] < b + 30 for a, b in outages)
    ]
    say(
        f"{len(seconds)} changes in {len(hook.got)} alerts, each told once ({len(twice)} alerts of "
        f"a kill were sent again); seconds from commit to alert: median "
        f"{statistics.median(seconds.values()):.1f}, worst {max(seconds.values()):.1f}; with "
        f"nothing restarted: median {statistics.median(quiet):.1f}, worst {max(quiet):.1f}"
    )
    if missing := changes.at.keys() - told.keys():
        raise Difference(f"never told: {sorted(missing)}")


def _tell_process(pid: int, hook: Hook, changes: _Changes, say: Say) -> None:
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        raise BrokerError("the watcher has ended by itself") from None
    cpu = (int(words[11]) + int(words[12])) / _TICKS
    say(
        f"watcher {pid}: {cpu:.1f} s of CPU, {held(pid)['driver'] >> 20} MiB; "
        f"{len(changes.at)} changes, {len(hook.got)} alerts"
    )
