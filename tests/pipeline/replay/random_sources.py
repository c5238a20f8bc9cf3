"""Random sources of one cluster, replay after replay, and what a warehouse would hold of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from aclkit.errors import DataError
from aclkit.model.facts import (
    ABORT_TXN,
    ADD_ACL,
    ADD_RESOURCE,
    ADD_SCRAM,
    ADD_TOPIC,
    BEGIN_TXN,
    END_TXN,
    FACT,
    OVERWRITTEN,
    RECORD,
    REGISTER_BROKER,
    REJECT,
    REMOVE_ACL,
    REMOVE_SCRAM,
    REMOVE_TOPIC,
    SNAPSHOT,
    UNREADABLE,
    UNREGISTER_BROKER,
    SourceRow,
)
from aclkit.model.unread import GROUPS, TOPICS, USERS
from aclkit.pipeline.replay.engine import Engine
from aclkit.pipeline.replay.known import EpochMarker, KnownLog, Replayed, ReplayOptions
from aclkit.pipeline.replay.listing import Thing, replay_listing
from aclkit.pipeline.replay.replay import replay_log
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.transactions import MARKERS, Marker
from aclkit.pipeline.sources.listing import Listing
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.column_types import arrow_schema
from tests.factories import acl
from tests.pipeline.replay.frames import (
    Row,
    as_set,
    at,
    binding_of,
    columns_of,
    fact,
    source_fact,
    source_range,
    source_reject,
    source_rows,
)

TABLES = ("acl_log", "acl_history", "acl_reject", "resource_lifetime", "principal_lifetime")


def random_record(rng: random.Random, offset: int, epoch: int) -> Row | None:
    """A record that concerns aclkit, most often of an ACL; or another's offset."""
    one = rng.choice("abc")
    named = {"acl_id": one, **binding_of(acl(principal=f"User:{one}"))}
    if rng.random() < 0.1:
        named["host"] = 'a "host"\\\x1f'
    return rng.choice([
        *[fact(offset, ADD_ACL, epoch=epoch, **named)] * 4,
        *[fact(offset, REMOVE_ACL, epoch=epoch, acl_id=one)] * 3,
        *(fact(offset, kind, epoch=epoch) for kind in (BEGIN_TXN, END_TXN, ABORT_TXN)),
        fact(offset, ADD_TOPIC, epoch=epoch, resource_name=f"t-{one}", topic_id=f"id-{one}"),
        fact(offset, REMOVE_TOPIC, epoch=epoch, topic_id=f"id-{one}"),
        fact(offset, ADD_SCRAM, epoch=epoch, principal=f"User:{one}", mechanism="S"),
        fact(offset, REMOVE_SCRAM, epoch=epoch, principal=f"User:{one}", mechanism="S"),
        fact(offset, REGISTER_BROKER, epoch=epoch, broker_id=ord(one), min_level=7, max_level=33),
        fact(offset, UNREGISTER_BROKER, epoch=epoch, broker_id=ord(one)),
        None,
        None,
    ])  # fmt: skip


def random_snapshot(rng: random.Random, end: int) -> list[Row]:
    """Entries of a snapshot: true ones would be rare, so those of the same end are the same."""
    own = random.Random(end)
    rows = []
    for one in own.sample("abc", own.randint(0, 3)):
        named = {"acl_id": one, **binding_of(acl(principal=f"User:{one}"))}
        rows.append(fact(end, ADD_ACL, fact=SNAPSHOT, source=rng.choice("xy"), **named))
    if own.random() < 0.3:
        rows.append(fact(end, ADD_TOPIC, fact=SNAPSHOT, resource_name="t-a", topic_id="id-a"))
        rows.append(fact(end, REGISTER_BROKER, fact=SNAPSHOT, broker_id=97, max_level=30))
    return rows


