"""Which fact a time is that of: of lifetimes, brokers, grants; through transactions and jumps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from aclkit.model.facts import (
    ADD_ACL,
    BEGIN_TXN,
    END_TXN,
    REGISTER_BROKER,
    REMOVE_ACL,
    UNREGISTER_BROKER,
)
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.shifted_times import put_times_right
from aclkit.warehouse.store import Store
from tests.warehouse.filled import all_filled

HOURS = timedelta(hours=-5)


def at(second):
    return datetime(2026, 11, 21, tzinfo=UTC) + timedelta(seconds=second)


def rows(table, *said):
    return all_filled(table, [{"cluster_id": "c"} | row for row in said])


def fact(offset, record_type, *, kind="record", time=None, **more):
    said = {"fact": kind, "log_offset": offset, "record_type": record_type}
    return said | {"log_time": at(offset if time is None else time)} | more


def life(acl_id, added, removed=None, *, by="record", effective=None):
    """Say a lifetime with the seconds of its times, shifted, as an older aclkit has left it."""
    said = {"acl_id": acl_id, "added_offset": added[0], "added_by": by}
    said |= {"effective_offset": added[0] if effective is None else effective}
    said |= {"added_at": at(added[1]) + HOURS}
    if removed is not None:
        said |= {"removed_offset": removed[0], "removed_at": at(removed[1]) + HOURS}
    return said


FACTS = (
    fact(1, ADD_ACL, acl_id="a"), fact(2, REMOVE_ACL, acl_id="a"),
    fact(3, REGISTER_BROKER, broker_id=1, min_level=7, max_level=33),
    fact(4, BEGIN_TXN),
    fact(5, ADD_ACL, acl_id="t", txn_offset=4), fact(6, REMOVE_ACL, acl_id="t", txn_offset=4),
    fact(7, ADD_ACL, acl_id="t", txn_offset=4),
    fact(8, REGISTER_BROKER, broker_id=2, min_level=7, max_level=31, txn_offset=4),
    fact(9, END_TXN),
    fact(10, ADD_ACL, acl_id="gone"),
    fact(20, ADD_ACL, kind="snapshot", acl_id="s", time=19),
    fact(20, REGISTER_BROKER, kind="snapshot", broker_id=2, min_level=7, max_level=31, time=19),
    fact(21, REMOVE_ACL, acl_id="s"),
    fact(22, REGISTER_BROKER, broker_id=4, min_level=7, max_level=33),
    fact(23, UNREGISTER_BROKER, broker_id=4),
)  # fmt: skip
LIVES = (
    life("a", (1, 1), (2, 2)),
    life("t", (5, 5), (9, 6), effective=9),
    life("t", (7, 7), (19, 19), effective=9),
    life("gone", (10, 10), (19, 19)),
    life("s", (19, 19), (21, 21), by="snapshot"),
)  # fmt: skip
BROKERS = (
    {"broker_id": 1, "is_registered": False, "min_level": 7, "max_level": 33, "since_offset": 19},
    {"broker_id": 2, "is_registered": True, "min_level": 7, "max_level": 31, "since_offset": 9},
    {"broker_id": 4, "is_registered": False, "min_level": 7, "max_level": 33, "since_offset": 23},
)
SINCE = {1: 19, 2: 8, 4: 23}


@pytest.fixture
def store(tmp_path):
    made = Store(None, str(tmp_path))
    made.append_rows("acl_log", rows("acl_log", *FACTS))
    made.append_rows("acl_history", rows("acl_history", *LIVES))
    shifted = ({**row, "since_time": at(SINCE[row["broker_id"]]) + HOURS} for row in BROKERS)
    made.append_rows("broker", rows("broker", *shifted))
    usage = [{"acl_id": row["acl_id"], "added_at": row["added_at"]} for row in LIVES[2:4]]
    made.append_rows("acl_usage", rows("acl_usage", *usage))
    return made


def read(store, table, columns):
    with read_written(store, "c", table) as tables:
        return tables.rows(f"SELECT {columns} FROM {table} ORDER BY ALL")


def naive(second):
    return at(second).replace(tzinfo=None)


def test_times_are_those_of_the_facts_that_made_them(store):
    notes = put_times_right(store)
    assert [note.split(":")[0] for note in notes] == [
        "Corrected the times in 2 rows of acl_usage",
        "Corrected the times in 5 rows of acl_history",
        "Corrected the times in 3 rows of broker",
    ]
    lives = read(store, "acl_history", "acl_id, added_offset, added_at, removed_at")
    assert lives == [
        ("a", 1, naive(1), naive(2)),
        ("gone", 10, naive(10), naive(19)),
        ("s", 19, naive(19), naive(21)),
        ("t", 5, naive(5), naive(6)),
        ("t", 7, naive(7), naive(19)),
    ]
    brokers = read(store, "broker", "broker_id, since_time")
    assert brokers == [(number, naive(second)) for number, second in SINCE.items()]
    assert read(store, "acl_usage", "acl_id, added_at") == [("gone", naive(10)), ("t", naive(7))]


def test_where_nothing_was_shifted_nothing_is_written_or_said(store):
    put_times_right(store)
    versions = dict(store.versions)
    assert put_times_right(store) == []
    assert store.versions == versions


def test_a_time_whose_fact_is_not_known_stays(store):
    other = life("unknown", (99, 99), (120, 120))
    store.append_rows("acl_history", rows("acl_history", other))
    put_times_right(store)
    found = read(store, "acl_history", "acl_id, added_at, removed_at")
    assert ("unknown", *((at(s) + HOURS).replace(tzinfo=None) for s in (99, 120))) in found


def run_of(number, second, **counts):
    said = {"run_number": number, "run_id": f"r{number}", "job": "run", "head_offset": 6}
    return said | {"started_at": at(second), "counts": counts}


def seen(run, fingerprint, second):
    first = {"first_seen": None if second is None else at(second)}
    return {"run_id": f"r{run}", "fingerprint": fingerprint} | first


@pytest.fixture
def found(tmp_path):
    """Return what is said of findings and facts, given runs and findings."""

    def ask(runs, findings, overwriting=None):
        store = Store(None, str(tmp_path / "w"))
        store.append_rows("finding", rows("finding", *findings))
        store.append_rows("acl_log", rows("acl_log", *FACTS))
        if overwriting:
            store.run_id = overwriting
            store.replace_rows("acl_log", rows("acl_log", *FACTS), None)
        store.append_rows("job_run", rows("job_run", *runs))
        notes = [note.split(":")[0] for note in put_times_right(store)]
        return notes, read(store, "finding", "fingerprint, run_id, first_seen")

    return ask


FINDINGS = [seen(1, "f", 100), seen(2, "f", 100), seen(2, "g", 200), seen(3, "h", None)]


def test_first_seen_is_computed_where_no_run_was_removed_yet(found):
    notes, left = found([run_of(n, n) for n in (0, 1, 2, 3)], FINDINGS)
    assert notes == ["Corrected the times in 3 rows of finding"]
    assert left == [
        ("f", "r1", naive(1)), ("f", "r2", naive(1)), ("g", "r2", naive(2)), ("h", "r3", None),
    ]  # fmt: skip


def test_first_seen_is_named_where_runs_are_gone(found):
    notes, left = found([run_of(n, n) for n in (1, 2, 3)], FINDINGS)
    assert notes == ["first_seen of 2 findings may be wrong by hours"]
    assert [row[2] for row in left] == [naive(100), naive(100), naive(200), None]


def test_where_runs_bear_some_out_and_nothing_was_shifted_the_zone_was_utc(found):
    runs = [run_of(1, 100), run_of(2, 2), run_of(3, 3)]
    assert found(runs, FINDINGS)[0] == []


def test_facts_that_stayed_when_others_were_forgotten_are_named(found):
    notes, _ = found([run_of(4, 4, facts_forgotten=1)], [])
    assert notes == ["Times of up to 5 facts of cluster c may be wrong by hours"]


@pytest.mark.parametrize(("run", "count"), [("r4", 1), ("taken-back", 0)])
def test_facts_that_a_run_wrote_anew_for_another_reason_are_named(found, run, count):
    notes, _ = found([run_of(4, 4)], [], overwriting=run)
    assert len(notes) == count
