"""A tidy form, or proposals → their answers: each change once, and what is proven. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aclkit.answer.document import Answer, Item, Items, Part, Sentence
from aclkit.answer.rows import as_objects
from aclkit.kafka.desired.model import Place
from aclkit.model.acl import BINDING, Acl, acl_words
from aclkit.model.groups import grouped
from aclkit.model.phrases import few, number_of
from aclkit.questions.tidy.propose import Proposal, Proposals, Proven
from aclkit.rules.names.compare import GAINED
from aclkit.rules.names.tidy import IDLE, MERGED, NEVER, Step
from aclkit.rules.names.words import opening_words

_COLUMNS: Final = (*BINDING, "acl_id")
STEP_COLUMNS: Final = ("change", *_COLUMNS, "why", "covered_by")
PROPOSAL_COLUMNS: Final = (*BINDING, "replaces", "opens", "closes", "is_known")
_MOST_NAMED: Final = 2
"""Of ACLs that cover one so many are named."""


Places = Mapping[tuple[str, ...], Sequence[Place]]
"""Where files hold an ACL, by its seven fields."""


def tidy_answer(proven: Proven, places: Places) -> Answer:
    """Return which ACLs can go and which come in their place, with the proof.

    Args:
        proven: the tidy form.
        places: where files hold the ACLs, if they are of files.
    """
    return Answer(
        title="ACLs to remove without changing any decision",
        columns=STEP_COLUMNS,
        rows=_rows(proven),
        parts=lambda: _parts(proven, places),
        besides=lambda: [summary(proven)],
        notes=tuple(_notes(proven)),
        json=lambda: _object(proven),
    )


def _parts(proven: Proven, places: Places) -> Iterator[Part]:
    found = proven.found
    items = [Item(acl_words(acl), "+") for acl in found.added]
    together = grouped((reason_words(step), step.acl) for step in found.steps)
    for reason, (*others, last) in together.items():
        items += (Item(_placed(acl, places), "-") for acl in others)
        number = len(others) + 1
        every = {1: "", 2: "both "}.get(number, f"all {number:,} ")
        items.append(Item(_placed(last, places), "-", [f"{every}{reason}"]))
    if items:
        yield Items(items)
    yield Sentence(summary(proven), "good")


def _placed(acl: Acl, places: Places) -> str:
    """Write an ACL, and where files hold it."""
    where = few(map(str, places.get(acl.binding, ())))
    return f"{acl_words(acl)} ({where})" if where else acl_words(acl)


def summary(proven: Proven) -> str:
    """Write how many ACLs go and come, and that no decision changes."""
    found = proven.found
    if not found.steps:
        if found.unknown:
            return "No ACL is known to be removable."
        return f"No ACL can be removed: all {number_of(len(found.before), 'ACL')} have an effect."
    came = f", {len(found.added):,} to add" if found.added else ""
    then, now = len(found.before), len(found.after)
    return (
        f"{len(found.steps):,} to remove{came}: {then:,} ACLs become {now:,}. "
        "No decision changes, proven for every name."
    )


def _notes(proven: Proven) -> Iterator[str]:
    found = proven.found
    if found.unknown:
        kept = number_of(len(found.unknown), "ACL")
        way_out = f"Raise it with {proven.searching.to_raise}."
        yield f"{kept} stay because the search limit was reached. {way_out}"
    if found.added:
        yield "ALL includes operations of later Kafka versions. --keep-operations avoids ALL."


def reason_words(step: Step) -> str:
    """Write why an ACL can go."""
    if step.why == IDLE:
        return "has no effect today"
    if step.why == NEVER:
        return "matches no possible request"
    shown = "; ".join(map(acl_words, step.by[:_MOST_NAMED]))
    more = len(step.by) - _MOST_NAMED
    return f"already covered by {shown}{f'; and {more:,} more' if more > 0 else ''}"


def _rows(proven: Proven) -> Iterator[tuple[object, ...]]:
    for acl in proven.found.added:
        yield "add", *acl.binding, None, MERGED, []
    for step in proven.found.steps:
        yield "remove", *step.acl.binding, step.acl.acl_id, step.why, list(map(str, step.by))


def _object(proven: Proven) -> dict[str, object]:
    found = proven.found
    return {
        "verdict": proven.proof.verdict,
        "questions": proven.proving.questions,
        "states": proven.proving.states,
        "acls_before": len(found.before),
        "acls_after": len(found.after),
        "changes": as_objects(STEP_COLUMNS, _rows(proven)),
        "unknown": as_objects(_COLUMNS, ((*a.binding, a.acl_id) for a in found.unknown)),
    }


def proposals_answer(proposals: Proposals, option: str) -> Answer:
    """Return what could be put in the place of several ACLs.

    Args:
        proposals: what was found.
        option: the option that gives the search a higher limit.
    """
    rows = [_proposal_row(each) for each in proposals.found]
    return Answer(
        title="ACLs that could be one",
        columns=PROPOSAL_COLUMNS,
        rows=rows,
        parts=lambda: _proposal_parts(proposals, option),
        notes=tuple(_left_out(proposals)),
        json=lambda: {
            "proposals": as_objects(PROPOSAL_COLUMNS, rows),
            "not_compared": proposals.more,
            "groups_not_looked_at": proposals.left,
        },
    )


def _proposal_row(proposal: Proposal) -> tuple[object, ...]:
    opens, closes = (
        [opening_words(each) for each in proposal.opens if (each.kind == GAINED) is gained]
        for gained in (True, False)
    )
    replaces = list(map(str, proposal.replaces))
    return *proposal.acl.binding, replaces, opens, closes, proposal.is_known


def _proposal_parts(proposals: Proposals, option: str) -> Iterator[Part]:
    number = len(proposals.found)
    replaced = sum(len(each.replaces) for each in proposals.found)
    if number:
        yield Items(_proposal_item(each, option) for each in proposals.found)
        what = number_of(number, "proposal")
        yield Sentence(
            f"{what} to replace {number_of(replaced, 'ACL')}; no access of known names changes."
        )
    else:
        yield Sentence("No ACLs could be one.")


def _proposal_item(proposal: Proposal, option: str) -> Item:
    return Item(acl_words(proposal.acl), "+", list(_proposal_lines(proposal, option)))


def _proposal_lines(proposal: Proposal, option: str) -> Iterator[str]:
    yield f"replaces the same on {few(_pattern(acl) for acl in proposal.replaces)}"
    for each in proposal.opens:
        verb = "also allows" if each.kind == GAINED else "also denies"
        yield f"{verb} {opening_words(each)}"
    if not proposal.is_known:
        yield f"may change more: the search limit was reached ({option})"
    elif not proposal.opens:
        yield "changes nothing else, proven for every name"


def _pattern(acl: Acl) -> str:
    return f"{acl.resource_name}{'* (prefix)' if acl.pattern_type == 'PREFIXED' else ''}"


def _left_out(proposals: Proposals) -> Iterator[str]:
    if proposals.more:
        yield f"{proposals.more:,} more proposals that replace fewer ACLs were not compared."
    if proposals.left:
        yield f"{number_of(proposals.left, 'group')} of ALLOWs were skipped: there are too many."
