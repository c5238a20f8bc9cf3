"""The commands acls add and acls remove: kafka-acls' options → records of a warehouse."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import click

from aclkit.cli.acl_options import acl_options, force_option
from aclkit.cli.acls import print_lines, read_newest
from aclkit.cli.context import Context
from aclkit.cli.help import command
from aclkit.cli.options import lock_timeout_option
from aclkit.cli.output import tell, write_lines
from aclkit.cli.session import command_run
from aclkit.cli.settings_options import builder_of, principal_options
from aclkit.errors import UsageError
from aclkit.kafka.acls.command import command_of
from aclkit.kafka.acls.creation import CreationRules, acl_filters, new_acls
from aclkit.kafka.acls.options import AclOptions
from aclkit.kafka.acls.text import render_added, render_list, render_removed, visible_acl
from aclkit.kafka.principals.load import CheckedBuilder, principal_of
from aclkit.model.acl import Acl
from aclkit.model.semantics import KAFKA
from aclkit.pipeline.replay.changes import AclChange, add_to, remove_from
from aclkit.pipeline.replay.write import write_change
from aclkit.questions.query.as_of import is_replicated
from aclkit.questions.state import State
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import MATERIALIZE_STEP, open_warehouse
from aclkit.warehouse.run import publish
from aclkit.warehouse.storage import newest_version


@command("add")
@acl_options
@principal_options
@lock_timeout_option
@click.pass_obj
def add_acls(
    context: Context, /, options: AclOptions, lock_timeout: float, **chosen: object
) -> None:
    """Add ACLs to a warehouse, not to a cluster.

    \b
    Example:
      aclkit acls add --allow-principal User:alice --operation Read --topic payments
      aclkit acls add --deny-principal User:bob --topic pay --resource-pattern-type prefixed

    This works only in a warehouse that has no source. If a log or listings were replayed into it,
    aclkit prints the kafka-acls command for the cluster instead. The first ACL of a new folder, or
    of a new --cluster (before the command), creates a warehouse without a source. With
    --principal-builder, write a principal as a name or as properties (CN=alice,OU=ops). A range as
    a host (10.0.0.0/8) needs metadata.version 4.4-IV1; if that is unknown, it needs ranges in the
    newest decisions.
    """
    options = _with_built(options, builder_of(chosen))
    before = _read(context)
    semantics, level = (before.semantics, before.level) if before else (KAFKA, None)
    wanted = new_acls(options, rules=CreationRules.of(level, semantics))
    _refuse_if_following(context, before, command_of("add", options))
    change = add_to(before.acls.values(), wanted) if before else None
    if change is None or change.added:
        change = _write(context, "acls add", lambda alive: add_to(alive, wanted), lock_timeout)
    print_lines(f"Acl {visible_acl(acl)} already exists." for acl in change.existing)
    print_lines(render_added(map(visible_acl, change.added)))


@command("remove")
@acl_options
@principal_options
@force_option
@lock_timeout_option
@click.pass_obj
def remove_acls(
    context: Context, /, options: AclOptions, lock_timeout: float, *, force: bool, **chosen: object
) -> None:
    """Remove ACLs from a warehouse, not from a cluster.

    \b
    Example:
      aclkit acls remove --allow-principal User:alice --operation Read --topic payments
      aclkit acls remove --topic payments --resource-pattern-type any --force

    Without a principal, all ACLs on the resources are removed. The command asks for confirmation;
    --force skips that.
    """
    options = _with_built(options, builder_of(chosen))
    filters = acl_filters(options)
    before = read_newest(context)
    command = command_of("remove", options)
    _refuse_if_following(context, before, f"{command} --force" if force else command)
    seen = remove_from(before.acls.values(), filters, before.semantics)
    if not seen.removed:
        tell("No ACL matches, so nothing was removed.")
        return
    if not force:
        _confirm(seen)
    only = None if force else {acl.acl_id for acl in seen.removed}
    change = _write(
        context,
        "acls remove",
        lambda alive: remove_from(alive, filters, before.semantics, only),
        lock_timeout,
    )
    print_lines(render_removed(map(visible_acl, change.removed)))


def _with_built(options: AclOptions, builder: CheckedBuilder | None) -> AclOptions:
    """Put the principals that a builder makes in the place of names and properties (KIP-111)."""
    if builder is None:
        return options
    return replace(
        options,
        allow_principal=tuple(str(principal_of(text, builder)) for text in options.allow_principal),
        deny_principal=tuple(str(principal_of(text, builder)) for text in options.deny_principal),
    )


def _read(context: Context) -> State | None:
    """Read what is there before; None where this would be the first of the cluster."""
    warehouse = context.require_warehouse()
    if newest_version(Location(warehouse).files, JOB_RUN) is None:
        return None
    if context.cluster is not None and context.cluster not in open_warehouse(warehouse).clusters:
        return None
    return read_newest(context)


def _refuse_if_following(context: Context, before: State | None, command: str) -> None:
    """Refuse what only the cluster itself can do, and print the command that would do it there.

    Raises:
        UsageError: the cluster was replayed from a log or from listings.
    """
    if before is None:
        return
    with context.open() as opened:
        if not is_replicated(opened.tables, before.cluster_id):
            return
    print_lines([command])
    raise UsageError(
        f"Cluster {before.cluster_id!r} was replayed from a source, so its ACLs change only with "
        "that source. Run the command above on the cluster itself."
    )


def _confirm(change: AclChange) -> None:
    """Ask whether to remove what a request selects.

    Raises:
        UsageError: there is no terminal to ask on.
    """
    tell("These ACLs would be removed:")
    listed = render_list(map(visible_acl, change.removed))
    write_lines((f"{line}\n" for line in listed), sys.stderr)
    if not sys.stdin.isatty():
        raise UsageError("Not a terminal, so nothing was removed. To remove, pass --force.")
    if not click.confirm("Are you sure?", err=True):
        raise UsageError("Nothing was removed.")


def _write(
    context: Context, job: str, decide: Callable[[Sequence[Acl]], AclChange], lock_timeout: float
) -> AclChange:
    """Write a change as one run, the lock taken before anything is read."""
    warehouse = context.require_warehouse()
    with command_run(context, job, lock_timeout) as run:
        change = write_change(run, context.cluster, decide)
        if change.added or change.removed:
            publish(run)
            step = MATERIALIZE_STEP.format(path=warehouse)
            tell(f"cluster {run.cluster_id} is at offset {run.head_offset}; next: {step}")
    return change
