"""The group preview: ACLs and topics to come → whose access changes."""

from __future__ import annotations

from itertools import count

import click

from aclkit.cli.acl_options import acl_options
from aclkit.cli.context import Context, engine_option, tell_state
from aclkit.cli.effect_output import Gate, effect_format_option, gate_options, print_effect
from aclkit.cli.output import tell
from aclkit.cli.topic_output import print_topics
from aclkit.kafka.acls.new import acl_filters, new_acls
from aclkit.kafka.acls.options import AclOptions
from aclkit.pipeline.replay.changes import add_to, remove_from
from aclkit.questions.preview.change_set import read_change_set
from aclkit.questions.preview.read import Base, read_base
from aclkit.questions.preview.state import Change, State
from aclkit.questions.preview.topics import preview_topics


@click.group()
def preview() -> None:
    """Say whose access ACLs or topics would change, before they exist.

    \b
    Example:
      aclkit preview add-acl --allow-principal User:alice --operation Read --topic payments
      aclkit preview add-topic payments.eu.refunds
      aclkit preview apply acls.jsonl --format markdown --fail-on gained

    It is decided again what the changed patterns touch, against the published decisions: what
    is gained, what is lost, and what another ACL decides. The first ACL of a resource takes access
    from everybody else where allow.everyone.if.no.acl.found is on. Nothing is written.
    """


@preview.command("add-acl")
@acl_options
@effect_format_option
@gate_options
@engine_option
@click.pass_obj
def add_acl(context: Context, options: AclOptions, gate: Gate) -> None:
    """Say what adding ACLs would change; the options are those of kafka-acls --add.

    \b
    Example:
      aclkit preview add-acl --allow-principal User:alice --operation Read --topic payments
      aclkit preview add-acl --deny-principal 'User:*' --topic pay --resource-pattern-type prefixed

    Which cluster is meant stands before the command, for --cluster behind it is kafka-acls' flag.
    """
    numbers = count(1)
    wanted = new_acls(options, lambda: f"to-come-{next(numbers):04}")
    base = _read(context)
    change = add_to(base.state.acls.values(), wanted)
    for acl in change.existing:
        tell(f"it is there already and changes nothing: {acl}")
    _print(context, base, base.state.with_acls(change.added), "ACLs to add", gate)


@preview.command("remove-acl")
@acl_options
@effect_format_option
@gate_options
@engine_option
@click.pass_obj
def remove_acl(context: Context, options: AclOptions, gate: Gate) -> None:
    """Say what removing ACLs would change; the options are those of kafka-acls --remove.

    \b
    Example:
      aclkit preview remove-acl --allow-principal User:alice --operation Read --topic payments
      aclkit preview remove-acl --topic payments --resource-pattern-type match

    Without a principal all ACLs of the resource patterns are meant.
    """
    filters = acl_filters(options)
    base = _read(context)
    removed = remove_from(base.state.acls.values(), filters, base.semantics).removed
    tell(f"ACLs selected: {len(removed):,}")
    after = base.state.without(acl.acl_id for acl in removed)
    _print(context, base, after, "ACLs to remove", gate)


@preview.command("add-topic")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@effect_format_option
@engine_option
@click.pass_obj
def add_topic(context: Context, names: tuple[str, ...]) -> None:
    """Say which ACLs will govern topics to come, and who gets what.

    \b
    Example:
      aclkit preview add-topic payments.eu.refunds
      aclkit preview add-topic orders-in orders-out --format csv

    A table and Markdown show what is allowed, the other formats every decision.
    """
    base = _read(context)
    topics = preview_topics(names, base.state, base.inventory, base.semantics)
    print_topics(context, topics, base.inventory.hosts)


@preview.command("apply")
@click.argument("file", metavar="FILE")
@effect_format_option
@gate_options
@engine_option
@click.pass_obj
def apply(context: Context, file: str, gate: Gate) -> None:
    """Say what a whole change set would change.

    \b
    Example:
      aclkit preview apply change.jsonl
      aclkit preview apply wanted-acls.txt --format markdown --fail-on any

    FILE holds records of the metadata log as JSON lines, which add and remove, or what
    kafka-acls --list prints: then it is the whole new state, and what it lacks goes.
    """
    base = _read(context)
    change_set = read_change_set(file, base.state)
    for note in change_set.notes:
        tell(note)
    _print(context, base, change_set.after, "Change set", gate)


def _read(context: Context) -> Base:
    with context.session() as spark:
        base = read_base(context.warehouse, context.cluster, spark)
    tell_state(base.published, base.run)
    return base


def _print(context: Context, base: Base, after: State, title: str, gate: Gate) -> None:
    change = Change(before=base.state, after=after, semantics=base.semantics)
    where = f"{title}, cluster {base.run.cluster_id}"
    print_effect(context, change, base.inventory, where, gate)
