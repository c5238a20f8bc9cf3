"""Whether a principal can do something → the answer: yes or no, why, and what is missing. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from aclkit.answer.document import Answer, Command, Part, Sentence, Table, Tone
from aclkit.answer.rows import as_objects
from aclkit.kafka.acls.command import command_of, options_of, with_operations
from aclkit.model.acl import Acl
from aclkit.model.cluster_rights import makes_of_client
from aclkit.model.groups import grouped
from aclkit.model.phrases import capitalized
from aclkit.model.values import dataclass
from aclkit.questions.query.can import Can, Checked
from aclkit.questions.query.fixes import fixes_of, instead_words
from aclkit.questions.query.names import near_object
from aclkit.questions.query.why_answer import new_acl_object
from aclkit.questions.query.words import from_words, hosts_words
from aclkit.rules.decide.rules import ALLOWED, DENIED

CAN_COLUMNS: Final = (
    "principal", "host", "operation", "resource_type", "resource_name", "pattern_type", "request",
    "decision", "rule", "deciding_acl", "acl_id", "because",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its answer.

    Attributes:
        answer: of each access.
        task: the task that was named.
        resource: what it is about, as it was written.
        covers: what the accesses leave out.
    """

    answer: Can
    task: str | None
    resource: str
    covers: tuple[str, ...] = ()


def can_answer(asked: Asked) -> Answer:
    """Return the answer."""
    return Answer(
        title=f"Can {asked.answer.principal} {_does(asked)}?",
        columns=CAN_COLUMNS,
        rows=can_rows(asked),
        parts=lambda: _parts(asked),
        notes=tuple(_notes(asked)),
        json=lambda: can_object(asked),
    )


def _parts(asked: Asked) -> Iterator[Part]:
    answer, checked = asked.answer, asked.answer.checked
    tone: Tone = "good" if answer.decision == ALLOWED else "bad"
    if asked.task is None:
        yield from (Sentence(access_sentence(answer.principal, each), tone) for each in checked)
    else:
        yield Sentence(task_sentence(asked), tone)
    yield from _to_allow(answer)
    if asked.task is not None:
        rows = [(str(each.need), each.decision, each.because) for each in checked]
        yield Table(("access", "decision", "because"), rows, Table(CAN_COLUMNS, can_rows(asked)))


def access_sentence(principal: str, checked: Checked) -> str:
    """Write whether one access is allowed, and why."""
    what = f"{_verb(checked)} {checked.need.resource}{_from(checked)}"
    because = f"{capitalized(checked.because)}."
    if checked.decision == ALLOWED:
        return f"Yes: {principal} can {what}. {because}"
    if checked.decision == DENIED:
        return f"No: {principal} cannot {what}. {because}"
    return f"Not known: whether {principal} can {what}. {' '.join(checked.doubts)}"


def task_sentence(asked: Asked) -> str:
    """Write whether a task is allowed as a whole."""
    answer = asked.answer
    what = f"{_does(asked)}{_from(*answer.checked)}"
    if answer.decision == ALLOWED:
        return f"Yes: {answer.principal} can {what}."
    number = sum(each.decision == answer.decision for each in answer.checked)
    count = f"{number} of {len(answer.checked)} accesses {'is' if number == 1 else 'are'}"
    if answer.decision == DENIED:
        return f"No: {answer.principal} cannot {what}. {count} denied."
    return f"Not known: whether {answer.principal} can {what}. {count} unknown."


def can_rows(asked: Asked) -> list[tuple[object, ...]]:
    """Return a row for each access."""
    return [_row(asked.answer.principal, each) for each in asked.answer.checked]


def can_object(asked: Asked) -> dict[str, object]:
    """Return the whole answer as one object."""
    answer = asked.answer
    accesses = as_objects(CAN_COLUMNS, can_rows(asked))
    alone = asked.task is None and len(answer.checked) == 1
    return {
        "sentence": (
            access_sentence(answer.principal, answer.checked[0]) if alone else task_sentence(asked)
        ),
        "principal": answer.principal,
        "task": asked.task,
        "decision": answer.decision,
        "accesses": [
            {**access, "doubts": list(each.doubts), "notes": [*_elsewhere([each]), *each.notes]}
            for access, each in zip(accesses, answer.checked, strict=True)
        ],
        "missing_acls": list(map(new_acl_object, answer.missing)),
        "or_missing_acls": [
            new_acl_object(acl) for each in answer.checked for acl in each.or_missing
        ],
        **near_object(answer.unknown),
        "notes": list(asked.covers),
    }


