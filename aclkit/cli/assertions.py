"""The command assert: a file of assertions → which hold, and an example of each that does not."""

from __future__ import annotations

from collections.abc import Iterator

import click

from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, format_option, tell_state
from aclkit.cli.output import Objects, tell, tell_all
from aclkit.model.unknown_settings import caveats_on_list
from aclkit.questions.assertions.check import acl_texts, check
from aclkit.questions.assertions.model import UNKNOWN, Assertion, Outcome
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.rules.names.budget import Budget
from aclkit.runtime.user_file import read_text

FAILED_EXIT = 1
COLUMNS = (
    "state", "kind", "assertion", "checked", "violations", "principal", "host", "operation",
    "resource", "decision", "rule", "deciding_acl", "acl_id", "in_inventory", "detail", "proof",
)  # fmt: skip


@click.command("assert")
@click.argument("file", metavar="FILE.toml")
@format_option
@budget_options
@click.pass_obj
def assert_(context: Context, file: str, budget: Budget) -> None:
    """Hold the published decisions against a team's own policies, FILE.toml.

    \b
    Example:
      aclkit assert conf/assertions.toml
      aclkit assert conf/assertions.toml --format json

    Tables [[never]], [[always]], [[only]], [[at_most]] and [[separate]] say who may do what; see
    conf/assertions.toml. What the inventory holds is counted; for every other name that a broker
    can be asked about each assertion is proven, with the shortest name where it fails. A line per
    assertion; one that fails shows a decision that speaks against it, [[separate]] two. Ends with
    exit code 1 where one fails, or is unknown: its proof took more states than the budget has.
    """
    assertions = read_assertions(file)
    with context.open() as opened:
        outcomes = check(opened.tables, opened.run, assertions, budget)
        acls = acl_texts(opened.tables, opened.run, outcomes)
    tell_state(opened.published, opened.run)
    for outcome in outcomes:
        if not outcome.checked:
            name = outcome.assertion.name
            tell(f"note: {name!r} is about nothing that is known")
        if outcome.proof == UNKNOWN:
            tell(f"note: {outcome.assertion.name!r}: {outcome.detail}")
    settings = opened.run.settings.broker
    tell_all(caveats_on_list(settings))
    unknown, rows = sorted(settings.unknown), [r for each in outcomes for r in _rows(each, acls)]
    context.write(
        COLUMNS,
        rows,
        json=lambda: Objects((*COLUMNS, "unknown_settings"), ((*row, unknown) for row in rows)),
    )
    if any(not outcome.has_passed for outcome in outcomes):
        click.get_current_context().exit(FAILED_EXIT)


def read_assertions(path: str) -> list[Assertion]:
    """Read a file of assertions.

    Raises:
        UsageError: no such file, or it makes no sense.
    """
    return parse_assertions(read_text(path), path)


def _rows(outcome: Outcome, acls: dict[str | None, str]) -> Iterator[tuple[object, ...]]:
    assertion = outcome.assertion
    head = (outcome.state, assertion.kind, assertion.name, outcome.checked, outcome.violations)
    for e in outcome.examples:
        yield (
            *head, e.principal, e.host, e.operation, str(e.resource), e.decision, e.rule,
            acls.get(e.acl_id), e.acl_id, e.in_inventory, outcome.detail, outcome.proof,
        )  # fmt: skip
    if not outcome.examples:
        none = [None] * (len(COLUMNS) - len(head) - 2)
        yield (*head, *none, outcome.detail, outcome.proof)