@dataclass
class Log:
    """A log that grows, of which a higher epoch may overwrite the tail."""

    rng: random.Random
    epoch: int = 1
    records: list[tuple[int, Row | None]] = field(default_factory=list)

    def grow(self) -> None:
        """Write some more, now and then over the tail."""
        if self.records and self.rng.random() < 0.3:
            self.epoch += 1
            del self.records[self.rng.randrange(len(self.records)) :]
        for offset in range(len(self.records), len(self.records) + self.rng.randint(1, 12)):
            self.records.append((self.epoch, random_record(self.rng, offset, self.epoch)))

    def read(self) -> tuple[list[Row], set[str]]:
        """Source rows of parts of it, and which sources were read whole."""
        rng, rows = self.rng, list[Row]()
        for source in rng.sample(["log", "copy"], rng.randint(1, 2)):
            start, stop = sorted(rng.sample(range(len(self.records) + 1), 2))
            start = rng.choice([0, start])
            bad = rng.randrange(start, stop) if rng.random() < 0.3 else None
            for offset in range(start, stop):
                epoch, record = self.records[offset]
                if offset == bad:
                    rows.append(source_range(offset, offset + 1, None, UNREADABLE))
                    rows.append({**source_reject("bad", offset), "source": source})
                    continue
                rows.append(source_range(offset, offset + 1, epoch))
                if record is not None:
                    rows.append(source_fact({**record, "source": source}))
            if rng.random() < 0.2:
                rows.append({**source_reject("unplaced"), "source": source})
        if rng.random() < 0.5:
            end = rng.randint(1, len(self.records) + 3)
            rows.append(source_range(0, end, self.epoch, SNAPSHOT))
            rows += [source_fact(row) for row in random_snapshot(rng, end)]
        if rng.random() < 0.05:
            rows.append(source_fact(fact(0, ADD_ACL, acl_id="another log", epoch=1)))
        return rows, {*rng.sample(["log", "copy"], rng.randint(0, 2))}


@dataclass
class Held:
    """What a warehouse holds of the cluster, as an engine left it."""

    engine: Engine[Any]
    tables: dict[str, pa.Table] = field(
        default_factory=lambda: {name: arrow_table([], arrow_schema(name)) for name in TABLES}
    )
    ranges: list[Range] = field(default_factory=list)
    head: int | None = None
    brokers: dict[str, Any] = field(default_factory=dict)

    def frame(self, name: str) -> Any:
        """A table as the engine's frame."""
        return self.engine.rows(name, [tuple(row.values()) for row in self.rows(name)])

    def rows(self, name: str) -> list[Row]:
        """The rows of a table."""
        found: list[Row] = self.tables[name].to_pylist()
        return found

    def keep(self, name: str, frame: Any) -> None:
        """Put a frame in the place of a table."""
        self.tables[name] = (
            columns_of(frame).select(arrow_schema(name).names).cast(arrow_schema(name))
        )

    def shift(self, hours: int) -> None:
        """Shift the times of facts, as an older aclkit did."""
        rows = self.rows("acl_log")
        for row in rows:
            row["log_time"] -= timedelta(hours=hours)
        self.tables["acl_log"] = pa.Table.from_pylist(rows, arrow_schema("acl_log"))

    def known(self) -> KnownLog[Any]:
        """What a replay begins with."""
        facts = self.rows("acl_log")
        of_log = [f for f in facts if f["fact"] in (RECORD, OVERWRITTEN)]
        markers = [f for f in of_log if f["record_type"] in MARKERS]
        found = self.frame("acl_log")
        rejects = self.tables["acl_reject"]
        of_sources = [tuple(r.values()) for r in rejects.to_pylist() if r["stage"] == "source"]
        return KnownLog(
            cluster_id="c",
            ranges=self.ranges,
            markers=[
                EpochMarker(Marker(m["log_offset"], m["record_type"]), m["epoch"]) for m in markers
            ],
            head=self.head,
            broker_facts=self.engine.broker_facts(found),
            facts=found,
            history=self.frame("acl_history"),
            rejects=self.engine.rows("acl_reject", of_sources),
            **self.brokers,
        )

    def replay(self, rows: list[Row], reread: set[str], options: ReplayOptions) -> Any:
        """Replay, take over what comes of it, and tell it; or the refusal."""
        source = source_rows(self.engine, *rows)
        try:
            done = replay_log(self.engine, self.known(), source, options, reread=reread)
        except DataError as error:
            return str(error)
        return self._told(done)

    def _told(self, done: Replayed[Any]) -> Any:
        self._take(done)
        told = (done.fact_count, sorted(self.ranges, key=repr), done.plan, done.brokers)
        texts = (done.notes, [(f.finding, f.message, f.acl_ids) for f in done.findings])
        return told, texts, {name: as_set(table) for name, table in self.tables.items()}

    def _take(self, done: Replayed[Any]) -> None:
        if done.corrected is not None:
            self.keep("acl_log", done.corrected)
        if done.removed:
            self.keep("acl_log", self.engine.without(self.frame("acl_log"), *done.removed))
        if done.moved is not None:
            moved = {r["log_offset"]: r["txn_offset"] for r in columns_of(done.moved).to_pylist()}
            rows = [
                {**row, "txn_offset": moved.get(row["log_offset"], row["txn_offset"])}
                if row["fact"] == RECORD
                else row
                for row in self.rows("acl_log")
            ]
            self.tables["acl_log"] = pa.Table.from_pylist(rows, arrow_schema("acl_log"))
        if done.added is not None:
            self.keep("acl_log", self.engine.union(self.frame("acl_log"), done.added))
        for name, frame in done.tables.items():
            self.keep(name, frame)
        if done.brokers is not None:
            self.brokers["brokers"] = done.brokers
        self.ranges = list(self.ranges if done.ranges is None else done.ranges)
        self.head = done.plan.itinerary.head

    def alive(self) -> tuple[list[str], list[Thing]]:
        """The ids of ACLs, and all else that exists, as a listing is compared with."""
        acls = [r["acl_id"] for r in self.rows("acl_history") if r["removed_offset"] is None]
        things = [
            Thing(r["resource_type"], r["resource_name"], r["topic_id"])
            for r in self.rows("resource_lifetime")
            if r["last_offset"] is None
        ]
        things += [
            Thing(principal=r["principal"], mechanism=r["mechanism"])
            for r in self.rows("principal_lifetime")
            if r["last_offset"] is None
        ]
        return acls, things

    def follow(self, listing: Listing, time: datetime) -> Any:
        """Replay a listing, take over what comes of it, and tell it."""
        known = self.known()
        done = replay_listing(self.engine, known, self.alive(), listing, time, ReplayOptions())
        return self._told(done)


