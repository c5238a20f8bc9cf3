"""A watcher of a warehouse in a bucket: what it asks the store for, and that it is the only one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from aclkit.warehouse.published import as_of, open_warehouse
from aclkit.warehouse.watch_state import write_state
from aclkit.warehouse.watched import CHECKED, FOLDER, read_state
from tests.cli.watching import START, Turns, new_log, quiet

pytestmark = [pytest.mark.object_store, pytest.mark.timeout(600)]


@pytest.fixture(autouse=True)
def _settings():
    with quiet():
        yield


@pytest.fixture
def log(tmp_path):
    return new_log(tmp_path)


@pytest.fixture
def turns(bucket, log, monkeypatch):
    monkeypatch.setattr("aclkit.cli.watch.time.sleep", lambda _: None)
    return Turns(f"{bucket.uri}/w", "--source", f"metadata-log:{log.folder}")


def test_a_quiet_turn_asks_for_little_and_writes_one_object(turns, bucket, log, store):
    def quiet_turn(_):
        store.reset()
        log.idle(10)

    turns(None, None, quiet_turn)
    keys = bucket.keys()
    assert sum(keys.values()) <= 3, keys
    assert f"w/{FOLDER}/{CHECKED}" in keys
    published = open_warehouse(turns.warehouse)
    assert as_of(published, published.run).checked == datetime.fromtimestamp(START + 60, UTC)


def test_a_change_is_decided_and_a_later_watcher_goes_on(turns, log):
    turns(None, lambda _: log.add())
    turns(None, lambda _: log.add())
    assert turns.runs == [0, 1, 2]


def test_a_watcher_ends_if_another_one_notes_a_check_meanwhile(turns, bucket, monkeypatch):
    turns(None)
    place = open_warehouse(turns.warehouse).place

    def renew(_=None):
        ((name, known),) = read_state(place, CHECKED).items()
        said = {**known, "checked_at": datetime.now(UTC).isoformat(), "watcher": "another"}
        write_state(place, CHECKED, {name: said})

    renew()
    turns(None)  # the other one is gone
    renew()
    monkeypatch.setattr("aclkit.cli.watch.time.sleep", renew)
    assert "Another watcher follows s3a://" in turns(None, code=4).output


def test_of_two_watchers_that_begin_together_one_stays(turns):
    turns(None)
    place = open_warehouse(turns.warehouse).place

    def another(watcher):
        watcher.turn()  # it knows what was noted before the other one began
        ((name, known),) = read_state(place, CHECKED).items()
        write_state(place, CHECKED, {name: {**known, "watcher": "another"}})

    assert "Another watcher follows s3a://" in turns(another, code=4).output
    ((_, known),) = read_state(place, CHECKED).items()
    assert known["watcher"] == "another"
