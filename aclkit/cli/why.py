"""The commands why and history: one access → what it rests on, and since when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import click

from aclkit.cli.asking import question_options, tell_unknown
from aclkit.cli.completing import complete_operation, complete_principal, complete_resource
from aclkit.cli.context import Context, tell_state
from aclkit.cli.intent import check_order, possible_resource
from aclkit.cli.options import gathered, option, parse_time, together
from aclkit.errors import UsageError
from aclkit.model.resource import Resource
from aclkit.questions.query.as_of import PAST
from aclkit.questions.query.history import read_history
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.why_answer import history_answer, why_answer


@dataclass(frozen=True, slots=True)
class AccessQuestion:
    """The access that is asked about, as it was written."""

    principal: str
    operation: str
    resource: str
    host: str | None

    def about(self, command: str) -> Resource:
        """Read the resource, the words being in their order."""
        check_order(
            command, principal=self.principal, operation=self.operation, resource=self.resource
        )
        return possible_resource(self.resource, self.operation)


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
@question_options
def why(context: Context, access: AccessQuestion, at_offset: int | None, at: str | None) -> None:
    """Say why PRINCIPAL may, or may not, do OPERATION to RESOURCE.

    \b
    Example:
      aclkit why User:alice READ topic:payments
      aclkit why User:alice READ topic:payments --host 10.0.0.7 --format json
      aclkit why User:alice READ topic:payments --at 2026-11-20T18:00:00Z

    Every ACL that takes part is listed in the order in which they decide: what beat it, and
    whether the decision would change without it; --wide has how each part of it matches. Without a
    rank stand those that reach the resource for the principal, but from another host or with
    another operation. What is denied for want of an ACL comes with the least one that would allow
    it. Names that no inventory knows are answered too, with a warning. Where a request of
    Kafka's passes all the same, or needs more, a line says so. Where brokers of the log decide
    otherwise than others, it says which do how. Where KIP-1042 and Kafka's own reading of the ACLs
    come to different decisions, it says what the other one is. Principals, hosts and resources
    need be in no inventory. RESOURCE is written as for who-can.
    """
    moment = _moment(at_offset, at)
    resource = access.about("why")
    with context.ask(PAST) as opened:
        answer = explain_why(
            *opened.where, access.principal, access.operation, resource,
            host=access.host, moment=moment,
        )  # fmt: skip
    tell_unknown(context, answer.unknown)
    if not answer.moment.is_past:
        tell_state(opened.published, answer.run)
    context.write(why_answer(answer))


@click.command("history")
@_access_arguments
@question_options
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
    resource = access.about("history")
    with context.ask(PAST) as opened:
        answer = read_history(
            *opened.where, access.principal, access.operation, resource, host=access.host
        )
    tell_unknown(context, answer.unknown)
    tell_state(opened.published, answer.run)
    context.write(history_answer(answer))


def _moment(at_offset: int | None, at: str | None) -> int | datetime | None:
    """Return the moment that is asked about."""
    if at_offset is not None and at is not None:
        raise UsageError("expected one of --at-offset and --at, found both")
    return at_offset if at is None else parse_time(at)
