"""The group acls: list and show print the ACLs of a warehouse as Kafka's own tools do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import click

from aclkit.answer.document import Answer, Table
from aclkit.answer.formats import FORMATS
from aclkit.cli.acl_options import ignored_options, principal_option, resource_options
from aclkit.cli.context import Context, formats
from aclkit.cli.help import COMMANDS, LazyGroup, question
from aclkit.cli.options import flag
from aclkit.cli.output import PEOPLE, PROGRAMS, Reader, tell, tell_all, write_lines
from aclkit.errors import UsageError
from aclkit.kafka.acls.options import AclOptions, check_principals, drops_cluster, resource_filters
from aclkit.kafka.acls.text import render_list, render_standard_acl, render_tree, visible_acl
from aclkit.model.acl import Acl, acl_words
from aclkit.model.phrases import number_of
from aclkit.model.visible import visible
from aclkit.questions.read_state import Opened, read_state
from aclkit.questions.state import State

KAFKA_ACLS: Final = "kafka-acls"
COLUMNS: Final = (*Acl.__slots__[1:], "acl_id")


@click.group(
    cls=LazyGroup,
    sections={
        COMMANDS: {
            "list": ("acls", "list_acls"),
            "show": ("acls", "show_acls"),
            "add": ("acl_changes", "add_acls"),
            "remove": ("acl_changes", "remove_acls"),
        }
    },
)
def acls() -> None:
    """List and change ACLs with kafka-acls options.

    \b
    Example:
      aclkit acls list --topic payments --resource-pattern-type match
      aclkit acls add --allow-principal User:alice --producer --topic payments

    To name a cluster, put --cluster before the command: aclkit --cluster prod acls list. After the
    command, --cluster is the option of kafka-acls: the Kafka cluster as a resource.
    """


def read_newest(context: Context) -> State:
    """Read what the newest run knows of a cluster, decided or not; print what is uncertain.

    Raises:
        UsageError: no warehouse, nothing published, or it is not clear which cluster is meant.
    """
    with context.open(_NEEDED) as opened:
        run = opened.published.last_run(opened.cluster_id)
        state = read_state(Opened(opened.tables, opened.published, run), with_names=False)
    context.stand_on_states(state)
    tell_all(state.notes)
    return state


_NEEDED: Final[dict[str, dict[str, str]]] = {"acl_history": {}, "broker": {}}

raw_option = flag("--raw", "Write names unchanged, even control characters, as Kafka's tools do.")


@question("list")
@resource_options
@principal_option
@raw_option
@ignored_options
@formats(KAFKA_ACLS, *FORMATS, default=KAFKA_ACLS, text="Output format.")
@click.pass_obj
def list_acls(
    context: Context, options: AclOptions, principal: tuple[str, ...], *, raw: bool
) -> None:
    """List ACLs as kafka-acls --list prints them.

    \b
    Example:
      aclkit acls list
      aclkit acls list --topic payments --resource-pattern-type match --principal User:alice
      aclkit acls list --raw > listing.txt

    Without a pattern type, only LITERAL ACLs with exactly this name are listed. match lists all
    ACLs that apply to it, with *, prefixes and globs too. Control characters in names are written
    as code points. A listing for replay --source acls-list: needs --raw.
    """
    if drops_cluster(options):
        tell(
            "As in kafka-acls, --cluster has no effect with --resource-pattern-type "
            f"{options.resource_pattern_type}."
        )
    principals = check_principals(principal)
    filters = resource_filters(options)
    alive = read_newest(context)
    chosen = [
        acl
        for acl in alive.acls.values()
        if (not principals or acl.principal in principals)
        and (not filters or any(pattern.matches(acl, alive.semantics) for pattern in filters))
    ]
    if context.output_format == KAFKA_ACLS:
        shown = principals if raw else tuple(map(visible, principals))
        lines = render_list(_shown(chosen, raw=raw), shown)
        context.deliver((f"{line}\n" for line in lines), _reader(raw=raw))
    else:
        chosen.sort(key=lambda acl: (*acl.binding, acl.acl_id))
        rows = [(*acl.binding, acl.acl_id) for acl in chosen]
        few = [(acl.principal, acl_words(acl, acl.principal), acl.acl_id) for acl in chosen]
        table = Table(("principal", "acl", "acl_id"), few, Table(COLUMNS, rows))
        context.write(Answer(title="ACLs", columns=COLUMNS, rows=rows, parts=lambda: [table]))


@question("show")
@click.argument("acl_ids", nargs=-1, metavar="[ACL_ID]...")
@raw_option
@click.pass_obj
def show_acls(context: Context, acl_ids: tuple[str, ...], *, raw: bool) -> None:
    """Show ACLs with ids as Kafka's metadata shell does.

    \b
    Example:
      aclkit acls show
      aclkit acls show eLv9uS0WQB-2oX75QlEi6Q

    Without ids, it prints what tree /image/acls prints in that shell; with ids, what cat prints of
    each. Control characters in names are written as code points; --raw writes them unchanged.
    """
    by_id = read_newest(context).acls
    if not acl_ids:
        print_lines(render_tree(_shown([*by_id.values()], raw=raw)), _reader(raw=raw))
        return
    missing = [acl_id for acl_id in acl_ids if acl_id not in by_id]
    if missing:
        raise UsageError(
            f"No ACL in force has the id {missing[0]!r}. To list all: aclkit acls show"
        )
    chosen = [by_id[acl_id] for acl_id in acl_ids]
    print_lines(map(render_standard_acl, _shown(chosen, raw=raw)), _reader(raw=raw))


def _shown(acls: Sequence[Acl], *, raw: bool) -> Sequence[Acl]:
    """Make names visible unless they are wanted raw, and print for how many ACLs."""
    if raw:
        return acls
    shown = [visible_acl(acl) for acl in acls]
    if changed := sum(before != after for before, after in zip(acls, shown, strict=True)):
        tell(f"ACLs with names written as code points: {changed:,}. --raw writes them unchanged.")
    return shown


def _reader(*, raw: bool) -> Reader:
    return PROGRAMS if raw else PEOPLE


def print_lines(lines: Iterable[str], reader: Reader = PEOPLE) -> None:
    """Print lines on stdout."""
    write_lines((f"{line}\n" for line in lines), sys.stdout, reader)


def tell_left_out(unsaid: Sequence[Acl], clean: Callable[[str], str]) -> None:
    """Print the first ACLs that a form cannot hold."""
    for acl in unsaid[:_MOST_LEFT_OUT]:
        tell(clean(f"Left out: {acl_words(acl)}."))


_MOST_LEFT_OUT: Final = 20


def end_with_comments(unsaid: Sequence[Acl], changes: int) -> None:
    """End with 1 where a script of kafka-acls cannot hold all of its changes."""
    if unsaid:
        tell(
            f"{len(unsaid):,} of {number_of(changes, 'change')} are comments in the script: "
            "kafka-acls cannot make them, or they wait for one that it cannot make."
        )
        click.get_current_context().exit(1)
