"""The group preview: ACLs, topics or brokers to come → whose access changes."""

from __future__ import annotations

from itertools import count

import click

from aclkit.cli.acl_options import acl_options
from aclkit.cli.context import Context, format_option
from aclkit.cli.effect import Gate, effect_options, tell_first_glob, write_effect
from aclkit.cli.help import Questions
from aclkit.cli.options import option
from aclkit.cli.output import tell, tell_all
from aclkit.cli.preview_apply import apply
from aclkit.kafka.acls.creation import CreationRules, acl_filters, new_acls
from aclkit.kafka.acls.options import AclOptions
from aclkit.model.acl import acl_words
from aclkit.model.broker_settings import caveats_on_list
from aclkit.model.semantics import Semantics, changed_settings, read_as
from aclkit.pipeline.replay.changes import add_to, remove_from
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.globs import to_next_run
from aclkit.questions.preview.topics import preview_topics
from aclkit.questions.preview.topics_answer import topics_answer
from aclkit.questions.read_state import Warehouse, read_state
from aclkit.questions.state import State


@click.group(cls=Questions)
def preview() -> None:
    """Show whose access a planned change would alter.

    \b
    Example:
      aclkit preview add-acl --allow-principal User:alice --operation Read --topic payments
      aclkit preview add-topic payments.eu.refunds
      aclkit preview apply plan.json --format markdown --fail-on gained
      aclkit preview upgrade --to 4.4

    The change is compared with the published decisions: access gained, access lost, and access
    that another ACL decides. Nothing is written. If allow.everyone.if.no.acl.found is on, the first
    ACL on a resource denies it to all other principals.
    """


@preview.command("add-acl")
@acl_options
@effect_options
def add_acl(context: Context, options: AclOptions, gate: Gate) -> None:
    """Show the effect of adding ACLs.

    \b
    Example:
      aclkit preview add-acl --allow-principal User:alice --operation Read --topic payments
      aclkit preview add-acl --deny-principal 'User:*' --topic pay --resource-pattern-type prefixed

    The options are those of kafka-acls --add. To name a cluster, put --cluster before the command:
    after the command it is the option of kafka-acls.
    """
    numbers = count(1)
    base = _read(context)
    rules = CreationRules.of(base.level, base.semantics)
    wanted = new_acls(options, lambda: f"to-come-{next(numbers):04}", rules)
    change = add_to(base.acls.values(), wanted)
    for acl in change.existing:
        tell(f"{acl_words(acl)} already exists and changes nothing.")
    _print(context, base, base.with_acls(change.added), "ACLs to add", gate)


@preview.command("remove-acl")
@acl_options
@effect_options
def remove_acl(context: Context, options: AclOptions, gate: Gate) -> None:
    """Show the effect of removing ACLs.

    \b
    Example:
      aclkit preview remove-acl --allow-principal User:alice --operation Read --topic payments
      aclkit preview remove-acl --topic payments --resource-pattern-type match

    The options are those of kafka-acls --remove. Without a principal, all ACLs on these resource
    patterns are removed.
    """
    filters = acl_filters(options)
    base = _read(context)
    removed = remove_from(base.acls.values(), filters, base.semantics).removed
    tell(f"ACLs selected: {len(removed):,}")
    after = base.without(acl.acl_id for acl in removed)
    _print(context, base, after, "ACLs to remove", gate)


@preview.command("add-topic")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@format_option
@click.pass_obj
def add_topic(context: Context, names: tuple[str, ...]) -> None:
    """Show who will have access to new topics.

    \b
    Example:
      aclkit preview add-topic payments.eu.refunds
      aclkit preview add-topic orders-in orders-out --format csv

    The table and Markdown show allowed access. The other formats have every decision.
    """
    base = _read(context)
    topics = preview_topics(names, base)
    caveats = tuple(caveats_on_list(base.settings))
    context.write(topics_answer(topics, base.inventory.hosts, caveats))


preview.add_command(apply)


@preview.command("upgrade")
@option("--to", "end", metavar="READING", required=True, help="How ACLs are read after the change.")
@option(
    "--from",
    "start",
    metavar="READING",
    help="How ACLs are read before it. Default: as in the published decisions.",
)
@effect_options
def upgrade(context: Context, end: str, start: str | None, gate: Gate) -> None:
    """Show the effect of another Kafka version.

    \b
    Example:
      aclkit preview upgrade --to 4.4
      aclkit preview upgrade --from 4.3 --to 4.4 --fail-on gained --format markdown
      aclkit preview upgrade --from kafka --to kip-1042
      aclkit preview upgrade --to kafka,4.4,no-wildcard-defect

    From 4.4 on, Kafka reads a host such as 10.0.0.0/8 as a range of addresses. Such an ACL takes
    effect as soon as brokers run 4.4, whatever metadata.version is. The answer lists each ACL that
    is read differently, with its effect. A READING is one of these, or several with commas:

    \b
      4.3, 4.4, …          a version of Kafka: whether such hosts are ranges
      kip-1042, kafka      a preset of --semantics: everything except ranges
      SETTING, no-SETTING  one of glob-patterns, identity-globs, wildcard-defect and
      SETTING=on|off       cidr-hosts; or deciding-acl=most-specific or =broker

    Settings that READING leaves out are those of the published decisions. To preview a downgrade,
    swap --from and --to.
    """
    base = _read(context)
    before = base.semantics if start is None else read_as(start, base.semantics)
    after = read_as(end, base.semantics)
    change = Change(before=base.read_as(before), after=base.read_as(after))
    tell(_difference(before, after))
    title = f"From {start or 'the published reading'} to {end}, cluster {base.cluster_id}"
    write_effect(context, change, base.inventory, title, gate)


def _difference(before: Semantics, after: Semantics) -> str:
    told = changed_settings(before, after)
    if not told:
        return "Both read all ACLs alike."
    return f"Different settings: {'; '.join(told)}."


def _read(context: Context) -> State:
    base = read_state(Warehouse(context.asked_warehouse(), context.cluster))
    context.stand_on_states(base)
    tell_all(base.notes)
    return base


def _print(context: Context, base: State, after: State, title: str, gate: Gate) -> None:
    change = to_next_run(base, after)
    tell_first_glob(change)
    where = f"{title}, cluster {base.cluster_id}"
    write_effect(context, change, base.inventory, where, gate)
