"""The lines that an older aclkit kept one by one → rows of ``access_day`` and ``log_file``.

They are taken over once. ``access_log`` stays: a line of it that is read again does not count.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from string import Template
from typing import Final

import pyarrow as pa

from aclkit.questions.usage.known_files import KnownFile
from aclkit.questions.usage.stretches import NO_GAP, Stretches
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.reader import Reader

ACCESS_LOG: Final = "access_log"


@dataclass(frozen=True, slots=True)
class OlderLines:
    """Lines of ``access_log``.

    Attributes:
        ids: their ids.
        newest: the time of the newest one.
    """

    ids: Collection[str] = ()
    newest: datetime | None = None


def older_lines(read: Reader) -> OlderLines:
    """Read which lines an older aclkit kept."""
    ids = frozenset(row[0] for row in read.rows("SELECT line_id FROM access_log"))
    ((newest,),) = read.rows("SELECT max(CAST(log_time AS TIMESTAMP)) FROM access_log")
    return OlderLines(ids, newest)


def older_days(read: Reader, cluster_id: str) -> pa.Table:
    """Return them as rows of ``access_day``, a file for each source."""
    schema = arrow_schema("access_day")
    found = read.arrow(_DAYS)
    found = found.append_column("cluster_id", pa.array([cluster_id] * len(found), pa.string()))
    return found.select(schema.names).cast(schema)


def older_files(read: Reader) -> list[KnownFile]:
    """Return their sources as files that no file is like, for nothing is known of their bytes."""
    spoke: dict[str, Stretches] = {}
    for source, first, last in read.rows(_STRETCHES.format(NO_GAP // 4)):
        spoke.setdefault(source, Stretches()).add(first, last)
    return [
        KnownFile(
            file_id=_ID.format(source),
            source=source,
            log_zone="",
            head_bytes=0,
            head_digest="",
            read_bytes=0,
            read_lines=0,
            tail_bytes=0,
            tail_digest="",
            seen_bytes=0,
            is_waiting=False,
            packed=None,
            spoke_from=(spoke.get(source) or Stretches()).starts,
            spoke_to=(spoke.get(source) or Stretches()).ends,
        )
        for (source,) in read.rows("SELECT DISTINCT source FROM access_log ORDER BY source")
    ]


_ID: Final = "access_log {}"
_ALIKE: Final = (
    "principal, host, operation, resource_type, resource_name, request_name, decision, rule, "
    "deciding_acl_id, verdict, expected_decision, expected_rule, expected_acl_id, reason"
)
_DAYS: Final = Template("""\
SELECT 'access_log ' || source AS file_id, 0 AS run_number, day AS log_day, $alike,
       min(written) AS first_at, max(written) AS last_at, count(*) AS lines,
       arg_min(position, (written, position)) AS position, false AS is_open, min(raw) AS raw
FROM (
  SELECT *, CAST(log_time AS TIMESTAMP) AS written,
         CAST(date_trunc('day', CAST(log_time AS TIMESTAMP)) AS TIMESTAMP) AS day
  FROM access_log
)
GROUP BY source, day, $alike
ORDER BY source, day, $alike""").substitute(alike=_ALIKE)
_STRETCHES: Final = """\
SELECT source, min(micros), max(micros)
FROM (
  SELECT source, epoch_us(CAST(log_time AS TIMESTAMP)) AS micros FROM access_log
  WHERE verdict <> 'unreadable' AND log_time IS NOT NULL
)
GROUP BY source, micros // {}
ORDER BY 1, 2"""
