"""The commands why and history: one access → what it rests on, and since when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Final

import click

from aclkit.cli.completing import complete_operation, complete_principal, complete_resource
from aclkit.cli.context import Context, engine_option, format_option, tell_state
from aclkit.cli.options import gathered, option, parse_time, together
from aclkit.cli.output import as_objects, render_object, render_rows, tell
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyRow:
    """One ACL of an answer, its columns in their order; without an ACL the decision alone."""

    decision: str
    rule: str
    rank: int | None = None
    permission_type: str | None = None
    resource_type: str | None = None
    resource_name: str | None = None
    pattern_type: str | None = None
    pattern_match: str | None = None
    letters_skipped: int | None = None
    principal: str | None = None
    principal_match: str | None = None
    host: str | None = None
    host_match: str | None = None
    operation: str | None = None
    operation_match: str | None = None
    beaten_by: int | None = None
    because: str | None = None
    decision_without: str | None = None
    rule_without: str | None = None
    changes_without: bool | None = None
    added_offset: int | None = None
    added_at: datetime | None = None
    acl_id: str | None = None

    @classmethod
    def of(cls, answer: Why, part: Part) -> WhyRow:
        """Return the row of an ACL that takes part."""
        return cls(
            decision=answer.ruling.decision,
            rule=answer.ruling.rule,
            rank=part.rank,
            **asdict(part.acl),
            pattern_match=part.fit.pattern,
            letters_skipped=part.fit.skipped,
            principal_match=part.fit.principal,
            host_match=part.fit.host,
            operation_match=part.fit.operation,
            beaten_by=part.beaten_by,
            because=part.because,
            decision_without=part.without.decision,
            rule_without=part.without.rule,
            changes_without=part.changes,
            added_offset=part.life.added_offset,
            added_at=part.life.added_at,
        )


WHY_COLUMNS: Final = tuple(field.name for field in fields(WhyRow))
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


@dataclass(frozen=True, slots=True)
class AccessQuestion:
    """The access that is asked about, as it was written."""

    principal: str
    operation: str
    resource: str
    host: str | None


def _access_arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the arguments that name an access, as its argument ``access``."""
    return together(
        click.argument("principal", shell_complete=complete_principal),
        click.argument("operation", shell_complete=complete_operation),
        click.argument("resource", shell_complete=complete_resource),
        option(
            "--host", metavar="IP", help="From this host; otherwise from any that no ACL names."
        ),
    )(gathered("access", AccessQuestion, command))


@click.command("why")
@_access_arguments
@option("--at-offset", type=click.IntRange(min=0), metavar="N", help="As of this log offset.")
@option("--at", metavar="TIME", help="As of this time, ISO 8601.")
@engine_option
@format_option
@click.pass_obj
def why(context: Context, access: AccessQuestion, at_offset: int | None, at: str | None) -> None:
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
    Kafka's passes all the same, or needs more, a line says so. Where brokers of the log decide
    otherwise than others, it says which do how. Principals, hosts and resources need be in no
    inventory. RESOURCE is written as for who-can.
    """
    moment = _moment(at_offset, at)
    with context.ask(_WITHOUT_PAIRS) as opened:
        answer = explain_why(
            opened.tables,
            opened.published,
            opened.cluster_id,
            access.principal,
            access.operation,
            parse_resource(access.resource),
            host=access.host,
            moment=moment,
        )
    for note in why_notes(answer):
        tell(note)
    if not answer.moment.is_past:
        tell_state(opened.published, answer.run)
    context.write(
        WHY_COLUMNS,
        map(_cells, _why_rows(answer)),
        json=lambda: render_object(_why_object(answer)),
        table=lambda: _why_lines(answer),
    )


@click.command("history")
@_access_arguments
@engine_option
@format_option
@click.pass_obj
def history(context: Context, access: AccessQuestion) -> None:
    """Say since when PRINCIPAL may, or may not, do OPERATION to RESOURCE, and what was before.

    \b
    Example:
      aclkit history User:alice READ topic:payments
      aclkit history User:alice READ topic:payments --host 10.0.0.7 --format csv

    A line for each time in which the same rule and ACL decided, the newest first: from which log
    offset and time, and through what. as_of is the first offset for which `why --at-offset` says
    the same. Times are UTC. What only a snapshot tells began at an unknown time before it.
    """
    with context.ask(_WITHOUT_PAIRS) as opened:
        answer = read_history(
            opened.tables,
            opened.published,
            opened.cluster_id,
            access.principal,
            access.operation,
            parse_resource(access.resource),
            host=access.host,
        )
    for note in history_notes(answer):
        tell(note)
    tell_state(opened.published, answer.run)
    rows = list(_history_rows(answer))
    sentence = f"{visible(history_sentence(answer))}\n\n"
    context.write(
        HISTORY_COLUMNS,
        rows,
        json=lambda: render_object(_history_object(answer, rows)),
        table=lambda: [sentence, *render_rows(HISTORY_COLUMNS, rows)],
    )


def _moment(at_offset: int | None, at: str | None) -> int | datetime | None:
    """Return the moment that is asked about."""
    if at_offset is not None and at is not None:
        raise UsageError("expected one of --at-offset and --at, found both")
    return at_offset if at is None else parse_time(at)


def _why_lines(answer: Why) -> Iterator[str]:
    """Yield an answer for people: sentence, ACLs, and what could be done."""
    for line in (why_sentence(answer), *(hosts_words(*there) for there in answer.elsewhere)):
        yield f"{visible(line)}\n"
    if parts := [*answer.acls, *answer.near]:
        yield "\n"
        yield from render_rows(_TABLE_COLUMNS, map(_table_row, parts))
    if tail := [*map(visible, passage_lines(answer)), *_hints(answer)]:
        yield "\n"
        yield from (f"{line}\n" for line in tail)


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


def _why_rows(answer: Why) -> list[WhyRow]:
    """Return a row for each ACL; without any, the decision alone."""
    rows = [WhyRow.of(answer, part) for part in (*answer.acls, *answer.near)]
    return rows or [WhyRow(decision=answer.ruling.decision, rule=answer.ruling.rule)]


def _cells(row: WhyRow) -> tuple[object, ...]:
    return tuple(asdict(row).values())


def _why_object(answer: Why) -> dict[str, object]:
    acls, near = (
        [_without_decision(WhyRow.of(answer, part)) for part in parts]
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
        "by_broker": [
            {"hosts": list(side.hosts), "brokers": list(side.brokers)} | _ruling_object(side.ruling)
            for sides in answer.by_broker
            for side in sides
        ],
        "without_denies": _ruling_or_none(answer.without_denies),
        "without_super_users": _ruling_or_none(answer.not_super),
        "least_acl": None if least is None else _least_object(least),
        "not_in_inventory": list(answer.unknown),
        "notes": list(why_notes(answer)),
        "requests": [_passage_object(answer, passage) for passage in answer.passages],
    }


def _without_decision(row: WhyRow) -> dict[str, object]:
    return {name: cell for name, cell in asdict(row).items() if name not in ("decision", "rule")}


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
        "intervals": as_objects(HISTORY_COLUMNS, rows),
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
