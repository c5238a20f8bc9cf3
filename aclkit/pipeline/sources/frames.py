"""The bytes of one metadata record → the fields aclkit keeps of it.

Only ACLs, transaction marks, topic names, the names of SCRAM users and what brokers support are
kept; a credential is never even read. Layouts: Apache Kafka's metadata schemas
(``AccessControlEntryRecord.json`` …), all of them flexible; framing: ``MetadataRecordSerde``;
values: org.apache.kafka.common.protocol (ByteBufferAccessor, types). Whatever ends too early or is
no value at all is a ``ValueError`` that quotes no byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from aclkit.errors import DataError
from aclkit.model import facts as rows
from aclkit.model.acl import LONGEST_TEXT
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.pipeline.sources.payload import (
    ACL_KEYS,
    TRANSACTIONS,
    may_lose_acl,
    mechanism_of,
    unknown_type,
    uuid_text,
)

_LAST_SHIFT: Final = 28
"""Of the fifth and last byte of a number."""
_MORE: Final = 0x80
"""The bit that says that another byte follows."""


def read_number(value: bytes, at: int) -> tuple[int, int]:
    """Read an unsigned varint: seven bits a byte, the lowest first.

    >>> read_number(bytes([0xAC, 0x02]), 0)
    (300, 2)

    Raises:
        ValueError: it ends after the end, or has more than five bytes.
    """
    number = shift = 0
    for place in range(at, len(value)):
        byte = value[place]
        if byte < _MORE:
            return number | byte << shift, place + 1
        if shift == _LAST_SHIFT:
            raise ValueError("a number has more than five bytes")
        number |= (byte - _MORE) << shift
        shift += 7
    raise ValueError("a number ends after the end of the record")


def read_integer(value: bytes, at: int, size: int) -> tuple[int, int]:
    """Read a signed number of so many bytes, the highest first.

    Raises:
        ValueError: it ends after the end.
    """
    end = at + size
    if end > len(value):
        raise ValueError("a number ends after the end of the record")
    return int.from_bytes(value[at:end], signed=True), end


def read_string(value: bytes, at: int) -> tuple[bytes, int]:
    """Read the bytes of a compact string: their number and one more stands before them.

    Raises:
        ValueError: it is null, or ends after the end.
    """
    size, start = read_number(value, at)
    end = start + size - 1
    if end < start:
        raise ValueError("a string is null")
    if end > len(value):
        raise ValueError("a string ends after the end of the record")
    return value[start:end], end


def skip_tags(value: bytes, at: int) -> int:
    """Pass over tagged fields, whatever they hold; return where the next field begins.

    Raises:
        ValueError: they end after the end.
    """
    tags, at = read_number(value, at)
    for _ in range(tags):
        _, at = read_number(value, at)
        size, at = read_number(value, at)
        at += size
        if at > len(value):
            raise ValueError("a tagged field ends after the end of the record")
    return at


FrameFields = dict[str, Any]
"""The fields of a ``SourceRow`` that come out of a record's bytes."""


class UndecodableRecord(DataError):
    """A record whose bytes are not what Kafka writes.

    Attributes:
        is_acl: the record is one of an ACL, so its bytes may be shown.
        loses_acl: an ACL fact may be lost with it: it is one of an ACL or a transaction, or it
            is so broken that its type is unknown.
    """

    def __init__(self, reason: str, key: int | None = None) -> None:
        """Take what is wrong with a record of this key, None if not even the key is readable."""
        super().__init__(reason)
        self.is_acl = key in ACL_KEYS
        self.loses_acl = key is None or may_lose_acl(key)


def parse_values(
    values: Sequence[bytes | None],
) -> Iterator[tuple[int, FrameFields | UndecodableRecord]]:
    """Decode the record values of a batch, each with its index in it.

    Those that aclkit keeps nothing of are passed over: nine in ten, and a look at their first two
    bytes is all that they cost.
    """
    for index, value in enumerate(values):
        if value is not None and value[:2] in _FOREIGN_STARTS:
            continue
        try:
            parsed = parse_frame(value)
        except UndecodableRecord as error:
            yield index, error
        else:
            if parsed is not None:
                yield index, parsed


