"""One JSON payload of kafka-dump-log → the fact that it states, nothing, or the reason why not.

Layouts: Apache Kafka's metadata schemas, version 0 (AccessControlEntryRecord.json and others);
JSON form: the generated ``…JsonConverter`` classes, with codes as numbers and Uuids as base64url.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from aclkit.model import facts as rows
from aclkit.model.acl import LONGEST_TEXT, is_storable
from aclkit.model.enums import AclOperation, AclPermissionType, CodedEnum, PatternType, ResourceType
from aclkit.model.facts import SourceRow, log_time
from aclkit.pipeline.sources.masking import names_acl
from aclkit.pipeline.sources.text_lines import is_utf_8
from aclkit.runtime.notation import refuse_constant, unique

ACL_KEYS: Final = frozenset({18, 19})
TRANSACTIONS: Final = {23: rows.BEGIN_TXN, 24: rows.END_TXN, 25: rows.ABORT_TXN}

UNKNOWN_TYPE: Final = "unknown record type"
"""How the reason of such a reject begins."""

MAX_OFFSET: Final = 2**63 - 2
"""The last offset whose exclusive end still is a long."""

NO_DECODER: Final = (
    "expected payloads as JSON, found none: the option --cluster-metadata-decoder is missing. "
    "Next: kafka-dump-log --cluster-metadata-decoder --files FILE"
)
"""The error for a dump in which every record is raw bytes, or is not shown at all."""

_MAX_TIMESTAMP: Final = 253_402_300_799_999
_MECHANISMS: Final = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_UUID: Final = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")
_UNKNOWN_KEY: Final = re.compile(
    r"payload: Error at [0-9]{1,19}, skipping\. (?:[A-Za-z.]{1,100}: )?"
    r"Unknown metadata id ([0-9]{1,5})\s*"
)
_TYPE: Final = re.compile(r'"type"\s{0,8}:\s{0,8}"([A-Za-z_]{1,60})"')


def unknown_type(key_or_name: object) -> str:
    """Return the reason why a record of an unknown type is a reject."""
    return f"{UNKNOWN_TYPE} {key_or_name}: Kafka up to 4.4 has no such type"


def may_lose_acl(key: int) -> bool:
    """Whether a record of this key that cannot be read may have stated something about ACLs."""
    return key in ACL_KEYS or key in TRANSACTIONS


class BadPayload(ValueError):
    """A payload that cannot be used; ``hides_acl`` is whether an ACL fact may be lost."""

    def __init__(self, reason: str, *, hides_acl: bool) -> None:
        """Keep the reason, which quotes nothing of the payload but names of types and fields."""
        super().__init__(reason)
        self.hides_acl = hides_acl


def parse_payload(payload: object, base: SourceRow) -> SourceRow | None:
    """Complete ``base`` to the fact that a payload states; None if it is of no interest.

    Raises:
        BadPayload: the type is unknown, or a field is missing or of the wrong type.
    """
    if not isinstance(payload, dict):
        raise BadPayload("expected a JSON object as payload", hides_acl=True)
    record_type = _record_type(payload.get("type"))
    columns = _COLUMNS.get(record_type)
    if columns is None or _is_of_another_feature(record_type, payload.get("data")):
        return None
    try:
        _check_version(payload.get("version", 0))
        data = payload.get("data")
        if not isinstance(data, dict):
            raise ValueError("data: expected a JSON object")
        values: dict[str, Any] = {column: _convert(data, *how) for column, how in columns.items()}
    except ValueError as error:
        hides_acl = record_type not in _FOREIGN
        raise BadPayload(f"{record_type}: {error}", hides_acl=hides_acl) from None
    return replace(base, record_type=record_type, **values)


def load_payload(text: str) -> object:
    """Read JSON strictly: no NaN, no Infinity, no key twice.

    Raises:
        BadPayload: the text is not such JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg} at column {error.colno}"
    except ValueError as error:
        reason = f"not usable JSON: {error}"
    except RecursionError:
        reason = "not usable JSON: nested too deeply"
    raise BadPayload(reason, hides_acl=may_hide_acl(text))


