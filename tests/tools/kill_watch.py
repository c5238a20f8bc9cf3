"""``python -m tests.tools.kill_watch --kills 200``: a watcher, killed while its log is written.

A log is appended to and rolled by a thread: ACLs come and go, and idle records between them. The
watcher is killed with SIGKILL at random moments and started again each time. Every change after the
first alert must be named in an alert, or be counted by one with more than ten; nothing that never
happened may be named; an alert that is repeated must have its ``alert_id`` again. It takes some
eight seconds a kill, and ends with exit code 1 where something was missed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from aclkit.audit.alerts.alert import MOST_ACLS
from tests.audit.reports.hook import Hook, serving
from tests.pipeline.sources.growing_log import numbered
from tests.pipeline.sources.log_bytes import NO_OP, acl_record, batch, removal_record

Change = tuple[str, str]
"""``added`` or ``removed``, and the principal of the ACL."""
_SETTINGS = {"ACLKIT_NO_SUPER_USERS": "1", "ACLKIT_ALLOW_EVERYONE": "0"}
_LONGEST_TURN = 12.0
_LAST = 300.0
"""Seconds that the last change may take to be alerted."""


@dataclass
class Written:
    """A log that only grows, as a broker's does, and what was written: change → its offset."""

    folder: Path
    chance: random.Random
    at: dict[Change, int] = field(default_factory=dict)
    end: int = 0
    segments: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    _alive: list[int] = field(default_factory=list)
    _made: int = 0

    def __post_init__(self) -> None:
        """Begin the first segment."""
        self.folder.mkdir(parents=True)
        self.roll()

    def roll(self) -> None:
        """Go on in a new segment."""
        self._path = self.folder / f"{self.end:020}.log"
        self.segments += 1

    def append(self, *values: bytes) -> None:
        """Append a batch."""
        with self._path.open("ab") as file:
            file.write(batch(self.end, *values))
        self.end += len(values)

    def add(self) -> None:
        """Let an ACL come."""
        self._made += 1
        self._alive.append(self._made)
        self.at["added", f"User:u{self._made}"] = self.end + 1
        self.append(NO_OP, acl_record(numbered(self._made)))

    def remove(self) -> None:
        """Let one of the ACLs go."""
        gone = self._alive.pop(self.chance.randrange(len(self._alive)))
        self.at["removed", f"User:u{gone}"] = self.end
        self.append(removal_record(numbered(gone).acl_id))

    def live(self) -> None:
        """Go on writing until it is over."""
        while not self.over.wait(self.chance.uniform(0.2, 3.0)):
            act = self.chance.random()
            if act < 0.4:
                self.add()
            elif act < 0.5 and len(self._alive) > 1:
                self.remove()
            elif act < 0.65:
                self.roll()
                self.add()
            else:
                self.append(NO_OP)


def run(kills: int, chance: random.Random, folder: Path, say: Callable[[str], None]) -> list[str]:
    """Kill a watcher so many times; return what is wrong."""
    log = Written(folder / "__cluster_metadata-0", chance)
    log.add()
    with serving(200) as hook, ExitStack() as stack:
        start = _starter(folder, hook)
        first = start()
        stack.callback(lambda: first.kill())
        _wait(lambda: any("to_offset" in alert for alert in _alerts(hook)), "the first alert")
        first.send_signal(signal.SIGKILL)
        first.wait()
        known = max(alert["to_offset"] for alert in _alerts(hook) if "to_offset" in alert)
        writer = threading.Thread(target=log.live, daemon=True)
        writer.start()
        stack.callback(log.over.set)
        for number in range(kills):
            watcher = start()
            time.sleep(chance.uniform(0.0, _LONGEST_TURN))
            watcher.kill()
            watcher.wait()
            if number % 20 == 19:
                say(f"{number + 1} kills, {len(log.at)} changes, {len(hook.got)} alerts")
        log.over.set()
        writer.join()
        log.add()
        last = start()
        stack.callback(lambda: last.kill())
        _wait(lambda: max(a.get("to_offset", 0) for a in _alerts(hook)) >= log.end, "the last")
        alerts = _alerts(hook)
    say(
        f"{kills} kills, {len(log.at)} changes, {log.segments} segments, {len(alerts)} alerts, "
        f"{len(alerts) - len({a['alert_id'] for a in alerts})} of them repeated"
    )
    return [*_missed(log.at, alerts, known), *_invented(log.at, alerts), *_unlike(alerts)]


def _starter(folder: Path, hook: Hook) -> Callable[[], subprocess.Popen[bytes]]:
    command = [
        *(sys.executable, "-m", "aclkit", "--warehouse", str(folder / "w"), "watch"),
        *("--source", f"metadata-log:{folder / '__cluster_metadata-0'}"),
        *("--interval", "1", "--alert-on", "always"),
    ]
    env = {**os.environ, **_SETTINGS, "ACLKIT_ALERT_WEBHOOK": hook.address}
    said = (folder / "watch.log").open("ab")
    return lambda: subprocess.Popen(command, env=env, stdout=said, stderr=said)


def _wait(is_met: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _LAST
    while not is_met():
        if time.monotonic() > end:
            raise click.ClickException(f"{what} alert did not come within {_LAST:g} s")
        time.sleep(0.1)


def _alerts(hook: Hook) -> list[dict[str, Any]]:
    return [json.loads(body) for _, _, body in list(hook.got)]


def _named(alert: dict[str, Any]) -> set[Change]:
    return {
        (how, acl["principal"])
        for how in ("added", "removed")
        for acl in alert.get(f"acls_{how}", ())
    }


def _missed(at: dict[Change, int], alerts: list[dict[str, Any]], known: int) -> list[str]:
    """Return the changes that no alert names, nor counts among more than it names."""
    named = {change for alert in alerts for change in _named(alert)}
    counted = [
        (how, alert["from_offset"], alert["to_offset"])
        for alert in alerts
        for how in ("added", "removed")
        if alert.get(f"acls_{how}_count", 0) > MOST_ACLS
    ]
    return [
        f"not alerted: {how} {principal} at offset {offset}"
        for (how, principal), offset in at.items()
        if offset >= known
        and (how, principal) not in named
        and not any(h == how and start <= offset < end for h, start, end in counted)
    ]


def _invented(at: dict[Change, int], alerts: list[dict[str, Any]]) -> list[str]:
    named = {change for alert in alerts for change in _named(alert)}
    return [f"invented: {' '.join(change)}" for change in sorted(named - at.keys())]


def _unlike(alerts: list[dict[str, Any]]) -> list[str]:
    """Return alerts about the same offsets with other ids: a receiver could not drop them."""
    ids: dict[tuple[int, int], set[str]] = {}
    for alert in alerts:
        if "to_offset" in alert:
            ids.setdefault((alert["from_offset"], alert["to_offset"]), set()).add(alert["alert_id"])
    return [f"several ids for offsets {span}" for span, found in ids.items() if len(found) > 1]


@click.command()
@click.option("--kills", type=click.IntRange(min=0), default=200, show_default=True)
@click.option("--seed", type=int, default=7, show_default=True)
def main(kills: int, seed: int) -> None:
    """Kill a watcher at random moments, and compare its alerts with what was written."""
    with tempfile.TemporaryDirectory() as folder:
        wrong = run(kills, random.Random(seed), Path(folder), click.echo)
    for line in wrong:
        click.echo(line)
    click.echo("every change is in an alert, none is invented" if not wrong else "FAILED")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
