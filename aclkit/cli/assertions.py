"""The command assert: a file of assertions → which hold, and an example of each that does not."""

from __future__ import annotations

import click

from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, format_option, tell_state
from aclkit.cli.help import command
from aclkit.questions.assertions.answer import assertions_answer
from aclkit.questions.assertions.check import check, deciding_acls
from aclkit.questions.assertions.model import Assertion
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.questions.query.as_of import STATE
from aclkit.rules.names.question import Budget
from aclkit.runtime.safe_read import read_text

FAILED_EXIT = 1


@command("assert")
@click.argument("file", metavar="FILE.toml")
@format_option
@budget_options
@click.pass_obj
def assert_(context: Context, file: str, budget: Budget) -> None:
    """Check the ACLs against your own policies.

    \b
    Example:
      aclkit assert conf/assertions.toml
      aclkit assert conf/assertions.toml --format json

    FILE.toml states who can do what, in the tables [[never]], [[always]], [[only]], [[at_most]] and
    [[separate]]; see conf/assertions.toml. Each policy is checked for all known names and proven
    for every other possible name. A failed policy shows a decision that violates it, [[separate]]
    two. The exit code is 1 if a policy fails, or is unknown because its proof exceeds the search
    limit.
    """
    assertions = read_assertions(file)
    with context.open(STATE) as opened:
        outcomes = check(opened.tables, opened.run, assertions, budget)
        acls = deciding_acls(opened.tables, opened.run, outcomes)
    tell_state(opened.published, opened.run)
    context.write(assertions_answer(outcomes, acls, opened.run.settings.broker))
    if any(not outcome.has_passed for outcome in outcomes):
        click.get_current_context().exit(FAILED_EXIT)


def read_assertions(path: str) -> list[Assertion]:
    """Read a file of assertions.

    Raises:
        UsageError: no such file, or it is invalid.
    """
    return parse_assertions(read_text(path), path)
