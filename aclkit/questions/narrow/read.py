"""A published warehouse → what each principal used, what the log covers, and how old ACLs are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from string import Template
from typing import Final

from aclkit.kafka.authorizer.audit import PRINCIPAL_IS
from aclkit.model.acl import Request
from aclkit.model.groups import grouped
from aclkit.questions.by_whom.match import HEARTBEAT
from aclkit.questions.narrow.coverage import FileDay, Log, Needed, Stretch, Unread, judge_log
from aclkit.questions.narrow.narrowing import Use
from aclkit.questions.narrow.propose import Asked
from aclkit.questions.preview.read import base_of
from aclkit.questions.usage.check import UNDETERMINED, UNREADABLE
from aclkit.questions.usage.clock import to_datetime
from aclkit.questions.usage.layout import LAYOUT_NOT_READ
from aclkit.questions.usage.lines import REQUEST
from aclkit.rules.decide.handlers import REQUESTS
from aclkit.rules.decide.rules import ALLOWED
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, as_of
from aclkit.warehouse.reader import Tables
from aclkit.warehouse.sql import fetch

ACCESS_DAY: Final = "access_day"

NEEDED: Final[Mapping[str, Mapping[str, str]]] = {
    name: {}
    for name in (
        ACCESS_DAY, "log_file", "acl_history", "principal", "host", "resource", "broker",
    )
}  # fmt: skip
"""The tables that are asked, see ``duck.connect``."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What a log must have before it shows what is unused.

    Attributes:
        unused_days: length of the window.
        brokers: how many there are; None for as many as are registered.
        most_unread: so many lines may be unreadable.
        old_log: it may end long before the ACLs were read.
    """

    unused_days: float = 90.0
    brokers: int | None = None
    most_unread: int = 0
    old_log: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the warehouse holds of use.

    Attributes:
        log: what was read of the authorizer log.
        added_at: when each ACL in force came, by id; None where that is not known.
        brokers: how many are registered; None where the source does not tell.
    """

    log: Log
    added_at: Mapping[str, datetime | None]
    brokers: int | None


def read_asked(
    tables: Tables,
    published: Published,
    run: PublishedRun,
    options: LogOptions,
    principals: Sequence[str] = (),
) -> Asked:
    """Read the ACLs in force, what was used, and what of it can be judged.

    Args:
        tables: knows ``NEEDED``.
        published: the warehouse.
        run: the run whose decisions are published.
        options: what is asked of the log.
        principals: whose use is read; everyone's if none is named.
    """
    base = base_of(tables, published, run)
    evidence = read_evidence(tables, run)
    read_at = as_of(published, run).time
    needed = Needed(
        days=options.unused_days,
        brokers=options.brokers or evidence.brokers,
        read_at=read_at and read_at.replace(tzinfo=None),
        most_unread=options.most_unread,
        may_be_old=options.old_log,
    )
    judgeable = judge_log(evidence.log, needed)
    since = judgeable.window_from
    return Asked(
        rules=base.state.rules(base.semantics),
        judgeable=judgeable,
        added_at=evidence.added_at,
        uses={} if since is None else read_uses(tables, run, since, principals),
    )


def read_evidence(tables: Tables, run: PublishedRun) -> Evidence:
    """Read what is known of a cluster's log, its ACLs and its brokers."""
    values = [run.cluster_id]
    days = fetch(tables, _DAYS, [ALLOWED, HEARTBEAT, _SERVED_BY_BROKERS, UNREADABLE, *values])
    unread = fetch(
        tables, _UNREAD, [*values, UNDETERMINED, UNREADABLE, LAYOUT_NOT_READ, PRINCIPAL_IS.strip()]
    )
    ((brokers,),) = fetch(tables, _BROKERS, values)
    return Evidence(
        log=Log(
            days=[FileDay(*row) for row in days],
            stretches=[
                Stretch(file, _naive(first), _naive(last))
                for file, first, last in fetch(tables, _STRETCHES, values)
            ],
            unread=[Unread(*row) for row in unread],
            sources=dict(fetch(tables, _SOURCES, values)),
            copies=fetch(tables, _COPIES, [*values, _SAME]),
        ),
        added_at=dict(fetch(tables, _ADDED, values)),
        brokers=brokers or None,
    )


