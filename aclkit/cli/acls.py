"""The group acls: list and show print the ACLs of a warehouse as Kafka's own tools do."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final, Literal

import click

from aclkit.acls.options import AclOptions, check_principals, resource_filters
from aclkit.acls.text import render_list, render_standard_acl, render_tree
from aclkit.cli.acl_options import principal_option, resource_options
from aclkit.cli.alive import read_alive
from aclkit.cli.late import LateGroup
from aclkit.cli.output import FORMATS, Format, write_lines, write_rows
from aclkit.errors import UsageError
from aclkit.settings import Settings

KAFKA_ACLS: Final = "kafka-acls"
COLUMNS: Final = (
    "resource_type",
    "resource_name",
    "pattern_type",
    "principal",
    "host",
    "operation",
    "permission_type",
    "acl_id",
)


@click.group(
    cls=LateGroup,
    places={
        "list": ("acls", "list_acls"),
        "show": ("acls", "show_acls"),
        "add": ("acl_changes", "add_acls"),
        "remove": ("acl_changes", "remove_acls"),
    },
)
def acls() -> None:
    """List and change the ACLs of a warehouse, with kafka-acls' own options.

    \b
    Example:
      aclkit acls list --topic payments --resource-pattern-type match
      aclkit acls add --allow-principal User:alice --producer --topic payments

    Which cluster is meant stands before the command, for behind it --cluster is kafka-acls'
    flag for the Kafka cluster as a resource: aclkit --cluster prod acls list --cluster
    """


@click.command("list")
@resource_options
@principal_option
@click.option(
    "--format",
    "output_format",
    type=click.Choice((KAFKA_ACLS, *FORMATS)),
    default=KAFKA_ACLS,
    envvar="ACLKIT_FORMAT",
    show_default=True,
    help="As kafka-acls --list prints it, or as rows.",
)
@click.pass_obj
def list_acls(
    settings: Settings,
    options: AclOptions,
    principal: tuple[str, ...],
    output_format: Literal["kafka-acls"] | Format,
) -> None:
    """Print the ACLs as kafka-acls --list does, all or those of some resources and principals.

    \b
    Example:
      aclkit acls list
      aclkit acls list --topic payments --resource-pattern-type match --principal User:alice

    Without a pattern type only ACLs are listed that have this very name and are LITERAL; match
    lists all that reach it, * and prefixes and globs too.
    """
    principals = check_principals(principal)
    filters = resource_filters(options)
    alive = read_alive(settings)
    chosen = [
        acl
        for acl in alive.acls
        if not filters or any(pattern.matches(acl, alive.semantics) for pattern in filters)
    ]
    if output_format == KAFKA_ACLS:
        print_lines(render_list(chosen, principals))
        return
    rows = sorted(
        (*acl.binding, acl.acl_id)
        for acl in chosen
        if not principals or acl.principal in principals
    )
    write_rows(COLUMNS, rows, output_format, sys.stdout)


@click.command("show")
@click.argument("acl_ids", nargs=-1, metavar="[ACL_ID]...")
@click.pass_obj
def show_acls(settings: Settings, acl_ids: tuple[str, ...]) -> None:
    """Print ACLs with their ids as Kafka's metadata shell does.

    \b
    Example:
      aclkit acls show
      aclkit acls show eLv9uS0WQB-2oX75QlEi6Q

    Without ids: what tree /image/acls prints there; with ids: what cat prints of each.
    """
    found = read_alive(settings).acls
    if not acl_ids:
        print_lines(render_tree(found))
        return
    by_id = {acl.acl_id: acl for acl in found}
    missing = [acl_id for acl_id in acl_ids if acl_id not in by_id]
    if missing:
        raise UsageError(f"no ACL alive has the id {missing[0]}; aclkit acls show prints all")
    print_lines(render_standard_acl(by_id[acl_id]) for acl_id in acl_ids)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on stdout."""
    write_lines((f"{line}\n" for line in lines), sys.stdout)
