"""What every source yields: facts, ranges of offsets that were read, and rejects, as one row type.

A reader is ``(where) -> Iterator[SourceRow]``; Spark's data source turns the rows of many files
into one DataFrame, so facts, ranges and rejects share one schema.
"""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from aclkit.model.values import dataclass

FACT, RANGE, REJECT, FAILURE, NOTE = "fact", "range", "reject", "failure", "note"
"""Kinds of source row. A failure names, in ``fact`` and ``reason``, the aclkit error with which a
whole source could not be read; it is raised again where the rows are collected."""

RECORD, SNAPSHOT, LISTING, UNREADABLE = "record", "snapshot", "listing", "unreadable"
"""What a fact or range comes from. ``unreadable`` ranges hold offsets that were seen but whose
ACL facts could not be read: a batch with a bad CRC, an undecodable ACL record."""

OVERWRITTEN: Final = "overwritten"
"""A record that is not in the log as far as is known: another leader wrote its offset."""

TOLD: Final = "told"
"""Of a range with this fact a file says that it has the epoch. It is kept as ``epoch`` or not."""

COMMITTED, EPOCH = "committed", "epoch"
"""What ranges say of a log besides what was read. The offsets of ``committed`` have the epoch, and
are committed. An ``epoch`` begins at its range's first offset, after an offset of the epoch that it
follows."""

WRITTEN: Final = "aclkit acls"
"""The source of records that aclkit itself wrote, of a cluster that follows nothing."""

ADD_ACL: Final = "ACCESS_CONTROL_ENTRY_RECORD"
REMOVE_ACL: Final = "REMOVE_ACCESS_CONTROL_ENTRY_RECORD"
BEGIN_TXN: Final = "BEGIN_TRANSACTION_RECORD"
END_TXN: Final = "END_TRANSACTION_RECORD"
ABORT_TXN: Final = "ABORT_TRANSACTION_RECORD"
ADD_TOPIC: Final = "TOPIC_RECORD"
REMOVE_TOPIC: Final = "REMOVE_TOPIC_RECORD"
ADD_SCRAM: Final = "USER_SCRAM_CREDENTIAL_RECORD"
REMOVE_SCRAM: Final = "REMOVE_USER_SCRAM_CREDENTIAL_RECORD"
ADD_DELEGATION: Final = "DELEGATION_TOKEN_RECORD"
REMOVE_DELEGATION: Final = "REMOVE_DELEGATION_TOKEN_RECORD"
REGISTER_BROKER: Final = "REGISTER_BROKER_RECORD"
UNREGISTER_BROKER: Final = "UNREGISTER_BROKER_RECORD"
FEATURE_LEVEL: Final = "FEATURE_LEVEL_RECORD"
BROKER_RECORDS: Final = (REGISTER_BROKER, UNREGISTER_BROKER, FEATURE_LEVEL)
"""Who is a broker, what its binary supports, what is in force. Older aclkits passed them over."""

METADATA_VERSION: Final = "metadata.version"
"""The one feature whose levels are kept."""

ADD_RESOURCE: Final = "LISTED_RESOURCE"
REMOVE_RESOURCE: Final = "REMOVE_LISTED_RESOURCE"
"""A group, a transactional id or a token that a live cluster names: the metadata log has no record
of the first two, and of a token only the owner is kept."""

DELEGATION: Final = "DELEGATION_TOKEN"
"""What stands in the place of a SCRAM mechanism for the owner of a delegation token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """One row of a source.

    A **fact** has ``fact`` (record, snapshot or listing), ``record_type`` and, for a record, its
    ``log_offset``; for a snapshot ``log_offset`` is the snapshot's end offset (exclusive).
    ``acl_id`` … ``permission_type`` are set for ACL records (only ``acl_id`` for a removal; no
    ``acl_id`` in a listing); ``topic_id`` and ``resource_name`` for topics (in a listing the id may
    be unknown); ``principal`` (``User:name``) and ``mechanism`` for SCRAM users and owners of
    tokens; ``resource_type`` and ``resource_name`` for a listed resource; ``broker_id``,
    ``min_level`` and ``max_level`` for a broker and the metadata.version that it supports (see
    ``model.brokers``), and ``max_level`` for the one that is in force. Nothing else of any record
    is kept.

    A **range** states that offsets ``from_offset`` ≤ o < ``to_offset`` were read (or, with fact
    ``unreadable``, were not readable). A snapshot's range is 0 … its end offset. Ranges of facts
    ``committed`` and ``epoch`` say something else of the log, see there; only of the latter
    ``follows`` is set.

    A **reject** has ``reason`` and ``position`` (byte or 1-based line), ``log_offset`` where it
    is known, ``raw`` (never a credential) and ``digest`` (sha-256 of the row's bytes).

    A **note** tells of a listing whose it is (``fact``), and in ``reason`` what was left out of it.
    """

    kind: str
    source: str
    fact: str | None = None
    log_offset: int | None = None
    epoch: int | None = None
    log_time: datetime | None = None
    record_type: str | None = None
    acl_id: str | None = None
    resource_type: str | None = None
    resource_name: str | None = None
    pattern_type: str | None = None
    principal: str | None = None
    host: str | None = None
    operation: str | None = None
    permission_type: str | None = None
    topic_id: str | None = None
    mechanism: str | None = None
    broker_id: int | None = None
    min_level: int | None = None
    max_level: int | None = None
    from_offset: int | None = None
    to_offset: int | None = None
    follows: int | None = None
    position: int | None = None
    reason: str | None = None
    raw: str | None = None
    digest: str | None = None


def range_row(source: str, fact: str, start: int, stop: int, epoch: int | None = None) -> SourceRow:
    """Return the row of a range of offsets."""
    return SourceRow(
        kind=RANGE, source=source, fact=fact, from_offset=start, to_offset=stop, epoch=epoch
    )


def epoch_row(source: str, start: int, epoch: int, follows: int) -> SourceRow:
    """Return the row of a leader epoch that begins at an offset, after one of another epoch."""
    row = range_row(source, EPOCH, start, start + 1, epoch)
    return replace(row, follows=follows)


_TYPES: Final = {
    **dict.fromkeys(("log_offset", "from_offset", "to_offset", "position"), "BIGINT"),
    **dict.fromkeys(("epoch", "follows", "broker_id", "min_level", "max_level"), "INT"),
    "log_time": "TIMESTAMP",
}

SPARK_DDL: Final = ", ".join(f"{f.name} {_TYPES.get(f.name, 'STRING')}" for f in fields(SourceRow))


def log_time(milliseconds: int) -> datetime:
    """Turn a timestamp of the log (milliseconds since 1970, UTC) into a datetime."""
    seconds, rest = divmod(milliseconds, 1000)
    return datetime.fromtimestamp(seconds, tz=UTC).replace(microsecond=rest * 1000)


def in_milliseconds(time: datetime) -> int:
    """Turn a time into a timestamp of the log, what is below a millisecond cut off."""
    return (in_utc(time) - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)


def in_utc(time: datetime) -> datetime:
    """Return a time in UTC; one without a zone is of UTC already."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