def parse_frame(value: bytes | None) -> FrameFields | None:
    """Decode a record's value; None if it is a known record that aclkit keeps nothing of.

    The api version is not checked for ACLs: ``MetadataRecordSerde`` reads version 1 as 0.

    Raises:
        UndecodableRecord: saying whether an ACL fact may be lost.
    """
    if not value:
        raise UndecodableRecord("a record without a value")
    key, version, start = _parse_header(value)
    decode = _broker_decoder(version) if key == _REGISTER_BROKER else _DECODERS.get(key)
    if decode is None:
        if key in _FOREIGN_KEYS:
            return None
        raise UndecodableRecord(unknown_type(key), key)
    try:
        fields, end = decode(value, start)
        if fields is not None and key not in _READ_IN_PART:
            _check_end(value, end, key)
    except ValueError as error:
        reason = f"Failed to deserialize record with type {key}: {error}"
        raise UndecodableRecord(reason, key) from error
    return fields


_REGISTER_BROKER: Final = 0
_READ_IN_PART: Final = frozenset({_REGISTER_BROKER, 11})
"""Of a SCRAM credential nothing after the mechanism is read, because the secrets begin there. Of a
broker nothing after its features is read, because versions of Kafka add fields there."""
_FOREIGN_KEYS: Final = frozenset({3, 4, 5, 7, 8, 10, 14, 15, 17, 20, 21, 26, 27, 28, 29})
_FOREIGN_STARTS: Final = frozenset(bytes((1, key)) for key in _FOREIGN_KEYS)
_MAX_SHORT: Final = 32767
_UUID_BYTES: Final = 16


def _parse_header(value: bytes) -> tuple[int, int, int]:
    """Read the frame version; return key, api version and where the message starts."""
    if value[0] == 1 and len(value) > 2 and value[1] < 0x80 and value[2] < 0x80:
        return value[1], value[2], 3
    frame, at = _read_short(value, 0, "frame version")
    if frame != 1:
        raise UndecodableRecord(
            f"Could not deserialize metadata record due to unknown frame version {frame}"
            "(only frame version 1 is supported)"
        )
    key, at = _read_short(value, at, "type")
    version, at = _read_short(value, at, "version", key)
    return key, version, at


def _read_short(value: bytes, at: int, what: str, key: int | None = None) -> tuple[int, int]:
    try:
        number, at = read_number(value, at)
    except ValueError as error:
        raise UndecodableRecord(f"Error while reading {what}: {error}", key) from error
    if number > _MAX_SHORT:
        raise UndecodableRecord(f"Value for {what} was too large.", key)
    return number, at


def _check_end(value: bytes, at: int, key: int) -> None:
    """Skip the tagged fields and insist that nothing follows them."""
    at = skip_tags(value, at)
    if at != len(value):
        raise ValueError(f"Found {len(value) - at} byte(s) of garbage after {key}")


def _code_in(name_of: Callable[[int], str]) -> _Read:
    """Return what reads a code of one byte, and tells its name."""
    names = {code: name_of(code) for code in range(-128, 128)}

    def read(value: bytes, at: int) -> tuple[str, int]:
        code, at = read_integer(value, at, 1)
        return names[code], at

    return read


def _read_uuid(value: bytes, at: int) -> tuple[str, int]:
    end = at + _UUID_BYTES
    if end > len(value):
        raise ValueError("a uuid ends after the end of the record")
    return uuid_text(value[at:end]), end


def _read_user(value: bytes, at: int) -> tuple[str, int]:
    name, at = _read_text(value, at)
    return f"User:{name}", at


