"""A change set with its proof and preview → its answer: steps in order, what stays, what is lost.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aclkit.answer.document import Answer, Heading, Item, Items, Members, Part, Sentence
from aclkit.answer.rows import as_objects
from aclkit.model.acl import BINDING, Acl, acl_words
from aclkit.model.groups import grouped
from aclkit.model.phrases import few, listed, number_of
from aclkit.questions.difference.compared import Compared
from aclkit.questions.difference.words import PLANNED, total_sentence
from aclkit.questions.difference.words import notes as preview_notes
from aclkit.questions.remedy.change_set import (
    NARROW,
    SHORT,
    Advice,
    ForPerson,
    LeftOut,
    Proposal,
    Step,
)
from aclkit.questions.remedy.prove import Remedy
from aclkit.questions.usage.use import TOO_NEW
from aclkit.rules.names.change_lines import MARKS, line_words
from aclkit.rules.names.compare import LOST

_ACL: Final = (*BINDING, "acl_id")
COLUMNS: Final = (
    "position", "step", "kind", "severity", "change", *_ACL, "reason", "needs", "also",
)  # fmt: skip
_MOST_CHANGES: Final = 5
_MOST_LINES: Final = 10
"""Of one step so many ACLs are shown, and of the whole so many lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """All that is advised.

    Attributes:
        remedy: the change set.
        preview: what it does to access as a whole.
        for_people: the findings that a person must decide.
        accepted: how many accepted findings were left alone.
        dropped: the advice that was left out because a user left out other steps.
        notes: what else a reader must know.
    """

    remedy: Remedy
    preview: Compared
    for_people: Sequence[ForPerson]
    accepted: int = 0
    dropped: Sequence[LeftOut] = ()
    notes: Sequence[str] = ()

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """The other advice that was left out."""
        dropped = {each.proposal.step_id for each in self.dropped}
        every = self.remedy.plan.left_out
        return [each for each in every if each.proposal.step_id not in dropped]

    @property
    def steps(self) -> Sequence[Step]:
        """The steps, in order."""
        return self.remedy.plan.steps


def remedy_answer(advised: Advised) -> Answer:
    """Return the steps in order, what stays and why, and what is lost as a whole."""
    return Answer(
        title="Remedies as one change set",
        columns=COLUMNS,
        rows=_rows(advised.steps),
        parts=lambda: _parts(advised),
        besides=lambda: _besides(advised),
        notes=(*_notes(advised), *preview_notes(advised.preview)),
        json=lambda: _members(advised),
    )


def summary(remedy: Remedy) -> str:
    """Write how many steps there are and what they come to."""
    plan = remedy.plan
    if not plan.steps:
        is_unknown = any(left.is_unknown for left in plan.left_out)
        return "No step is known to be safe." if is_unknown else "No step is left to be done."
    gone = sum(len(step.remove) for step in plan.steps)
    come = sum(len(step.add) for step in plan.steps)
    more = f" and add {come:,}" if come else ""
    verb = "remove" if len(plan.steps) > 1 else "removes"
    then, now = (len({acl.binding for acl in each.acls}) for each in (plan.start, plan.final))
    return (
        f"{number_of(len(plan.steps), 'step')} {verb} {number_of(gone, 'ACL')}{more}: "
        f"{then:,} ACLs become {now:,}."
    )


def proof_sentence(remedy: Remedy) -> str:
    """Write what is proven of each step and of the whole."""
    has_lost = bool(remedy.change.of_kind(LOST))
    lost = "only access that no client used is lost" if has_lost else "no access is lost"
    return f"No step grants access, and {lost}. Proven for every name."


def title_of(step: Step) -> str:
    """Write what a step is, as a line of a script."""
    proposal, after = step.proposal, listed([each[:SHORT] for each in step.needs] or [""])
    when = f", only after {after}" if after else ""
    return f"step {step.step_id[:SHORT]}, {proposal.kind}{when}: {proposal.reason}"


