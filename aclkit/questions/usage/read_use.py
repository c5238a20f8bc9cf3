"""The tables of a cluster → what its authorizer log shows of use, and what it covers.

The broker whose log a file is counts only where it is sure: the user gave its name, or the path has
the word broker or node with the number of a registered broker. The number of a file that was
rotated is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from string import Template
from typing import Final, NamedTuple

from aclkit.kafka.authorizer.audit import PRINCIPAL_IS
from aclkit.model.acl import Request
from aclkit.questions.denials.read import ACCESS_DAY, has_log
from aclkit.questions.usage.check import UNDETERMINED, UNREADABLE
from aclkit.questions.usage.clock import to_naive
from aclkit.questions.usage.coverage import (
    HEARTBEAT,
    AuthorizerLog,
    Broker,
    FileDay,
    Needed,
    Stretch,
    Unread,
)
from aclkit.questions.usage.layout import LAYOUT_NOT_READ
from aclkit.questions.usage.use import Use, UseOfAcls
from aclkit.questions.usage.whole_log import Judgeable, judge_log
from aclkit.rules.decide.handlers import REQUESTS
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.names.rows import Rules
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, as_of


class NamedPath(NamedTuple):
    """A path of ``--authorizer-log``, and the name of the broker that stands before it."""

    name: str | None
    path: str


def split_name(text: str) -> NamedPath:
    """Take the name of a broker off a path: ``NAME=PATH``.

    >>> split_name("b1=/logs/b1"), split_name("/logs/a=b")
    (NamedPath(name='b1', path='/logs/b1'), NamedPath(name=None, path='/logs/a=b'))
    """
    found = _NAME_AND_PATH.fullmatch(text)
    return NamedPath(None, text) if found is None else NamedPath(*found.groups())


def name_brokers(
    sources: Mapping[str, str], given: Mapping[str, str | None], registered: Collection[int]
) -> dict[str, str]:
    """Return the broker of each file of which it is sure: its number where it is registered.

    Args:
        sources: number of a file → where it was read.
        given: number of a file → the name that the user gave.
        registered: the numbers of the brokers of the cluster.
    """
    known = {str(each) for each in registered}
    there = set(sources.values())
    found = {}
    for file, source in sources.items():
        name = given.get(file)
        if name is not None:
            number = _number(name)
            found[file] = number if number in known else name
        elif (number := _in_path(source, there)) in known:
            found[file] = number
    return found


def _number(name: str) -> str:
    """Return the number of a broker that a name is: ``2``, ``broker-2``, ``kafka2``."""
    found = _NUMBERED.fullmatch(name)
    return str(int(found[1])) if found else ""


def _in_path(source: str, others: Iterable[str]) -> str:
    """Return the number of the broker in a path; empty where there is none, or several."""
    *folders, name = PurePosixPath(source.replace("\\", "/")).parts or ("",)
    found = {match[2] for part in folders for match in _IN_FOLDER.finditer(part)}
    for match in _IN_NAME.finditer(name):
        # broker-1.log next to broker.log was rotated.
        rotated_from = name[: match.start(1)].rstrip("-_.") + name[match.end(1) :]
        if not any(PurePosixPath(each.replace("\\", "/")).name == rotated_from for each in others):
            found.add(match[1])
    return str(int(next(iter(found)))) if len(found) == 1 else ""


_NAME_AND_PATH: Final = re.compile(r"([\w.-]+)=(.+)", re.DOTALL)
_NUMBERED: Final = re.compile(r"(?:[a-z-]*[a-z][-_.]?)?(\d{1,9})", re.IGNORECASE | re.ASCII)
_IN_FOLDER: Final = re.compile(
    r"(?<![^\W\d_])(broker|node|kafka)[-_.]?(\d{1,9})(?![^\W_])", re.IGNORECASE | re.ASCII
)
_IN_NAME: Final = re.compile(
    r"(?<![^\W\d_])(?:broker|node)[-_.]?(\d{1,9})(?![^\W_])", re.IGNORECASE | re.ASCII
)


REQUEST: Final = tuple(field.name for field in fields(Request))
"""The columns that make a request."""

USE_TABLES: Final = (ACCESS_DAY, "log_file", "acl_history", "broker")
"""The tables that tell about use, see ``duck.connect``."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What a log must have before it shows what is unused.

    Attributes:
        unused_days: length of the window.
        brokers: the logs are of so many brokers, and that is all of them; None for the registered.
        most_unread: so many lines may be unreadable.
        old_log: it may end long before the ACLs were read.
    """

    unused_days: float = 90.0
    brokers: int | None = None
    most_unread: int = 0
    old_log: bool = False


DEFAULT_OPTIONS: Final = LogOptions()


def read_use(
    tables: Tables,
    published: Published,
    run: PublishedRun,
    rules: Rules,
    options: LogOptions = DEFAULT_OPTIONS,
    principals: Sequence[str] = (),
) -> UseOfAcls:
    """Read what a published run knows of the use of the ACLs in force.

    Args:
        tables: knows ``USE_TABLES``.
        published: the warehouse.
        run: the run whose decisions are published.
        rules: what decides.
        options: what is asked of the log.
        principals: whose requests are read; those of all if none is named.
    """
    cluster_id = run.cluster_id
    read_at = as_of(published, run).time
    is_logged = has_log(published)
    read_at = read_at and read_at.replace(tzinfo=None)
    return UseOfAcls(
        rules=rules,
        log=read_judgeable(tables, cluster_id, options, read_at),
        added_at=dict(fetch(tables, _ADDED, [cluster_id])),
        uses=read_requests(tables, cluster_id, principals) if is_logged else (),
        named=dict(fetch(tables, _NAMED, [cluster_id, ALLOWED])) if is_logged else {},
    )


def read_judgeable(
    tables: Tables, cluster_id: str, options: LogOptions, read_at: datetime | None
) -> Judgeable:
    """Read what a cluster's log covers, and judge what it can show."""
    registered = [
        Broker(number, None if is_registered else since)
        for number, is_registered, since in fetch(tables, _BROKERS, [cluster_id])
    ]
    needed = Needed(
        days=options.unused_days,
        registered=registered,
        brokers=options.brokers,
        read_at=read_at,
        most_unread=options.most_unread,
        may_be_old=options.old_log,
    )
    return judge_log(_read_log(tables, cluster_id, registered), needed)


