"""The group acls: list and show print the ACLs of a warehouse as Kafka's own tools do."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

import click

from aclkit.answer.document import Answer, Table
from aclkit.answer.render import FORMATS
from aclkit.cli.acl_options import ignored_options, principal_option, resource_options
from aclkit.cli.alive import read_alive
from aclkit.cli.context import Context, formats
from aclkit.cli.late import LateGroup
from aclkit.cli.options import flag
from aclkit.cli.output import tell, write_lines
from aclkit.errors import UsageError
from aclkit.kafka.acls.options import AclOptions, check_principals, drops_cluster, resource_filters
from aclkit.kafka.acls.text import render_list, render_standard_acl, render_tree, visible_acl
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.visible import visible

KAFKA_ACLS: Final = "kafka-acls"
COLUMNS: Final = (*Acl.__slots__[1:], "acl_id")


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


raw_option = flag(
    "--raw", "Write names as they are, also what acts on a terminal: as Kafka's own tools do."
)


@click.command("list")
@resource_options
@principal_option
@raw_option
@ignored_options
@formats(
    KAFKA_ACLS,
    *FORMATS,
    default=KAFKA_ACLS,
    text="As kafka-acls --list prints it, or as rows.",
)
@click.pass_obj
def list_acls(
    context: Context, options: AclOptions, principal: tuple[str, ...], *, raw: bool
) -> None:
    """Print the ACLs as kafka-acls --list does, all or those of some resources and principals.

    \b
    Example:
      aclkit acls list
      aclkit acls list --topic payments --resource-pattern-type match --principal User:alice
      aclkit acls list --raw > listing.txt

    Without a pattern type only ACLs are listed that have this very name and are LITERAL; match
    lists all that reach it, * and prefixes and globs too. Options of kafka-acls that change
    nothing there change nothing here. Control characters in names, and whatever else would act on
    a terminal, are written as code points; what replay --source acls-list: is to read needs --raw.
    """
    if drops_cluster(options):
        tell(
            "as kafka-acls does, this passes over --cluster beside --resource-pattern-type "
            f"{options.resource_pattern_type}"
        )
    principals = check_principals(principal)
    filters = resource_filters(options)
    alive = read_alive(context)
    chosen = [
        acl
        for acl in alive.acls
        if (not principals or acl.principal in principals)
        and (not filters or any(pattern.matches(acl, alive.semantics) for pattern in filters))
    ]
    if context.output_format == KAFKA_ACLS:
        shown = principals if raw else tuple(map(visible, principals))
        context.deliver(f"{line}\n" for line in render_list(_shown(chosen, raw=raw), shown))
    else:
        chosen.sort(key=lambda acl: (*acl.binding, acl.acl_id))
        rows = [(*acl.binding, acl.acl_id) for acl in chosen]
        few = [(acl.principal, acl_words(acl, acl.principal), acl.acl_id) for acl in chosen]
        table = Table(("principal", "acl", "acl_id"), few, Table(COLUMNS, rows))
        context.write(Answer(title="ACLs", columns=COLUMNS, rows=rows, parts=lambda: [table]))


@click.command("show")
@click.argument("acl_ids", nargs=-1, metavar="[ACL_ID]...")
@raw_option
@click.pass_obj
def show_acls(context: Context, acl_ids: tuple[str, ...], *, raw: bool) -> None:
    """Print ACLs with their ids as Kafka's metadata shell does.

    \b
    Example:
      aclkit acls show
      aclkit acls show eLv9uS0WQB-2oX75QlEi6Q

    Without ids: what tree /image/acls prints there; with ids: what cat prints of each. What would
    act on a terminal is written as code points; --raw writes it as it is.
    """
    found = read_alive(context).acls
    if not acl_ids:
        print_lines(render_tree(_shown(found, raw=raw)))
        return
    by_id = {acl.acl_id: acl for acl in found}
    missing = [acl_id for acl_id in acl_ids if acl_id not in by_id]
    if missing:
        raise UsageError(f"no ACL alive has the id {missing[0]}; aclkit acls show prints all")
    chosen = [by_id[acl_id] for acl_id in acl_ids]
    print_lines(map(render_standard_acl, _shown(chosen, raw=raw)))


def _shown(acls: Sequence[Acl], *, raw: bool) -> Sequence[Acl]:
    """Make names visible where they are not wanted as they are, and say of how many ACLs."""
    if raw:
        return acls
    shown = [visible_acl(acl) for acl in acls]
    if changed := sum(before != after for before, after in zip(acls, shown, strict=True)):
        tell(f"ACLs with names written as code points: {changed:,}; --raw writes them exactly")
    return shown


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on stdout."""
    write_lines((f"{line}\n" for line in lines), sys.stdout)
