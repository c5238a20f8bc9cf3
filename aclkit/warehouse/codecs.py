"""Rows of ``acl_history``, ``acl_log``, ``broker`` and ``finding`` ↔ ACLs, brokers and findings.

The row of ``job_run`` has a module of its own, ``aclkit.warehouse.job_run``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from aclkit.model.acl import Acl
from aclkit.model.brokers import Broker, Brokers
from aclkit.model.facts import log_time
from aclkit.model.findings import Finding
from aclkit.warehouse.schemas import TABLES

ACL_COLUMNS: Final = Acl.__slots__
"""The columns of an ACL, in the order in which ``acl_of`` takes them."""

FINDING_COLUMNS: Final = tuple(field.name for field in fields(Finding))
"""The columns of a finding, in the order in which ``finding_of`` takes them."""


def acl_sql(rest: str, *more: str) -> str:
    """Return the SELECT of ``ACL_COLUMNS``, followed by more columns, from the rest."""
    return f"SELECT {', '.join((*ACL_COLUMNS, *more))} {rest}"


ALIVE_SQL: Final = "FROM acl_history WHERE removed_offset IS NULL"
"""The end of a SELECT of the ACLs in force at the head, in all clusters of the opened tables."""

ACLS_ALIVE_SQL: Final = acl_sql(f"{ALIVE_SQL} ORDER BY acl_id")
"""The SELECT of the ACLs in force at the head, in all clusters of the opened tables."""


def acl_of(row: Sequence[Any]) -> Acl:
    """Make an ACL of a row that begins with ``ACL_COLUMNS``."""
    return Acl(**dict(zip(ACL_COLUMNS, row, strict=False)))


def behind_acl(row: Sequence[Any]) -> Sequence[Any]:
    """Return the columns of such a row after those of the ACL."""
    return row[len(ACL_COLUMNS) :]


BROKERS_SQL: Final = (
    "SELECT broker_id, is_registered, min_level, max_level, since_offset, "
    "epoch_ms(since_time), finalized_level, finalized_offset FROM broker "
)
"""The SELECT of what ``brokers_of`` takes, in all clusters of the opened tables."""


def brokers_of(rows: Iterable[Sequence[Any]]) -> Brokers:
    """Make the brokers of one cluster of rows of ``BROKERS_SQL``, whatever their order."""
    held = sorted(rows, key=lambda row: int(row[0]))
    names = [field.name for field in fields(Broker)]
    said = (dict(zip(names, row, strict=False)) for row in held)
    brokers = tuple(Broker(**one | {"since_time": time_of(one["since_time"])}) for one in said)
    level, since = held[0][len(names) :] if held else (None, None)
    return Brokers(brokers=brokers, finalized_level=level, finalized_offset=since)


def time_of(milliseconds: int | None) -> datetime | None:
    """Return a time that a table may lack, from what ``epoch_ms`` makes of it."""
    return None if milliseconds is None else log_time(milliseconds)


def broker_rows(known: Brokers, cluster_id: str) -> list[tuple[object, ...]]:
    """Write brokers as rows of ``broker``."""
    names = [field.name for field in fields(Broker)]
    level = (known.finalized_level, known.finalized_offset)
    return [(cluster_id, *[getattr(b, n) for n in names], *level) for b in known.brokers]


def finding_sql(rest: str) -> str:
    """Return the SELECT of ``FINDING_COLUMNS`` from the rest."""
    return f"SELECT {', '.join(FINDING_COLUMNS)} {rest}"


def finding_of(row: Sequence[Any]) -> Finding:
    """Make a finding of a row of ``FINDING_COLUMNS``; null, of an older aclkit, is the default."""
    said: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in zip(FINDING_COLUMNS, row, strict=True)
        if value is not None
    }
    return Finding(**said)


def finding_row(finding: Finding, cluster_id: str, run_id: str) -> tuple[object, ...]:
    """Write a finding of a run as a row of ``finding``."""
    said: dict[str, object] = {name: getattr(finding, name) for name in FINDING_COLUMNS}
    said |= {"cluster_id": cluster_id, "run_id": run_id, "fingerprint": finding.fingerprint}
    return tuple(map(said.get, TABLES["finding"].column_names))