def _parts(advised: Advised) -> Iterator[Part]:
    steps, remedy = advised.steps, advised.remedy
    yield Sentence(summary(remedy), "good" if steps else "")
    if steps:
        yield Sentence(proof_sentence(remedy), "good")
    for title, some in _sections(steps).items():
        yield Heading(f"{title} ({len(some):,})")
        yield Items(map(_step_item, some))
    if advised.dropped:
        yield Heading(f"Left out because of --without ({len(advised.dropped):,})")
        yield Items(map(_left_item, advised.dropped))
    if others := advised.left_out:
        yield Heading(f"Left out ({len(others):,})")
        yield Items(map(_left_item, others))
    if advised.for_people:
        yield Heading(f"Needs a decision ({len(advised.for_people):,})")
        yield Items(_people_items(advised.for_people))
        yield Sentence("Each of a kind: aclkit audit --kind KIND")
    if steps:
        yield from _whole(advised.preview)
        yield Sentence("One step alone: aclkit remedy --step STEP. Leave it out: --without STEP")


def _whole(preview: Compared) -> Iterator[Part]:
    """Yield what all steps together do to access."""
    lines = preview.told
    known = grouped(preview.asked.resources)
    yield Heading("All steps together")
    items = [
        Item(line_words(line, known.get(line.resource_type, ())), MARKS[line.kind])
        for line in lines[:_MOST_LINES]
    ]
    if more := len(lines) - len(items):
        items.append(Item(f"and {number_of(more, 'more line')}; --format json has all"))
    if items:
        yield Items(items)
    yield Sentence(total_sentence(preview, lines, PLANNED), "good" if preview.is_known else "bad")


def _sections(steps: Iterable[Step]) -> Mapping[str, Sequence[Step]]:
    """Return the steps by part, each under its heading."""
    return grouped((_section(step), step) for step in steps)


def _section(step: Step) -> str:
    if step.proposal.kind == NARROW:
        return "Then revoke what no client used"
    if step.proposal.revokes:
        return "First, revoke what findings name"
    is_allow = all(acl.is_allow for acl in step.remove)
    return f"Then remove {'ALLOWs' if is_allow else 'DENYs'} without effect"


def _step_item(step: Step) -> Item:
    proposal = step.proposal
    under = [f"+ {acl_words(acl)}" for acl in step.add[:_MOST_CHANGES]]
    under += [f"- {acl_words(acl)}" for acl in step.remove[:_MOST_CHANGES]]
    more = len(step.add[_MOST_CHANGES:]) + len(step.remove[_MOST_CHANGES:])
    under += [f"and {number_of(more, 'more ACL')}"] if more else []
    if not proposal.revokes and proposal.by:
        under.append(f"already decided by {few(map(acl_words, proposal.by), 1)}")
    if step.needs:
        under.append(f"only after {listed([each[:SHORT] for each in step.needs])}")
    if step.also:
        under.append(f"also ends {few(dict.fromkeys(each.kind for each in step.also))}")
    return Item(_name(step.step_id, proposal), "", under)


def _left_item(left: LeftOut) -> Item:
    acls = few(map(acl_words, left.remove), 1)
    return Item(_name(left.proposal.step_id, left.proposal), "", [acls, left.why])


def _name(step_id: str, proposal: Proposal) -> str:
    return f"{step_id[:SHORT]} {proposal.kind} ({proposal.severity})"


def _people_items(people: Iterable[ForPerson]) -> Iterator[Item]:
    alike = grouped(((each.kind, each.why, bool(each.used_by)), each) for each in people)
    for (kind, why, is_used), some in alike.items():
        if is_used:
            yield from map(_used_item, some)
        elif some[0].missing:
            yield Item(f"{kind} ({len(some):,}): {why}", "", _acl_lines(some))
        else:
            yield Item(f"{kind} ({len(some):,}): {why}")


def _used_item(each: ForPerson) -> Item:
    """Return what is in use: by whom, and what these need first."""
    under = [*_acl_lines([each]), each.why]
    under += [f"used by {user}" for user in each.used_by[:_MOST_LINES]]
    if more := len(each.used_by[_MOST_LINES:]):
        under.append(f"and by {number_of(more, 'more principal')}")
    under += [f"first add {acl_words(acl)}" for acl in each.add_first[:_MOST_LINES]]
    if more := len(each.add_first[_MOST_LINES:]):
        under.append(f"and {number_of(more, 'more ACL')}")
    return Item(f"{each.step_id[:SHORT]} {each.kind} ({each.severity})", "", under)


def _acl_lines(people: Sequence[ForPerson]) -> list[str]:
    """Write some of the ACLs whose use is not known."""
    acls = list(dict.fromkeys(acl for each in people for acl in each.acls))
    more = len(acls[_MOST_CHANGES:])
    lines = [acl_words(acl) for acl in acls[:_MOST_CHANGES]]
    return [*lines, f"and {number_of(more, 'more ACL')}"] if more else lines


