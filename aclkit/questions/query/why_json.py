"""The answers of why and history → their objects of JSON. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from aclkit.answer.rows import as_objects
from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.acl import Acl
from aclkit.questions.query import words
from aclkit.questions.query.answer_rows import HISTORY_COLUMNS, WhyRow, history_rows
from aclkit.questions.query.history import History
from aclkit.questions.query.kafka_request_words import way_words
from aclkit.questions.query.names import Unknown, near_object, unknown_note
from aclkit.questions.query.why import Why
from aclkit.rules.decide.requests import Passage
from aclkit.rules.decide.rules import Ruling


def why_object(answer: Why) -> dict[str, object]:
    """Return the whole answer as one object."""
    acls, near = (
        [_without_decision(WhyRow.of(answer, part)) for part in parts]
        for parts in (answer.acls, answer.near)
    )
    least = answer.least
    return {
        "sentence": words.why_sentence(answer),
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
        "other_reading": [
            {"preset": one.preset, "host": one.host, **_ruling_object(one.ruling), "words": text}
            for one, text in zip(answer.otherwise, words.otherwise_sentences(answer), strict=True)
        ],
        "by_broker": [
            {"hosts": list(side.hosts), "brokers": list(side.brokers)} | _ruling_object(side.ruling)
            for sides in answer.by_broker
            for side in sides
        ],
        "without_denies": _ruling_or_none(answer.without_denies),
        "without_super_users": _ruling_or_none(answer.not_super),
        "least_acl": None if least is None else _least_object(least),
        "never": list(answer.never),
        **near_object(answer.unknown),
        "notes": [
            *_unknown(answer.unknown),
            *words.why_caveats(answer),
            *words.why_notes(answer),
        ],
        "requests": [_passage_object(answer, passage) for passage in answer.passages],
        "own_acls_elsewhere": list(map(_acl_object, answer.own.others)),
        "group_acls": None if answer.own.groups is None else [*map(_acl_object, answer.own.groups)],
    }


def _without_decision(row: WhyRow) -> dict[str, object]:
    return {name: cell for name, cell in asdict(row).items() if name not in ("decision", "rule")}


def _unknown(unknown: Sequence[Unknown]) -> list[str]:
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
                        **(_ruling_object(ruling) if ruling else dict.fromkeys(_RULING)),
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


def _least_object(acl: Acl) -> dict[str, object]:
    """Return an ACL that is not there yet: all but the id."""
    fields = dict(zip(Acl.__slots__[1:], acl.binding, strict=True))
    return {**fields, "text": str(acl), "command": kafka_acls_command(acl)}


def history_object(answer: History) -> dict[str, object]:
    """Return the whole answer as one object."""
    since = answer.since
    return {
        "sentence": words.history_sentence(answer),
        **asdict(answer.request),
        **_ruling_object(answer.intervals[-1].ruling),
        "since_offset": since.from_offset,
        "since_time": since.from_time,
        "since_known": since.is_exact,
        "intervals": as_objects(HISTORY_COLUMNS, history_rows(answer).rows),
        **near_object(answer.unknown),
        "notes": [*_unknown(answer.unknown), *words.history_notes(answer)],
    }


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
