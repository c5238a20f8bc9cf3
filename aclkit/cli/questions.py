"""The commands who-can and what-can: a question → rows on stdout, notes on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Final

import click

from aclkit.cli.engine import Engine, engine_option, session_for
from aclkit.cli.output import Format, format_option, tell, write_rows
from aclkit.cli.settings import Settings
from aclkit.cli.state import tell_state
from aclkit.errors import UsageError
from aclkit.model.resource import TYPE_OF_WORD, Resource, parse_resource
from aclkit.questions.query import access
from aclkit.warehouse.opening import open_tables
from aclkit.warehouse.published import Published, resolve_cluster

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
@click.argument("operation")
@click.argument("resource")
@_host_option
@_denied_option
@_all_option
@engine_option
@format_option
@click.pass_obj
def who_can(
    settings: Settings,
    operation: str,
    resource: str,
    host: str | None,
    decision: str | None,
    engine: Engine,
    output_format: Format,
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
    with (
        session_for(engine, settings, "who-can") as spark,
        open_tables(settings.warehouse, {"explain_pair": near}, spark) as (published, connection),
    ):
        answer = access.who_can(
            connection,
            published,
            resolve_cluster(published, settings.cluster),
            operation,
            asked,
            host=host,
            decision=_decision(decision),
        )
    _print(answer, published, output_format)


@click.command("what-can")
@click.argument("principal")
@click.argument("resource", required=False, metavar="[TYPE[:NAME]]")
@_host_option
@_denied_option
@_all_option
@engine_option
@format_option
@click.pass_obj
def what_can(
    settings: Settings,
    principal: str,
    resource: str | None,
    host: str | None,
    decision: str | None,
    engine: Engine,
    output_format: Format,
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
    near = {"explain_pair": {"principal": principal}}
    with (
        session_for(engine, settings, "what-can") as spark,
        open_tables(settings.warehouse, near, spark) as (published, connection),
    ):
        answer = access.what_can(
            connection,
            published,
            resolve_cluster(published, settings.cluster),
            principal,
            resource_type=resource_type,
            resource_name=resource_name,
            host=host,
            decision=_decision(decision),
        )
    _print(answer, published, output_format)


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
    resource: Resource = parse_resource(text)
    return resource.resource_type, resource.resource_name


def _print(answer: access.Access, published: Published, output_format: Format) -> None:
    """Print an answer, and on stderr what a reader of it must know."""
    if not answer.is_in_inventory:
        tell("not all of it is in the inventory: decided now, by the same ACLs")
    tell_state(published, answer.decided_by)
    rows = _with_few_hosts(answer) if output_format == "table" else answer.rows
    write_rows(answer.columns, rows, output_format, sys.stdout)


_FEW_HOSTS: Final = 3


def _with_few_hosts(answer: access.Access) -> Iterator[Sequence[str | None]]:
    """Cut long lists of hosts, for people: one of them would make the whole table as wide."""
    at = answer.columns.index("host")
    for row in answer.rows:
        hosts = (row[at] or "").split(",")
        more = len(hosts) - _FEW_HOSTS
        if more > 1:
            shown = ",".join([*hosts[:_FEW_HOSTS], f"… +{more} more"])
            yield *row[:at], shown, *row[at + 1 :]
        else:
            yield row
