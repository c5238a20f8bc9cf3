"""A decision → its answer: the verdict, its rows, what would change it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from aclkit.answer.document import Answer, Command, Heading, Item, Items, Part, Sentence, Table
from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.acl import BINDING, Acl, acl_words
from aclkit.model.cluster_rights import makes_of_client
from aclkit.questions.query import words
from aclkit.questions.query.fixes import fixes_of, instead_words
from aclkit.questions.query.names import Unknown, near_object, unknown_note
from aclkit.questions.query.why import Part as Taking
from aclkit.questions.query.why import Why
from aclkit.questions.query.words import passage_lines, way_words
from aclkit.rules.decide.requests import Passage
from aclkit.rules.decide.rules import ALLOWED, Ruling
from aclkit.warehouse.result_rows import Rows

WHY_COLUMNS: Final = (
    "decision", "rule", "rank", "permission_type", "resource_type", "resource_name", "pattern_type",
    "pattern_match", "letters_skipped", "principal", "principal_match", "host", "host_match",
    "operation", "operation_match", "beaten_by", "because", "decision_without", "rule_without",
    "changes_without", "added_offset", "added_at", "acl_id",
)  # fmt: skip


def why_rows(answer: Why) -> Rows:
    """Return a row for each ACL of an answer; without any, the decision alone."""
    alone = dict.fromkeys(WHY_COLUMNS) | _decided(answer)
    found = [_decided(answer) | _part_object(part) for part in (*answer.acls, *answer.near)]
    return Rows(WHY_COLUMNS, [tuple(map(row.get, WHY_COLUMNS)) for row in found or [alone]])


def _decided(answer: Why) -> dict[str, object]:
    return {"decision": answer.ruling.decision, "rule": answer.ruling.rule}


def _part_object(part: Taking) -> dict[str, object]:
    """Return the columns of an ACL that takes part, in their order."""
    found = {
        **asdict(part.acl),
        "rank": part.rank,
        "pattern_match": part.fit.pattern,
        "letters_skipped": part.fit.skipped,
        "principal_match": part.fit.principal,
        "host_match": part.fit.host,
        "operation_match": part.fit.operation,
        "beaten_by": part.beaten_by,
        "because": part.because,
        "decision_without": part.without.decision,
        "rule_without": part.without.rule,
        "changes_without": part.changes,
        "added_offset": part.life.added_offset,
        "added_at": part.life.added_at,
    }
    return {column: found[column] for column in WHY_COLUMNS[2:]}


def why_object(answer: Why) -> dict[str, object]:
    """Return the whole answer as one object."""
    least = answer.least
    return {
        "sentence": words.why_sentence(answer),
        **asdict(answer.request),
        **ruling_object(answer.ruling),
        "as_of": answer.moment.offset,
        "acls": list(map(_part_object, answer.acls)),
        "near": list(map(_part_object, answer.near)),
        "near_count": answer.near_count,
        "others": {"count": answer.other_count, "principals": list(answer.others)},
        "other_hosts": [
            {"hosts": list(hosts), **ruling_object(ruling)} for hosts, ruling in answer.elsewhere
        ],
        "other_reading": [
            {"preset": one.preset, "host": one.host, **ruling_object(one.ruling), "words": text}
            for one, text in zip(answer.otherwise, words.otherwise_sentences(answer), strict=True)
        ],
        "by_broker": [
            {"hosts": list(side.hosts), "brokers": list(side.brokers)} | ruling_object(side.ruling)
            for sides in answer.by_broker
            for side in sides
        ],
        "without_denies": _ruling_or_none(answer.without_denies),
        "without_super_users": _ruling_or_none(answer.not_super),
        "least_acl": None if least is None else new_acl_object(least),
        "or_least_acls": list(map(new_acl_object, answer.or_least)),
        "never": list(answer.never),
        **near_object(answer.unknown),
        "notes": [
            *notes_on_unknown(answer.unknown),
            *words.next_deny_hints(answer),
            *words.why_caveats(answer),
            *words.why_notes(answer),
        ],
        "requests": [_passage_object(answer, passage) for passage in answer.passages],
        "own_acls_elsewhere": list(map(_acl_object, answer.own.others)),
        "group_acls": None if answer.own.groups is None else [*map(_acl_object, answer.own.groups)],
    }


def notes_on_unknown(unknown: Sequence[Unknown]) -> list[str]:
    """Write that names are not known, if any is."""
    return [unknown_note(unknown)] if unknown else []


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
                        **(ruling_object(ruling) if ruling else dict.fromkeys(_RULING)),
                    }
                    for check, ruling in zip(tried.way.checks, tried.rulings, strict=True)
                ],
            }
            for tried in passage.tried
        ],
    }


def _acl_object(acl: Acl) -> dict[str, object]:
    """Return an ACL that takes no part."""
    return {**asdict(acl), "text": str(acl)}


def new_acl_object(acl: Acl) -> dict[str, object]:
    """Return an ACL that is not there yet: all but the id."""
    fields = dict(zip(BINDING, acl.binding, strict=True))
    return {
        **fields,
        "text": str(acl),
        "command": kafka_acls_command(acl),
        "warning": makes_of_client(acl),
    }


_RULING: Final = ("decision", "rule", "deciding_acl", "acl_id")


def ruling_object(ruling: Ruling) -> dict[str, object]:
    """Return a ruling as a part of an object."""
    return {
        "decision": ruling.decision,
        "rule": ruling.rule,
        "deciding_acl": str(ruling.acl) if ruling.acl else None,
        "acl_id": ruling.acl_id,
    }


def _ruling_or_none(ruling: Ruling | None) -> dict[str, object] | None:
    return None if ruling is None else ruling_object(ruling)


def why_answer(answer: Why) -> Answer:
    """Return a decision and what it rests on."""
    found = why_rows(answer)
    return Answer(
        title=f"Why: {words.asked_words(answer.request)}",
        columns=found.columns,
        rows=found.rows,
        parts=lambda: _why_parts(answer),
        notes=(
            *words.why_caveats(answer),
            *words.otherwise_sentences(answer),
            *words.why_notes(answer),
        ),
        json=lambda: why_object(answer),
    )


def _why_parts(answer: Why) -> Iterator[Part]:
    is_allowed = answer.ruling.decision == ALLOWED
    yield Sentence(words.why_sentence(answer), "good" if is_allowed else "bad")
    yield from (Sentence(words.hosts_words(*there)) for there in answer.elsewhere)
    yield from _least(answer)
    yield from map(Sentence, passage_lines(answer))
    yield from map(Sentence, words.why_hints(answer))
    yield from _matching(answer)
    yield from _near(answer)


def _least(answer: Why) -> Iterator[Part]:
    """Yield the least ACLs of which one would allow it, and the commands that add them."""
    if answer.least is None:
        return
    alternatives = [[acl] for acl in (answer.least, *answer.or_least)]
    sent = [answer.sent.name] if answer.sent else []
    if rather := instead_words(alternatives, sent):
        yield Sentence(rather)
    for fix in fixes_of(alternatives, is_choice=answer.next_deny is not None):
        yield Sentence(f"{fix.words}, add {acl_words(fix.acls[0])}:")
        yield Command(fix.command) if fix.command else Sentence("(kafka-acls cannot add this ACL.)")


def _matching(answer: Why) -> Iterator[Part]:
    """Yield the matching ACLs in order of precedence, if there are others than the deciding one."""
    if not answer.acls[1:]:
        return
    yield Heading("Matching ACLs; the first decides")
    rows = [
        (part.rank, _acl(answer, part), because_words(part), without_words(part))
        for part in answer.acls
    ]
    found = why_rows(answer)
    wide = Table(found.columns, found.rows)
    yield Table(("rank", "acl", "because", "without it"), rows, wide)


def _acl(answer: Why, part: Taking) -> str:
    return acl_words(part.acl, answer.request.principal, answer.request.resource_type)


def because_words(part: Taking) -> str:
    """Write why an ACL does not decide, or that it does."""
    return part.because or "decides"


def without_words(part: Taking) -> str:
    """Write what would be decided without an ACL."""
    return part.without.decision if part.changes else "no change"


def _near(answer: Why) -> Iterator[Part]:
    """Yield ACLs that come close to allowing what is denied."""
    close = [part for part in answer.near if part.acl.is_allow and _is_close(answer, part)]
    if not close:
        return
    yield Heading("ACLs that come close")
    more = answer.near_count - len(answer.near)
    rest = [Item(f"and {more:,} more")] if more > 0 else []
    yield Items([*(Item(f"{_acl(answer, part)}: {part.because}") for part in close), *rest])


def _is_close(answer: Why, part: Taking) -> bool:
    """Whether an ACL helps to see what is wrong: the principal's own, or for another host."""
    is_own = part.acl.principal == answer.request.principal
    return not answer.acls and (is_own or part.fit.operation is not None)
