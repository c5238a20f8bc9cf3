"""Files read in this process, in processes and in Spark's tasks: the same rows of both tables."""

from __future__ import annotations

import gzip
import random
from functools import partial

import pytest

from aclkit.pipeline.plan import Plan, plan_reading
from aclkit.questions.usage.file_reads import chains_of, read_all
from aclkit.runtime import memory
from tests.questions.usage.reading import random_lines, work
from tests.questions.usage.test_reading import PAST, START, TEXTS

MIB = 1 << 20


def must_not_start():
    raise AssertionError


@pytest.fixture
def paths(tmp_path):
    """Two brokers' logs, one of them packed twice, and a broken archive."""
    found = []
    for seed in (1, 2):
        lines = b"".join(random_lines(random.Random(seed), 150, TEXTS, START))
        (tmp_path / f"{seed}.log").write_bytes(lines)
        (tmp_path / f"{seed}.log.gz").write_bytes(gzip.compress(lines + TEXTS[0].encode()))
        found += [tmp_path / f"{seed}.log", tmp_path / f"{seed}.log.gz"]
    (tmp_path / "broken.gz").write_bytes(gzip.compress(random.Random(1).randbytes(9_000))[:5_000])
    return [str(path) for path in [*found, tmp_path / "broken.gz"]]


def seen(paths, plan, start_spark=must_not_start):
    reads = read_all(work(PAST), chains_of(paths, []), plan, start_spark)
    return [
        (read.known, read.gone, [row for batch in read.batches for row in batch.to_pylist()])
        for read in reads
    ]


def test_processes_read_what_one_process_reads(paths):
    here = seen(paths, Plan())
    assert len(here) == 3
    assert seen(paths, Plan("processes", 2)) == here


def test_the_tasks_of_spark_read_what_one_process_reads(spark, paths):
    assert seen(paths, Plan("spark", 2), lambda: spark) == seen(paths, Plan())


def test_where_nothing_is_to_be_read_no_engine_starts():
    for engine in ("here", "processes", "spark"):
        assert seen([], Plan(engine, 2)) == []


def test_spark_reads_what_is_large_or_submitted_to_it(monkeypatch):
    plan = partial(plan_reading, processors=4)
    assert plan("auto", [MIB, MIB]) == Plan()
    assert plan("auto", [100 * MIB]).engine == "here"
    assert plan("auto", [100 * MIB] * 3) == Plan("processes", 3)
    assert plan("auto", [20_000 * MIB] * 2) == Plan("spark", 2)
    assert plan("local", [20_000 * MIB] * 9) == Plan("processes", 4)
    assert plan("spark", []) == Plan("spark", 1)
    monkeypatch.setattr(memory, "IS_OURS", False)
    assert plan("auto", [MIB]).engine == "spark"