def _row(principal: str, checked: Checked) -> tuple[object, ...]:
    need, ruling = checked.need, checked.ruling
    acl = ruling.acl if ruling else None
    return (
        principal, checked.host, need.operation, *need.resource,
        "PREFIXED" if need.is_prefix else "LITERAL",
        need.sent.request.name if need.sent else None,
        checked.decision, ruling.rule if ruling else None, str(acl) if acl else None,
        ruling.acl_id if ruling else None, checked.because,
    )  # fmt: skip


def _verb(checked: Checked) -> str:
    sent = checked.need.sent
    return f"send {sent.request.name} for" if sent else checked.need.operation


def _from(*checked: Checked) -> str:
    is_any_host = not any(each.by_host for each in checked)
    return f" {from_words(checked[0].host, is_any_host=is_any_host)}"


def _does(asked: Asked) -> str:
    """Write what a task, or several accesses, do."""
    needs = [each.need for each in asked.answer.checked]
    if asked.task is None:
        return f"{', '.join(need.operation for need in needs)} {asked.resource}"
    return _DOES[asked.task].format(asked.resource, asked.resource.partition(":")[2])


_DOES: Final = {
    "consume": "consume {}",
    "produce": "produce to {}",
    "transact": "use transactions with {}",
    "streams": "run the Kafka Streams application {1}",
}


def _notes(asked: Asked) -> Iterator[str]:
    """Yield each further note once."""
    checked = asked.answer.checked
    doubts = (doubt for each in checked for doubt in each.doubts if asked.task is not None)
    notes = (note for each in checked for note in each.notes)
    yield from dict.fromkeys([*doubts, *_elsewhere(checked), *notes, *asked.covers])


def _elsewhere(checked: Sequence[Checked]) -> Iterator[str]:
    """Write which accesses are decided otherwise from other hosts."""
    found = grouped((there, each) for each in checked for there in each.elsewhere)
    for there, which in found.items():
        is_all = len(which) == len(checked)
        yield hosts_words(*there, () if is_all else [str(each.need) for each in which])


def _to_allow(answer: Can) -> Iterator[Part]:
    """Yield what would grant what is missing; what makes an administrator comes last."""
    if is_denied := any(
        each.decision != ALLOWED and _is_denied_by_acl(each) for each in answer.checked
    ):
        yield Sentence("To allow it, first remove the DENY.")
    first = "Then add:" if is_denied else "To allow it:"
    choices = [each for each in answer.checked if each.missing and each.or_missing]
    chosen = {each.missing for each in choices}
    plain = [a for a in answer.missing if a not in chosen and makes_of_client(a) is None]
    if plain:
        yield Sentence(first)
        yield from map(Command, commands(plain))
    for each in choices:
        yield from _fix_parts([each.missing, *each.or_missing], each)
    for acl in filter(makes_of_client, answer.missing):
        yield from _fix_parts([acl], *(e for e in answer.checked if e.missing == acl))


def _fix_parts(acls: Sequence[Acl | None], *checked: Checked) -> Iterator[Part]:
    """Yield ACLs of which one is enough, each with what else it makes of the client."""
    sent = [each.need.sent.request.name for each in checked if each.need.sent]
    alternatives = [[acl] for acl in acls if acl is not None]
    if rather := instead_words(alternatives, sent):
        yield Sentence(rather)
    for fix in fixes_of(alternatives):
        yield Sentence(f"{fix.words}:")
        yield Command(fix.command or "(kafka-acls cannot add it)")


def _is_denied_by_acl(checked: Checked) -> bool:
    acl = checked.ruling.acl if checked.ruling else None
    return acl is not None and not acl.is_allow


def commands(acls: list[Acl]) -> Iterator[str]:
    """Yield the kafka-acls commands that add ACLs: one for those that differ in operation only."""
    alike = grouped((replace(acl, operation="ALL"), acl) for acl in acls)
    for first, each in alike.items():
        options = options_of(first)
        if options is None:
            yield "(kafka-acls cannot add it)"
        else:
            yield command_of("add", with_operations(options, [acl.operation for acl in each]))
