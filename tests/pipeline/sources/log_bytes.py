"""Batches of the metadata log as bytes, for tests that need logs Kafka would not write."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.util import calc_crc32c
from kio.serial.writers import write_unsigned_varint

from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.pipeline.sources.batches import Batch, Damage, read_batches

DATA = Path(__file__).parents[2] / "data"
KRAFT = DATA / "kraft-4.1" / "__cluster_metadata-0"
SYNTHETIC = DATA / "synthetic-4.2"

ACL = bytes.fromhex("0112004190c3bfe47b4b268f81eb433c6774330205666f6f5f0407557365723a2a022a030300")
REMOVE = bytes.fromhex("0113004190c3bfe47b4b268f81eb433c67743300")
NO_OP = bytes.fromhex("01140000")
BEGIN, END = bytes.fromhex("01170000"), bytes.fromhex("01180000")


def compact(text: bytes) -> bytes:
    """A string with its length and one more before it."""
    return _varint(len(text) + 1) + text


def acl_record(acl: Acl) -> bytes:
    """AccessControlEntryRecord; the id of the ACL is a Uuid's text."""
    return (
        b"\x01\x12\0" + base64.urlsafe_b64decode(acl.acl_id + "==")
        + struct.pack(">b", ResourceType.code_of(acl.resource_type))
        + compact(acl.resource_name.encode())
        + struct.pack(">b", PatternType.code_of(acl.pattern_type))
        + compact(acl.principal.encode()) + compact(acl.host.encode())
        + struct.pack(">b", AclOperation.code_of(acl.operation))
        + struct.pack(">b", AclPermissionType.code_of(acl.permission_type)) + b"\0"
    )  # fmt: skip


def removal_record(acl_id: str) -> bytes:
    """RemoveAccessControlEntryRecord."""
    return b"\x01\x13\0" + base64.urlsafe_b64decode(acl_id + "==") + b"\0"


def topic_record(name: str, topic_id: bytes) -> bytes:
    """TopicRecord."""
    return b"\x01\x02\0" + compact(name.encode()) + topic_id + b"\0"


def level_record(level: int, name: bytes = b"metadata.version") -> bytes:
    """FeatureLevelRecord."""
    return b"\x01\x0c\0" + compact(name) + struct.pack(">h", level) + b"\0"


def feature(name: bytes, low: int, high: int, tags: bytes = b"\0") -> bytes:
    """What a broker says of a feature when it registers."""
    return compact(name) + struct.pack(">hh", low, high) + tags


def broker_record(version: int, *features: bytes, broker_id: int = 7, endpoints: int = 1) -> bytes:
    """RegisterBrokerRecord of a version, what only newer ones have behind the features."""
    start = struct.pack(">i", broker_id) + (b"\0" if version >= 2 else b"") + bytes(24)
    points = (b"\x03ab" + b"\x03cd" + bytes(4) + b"\0") * endpoints
    return (
        bytes([1, 0, version]) + start + bytes([endpoints + 1]) + points
        + bytes([len(features) + 1]) + b"".join(features) + b"\0\x01\0"
    )  # fmt: skip


def _varint(number: int) -> bytes:
    buffer = BytesIO()
    write_unsigned_varint(buffer, number)
    return buffer.getvalue()


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


def sound(data: bytes) -> list[tuple[int, int]]:
    """The first and last offsets of the batches that can be read."""
    return [(i.base_offset, i.last_offset) for i in read_batches(data) if isinstance(i, Batch)]


def lost(data: bytes) -> list[tuple[int | None, int | None]]:
    """The offsets that are lost: from the first one, up to the second."""
    return [(each.from_offset, each.to_offset) for each in damage(data)]


def damage(data: bytes) -> list[Damage]:
    """What cannot be read."""
    return [item for item in read_batches(data) if isinstance(item, Damage)]
