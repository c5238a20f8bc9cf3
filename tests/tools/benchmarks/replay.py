"""R1: a long metadata log, mostly of records that are no ACLs, replayed into a new warehouse."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka.record.default_records import DefaultRecordBatchBuilder
from pyspark.sql import SparkSession

from aclkit.pipeline.replay.intake import look_at, parse_source
from aclkit.pipeline.replay.job import replay
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.warehouse.run import begin_run, publish

_BATCH = 100
_SEGMENTS = 8
_TIME = 1_795_000_000_000


def measure_replay(spark: SparkSession, folder: Path, records: int) -> dict[str, Any]:
    """Write a log of so many records, one in ten an ACL, and replay it."""
    log = folder / "__cluster_metadata-0"
    write_log(log, records)
    size = sum(segment.stat().st_size for segment in log.glob("*.log"))
    # A small log first: what is measured is a warm session.
    warm = folder / "warm" / "__cluster_metadata-0"
    write_log(warm, 20_000)
    _replay(spark, warm, folder / "w0")
    seconds, counts = _replay(spark, log, folder / "w1")
    return {
        "benchmark": "R1",
        "records": records,
        "log_mib": round(size / 2**20),
        "acls": counts["acls_alive"],
        "seconds": round(seconds, 1),
        "records_per_second": round(records / seconds),
    }


def write_log(folder: Path, records: int) -> None:
    """Write segments of batches of 100 records."""
    folder.mkdir(parents=True)
    per_segment = -(-records // _SEGMENTS // _BATCH) * _BATCH
    for start in range(0, records, per_segment):
        with (folder / f"{start:020}.log").open("wb") as segment:
            for base in range(start, min(start + per_segment, records), _BATCH):
                segment.write(log_batch(base, _BATCH, 1, every=10))


def log_batch(base: int, count: int, epoch: int, *, every: int) -> bytes:
    """Encode a batch of so many records, of which one in ``every`` is an ACL."""
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=0, is_transactional=0,
        producer_id=-1, producer_epoch=-1, base_sequence=-1, batch_size=1 << 20,
    )  # fmt: skip
    for number, value in enumerate(_values(base, count, every)):
        builder.append(number, _TIME + base, None, value, [])
    content = bytearray(builder.build())
    content[:8] = base.to_bytes(8, "big")
    content[12:16] = epoch.to_bytes(4, "big")
    return bytes(content)


def _values(base: int, count: int, every: int) -> Iterator[bytes]:
    for offset in range(base, base + count):
        yield _acl(offset) if offset % every == 0 else _NO_OP


_NO_OP = bytes([1, 20, 0, 0])
"""Frame version, api key of NoOpRecord, version, no tagged fields."""


def _acl(offset: int) -> bytes:
    """Encode an AccessControlEntryRecord: topic ALLOW READ, for one of a thousand principals."""
    topic = f"team{offset % 50}.topic-{offset % 4_000}".encode()
    principal = f"User:app-{offset % 1_000}".encode()
    return (
        bytes([1, 18, 0])
        + uuid.UUID(int=offset + 1).bytes
        + bytes([2, len(topic) + 1])
        + topic
        + bytes([3, len(principal) + 1])
        + principal
        + bytes([2])
        + b"*"
        + bytes([3, 3, 0])
    )


def _replay(spark: SparkSession, log: Path, warehouse: Path) -> tuple[float, dict[str, int]]:
    started = time.perf_counter()
    intake = look_at([parse_source(f"metadata-log:{log}")])
    with begin_run(spark, str(warehouse), "replay", lock_timeout=60) as run:
        replay(run, intake, None, ReplayOptions())
        publish(run)
    return time.perf_counter() - started, run.counts