def not_decoded(text: str) -> BadPayload:
    """Return why a record is of no use that kafka-dump-log could not decode.

    Where it knew no type of the key the frame was sound, and the key tells what is lost.
    """
    if found := _UNKNOWN_KEY.fullmatch(text):
        key = int(found[1])
        return BadPayload(unknown_type(key), hides_acl=may_lose_acl(key))
    return BadPayload("kafka-dump-log could not decode the record", hides_acl=True)


def is_decoded(body: str) -> bool:
    """Whether kafka-dump-log decoded a record's payload, or tried to."""
    return body.startswith(("payload: {", "payload: Error at "))


def may_hide_acl(text: str) -> bool:
    """Whether a line that cannot be read may have stated something about ACLs.

    It cannot if it names a known record type of Kafka that is neither for ACLs nor bounds a
    transaction.
    """
    match = _TYPE.search(text)
    return match is None or names_acl(text) or _BY_NAME.get(match[1]) not in _FOREIGN


def mechanism_of(code: int) -> str:
    """Return the name of a SCRAM mechanism (ScramMechanism), or ``UNKNOWN(code)``."""
    return _MECHANISMS.get(code, f"UNKNOWN({code})")


def uuid_text(raw: bytes) -> str:
    """Write the 16 bytes of a Uuid as Kafka does: base64url without padding."""
    return base64.urlsafe_b64encode(raw).decode()[:22]


def parse_integer(text: str) -> int:
    """Read an integer as Java writes it.

    Raises:
        ValueError: it is none.
    """
    if not (text.isascii() and text.removeprefix("-").isdecimal() and len(text) <= 20):
        raise ValueError("expected an integer in the line")
    return int(text)


def parse_timestamp(value: object) -> datetime:
    """Turn milliseconds since 1970 into a time.

    Raises:
        ValueError: not an integer, before 1970 or after the year 9999.
    """
    if type(value) is not int or not 0 <= value <= _MAX_TIMESTAMP:
        raise ValueError("timestamp: expected milliseconds from 1970 to the year 9999")
    return log_time(value)


def time_or_none(text: str) -> datetime | None:
    """Read the timestamp that a text holds; None where it holds none."""
    try:
        return parse_timestamp(parse_integer(text))
    except ValueError:
        return None


def parse_offset(value: object) -> int:
    """Check an offset of the log.

    Raises:
        ValueError: not an integer, negative, or too large for a long.
    """
    if type(value) is not int or not 0 <= value <= MAX_OFFSET:
        raise ValueError("offset: expected an integer of the log's range, 0 or more")
    return value


def _record_type(name: object) -> str:
    """Return the upper-case name of a record type, whichever of the two spellings it has."""
    if not isinstance(name, str):
        raise BadPayload("type: expected the name of a record type", hides_acl=True)
    if name not in _BY_NAME:
        shown = name if re.fullmatch(r"[A-Za-z_]{1,60}", name) else "(not shown)"
        raise BadPayload(unknown_type(shown), hides_acl=names_acl(name))
    return _BY_NAME[name]


def _is_of_another_feature(record_type: str, data: object) -> bool:
    if record_type != rows.FEATURE_LEVEL or not isinstance(data, dict):
        return False
    return isinstance(data.get("name"), str) and data["name"] != rows.METADATA_VERSION


def _check_version(version: object) -> None:
    """Accept any version: the broker reads records of these types without checking theirs."""
    if type(version) is not int or not 0 <= version <= 32_767:
        raise ValueError("version: expected an integer from 0 to 32767")


def _convert(data: dict[str, Any], field: str, convert: Callable[[object], Any]) -> Any:  # noqa: ANN401 -- a text or a number
    if field not in data:
        raise ValueError(f"{field}: missing")
    try:
        return convert(data[field])
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from None


def _text(value: object) -> str:
    """Check a string; half a surrogate pair, written or of other bytes, is no UTF-8 of Kafka's."""
    if not isinstance(value, str):
        raise ValueError("expected a string")
    if not is_utf_8(value):
        raise ValueError("holds bytes that are not UTF-8, or half a surrogate pair")
    if not is_storable(value):
        raise ValueError(f"longer than the {LONGEST_TEXT} bytes that Kafka can store")
    return value


def _uuid(value: object) -> str:
    """Return a Uuid's text without padding (Uuid.fromString accepts padding)."""
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise ValueError("expected a Uuid, 22 letters of base64url")
    return uuid_text(base64.urlsafe_b64decode(value[:22] + "=="))


