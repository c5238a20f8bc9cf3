"""A watcher killed at each of its writes: every change is in an alert, and none is invented.

The writes are those that others see: the published run, the two files of state, and the alert on
its way. Commits within a run are tried by ``tests/nightly/test_kills.py``; kills at random moments,
of a process, by ``python -m tests.tools.kill_watch``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count, pairwise

import pytest

from aclkit.audit.alerts import webhook
from aclkit.nightly import nightly_run
from aclkit.warehouse import watch_state
from tests.audit.reports.hook import serving
from tests.cli.watching import Killed, Turns, new_log, quiet


@pytest.fixture(autouse=True)
def _settings():
    with quiet():
        yield


@dataclass
class Writes:
    """Lets a process die before or after one of its writes; counts those that it sees."""

    deadly: int = -1
    seen: list[str] = field(default_factory=list)

    @contextmanager
    def watched(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for module, name in (
                (watch_state, "write_atomically"), (webhook, "send_alert"),
                (nightly_run, "publish"),
            ):  # fmt: skip
                patch.setattr(module, name, self._around(name, getattr(module, name)))
            yield

    def _around(self, name: str, work: Callable[..., object]) -> Callable[..., None]:
        def write(*words: object, **named: object) -> None:
            self._meet(f"before {name}")
            work(*words, **named)
            self._meet(f"after {name}")

        return write

    def _meet(self, what: str) -> None:
        self.seen.append(what)
        if len(self.seen) - 1 == self.deadly:
            raise Killed


class World:
    """A log, a webhook and a warehouse that stay, whatever happens to the watcher."""

    def __init__(self, folder, hook):
        self.log = new_log(folder)
        self.hook = hook
        self.made = ["User:u1"]
        source = f"metadata-log:{self.log.folder}"
        self.turns = Turns(folder / "w", "--source", source, "--alert-on", "always")
        self.turns.env["ACLKIT_ALERT_WEBHOOK"] = hook.address

    def add(self, *_):
        self.log.roll()
        self.made.append(self.log.add().principal)

    def wanted(self):
        """What came after the first published run, whose ACLs were all in force before."""
        records = self.turns.place.published().runs[0].head_offset
        return self.made[records // 2 :]

    def named(self):
        alerts = [json.loads(body) for _, _, body in self.hook.got]
        assert sum(alert.get("acls_removed_count", 0) for alert in alerts) == 0
        added = [[a["principal"] for a in alert.get("acls_added", ())] for alert in alerts]
        for one, other in pairwise(zip(added, alerts, strict=True)):
            if one[0] == other[0]:
                assert one[1]["alert_id"] == other[1]["alert_id"], "a repeat can be dropped"
        return list(dict.fromkeys(principal for names in added for principal in names))


def die_at(world, number, *steps):
    """Let a watcher die at a write while it does steps; another change comes, and another one."""
    writes = Writes(number)
    with writes.watched():
        world.turns(*steps)
    world.add()
    world.turns(None)
    return writes.seen


@pytest.mark.slow
def test_a_first_watcher_killed_at_any_write_loses_no_change(tmp_path):
    for number in count():
        with serving(200) as hook:
            world = World(tmp_path / str(number), hook)
            seen = die_at(world, number, None)
            assert world.named() == world.wanted(), seen
        if number == len(seen):
            break
    assert {"after send_alert", "after publish", "before write_atomically"} <= {*seen}


@pytest.mark.slow
def test_a_watcher_killed_at_any_write_after_a_change_loses_none(tmp_path):
    folder, kept = tmp_path / "world", tmp_path / "kept"
    with serving(200) as hook:
        world = World(folder, hook)
        world.turns(None)
        shutil.copytree(folder, kept)
        saved = deepcopy((world.log, world.made))
        for number in count():
            shutil.rmtree(folder)
            shutil.copytree(kept, folder)
            world.log, world.made = deepcopy(saved)
            hook.got.clear()
            seen = die_at(world, number, world.add)
            assert world.named() == world.wanted(), seen
            if number == len(seen):
                break
    assert {"after send_alert", "after publish", "before write_atomically"} <= {*seen}
