"""Arguments of a tool and one published run → the answer of the command of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from aclkit.answer.document import Answer
from aclkit.audit.findings.baseline import classify
from aclkit.audit.findings.registry import check_kinds
from aclkit.audit.mcp.arguments import (
    AddAcl,
    Changes,
    Denials,
    FindingsOf,
    History,
    Prove,
    TablesOf,
    WhatCan,
    WhoCan,
    Why,
)
from aclkit.audit.mcp.asked_sql import tables_answer
from aclkit.audit.reports.changes_answer import read_run_changes
from aclkit.audit.reports.findings_answer import (
    findings_answer,
    notes_on_audit,
    read_findings,
    read_judged,
)
from aclkit.audit.reports.gather import Judge
from aclkit.audit.serve.accesses import DECISIONS
from aclkit.audit.serve.form import outcome_of
from aclkit.audit.serve.snapshot import Reading
from aclkit.errors import UsageError
from aclkit.model.findings import SEVERITIES, up_to
from aclkit.model.moment import parse_moment
from aclkit.model.resource import TYPE_OF_WORD, WORD_OF_TYPE, parse_resource
from aclkit.model.unknown_settings import caveats_on_list
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.questions.denials.answer import Selection, selected_denials
from aclkit.questions.denials.read import read_denials, require_log
from aclkit.questions.prove.answer import answers_answer, comparison_answer
from aclkit.questions.prove.claim import NO_LESS, NO_MORE, SAME, hold_sides
from aclkit.questions.prove.never import hold_assertions
from aclkit.questions.prove.proof_settings import GivenReading, Side, notes_of, read_alike
from aclkit.questions.prove.read import read_warehouse_side
from aclkit.questions.query import access
from aclkit.questions.query.access_answer import prefix_answer, what_can_answer, who_can_answer
from aclkit.questions.query.by_prefix import who_can_prefix
from aclkit.questions.query.history import read_history
from aclkit.questions.query.names import Unknown, unknown_note
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.why_answer import history_answer, why_answer
from aclkit.rules.names.question import STATES_OF_A_COMMAND, STATES_OF_A_QUESTION, Budget
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import run_settings, unread_parts

_COMPARISONS: Final = {"same": SAME, "no_more": NO_MORE, "no_less": NO_LESS}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, and what a command would tell beside it."""

    answer: Answer
    notes: Sequence[str] = ()


def who_can(reading: Reading, asked: WhoCan) -> Reply:
    """Return who can perform an operation on a resource, or on names with a prefix."""
    decision, host = DECISIONS[asked.decision], asked.host
    if asked.prefix is not None:
        kind = _type_of(asked.resource)
        by_prefix = who_can_prefix(
            reading.where, asked.operation, kind, asked.prefix, host=host, decision=decision
        )
        return Reply(prefix_answer(by_prefix, asked.operation, decision))
    resource = parse_resource(asked.resource)
    found = access.who_can(*reading.where, asked.operation, resource, host=host, decision=decision)
    answer = who_can_answer(found, asked.operation, resource, decision)
    return Reply(answer, _notes_on(found.unknown))


def what_can(reading: Reading, asked: WhatCan) -> Reply:
    """Return what a principal can do."""
    decision, about = DECISIONS[asked.decision], None
    kind = TYPE_OF_WORD.get(asked.resource or "")
    if asked.resource is not None and (kind is None or asked.resource == "cluster"):
        about = parse_resource(asked.resource)
        kind = about.resource_type
    found = access.what_can(
        *reading.where, asked.principal, resource_type=kind,
        resource_name=about.resource_name if about else None, host=asked.host, decision=decision,
    )  # fmt: skip
    answer = what_can_answer(found, asked.principal, decision, about=about, resource_type=kind)
    return Reply(answer, _notes_on(found.unknown))


def why(reading: Reading, asked: Why) -> Reply:
    """Return why an access is allowed or denied."""
    found = explain_why(
        *reading.where, asked.principal, asked.operation, parse_resource(asked.resource),
        host=asked.host, moment=_moment(asked.at),
    )  # fmt: skip
    return Reply(why_answer(found), _notes_on(found.unknown))


def history(reading: Reading, asked: History) -> Reply:
    """Return how an access changed over time."""
    found = read_history(
        *reading.where, asked.principal, asked.operation, parse_resource(asked.resource),
        host=asked.host,
    )  # fmt: skip
    return Reply(history_answer(found), _notes_on(found.unknown))


def changes(reading: Reading, asked: Changes) -> Reply:
    """Return which access the last run, or all runs after one, added or removed."""
    found = read_run_changes(reading.where, asked.since)
    return Reply(found.answer, [*found.notes, *notes_on_settings(reading.run)])