def _read_text(value: bytes, at: int) -> tuple[str, int]:
    """Read a string; bytes that are no UTF-8 become U+FFFD, as in Kafka."""
    raw, at = read_string(value, at)
    if len(raw) > LONGEST_TEXT:
        raise ValueError(f"a string has invalid length {len(raw)}")
    return raw.decode(errors="replace"), at


def _decoder(record_type: str, **fields: _Read) -> _Decoder:
    """Return what decodes a record that begins with some fields, in their order."""
    parts = tuple(fields.items())

    def decode(value: bytes, at: int) -> tuple[FrameFields, int]:
        found: FrameFields = {"record_type": record_type}
        for name, read in parts:
            found[name], at = read(value, at)
        return found, at

    return decode


def _broker_decoder(version: int) -> _Decoder:
    """Return the decoder of a broker's registration; of its endpoints nothing is kept."""

    def decode(value: bytes, at: int) -> tuple[FrameFields, int]:
        broker_id, at = read_integer(value, at, 4)
        # From version 2 on: whether the broker comes from ZooKeeper. Then incarnation and epoch.
        at += (version >= _WITH_ZOOKEEPER) + _UUID_BYTES + 8
        endpoints, at = read_number(value, at)
        for _ in range(endpoints - 1):
            _, at = _read_text(value, at)
            _, at = _read_text(value, at)
            at = skip_tags(value, at + 4)
        low = high = None
        features, at = read_number(value, at)
        for _ in range(features - 1):
            name, at = _read_text(value, at)
            least, at = read_integer(value, at, 2)
            most, at = read_integer(value, at, 2)
            at = skip_tags(value, at)
            if name == rows.METADATA_VERSION:
                low, high = least, most
        fields: FrameFields = {"record_type": rows.REGISTER_BROKER, "broker_id": broker_id}
        return {**fields, "min_level": low, "max_level": high}, at

    return decode


def _decode_unregistration(value: bytes, at: int) -> tuple[FrameFields, int]:
    broker_id, at = read_integer(value, at, 4)
    return {"record_type": rows.UNREGISTER_BROKER, "broker_id": broker_id}, at + 8


def _decode_feature(value: bytes, at: int) -> tuple[FrameFields | None, int]:
    """Read the level of metadata.version; of every other feature nothing is kept."""
    name, at = _read_text(value, at)
    if name != rows.METADATA_VERSION:
        return None, at
    level, at = read_integer(value, at, 2)
    return {"record_type": rows.FEATURE_LEVEL, "max_level": level}, at


_WITH_ZOOKEEPER: Final = 2
_Read = Callable[[bytes, int], tuple[Any, int]]
"""Reads a field at a position; returns it, and where the next one begins."""
_Decoder = Callable[[bytes, int], tuple[FrameFields | None, int]]
_USER: Final = {"principal": _read_user, "mechanism": _code_in(mechanism_of)}
_DECODERS: Final[dict[int, _Decoder]] = {
    1: _decode_unregistration,
    2: _decoder(rows.ADD_TOPIC, resource_name=_read_text, topic_id=_read_uuid),
    9: _decoder(rows.REMOVE_TOPIC, topic_id=_read_uuid),
    11: _decoder(rows.ADD_SCRAM, **_USER),
    12: _decode_feature,
    18: _decoder(
        rows.ADD_ACL,
        acl_id=_read_uuid,
        resource_type=_code_in(ResourceType.name_of),
        resource_name=_read_text,
        pattern_type=_code_in(PatternType.name_of),
        principal=_read_text,
        host=_read_text,
        operation=_code_in(AclOperation.name_of),
        permission_type=_code_in(AclPermissionType.name_of),
    ),
    19: _decoder(rows.REMOVE_ACL, acl_id=_read_uuid),
    22: _decoder(rows.REMOVE_SCRAM, **_USER),
    **{key: _decoder(name) for key, name in TRANSACTIONS.items()},
}