def _code(value: object) -> int:
    if type(value) is not int or not -128 <= value <= 127:
        raise ValueError("expected a code from -128 to 127")
    return value


def _name_in(enum: type[CodedEnum]) -> Callable[[object], str]:
    return lambda value: enum.name_of(_code(value))


def _mechanism(value: object) -> str:
    return mechanism_of(_code(value))


def _user(value: object) -> str:
    return f"User:{_text(value)}"


def _broker_id(value: object) -> int:
    if type(value) is not int or not -(2**31) <= value < 2**31:
        raise ValueError("expected the number of a broker")
    return value


def _level(value: object) -> int:
    if type(value) is not int or not -(2**15) <= value < 2**15:
        raise ValueError("expected a level from -32768 to 32767")
    return value


def _supported(key: str) -> Callable[[object], int | None]:
    """Return what reads a bound of metadata.version from a broker's features; None without it."""

    def read(features: object) -> int | None:
        if not isinstance(features, list) or not all(isinstance(one, dict) for one in features):
            raise ValueError("expected a list of features")
        found = [one for one in features if one.get("name") == rows.METADATA_VERSION]
        return _level(found[-1].get(key)) if found else None

    return read


_COLUMNS: Final[dict[str, dict[str, tuple[str, Callable[[object], str | int | None]]]]] = {
    rows.ADD_ACL: {
        "acl_id": ("id", _uuid),
        "resource_type": ("resourceType", _name_in(ResourceType)),
        "resource_name": ("resourceName", _text),
        "pattern_type": ("patternType", _name_in(PatternType)),
        "principal": ("principal", _text),
        "host": ("host", _text),
        "operation": ("operation", _name_in(AclOperation)),
        "permission_type": ("permissionType", _name_in(AclPermissionType)),
    },
    rows.REMOVE_ACL: {"acl_id": ("id", _uuid)},
    rows.BEGIN_TXN: {},
    rows.END_TXN: {},
    rows.ABORT_TXN: {},
    rows.ADD_TOPIC: {"resource_name": ("name", _text), "topic_id": ("topicId", _uuid)},
    rows.REMOVE_TOPIC: {"topic_id": ("topicId", _uuid)},
    rows.ADD_SCRAM: {"principal": ("name", _user), "mechanism": ("mechanism", _mechanism)},
    rows.REMOVE_SCRAM: {"principal": ("name", _user), "mechanism": ("mechanism", _mechanism)},
    rows.REGISTER_BROKER: {
        "broker_id": ("brokerId", _broker_id),
        "min_level": ("features", _supported("minSupportedVersion")),
        "max_level": ("features", _supported("maxSupportedVersion")),
    },
    rows.UNREGISTER_BROKER: {"broker_id": ("brokerId", _broker_id)},
    rows.FEATURE_LEVEL: {"max_level": ("featureLevel", _level)},
}
"""What is kept of each record type: our column, Kafka's field, and how it is read."""

_SKIPPED: Final = (
    *("PARTITION_RECORD", "PARTITION_CHANGE_RECORD", "CONFIG_RECORD", "CLIENT_QUOTA_RECORD"),
    # A broker that is fenced stays registered, and comes back as it is.
    *("FENCE_BROKER_RECORD", "UNFENCE_BROKER_RECORD", "BROKER_REGISTRATION_CHANGE_RECORD"),
    *("DELEGATION_TOKEN_RECORD", "REMOVE_DELEGATION_TOKEN_RECORD", "PRODUCER_IDS_RECORD"),
    *("REGISTER_CONTROLLER_RECORD", "UNREGISTER_CONTROLLER_RECORD", "NO_OP_RECORD"),
    *("ZK_MIGRATION_STATE_RECORD", "CLEAR_ELR_RECORD"),
)
_FOREIGN: Final = {
    *_SKIPPED,
    *(rows.ADD_TOPIC, rows.REMOVE_TOPIC, rows.ADD_SCRAM, rows.REMOVE_SCRAM),
    *rows.BROKER_RECORDS,
}
_BY_NAME: Final = {
    spelling: name
    for name in (*_COLUMNS, *_SKIPPED)
    for spelling in (name, name.title().replace("_", ""))
}