def read_requests(tables: Tables, cluster_id: str, principals: Iterable[str] = ()) -> list[Use]:
    """Read what principals asked for, allowed or refused; of all of them where none is named."""
    some = list(principals)
    rows = fetch(tables, _USES, [ALLOWED, UNREADABLE, cluster_id, not some, some])
    found = []
    for *request, is_allowed, apis, lines, last, source in rows:
        asked = Request(**dict(zip(REQUEST, request, strict=True)))
        found.append(
            Use(
                request=asked,
                apis=tuple(apis or ()),
                lines=lines,
                last_at=last,
                broker=source or "",
                is_allowed=is_allowed,
            )
        )
    return found


def _read_log(tables: Tables, cluster_id: str, registered: Iterable[Broker]) -> AuthorizerLog:
    values = [cluster_id]
    rows = fetch(tables, _DAYS, [ALLOWED, HEARTBEAT, _SERVED_BY_BROKERS, UNREADABLE, *values])
    days = [FileDay(*row) for row in rows]
    unread = fetch(
        tables, _UNREAD, [*values, UNDETERMINED, UNREADABLE, LAYOUT_NOT_READ, PRINCIPAL_IS.strip()]
    )
    files = fetch(tables, _FILES, values)
    spoke = [s for file, _, _, *kinds in files for s in _stretches(file, *kinds[:2])]
    sources = {file: source for file, source, *_ in files}
    older = {file for file, _, _, _, _, allowed, *_ in files if allowed is None}
    kept = [row for row in files if row[0] not in older]
    return AuthorizerLog(
        days=days,
        stretches=spoke,
        allowed=[
            *(s for file, _, _, *kinds in kept for s in _stretches(file, *kinds[2:4])),
            *_by_day([s for s in spoke if s.file in older], {d[:2] for d in days if d.allowed}),
        ],
        beats=[
            *(s for file, _, _, *kinds in kept for s in _stretches(file, *kinds[4:6])),
            *_by_day([s for s in spoke if s.file in older], {d[:2] for d in days if d.heartbeats}),
        ],
        unread=[Unread(*row) for row in unread],
        sources=sources,
        copies=fetch(tables, _COPIES, [*values, _SAME]),
        brokers=name_brokers(
            sources,
            {file: name for file, _, name, *_ in files},
            {each.broker_id for each in registered},
        ),
    )


def _stretches(file: str, starts: Sequence[int], ends: Sequence[int]) -> list[Stretch]:
    return [Stretch(file, to_naive(a), to_naive(b)) for a, b in zip(starts, ends, strict=True)]


def _by_day(spoke: Iterable[Stretch], days: set[tuple[str, object]]) -> Iterable[Stretch]:
    """Yield the parts of stretches on days with lines of a kind: an older aclkit noted days."""
    for file, first, last in spoke:
        begin = first
        while begin <= last:
            midnight = datetime.combine(begin.date(), datetime.min.time()) + timedelta(days=1)
            if (file, begin.date()) in days:
                yield Stretch(file, begin, min(last, midnight))
            begin = midnight


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

_FILES: Final = """\
SELECT file_id, source, broker, spoke_from, spoke_to, allowed_from, allowed_to, beat_from, beat_to
FROM log_file WHERE cluster_id = ? ORDER BY file_id"""
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

_ADDED: Final = """\
SELECT acl_id, CAST(max(added_at) AS TIMESTAMP) FROM acl_history
WHERE cluster_id = ? AND removed_offset IS NULL GROUP BY acl_id"""
_BROKERS: Final = """\
SELECT broker_id, is_registered, CAST(since_time AS TIMESTAMP) FROM broker WHERE cluster_id = ?
ORDER BY broker_id"""
_NAMED: Final = """\
SELECT deciding_acl_id, max(CAST(last_at AS TIMESTAMP)) FROM access_day
WHERE cluster_id = ? AND decision = ? AND deciding_acl_id IS NOT NULL AND last_at IS NOT NULL
GROUP BY deciding_acl_id"""
_USES: Final = _sql("""\
SELECT $request, decision = ?,
       list(DISTINCT request_name ORDER BY request_name) FILTER (request_name IS NOT NULL),
       CAST(sum(lines) AS BIGINT), max(CAST(last_at AS TIMESTAMP)),
       arg_max(coalesce(f.broker, f.source), coalesce(last_at, first_at))
FROM access_day a LEFT JOIN log_file f USING (cluster_id, file_id)
WHERE verdict <> ? AND cluster_id = ? AND principal IS NOT NULL AND host IS NOT NULL
  AND operation IS NOT NULL AND resource_type IS NOT NULL AND resource_name IS NOT NULL
  AND (? OR list_contains(?, principal))
GROUP BY ALL ORDER BY ALL""")
