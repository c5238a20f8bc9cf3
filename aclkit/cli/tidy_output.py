"""A tidy form, or proposals → stdout, as table, JSON, JSON lines, CSV or a script."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

import click

from aclkit.cli.acls import COLUMNS, KAFKA_ACLS
from aclkit.cli.context import Context
from aclkit.cli.output import as_objects, tell
from aclkit.cli.table import Part, Table, Words
from aclkit.kafka.acls.script import render_changes
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.questions.tidy.propose import Proposal, Proposals
from aclkit.questions.tidy.proven import Proven
from aclkit.rules.names.compare import GAINED
from aclkit.rules.names.tidy import IDLE, MERGED, NEVER, Step, Tidy
from aclkit.rules.names.words import cost_words, few, number_of, opening_words

STEP_COLUMNS: Final = ("change", *COLUMNS, "why", "covered_by")
PROPOSAL_COLUMNS: Final = (*COLUMNS[:-1], "replaces", "opens", "closes", "is_known")
_MOST_STEPS: Final = 20
_MOST_NAMED: Final = 3
"""So many steps a table shows, and of each so many ACLs; the other formats hold all."""


def print_tidy(context: Context, proven: Proven) -> None:
    """Print what goes and what comes; end with 1 where a script cannot say all of it."""
    if context.output_format == KAFKA_ACLS:
        _print_script(context, proven)
        return
    context.write(
        STEP_COLUMNS,
        _rows(proven),
        (Words(": ".join(line)) for line in _statements(proven)),
        json=lambda: _object(proven),
        table=lambda: _table(proven),
    )


def print_proposals(context: Context, proposals: Proposals, option: str) -> None:
    """Print what could be put in the place of several ACLs."""
    rows = [_proposal_row(each) for each in proposals.found]
    context.write(
        PROPOSAL_COLUMNS,
        rows,
        map(Words, _proposal_statements(proposals)),
        json=lambda: {
            "proposals": as_objects(PROPOSAL_COLUMNS, rows),
            "not_compared": proposals.more,
            "groups_not_looked_at": proposals.left,
        },
        table=lambda: _proposal_table(proposals, option),
    )


def _statements(proven: Proven) -> Iterator[tuple[str, str]]:
    """Yield what there is to say, each under a word."""
    found = proven.found
    yield "before", number_of(len(found.before), "ACL")
    came = f", {len(found.added):,} added" if found.added else ""
    yield "after", f"{number_of(len(found.after), 'ACL')}: {len(found.steps):,} removed{came}"
    yield "proven", f"equivalent, for every name: {cost_words(proven.proving)}"
    if found.unknown:
        kept = f"{number_of(len(found.unknown), 'ACL')} kept, as the budget ended"
        yield "unknown", f"{kept}: raise {proven.searching.to_raise}"
    if found.added:
        yield "mind", "ALL takes in what a later Kafka adds; not so with --keep-operations"


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
        "unknown": as_objects(COLUMNS, ((*a.binding, a.acl_id) for a in found.unknown)),
    }


def _table(proven: Proven) -> Iterator[Part]:
    """Yield the statements, and the first of what comes and goes."""
    found = proven.found
    yield Table(("what", "says"), list(_statements(proven)))
    lines = [f"add     {acl_words(acl)}" for acl in found.added]
    steps = [
        (f"remove  {acl_words(acl)}", f"        {why}") for acl, why in _reasons(found).items()
    ]
    blocks = [*((line,) for line in lines), *steps]
    yield from _blocks(blocks[:_MOST_STEPS], len(blocks))


def _blocks(blocks: Sequence[Iterable[str]], number: int) -> Iterator[Part]:
    """Yield lines that belong together, and how many more there are."""
    if blocks:
        yield "\n"
    for lines in blocks:
        yield from map(Words, lines)
    if number > len(blocks):
        yield f"… and {number - len(blocks):,} more; --format csv prints all\n"


def _why_words(step: Step, gone: Container[Acl]) -> str:
    """Write why an ACL may go; what decides in its place may go after it."""
    if step.why == IDLE:
        return "takes nothing away from anybody today"
    if step.why == NEVER:
        return "answers no request that there could be"
    shown = "; ".join(
        f"{acl_words(acl)}{', which goes after it' if acl in gone else ''}"
        for acl in step.by[:_MOST_NAMED]
    )
    more = len(step.by) - _MOST_NAMED
    return f"covered by {shown}{f'; and {more:,} more' if more > 0 else ''}"


def _reasons(found: Tidy) -> dict[Acl, str]:
    gone = {step.acl for step in found.steps}
    return {step.acl: _why_words(step, gone) for step in found.steps}


def _print_script(context: Context, proven: Proven) -> None:
    found = proven.found
    reasons = _reasons(found)
    covered, idle = (
        {step.acl: reasons[step.acl] for step in found.steps if (step.why == IDLE) is is_idle}
        for is_idle in (False, True)
    )
    lines, unsaid = render_changes(found.added, [covered, idle])
    context.deliver(f"{line}\n" for line in lines)
    for line in _statements(proven):
        tell(": ".join(line))
    for acl in unsaid[:_MOST_STEPS]:
        tell(f"left out: {acl}")
    if unsaid:
        changes = number_of(len(found.added) + len(found.steps), "ACL")
        tell(
            f"{len(unsaid):,} of {changes} cannot be said with kafka-acls, or wait for such a one: "
            "left out, they stand in the script as comments"
        )
        click.get_current_context().exit(1)


def _proposal_statements(proposals: Proposals) -> Iterator[str]:
    number = len(proposals.found)
    goes = sum(len(each.replaces) for each in proposals.found)
    place = f"in the place of {number_of(goes, 'ACL')}"
    yield f"proposals: {number:,}, {place}, equal on the inventory"
    if proposals.more:
        yield f"{proposals.more:,} more that replace fewer were not compared"
    if proposals.left:
        yield f"{proposals.left:,} groups of ALLOWs were not looked at: there are too many"


def _proposal_row(proposal: Proposal) -> tuple[object, ...]:
    opens, closes = (
        [opening_words(each) for each in proposal.opens if (each.kind == GAINED) is gained]
        for gained in (True, False)
    )
    replaces = list(map(str, proposal.replaces))
    return *proposal.acl.binding, replaces, opens, closes, proposal.is_known


def _proposal_table(proposals: Proposals, option: str) -> Iterator[Part]:
    yield from map(Words, _proposal_statements(proposals))
    blocks = [list(_proposal_lines(each, option)) for each in islice(proposals.found, _MOST_STEPS)]
    yield from _blocks(blocks, len(proposals.found))


def _proposal_lines(proposal: Proposal, option: str) -> Iterator[str]:
    yield f"add     {acl_words(proposal.acl)}"
    names = [f"{acl.pattern_type} '{acl.resource_name}'" for acl in proposal.replaces]
    yield f"remove  the same on {few(names)}"
    for each in proposal.opens:
        verb = "opens" if each.kind == GAINED else "closes"
        yield f"{verb:<8}{opening_words(each)}"
    if not proposal.is_known:
        yield f"unknown what else would change: the budget ended; raise {option}"
    elif not proposal.opens:
        yield "opens   nothing else, for every name"
