"""Batches of the metadata log as bytes, for tests that need logs Kafka would not write."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.util import calc_crc32c

DATA = Path(__file__).parents[2] / "data"
KRAFT = DATA / "kraft-4.1" / "__cluster_metadata-0"
SYNTHETIC = DATA / "synthetic-4.2"

ACL = bytes.fromhex("0112004190c3bfe47b4b268f81eb433c6774330205666f6f5f0407557365723a2a022a030300")
REMOVE = bytes.fromhex("0113004190c3bfe47b4b268f81eb433c67743300")
NO_OP = bytes.fromhex("01140000")
BEGIN, END = bytes.fromhex("01170000"), bytes.fromhex("01180000")


def batch(
    base: int, *values: bytes | None, epoch: int = 1, time: int = 1_700_000_000_000, codec: int = 0
) -> bytes:
    """Build one batch of records without keys."""
    return keyed_batch(
        base, [(None, value) for value in values], epoch=epoch, time=time, codec=codec
    )


def control_batch(base: int, *records: tuple[bytes, bytes], epoch: int = 1) -> bytes:
    """Build one batch of control records (key, value)."""
    return with_field(keyed_batch(base, records, epoch=epoch), 21, ">h", 1 << 5)


def keyed_batch(
    base: int,
    records: Sequence[tuple[bytes | None, bytes | None]],
    *,
    epoch: int = 1,
    time: int = 1_700_000_000_000,
    codec: int = 0,
) -> bytes:
    builder = DefaultRecordBatchBuilder(2, codec, False, -1, -1, -1, 1 << 24)
    for index, (key, value) in enumerate(records):
        builder.append(index, time, key, value, [])
    built = with_field(bytes(builder.build()), 0, ">q", base)
    return with_field(built, 12, ">i", epoch)


def with_field(one: bytes, at: int, form: str, number: int) -> bytes:
    """Write a field of a batch's header and make its CRC right again."""
    changed = bytearray(one)
    struct.pack_into(form, changed, at, number)
    struct.pack_into(">I", changed, 17, calc_crc32c(memoryview(changed)[21:]))
    return bytes(changed)


def flipped(data: bytes, at: int, mask: int = 1) -> bytes:
    """Flip bits of one byte."""
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]
