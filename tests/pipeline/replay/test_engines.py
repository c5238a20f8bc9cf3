"""The engines are one: of the same sources they make the same tables, notes and refusals."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from aclkit.pipeline.replay.conditions import Offsets, OfSnapshots, Origin, Outside
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.replay.on_duckdb import OnDuckdb
from aclkit.pipeline.replay.on_spark import OnSpark
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.transactions import COMMITTED, Span
from aclkit.runtime.frame import Steps
from tests.pipeline.replay.frames import as_set, at, columns_of, reject, table
from tests.pipeline.replay.random_sources import Held, Log, random_fact, random_listing

LOGS, NIGHTS = 5, 4


@pytest.fixture
def engines(spark):
    with Steps() as steps:
        yield OnDuckdb("c"), OnSpark(spark, "c", steps)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(LOGS))
def test_night_after_night_both_engines_leave_the_same_tables(engines, seed):
    rng = random.Random(seed)
    log, held = Log(rng), [Held(engine) for engine in engines]
    for _ in range(NIGHTS):
        log.grow()
        if rng.random() < 0.3:
            hours = rng.randint(1, 5)
            for one in held:
                one.shift(hours)
        rows, reread = log.read()
        options = ReplayOptions(
            high_watermark=rng.choice([None, None, 10]), accept_holes=rng.random() < 0.5
        )
        duckdb, spark = (one.replay(rows, reread, options) for one in held)
        assert duckdb == spark


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_listing_after_listing_both_engines_leave_the_same_tables(engines, seed):
    rng, held = random.Random(seed), [Held(engine) for engine in engines]
    for second in range(NIGHTS):
        listing = random_listing(rng)
        for now in (listing, listing)[: rng.randint(1, 2)]:
            duckdb, spark = (one.follow(now, at(second)) for one in held)
            assert duckdb == spark


def both(engines, work):
    """What each engine makes, as values."""
    found = []
    for engine in engines:
        result = work(engine)
        is_frame = hasattr(result, "toArrow") or hasattr(result, "to_pylist")
        found.append(as_set(columns_of(result)) if is_frame else result)
    return found


def test_of_many_random_facts_the_engines_find_the_same(engines):
    rng = random.Random(20261126)
    known, came = ([random_fact(rng) for _ in range(2_000)] for _ in range(2))
    spans = [Span(a, b, COMMITTED) for a, b in pairwise(sorted(rng.sample(range(2_000), 100)))][::2]
    read = [Range(0, 900, 1, "record"), Range(1_200, 1_500, 1, "record"),
            *(Range(0, end, 1, "snapshot") for end in range(0, 2_000, 3))]  # fmt: skip
    conditions = [
        Outside({1: 500, 2: 900}),
        OfSnapshots(range(0, 2_000, 7)),
        Offsets(10, 70),
        Origin("x"),
    ]

    def compared(engine):
        return engine.compare(table(engine, "acl_log", known), table(engine, "acl_log", came))

    def counted(engine):
        fresh, shifted, markers, brokers = engine.count_facts(compared(engine))
        return fresh, shifted, sorted(markers), sorted(brokers, key=repr)

    for work in (
        counted,
        lambda engine: engine.new_facts(compared(engine)),
        lambda engine: engine.with_times(table(engine, "acl_log", known), compared(engine)),
        lambda engine: engine.with_txn_offset(table(engine, "acl_log", known), spans),
        lambda engine: engine.moved_records(table(engine, "acl_log", known), spans),
        *(
            lambda e, c=c: e.only(table(e, "acl_log", known), *c)
            for c in ([], *pairwise(conditions))
        ),
        *(lambda e, c=c: e.without(table(e, "acl_log", known), c) for c in conditions),
        *(
            lambda engine, a=a, b=b: engine.worst_conflict(compared(engine), a, b)
            for a, b in (([], []), (read, []), ([], read), (read[:2], read[2:]))
        ),
    ):
        duckdb, spark = both(engines, work)
        assert duckdb == spark


def test_of_many_random_rejects_the_same_ones_stand(engines):
    rng = random.Random(20261126)

    def some():
        offset = rng.choice([None, rng.randint(0, 300)])
        return reject(rng.choice("ab"), offset, source=rng.choice(["x", "y", "z", None]))

    known, came = ([some() for _ in range(300)] for _ in range(2))

    def stand(engine):
        rows = (table(engine, "acl_reject", each) for each in (known, came))
        found = engine.stand_now(*rows, ["x"], [(0, 50), (100, 150)])
        standing = as_set(columns_of(found.standing))
        return found.has_changed, sorted(found.gone), sorted(found.left), standing

    duckdb, spark = both(engines, stand)
    assert duckdb == spark