def random_listing(rng: random.Random) -> Listing:
    """A listing of a few ACLs, topics, users and brokers, with lines that cannot be used."""
    named = {"kind": FACT, "source": "live"}
    rows = [
        SourceRow(
            record_type=ADD_ACL, **named, **binding_of(acl(principal=f"User:{one}", host="*"))
        )
        for one in rng.sample("abc", rng.randint(0, 3))
    ]
    rows += [
        SourceRow(
            record_type=ADD_TOPIC, resource_name=one, topic_id=rng.choice([None, one]), **named
        )
        for one in rng.sample("tuv", rng.randint(0, 3))
    ]
    rows += [
        SourceRow(record_type=ADD_SCRAM, principal=f"User:{one}", mechanism="S", **named)
        for one in rng.sample("ab", rng.randint(0, 2))
    ]
    rows += [
        SourceRow(record_type=ADD_RESOURCE, resource_type="GROUP", resource_name=one, **named)
        for one in rng.sample("gh", rng.randint(0, 2))
    ]
    rows += [
        SourceRow(
            record_type=REGISTER_BROKER, broker_id=one, max_level=rng.choice([29, 33]), **named
        )
        for one in range(rng.randint(0, 2))
    ]
    rows += [
        SourceRow(kind=REJECT, source="live", position=one, reason="bad")
        for one in range(rng.randint(0, 2))
    ]
    told = rng.sample([TOPICS, USERS, GROUPS], rng.randint(0, 3))
    return Listing(rows=tuple(rows), told=frozenset(told))


def random_fact(rng: random.Random) -> Row:
    """A fact of few offsets: many share a key, some with other contents or times."""
    offset = rng.randint(0, 2_000)
    row = random_record(random.Random(offset), offset, 1) or fact(offset)
    row = {**row, "source": rng.choice(["x", "y", None]), "epoch": rng.choice([1, 2, None])}
    if rng.random() < 0.02:
        row["host"] = "other"
    if rng.random() < 0.1:
        row["log_time"] = rng.choice([None, at(offset) + timedelta(minutes=rng.choice([15, 7]))])
    if rng.random() < 0.3:
        row["fact"] = SNAPSHOT
    return row
