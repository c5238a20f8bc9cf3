"""The commands who-can and what-can: a question → rows on stdout, notes on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from aclkit.cli.completing import complete_operation, complete_principal, complete_resource
from aclkit.cli.context import Context, engine_option, format_option, tell_state
from aclkit.cli.output import render_rows, tell
from aclkit.errors import UsageError
from aclkit.model.resource import TYPE_OF_WORD, parse_resource
from aclkit.questions.preview.words import few_hosts
from aclkit.questions.query import access
from aclkit.warehouse.published import Published

_host_option = click.option(
    "--host", envvar="ACLKIT_HOST", metavar="IP", help="Only from this host."
)
_denied_option = click.option(
    "--denied", "decision", flag_value="DENIED", help="What is denied, instead of allowed."
)
_all_option = click.option(
    "--all", "decision", flag_value="ANY", help="Both what is allowed and what is denied."
)


@click.command("who-can")
@click.argument("operation", shell_complete=complete_operation)
@click.argument("resource", shell_complete=complete_resource)
@_host_option
@_denied_option
@_all_option
@engine_option
@format_option
@click.pass_obj
def who_can(
    context: Context, operation: str, resource: str, host: str | None, decision: str | None
) -> None:
    """Say who may do OPERATION (or ANY) to RESOURCE, and because of which ACL.

    \b
    Example:
      aclkit who-can READ topic:payments --host 10.0.0.7
      aclkit who-can ANY group:billing --all --format csv

    RESOURCE is topic:NAME, group:NAME, transactional-id:NAME, delegation-token:NAME, user:NAME
    or cluster. Hosts with the same answer share a line; * is all hosts. A table shows the first
    few of them, the other formats all.
    """
    asked = parse_resource(resource)
    near = {"resource_type": asked.resource_type, "resource_name": asked.resource_name}
    with context.ask({"explain_pair": near}) as at:
        answer = access.who_can(
            at.tables,
            at.published,
            at.cluster_id,
            operation,
            asked,
            host=host,
            decision=_decision(decision),
        )
    _print(context, answer, at.published)


@click.command("what-can")
@click.argument("principal", shell_complete=complete_principal)
@click.argument(
    "resource", required=False, metavar="[TYPE[:NAME]]", shell_complete=complete_resource
)
@_host_option
@_denied_option
@_all_option
@engine_option
@format_option
@click.pass_obj
def what_can(
    context: Context,
    principal: str,
    resource: str | None,
    host: str | None,
    decision: str | None,
) -> None:
    """Say what PRINCIPAL may do, and because of which ACL.

    \b
    Example:
      aclkit what-can User:alice
      aclkit what-can User:alice topic --denied
      aclkit what-can User:alice topic:payments --all

    Hosts with the same answer share a line; * is all hosts. A table shows the first few of them,
    the other formats all.
    """
    resource_type, resource_name = _type_and_name(resource)
    with context.ask({"explain_pair": {"principal": principal}}) as at:
        answer = access.what_can(
            at.tables,
            at.published,
            at.cluster_id,
            principal,
            resource_type=resource_type,
            resource_name=resource_name,
            host=host,
            decision=_decision(decision),
        )
    _print(context, answer, at.published)


def _decision(given: str | None) -> str | None:
    """Return the decision to keep: ALLOWED unless told; None keeps both."""
    return None if given == "ANY" else given or "ALLOWED"


def _type_and_name(text: str | None) -> tuple[str | None, str | None]:
    """Read ``TYPE`` or ``TYPE:NAME``."""
    if text is None:
        return None, None
    if text in TYPE_OF_WORD and text != "cluster":
        return TYPE_OF_WORD[text], None
    if ":" not in text and text != "cluster":
        raise UsageError(f"bad resource {text!r}: expected one of {', '.join(TYPE_OF_WORD)}")
    resource = parse_resource(text)
    return resource.resource_type, resource.resource_name


def _print(context: Context, answer: access.Access, published: Published) -> None:
    """Print an answer, and on stderr what a reader of it must know."""
    if not answer.is_in_inventory:
        tell("not all of it is in the inventory: decided now, by the same ACLs")
    tell_state(published, answer.decided_by)
    columns = answer.columns
    context.write(columns, answer.rows, table=lambda: render_rows(columns, _with_few_hosts(answer)))


def _with_few_hosts(answer: access.Access) -> Iterator[Sequence[str | None]]:
    """Cut long lists of hosts, for people: one of them would make the whole table as wide."""
    at = answer.columns.index("host")
    for row in answer.rows:
        hosts = row[at]
        yield *row[:at], few_hosts(hosts.split(",")) if hosts else hosts, *row[at + 1 :]
