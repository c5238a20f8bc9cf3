"""The commands why and history: one access → what it rests on, and since when."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final

import click

from aclkit.cli.engine import Engine, engine_option, session_for
from aclkit.cli.options import option, parse_time, together
from aclkit.cli.output import Format, format_option, tell, write_lines, write_rows
from aclkit.cli.settings import Settings
from aclkit.cli.state import tell_state
from aclkit.errors import UsageError
from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.acl import Acl
from aclkit.model.resource import parse_resource
from aclkit.model.visible import visible
from aclkit.questions.query.history import History, Interval, read_history
from aclkit.questions.query.passage_words import passage_lines, way_words
from aclkit.questions.query.why import Part, Why, explain_why
from aclkit.questions.query.words import (
    history_notes,
    history_sentence,
    hosts_words,
    ruling_words,
    why_notes,
    why_sentence,
)
from aclkit.rules.decide.requests import Passage
from aclkit.rules.decide.rules import Ruling
from aclkit.warehouse.opening import open_tables
from aclkit.warehouse.published import resolve_cluster

WHY_COLUMNS: Final = (
    "decision", "rule", "rank", "permission_type", "resource_type", "resource_name",
    "pattern_type", "pattern_match", "letters_skipped", "principal", "principal_match", "host",
    "host_match", "operation", "operation_match", "beaten_by", "because",
    "decision_without", "rule_without", "changes_without", "added_offset", "added_at", "acl_id",
)  # fmt: skip
HISTORY_COLUMNS: Final = (
    "as_of", "from_offset", "from_time", "to_offset", "to_time", "decision", "rule", "cause",
    "start_known", "deciding_acl", "acl_id",
)  # fmt: skip
_TABLE_COLUMNS: Final = (
    "rank", "permission", "operation", "principal", "host", "pattern", "because", "without it",
    "acl_id",
)  # fmt: skip

_WITHOUT_PAIRS: Final = {"explain_pair": {"principal": ""}}
"""Nothing here asks the largest table: no pair has an empty principal, so no file is opened."""

_asked: Final = together(
    click.argument("principal"),
    click.argument("operation"),
    click.argument("resource"),
    option("--host", metavar="IP", help="From this host; otherwise from any that no ACL names."),
)


@click.command("why")
@_asked
@option("--at-offset", type=click.IntRange(min=0), metavar="N", help="As of this log offset.")
@option("--at", metavar="TIME", help="As of this time, ISO 8601.")
@engine_option
@format_option
@click.pass_obj
def why(
    settings: Settings,
    principal: str,
    operation: str,
    resource: str,
    host: str | None,
    at_offset: int | None,
    at: str | None,
    engine: Engine,
    output_format: Format,
) -> None:
    """Say why PRINCIPAL may, or may not, do OPERATION to RESOURCE.

    \b
    Example:
      aclkit why User:alice READ topic:payments
      aclkit why User:alice READ topic:payments --host 10.0.0.7 --format json
      aclkit why User:alice READ topic:payments --at 2026-11-20T18:00:00Z

    Every ACL that takes part is listed in the order in which they decide: how it matches, what
    beat it, and whether the decision would change without it. Without a rank stand those that
    reach the resource for the principal, but from another host or with another operation. What
    is denied for want of an ACL comes with the least one that would allow it. Where a request of
    Kafka's passes all the same, or needs more, a line says so. Principals, hosts and resources
    need be in no inventory. RESOURCE is written as for who-can.
    """
    moment = _moment(at_offset, at)
    with (
        session_for(engine, settings, "why") as spark,
        open_tables(settings.warehouse, _WITHOUT_PAIRS, spark) as (published, connection),
    ):
        answer = explain_why(
            connection,
            published,
            resolve_cluster(published, settings.cluster),
            principal,
            operation,
            parse_resource(resource),
            host=host,
            moment=moment,
        )
    for note in why_notes(answer):
        tell(note)
    if not answer.moment.is_past:
        tell_state(published, answer.run)
    if output_format == "json":
        _write_object(_why_object(answer))
    elif output_format == "table":
        _write_why(answer)
    else:
        parts = [*answer.acls, *answer.near]
        rows = [_why_row(answer, part) for part in parts] or [_why_row(answer, None)]
        write_rows(WHY_COLUMNS, rows, output_format, sys.stdout)


@click.command("history")
@_asked
@engine_option
@format_option
@click.pass_obj
def history(
    settings: Settings,
    principal: str,
    operation: str,
    resource: str,
    host: str | None,
    engine: Engine,
    output_format: Format,
) -> None:
    """Say since when PRINCIPAL may, or may not, do OPERATION to RESOURCE, and what was before.

    \b
    Example:
      aclkit history User:alice READ topic:payments
      aclkit history User:alice READ topic:payments --host 10.0.0.7 --format csv

    A line for each time in which the same rule and ACL decided, the newest first: from which log
    offset and time, and through what. as_of is the first offset for which `why --at-offset` says
    the same. Times are UTC. What only a snapshot tells began at an unknown time before it.
    """
    with (
        session_for(engine, settings, "history") as spark,
        open_tables(settings.warehouse, _WITHOUT_PAIRS, spark) as (published, connection),
    ):
        answer = read_history(
            connection,
            published,
            resolve_cluster(published, settings.cluster),
            principal,
            operation,
            parse_resource(resource),
            host=host,
        )
    for note in history_notes(answer):
        tell(note)
    tell_state(published, answer.run)
    rows = list(_history_rows(answer))
    if output_format == "json":
        _write_object(_history_object(answer, rows))
        return
    if output_format == "table":
        write_lines([f"{visible(history_sentence(answer))}\n\n"], sys.stdout)
    write_rows(HISTORY_COLUMNS, rows, output_format, sys.stdout)


def _moment(at_offset: int | None, at: str | None) -> int | datetime | None:
    """Return the moment that is asked about."""
    if at_offset is not None and at is not None:
        raise UsageError("expected one of --at-offset and --at, found both")
    return at_offset if at is None else parse_time(at)


def _write_why(answer: Why) -> None:
    """Write an answer for people: sentence, ACLs, and what could be done."""
    head = [why_sentence(answer), *(hosts_words(*there) for there in answer.elsewhere)]
    write_lines([f"{visible(line)}\n" for line in head], sys.stdout)
    if parts := [*answer.acls, *answer.near]:
        write_lines(["\n"], sys.stdout)
        write_rows(_TABLE_COLUMNS, map(_table_row, parts), "table", sys.stdout)
    tail = [f"{line}\n" for line in (*map(visible, passage_lines(answer)), *_hints(answer))]
    write_lines(["\n", *tail] if tail else [], sys.stdout)


def _hints(answer: Why) -> Iterator[str]:
    if more := answer.near_count - len(answer.near):
        yield f"{more} more ACLs of the principal reach it and do not match."
    if answer.without_denies is not None:
        yield visible(f"Without the DENYs: {ruling_words(answer.without_denies)}.")
    if answer.not_super is not None:
        yield visible(f"Without super.users: {ruling_words(answer.not_super)}.")
    if answer.least is not None:
        yield visible(f"The least ACL that would allow it: {answer.least}")
        yield kafka_acls_command(answer.least) or "(kafka-acls cannot add it)"


def _table_row(part: Part) -> Sequence[object]:
    acl, fit = part.acl, part.fit
    skipped = "" if fit.skipped is None else f", {fit.skipped} skipped"
    return (
        part.rank,
        acl.permission_type,
        f"{acl.operation} ({fit.operation or 'no'})",
        f"{acl.principal} ({fit.principal or 'no'})",
        f"{acl.host} ({fit.host or 'no'})",
        f"{acl.pattern_type} {acl.resource_name} ({fit.pattern}{skipped})",
        part.because if part.beaten_by is None else f"beaten by {part.beaten_by}: {part.because}",
        "the same" if not part.changes else f"{part.without.decision} ({part.without.rule})",
        acl.acl_id,
    )


def _why_row(answer: Why, part: Part | None) -> Sequence[object]:
    """Return the columns of one ACL; without one, the decision alone."""
    decided = answer.ruling.decision, answer.ruling.rule
    if part is None:
        return (*decided, *[None] * (len(WHY_COLUMNS) - len(decided)))
    acl, fit = part.acl, part.fit
    return (
        *decided,
        part.rank,
        acl.permission_type,
        acl.resource_type,
        acl.resource_name,
        acl.pattern_type,
        fit.pattern,
        fit.skipped,
        acl.principal,
        fit.principal,
        acl.host,
        fit.host,
        acl.operation,
        fit.operation,
        part.beaten_by,
        part.because,
        part.without.decision,
        part.without.rule,
        part.changes,
        part.life.added_offset,
        part.life.added_at,
        acl.acl_id,
    )


def _why_object(answer: Why) -> dict[str, object]:
    acls, near = (
        [dict(zip(WHY_COLUMNS[2:], _why_row(answer, part)[2:], strict=True)) for part in parts]
        for parts in (answer.acls, answer.near)
    )
    least = answer.least
    return {
        "sentence": why_sentence(answer),
        **asdict(answer.request),
        **_ruling_object(answer.ruling),
        "as_of": answer.moment.offset,
        "acls": acls,
        "near": near,
        "near_count": answer.near_count,
        "others": {"count": answer.other_count, "principals": list(answer.others)},
        "other_hosts": [
            {"hosts": list(hosts), **_ruling_object(ruling)} for hosts, ruling in answer.elsewhere
        ],
        "without_denies": _ruling_or_none(answer.without_denies),
        "without_super_users": _ruling_or_none(answer.not_super),
        "least_acl": None if least is None else _least_object(least),
        "not_in_inventory": list(answer.unknown),
        "notes": list(why_notes(answer)),
        "requests": [_passage_object(answer, passage) for passage in answer.passages],
    }


def _passage_object(answer: Why, passage: Passage) -> dict[str, object]:
    """Return what becomes of a request: by each way what is known of its checks."""
    return {
        "request": passage.request.name,
        "variant": passage.request.variant or None,
        "result": passage.result,
        "handler": passage.request.handler,
        "ways": [
            {
                "result": tried.result,
                "when": tried.way.when or None,
                "words": way_words(answer, tried),
                "checks": [
                    {
                        "operation": check.operation,
                        "resource_type": check.resource_type,
                        "any_resource": check.of_any,
                        **(_ruling_object(ruling) if ruling else dict.fromkeys(_RULING)),
                    }
                    for check, ruling in zip(tried.way.checks, tried.rulings, strict=True)
                ],
            }
            for tried in passage.tried
        ],
    }


def _least_object(acl: Acl) -> dict[str, object]:
    """Return an ACL that is not there yet: all but the id."""
    fields = dict(zip(Acl.__slots__[1:], acl.binding, strict=True))
    return {**fields, "text": str(acl), "command": kafka_acls_command(acl)}


def _history_object(answer: History, rows: Sequence[Sequence[object]]) -> dict[str, object]:
    since = answer.since
    return {
        "sentence": history_sentence(answer),
        **asdict(answer.request),
        **_ruling_object(answer.intervals[-1].ruling),
        "since_offset": since.from_offset,
        "since_time": since.from_time,
        "since_known": since.is_exact,
        "intervals": [dict(zip(HISTORY_COLUMNS, row, strict=True)) for row in rows],
        "notes": list(history_notes(answer)),
    }


def _history_rows(answer: History) -> Iterator[Sequence[object]]:
    """Yield the intervals, the newest first."""
    following: Interval | None = None
    for interval in reversed(answer.intervals):
        acl = interval.ruling.acl
        yield (
            interval.as_of,
            interval.from_offset,
            interval.from_time,
            following.from_offset if following else None,
            following.from_time if following else None,
            interval.ruling.decision,
            interval.ruling.rule,
            interval.cause,
            interval.is_exact,
            str(acl) if acl else None,
            acl.acl_id if acl else None,
        )
        following = interval


_RULING: Final = ("decision", "rule", "deciding_acl", "acl_id")


def _ruling_object(ruling: Ruling) -> dict[str, object]:
    return {
        "decision": ruling.decision,
        "rule": ruling.rule,
        "deciding_acl": str(ruling.acl) if ruling.acl else None,
        "acl_id": ruling.acl_id,
    }


def _ruling_or_none(ruling: Ruling | None) -> dict[str, object] | None:
    return None if ruling is None else _ruling_object(ruling)


def _write_object(value: dict[str, object]) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, default=_time_text)
    write_lines([text, "\n"], sys.stdout)


def _time_text(value: datetime) -> str:
    """Write a time, the one thing in an answer that JSON does not know, as all formats do."""
    return f"{value.isoformat()}Z"
