"""Copies of a simulated cluster's folders, in every order of arrival, against the truth."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, field
from itertools import permutations
from typing import Any

import pyarrow as pa
import pytest

from aclkit.model.facts import COMMITTED, FACT, RECORD, SNAPSHOT, SourceRow
from aclkit.model.groups import grouped
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.replay.lineage import trace
from aclkit.pipeline.replay.on_duckdb import OnDuckdb
from aclkit.pipeline.replay.ranges import Itinerary, merge_ranges, plan, without_snapshots
from aclkit.pipeline.replay.spans import Range
from aclkit.questions.query.as_of import draw_timeline
from tests.fuzz.mutants import rounds
from tests.pipeline.replay.raft import Cluster, fold, id_of, rows_of
from tests.pipeline.replay.random_sources import Held
from tests.pipeline.replay.specification import AclFact, Lifetime, write_history

COPIES, MOMENTS, WORLDS = 3, 60, 40


@dataclass
class Warehouse:
    """What a warehouse holds of the cluster, by the rules of a replay without an engine."""

    ranges: Sequence[Range] = ()
    facts: dict[tuple[int, int], AclFact] = field(default_factory=dict)
    snapshots: dict[int, frozenset[str]] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    way: Itinerary = field(default_factory=lambda: plan(()))

    def replay(self, rows: Sequence[SourceRow], came: Sequence[Range]) -> None:
        """Take a copy in."""
        listed = grouped(
            (r.log_offset, r.acl_id) for r in rows if r.kind == FACT and r.fact == SNAPSHOT
        )
        for row in rows:
            if row.kind == FACT and row.fact == RECORD:
                fact = AclFact(row.log_offset, row.record_type, row.acl_id)
                assert self.facts.setdefault((row.log_offset, row.epoch), fact) == fact
        self.snapshots |= {
            r.to_offset: frozenset(listed.get(r.to_offset, ())) for r in came if r.fact == SNAPSHOT
        }
        self.ranges = merge_ranges(self.ranges, came).ranges
        self.way = plan(self.ranges)
        wrong = {n for n in self.way.checks if alive_at(self.lives(), n) != self.snapshots[n]}
        self.findings += ["snapshot contradicts log"] * len(wrong)
        gone = {*self.way.explained} - wrong
        self.ranges = without_snapshots(self.ranges, gone)
        self.snapshots = {n: ids for n, ids in self.snapshots.items() if n not in gone}

    def lives(self) -> Sequence[Lifetime]:
        """The history of the ACLs."""
        lineage = trace(self.ranges)
        log = [fact for (at, epoch), fact in sorted(self.facts.items()) if lineage.has(at, epoch)]
        return write_history(log, self.snapshots, self.way).lifetimes

    def tables(self) -> object:
        """All that is held."""
        return sorted(self.ranges, key=repr), self.facts, self.snapshots, {*self.lives()}


def tables_of(held: Held) -> object:
    """All that an engine left, but for which source had a fact first."""
    tables = {
        name: sorted(map(repr, _without_source(table))) for name, table in held.tables.items()
    }
    return sorted(held.ranges, key=repr), tables


def _without_source(table: pa.Table) -> list[dict[str, Any]]:
    return [{**row, "source": None} for row in table.to_pylist()]


def alive_at(lives: Iterable[Lifetime], offset: int) -> set[str]:
    """The ACLs in force as of an offset."""
    return {
        life.acl_id
        for life in lives
        if life.effective_offset < offset
        and (life.removed_offset is None or life.removed_offset >= offset)
    }


def judge(held: Warehouse, cluster: Cluster) -> Counter[str]:
    """Compare the state as of each offset with the truth, but where it is said to be unknown.

    Records that nothing shows to be committed count as committed, and each run says so. So they are
    compared only where the newest of them is.
    """
    head, lives, truth = held.way.head, held.lives(), cluster.committed
    timeline = draw_timeline(held.ranges, head=head)
    sure = max((r.to_offset for r in held.ranges if r.fact == COMMITTED), default=0)
    newest = {e for at, e in held.facts if at == head - 1} | {
        r.epoch
        for r in trace(held.ranges).split(held.ranges)[0]
        if r.fact == RECORD and r.from_offset < head <= r.to_offset
    }
    is_true = 0 < head <= len(truth) and truth[head - 1].epoch == max(newest, default=-1)
    seen = Counter[str]()
    for offset in range(head + 1):
        gaps = (*timeline.jumps, *timeline.holes)
        if any(a < offset < b or (a == 0 and offset < b) for a, b in gaps):
            seen["not read"] += 1
        elif timeline.doubtful_at(offset):
            seen["said to be doubtful"] += 1
        elif not is_true and offset > sure:
            seen["not known to be committed"] += 1
        else:
            seen["compared"] += 1
            assert alive_at(lives, offset) == {id_of(n) for n in fold(truth[:offset])}, offset
    return seen


def drawn(seed: int) -> tuple[Cluster, list[list[SourceRow]]]:
    """A cluster that has lived, and copies of it."""
    rng = random.Random(seed)
    cluster, copies = Cluster(rng), []
    for _ in range(COPIES):
        cluster.live(rng.randint(5, MOMENTS))
        copies.append(rows_of(cluster.copy()))
    return cluster, copies


def world(seed: int) -> Counter[str]:
    """Copies of one cluster in every order: the same tables, and no state that is wrong."""
    cluster, copies = drawn(seed)
    engine = OnDuckdb("c")
    read = [(c, engine.incoming_ranges(engine.source_rows([*map(astuple, c)]))) for c in copies]
    seen, first = Counter[str](), None
    for order in permutations(read):
        held = Warehouse()
        for copy in order:
            held.replay(*copy)
        seen += Counter(held.findings)
        if first is None:
            first = held.tables()
            seen += judge(held, cluster)
        assert held.tables() == first
    return seen


def test_copies_leave_the_same_tables_in_every_order_and_a_state_that_is_true_or_unknown():
    seen = sum((world(seed) for seed in range(rounds(WORLDS))), Counter[str]())
    assert seen["compared"] > 5 * seen["said to be doubtful"] > 0


@pytest.mark.parametrize("seed", [0, 1])
def test_the_tables_of_an_engine_are_the_same_in_another_order(seed):
    _, copies = drawn(seed)
    left = []
    for order in (copies, copies[::-1]):
        held = Held(OnDuckdb("c"))
        for rows in order:
            told = held.replay([asdict(row) for row in rows], set(), ReplayOptions())
            assert not isinstance(told, str), told
        left.append(tables_of(held))
    assert left[0] == left[1]