def findings(reading: Reading, asked: FindingsOf, judge: Judge | None) -> Reply:
    """Return the findings in force; ``judge`` gives their states, where there is a baseline."""
    kinds = () if asked.kind is None else (asked.kind,)
    check_kinds(kinds)
    wanted = SEVERITIES if asked.severity is None else up_to(asked.severity)
    found = read_findings(reading.where, kinds, wanted)
    if judge is None:
        judged = classify(found, {}, [], datetime.now(UTC).date())
    else:
        judged = [each for each in judge(found) if each.finding is not None]
    shown = read_judged(
        reading.where, reading.run, judged, has_states=judge is not None, kinds=kinds
    )
    notes = [*notes_on_audit(reading.run), *notes_on_settings(reading.run)]
    return Reply(findings_answer(shown), notes)


def denials(reading: Reading, asked: Denials) -> Reply:
    """Return which accesses brokers refused, and why."""
    require_log(reading.published)
    found = read_denials(reading.tables, reading.run, unread_parts(reading.published, reading.run))
    selection = Selection(asked.only_new, asked.include_listings, asked.min_lines)
    answer = selected_denials(found, selection, "include_listings")
    return Reply(answer, notes_on_settings(reading.run))


def preview_add_acl(reading: Reading, asked: AddAcl) -> Reply:
    """Return whose access an ACL would change; nothing is added."""
    resource = parse_resource(asked.resource)
    form = {
        "action": "add", "permission": asked.permission, "principal": asked.principal,
        "operation": asked.operation, "type": WORD_OF_TYPE[resource.resource_type],
        "name": resource.resource_name, "pattern": asked.pattern, "host": asked.host,
    }  # fmt: skip
    outcome = outcome_of(reading, form)
    if not outcome.acls:
        return Reply(outcome.answer, ["This ACL already exists and changes nothing."])
    return Reply(outcome.answer, [f"The command that adds it: {outcome.command}"])


def prove(reading: Reading, asked: Prove) -> Reply:
    """Return whether policies hold, or how two states differ, proven for every name."""
    if (asked.claim == "never") != (asked.policies is not None):
        raise UsageError("Pass policies with the claim never, and only with it.")
    if asked.policies is not None and asked.after is not None:
        raise UsageError("The claim never is about one state. Pass before, or neither.")
    budget = Budget(per_question=STATES_OF_A_QUESTION, total=STATES_OF_A_COMMAND)
    if asked.policies is not None:
        assertions = parse_assertions(asked.policies, "policies")
        read = read_alike([_side(reading, asked.before)], GivenReading())
        found = hold_assertions(assertions, read[0].rules, budget, ())
        return Reply(answers_answer(found, read, notes_of(read)))
    if asked.before is None and asked.after is None:
        raise UsageError("Pass before, after or both: a log offset or a time.")
    sides = [_side(reading, asked.before), _side(reading, asked.after)]
    read = read_alike(sides, GivenReading(), each_own=asked.compare_settings)
    claim, limit = _COMPARISONS[asked.claim], asked.limit
    held = hold_sides(claim, read[0], read[1], budget, limit)
    return Reply(comparison_answer(held, read, notes_of(read), limit))


def tables(reading: Reading, asked: TablesOf) -> Reply:
    """Return the tables and views that the tool sql can read, or the columns of one."""
    return Reply(tables_answer(reading.tables, asked.table))


def notes_on_settings(run: PublishedRun) -> list[str]:
    """Return which settings of brokers are unknown, where an answer itself does not tell."""
    return list(caveats_on_list(run_settings(run)[0]))


def _side(reading: Reading, at: str | None) -> Side:
    """Read the state of a moment; where the warehouse lies is none of an assistant's business."""
    place = str(reading.published.place)
    side = read_warehouse_side(place, reading.cluster_id, _moment(at))
    return replace(side, path="warehouse" if at is None else f"warehouse@{at}")


def _moment(text: str | None) -> int | datetime | None:
    return None if text is None else parse_moment(text)


def _type_of(text: str) -> str:
    """Read the type of names with a prefix.

    Raises:
        UsageError: it is no type, or one with a single resource.
    """
    if text == "cluster" or text not in TYPE_OF_WORD:
        known = ", ".join(word for word in TYPE_OF_WORD if word != "cluster")
        raise UsageError(f"With prefix the resource is a type: {known}. {text!r} is none.")
    return TYPE_OF_WORD[text]


def _notes_on(unknown: Sequence[Unknown]) -> list[str]:
    return [unknown_note(unknown)] if unknown else []