def read_uses(
    tables: Tables, run: PublishedRun, since: datetime, principals: Iterable[str] = ()
) -> dict[str, list[Use]]:
    """Read what principals asked for since a time, allowed or refused; of all where none is named.

    Of the day on which the window begins a row counts if its last line is inside. Lines without a
    time count too.
    """
    some = list(principals)
    rows = fetch(tables, _USES, [UNREADABLE, run.cluster_id, since, not some, some])
    found = []
    for *request, apis, lines, last in rows:
        asked = Request(**dict(zip(REQUEST, request, strict=True)))
        found.append(Use(request=asked, apis=tuple(apis or ()), lines=lines, last_at=last))
    return grouped((use.request.principal, use) for use in found)


def _naive(micros: int) -> datetime:
    return to_datetime(micros).replace(tzinfo=None)


_SAME: Final = 0.2
"""If a larger share of what two files hold is the same, one is a copy of lines of the other."""

_OF_CONTROLLERS: Final = {each.name for each in REQUESTS if each.handler == "ControllerApis"}
_SERVED_BY_BROKERS: Final = sorted(
    {each.name for each in REQUESTS if each.handler == "KafkaApis"} - _OF_CONTROLLERS - {"Fetch"}
)
"""Controllers answer Fetch too, to voters and observers of the metadata log, not of topics."""


def _sql(text: str) -> str:
    """Put the columns of the contract into a statement."""
    return Template(text).substitute(request=", ".join(REQUEST))


_DAYS: Final = _sql("""\
SELECT file_id, CAST(log_day AS DATE),
       CAST(sum(CASE WHEN decision = ? THEN lines ELSE 0 END) AS BIGINT),
       CAST(sum(CASE WHEN request_name = ? THEN lines ELSE 0 END) AS BIGINT),
       CAST(sum(CASE WHEN list_contains(?, request_name)
                       OR (request_name = 'Fetch' AND resource_type = 'TOPIC')
                     THEN lines ELSE 0 END) AS BIGINT)
FROM access_day WHERE verdict <> ? AND cluster_id = ? AND log_day IS NOT NULL
GROUP BY ALL ORDER BY ALL""")
_UNREAD: Final = _sql("""\
SELECT file_id, CAST(log_day AS DATE), CAST(sum(lines) AS BIGINT) FROM access_day
WHERE cluster_id = ? AND principal IS NULL
  AND (verdict = ? OR (verdict = ? AND (starts_with(reason, ?) OR contains(raw, ?))))
GROUP BY ALL ORDER BY ALL""")
"""Lines of the authorizer; a file may have others, which tell nothing about use."""

_SOURCES: Final = "SELECT file_id, source FROM log_file WHERE cluster_id = ?"
_COPIES: Final = _sql("""\
WITH known AS (
SELECT file_id, unnest([first_at, last_at]) AS moment, log_day, $request, request_name, decision
FROM access_day WHERE cluster_id = ? AND principal IS NOT NULL AND first_at IS NOT NULL
),
size AS (SELECT file_id, count(*) AS known_rows FROM known GROUP BY file_id),
shared AS (
SELECT a.file_id AS one, b.file_id AS other, count(*) AS known_rows
FROM known a JOIN known b USING (moment, log_day, $request, request_name, decision)
WHERE a.file_id < b.file_id GROUP BY ALL
)
SELECT one, other FROM shared
JOIN size a ON a.file_id = one JOIN size b ON b.file_id = other
WHERE shared.known_rows > ? * least(a.known_rows, b.known_rows) ORDER BY ALL""")
"""Of brokers of their own hardly any two lines say the same in the same millisecond."""

_STRETCHES: Final = """\
SELECT file_id, unnest(spoke_from), unnest(spoke_to) FROM log_file WHERE cluster_id = ?"""
_ADDED: Final = """\
SELECT acl_id, CAST(added_at AS TIMESTAMP) FROM acl_history WHERE cluster_id = ?"""
_BROKERS: Final = "SELECT count(*) FROM broker WHERE cluster_id = ? AND is_registered"
_USES: Final = _sql("""\
SELECT $request,
       list(DISTINCT request_name ORDER BY request_name) FILTER (request_name IS NOT NULL),
       CAST(sum(lines) AS BIGINT), max(CAST(last_at AS TIMESTAMP))
FROM access_day
WHERE verdict <> ? AND cluster_id = ? AND principal IS NOT NULL AND host IS NOT NULL
  AND operation IS NOT NULL AND resource_type IS NOT NULL AND resource_name IS NOT NULL
  AND (last_at IS NULL OR CAST(last_at AS TIMESTAMP) >= ?)
  AND (? OR list_contains(?, principal))
GROUP BY $request ORDER BY $request""")