def _besides(advised: Advised) -> Iterator[str]:
    """Yield what rows do not hold."""
    yield summary(advised.remedy)
    if advised.steps:
        yield proof_sentence(advised.remedy)
    for each in advised.dropped:
        yield f"Left out because of --without: {_name(each.proposal.step_id, each.proposal)}."
    if left := len(advised.left_out):
        yield f"{number_of(left, 'remedy', 'remedies')} left out; --format json has the reasons."
    if people := len(advised.for_people):
        yield f"{number_of(people, 'finding')} to decide; --format json has the reasons."


def _notes(advised: Advised) -> Iterator[str]:
    yield from advised.notes
    yield from _missing_notes(advised.for_people)
    if advised.accepted:
        findings = number_of(advised.accepted, "accepted finding")
        yield f"{findings} left alone; ACLs of these stay."
    if any(left.is_unknown for left in advised.remedy.plan.left_out):
        yield f"Raise the search limit with {advised.remedy.searching.to_raise}."


def _missing_notes(people: Iterable[ForPerson]) -> Iterator[str]:
    """Yield what is missing of the log, each once."""
    for each in dict.fromkeys(missing for person in people for missing in person.missing):
        if each.next and each.kind != TOO_NEW:
            yield f"Use is not known. {each.words} Next: {each.next}"


def _rows(steps: Iterable[Step]) -> Iterator[tuple[object, ...]]:
    for position, step in enumerate(steps, 1):
        proposal = step.proposal
        lead = position, step.step_id, proposal.kind, proposal.severity
        also = [each.step_id for each in step.also]
        for change, acls in (("add", step.add), ("remove", step.remove)):
            for acl in acls:
                acl_id = acl.acl_id if change == "remove" else None
                tail = acl_id, proposal.reason, list(step.needs), also
                yield *lead, change, *acl.binding, *tail


def _members(advised: Advised) -> Members:
    remedy, preview = advised.remedy, advised.preview
    yield "verdict", remedy.change.verdict
    yield "proven_for_every_name", remedy.is_known
    yield "acls_before", len({acl.binding for acl in remedy.plan.start.acls})
    yield "acls_after", len({acl.binding for acl in remedy.plan.final.acls})
    yield "steps", (_step(*each) for each in enumerate(advised.steps, 1))
    yield "left_out_with_others", map(_left, advised.dropped)
    yield "left_out", map(_left, advised.left_out)
    yield "for_a_person", map(_person, advised.for_people)
    yield "accepted", advised.accepted
    known = grouped(preview.asked.resources)
    lines = preview.told
    yield "lost_for_every_name", (line_words(line, known.get(line.resource_type)) for line in lines)
    yield "lost", (cell._asdict() for cell in preview.effect.cells(LOST))
    yield (
        "cost",
        {
            "questions": remedy.searching.questions + remedy.proving.questions,
            "states": remedy.searching.states + remedy.proving.states,
        },
    )


def _step(position: int, step: Step) -> dict[str, object]:
    return {
        "position": position,
        **_advice(step.proposal),
        "reason": step.proposal.reason,
        "revokes": step.proposal.revokes,
        "add": [dict(zip(BINDING, acl.binding, strict=True)) for acl in step.add],
        "remove": _objects(step.remove),
        "needs": list(step.needs),
        "also": [_advice(each) for each in step.also],
    }


def _left(left: LeftOut) -> dict[str, object]:
    return {**_advice(left.proposal), "acls": _objects(left.remove), "why": left.why}


def _person(each: ForPerson) -> dict[str, object]:
    return {
        **_advice(each),
        "message": each.message,
        "why": each.why,
        "acls": _objects(each.acls),
        "used_by": list(each.used_by),
        "add_first": [dict(zip(BINDING, acl.binding, strict=True)) for acl in each.add_first],
        "missing": [missing._asdict() for missing in each.missing],
    }


def _advice(each: Advice) -> dict[str, object]:
    return {
        "step": each.step_id,
        "kind": each.kind,
        "severity": each.severity,
        "subject": each.subject,
    }


def _objects(acls: Iterable[Acl]) -> list[dict[str, object]]:
    return as_objects(_ACL, ((*acl.binding, acl.acl_id) for acl in acls))
