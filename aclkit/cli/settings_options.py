"""The options for how ACLs are read, and for what builds principals (KIP-111); their values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from aclkit.cli.options import Text, option, together
from aclkit.errors import UsageError
from aclkit.model.broker_settings import MAPPING_RULES, GivenSettings
from aclkit.model.semantics import (
    AUTO,
    OFF,
    ON,
    OWN,
    PRESETS,
    REDPANDA,
    AskedReading,
    Semantics,
)
from aclkit.model.super_users import given_super_users

if TYPE_CHECKING:
    from aclkit.kafka.principals.load import CheckedBuilder

principal_options = together(
    option(
        "--principal-builder",
        metavar="MODULE:CLASS",
        help=(
            "Class that builds principals and their attributes: aclkit.api:X500Builder, "
            "aclkit.api:AttributeTableBuilder or your own. X500Builder also reads "
            "ssl.principal.mapping.rules from --server-properties."
        ),
    ),
    option(
        "--principal-builder-properties",
        multiple=True,
        type=Text(),
        metavar="KEY=VALUE",
        help="Property of the principal builder. Repeatable.",
    ),
)

settings_options = together(
    option("--super-users", metavar="'TYPE:NAME;…'", help="super.users of the brokers."),
    option(
        "--no-super-users",
        is_flag=True,
        help="The brokers have no super users (same as --super-users '').",
    ),
    option(
        "--allow-everyone/--no-allow-everyone",
        default=None,
        help="allow.everyone.if.no.acl.found of the brokers.",
    ),
    option(
        "--server-properties",
        metavar="FILE",
        help="Read both from a broker's file: .properties, environment variables, compose YAML or "
        "Strimzi Kafka resource.",
    ),
    option(
        "--semantics",
        type=click.Choice([AUTO, *PRESETS]),
        default=AUTO,
        help="How ACLs are read: as Kafka's brokers do (kafka), or with globs (kip-1042). auto is "
        "kafka until the cluster has a GLOB ACL, then kip-1042.",
    ),
    option(
        "--glob-patterns/--no-glob-patterns", default=None, help="Read pattern type 5 as a glob."
    ),
    option(
        "--identity-globs/--no-identity-globs",
        default=None,
        help="Read globs in principals and hosts of ACLs.",
    ),
    option(
        "--deciding-acl",
        type=click.Choice(["most-specific", "broker"]),
        help="Which of several matching ACLs to report.",
    ),
    option(
        "--wildcard-defect/--no-wildcard-defect",
        default=None,
        help="LITERAL * does not match longer names that start with *.",
    ),
    option(
        "--cidr-hosts",
        type=click.Choice([AUTO, ON, OFF]),
        help="Read a host such as 10.0.0.0/8 as a range of addresses, as Kafka does from 4.4 on. "
        "auto (the default) follows the newest broker of the log or the live cluster; if none is "
        "known, a range ends with exit code 3.",
    ),
    option(
        "--authorizer",
        type=click.Choice([OWN, REDPANDA]),
        help="Whose authorizer decides. By default Redpanda's if rpk listed the ACLs or one names "
        "a RedpandaRole, else Kafka's own.",
    ),
)


def reading_of(chosen: Mapping[str, Any]) -> AskedReading:
    """Return the values of the options on how ACLs are read."""
    return AskedReading(preset=chosen["semantics"], own=own_semantics(chosen))


def follows_brokers(chosen: Mapping[str, Any]) -> bool:
    """Whether ranges (CIDR) decide as the brokers that are known read them."""
    return chosen["cidr_hosts"] in (None, AUTO)


def own_semantics(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of semantics that were given on their own."""
    names = [field.name for field in dataclasses.fields(Semantics)]
    own = {name: chosen[name] for name in names if chosen[name] not in (None, AUTO)}
    if "cidr_hosts" in own:
        own["cidr_hosts"] = own["cidr_hosts"] == ON
    return own


def given_settings(chosen: Mapping[str, Any]) -> GivenSettings:
    """Return super users and allow.everyone: options win over ``--server-properties``.

    Raises:
        UsageError: a bad super user, ``--super-users`` with ``--no-super-users``, or no such file.
        DataError: the file's broker does not decide by ACLs as Kafka's own authorizer does.
    """
    text, allow_everyone = said_super_users(chosen), chosen["allow_everyone"]
    given = GivenSettings(
        super_users=None if text is None else given_super_users(text), allow_everyone=allow_everyone
    )
    if not (file := chosen["server_properties"]):
        return given
    # Imported here, so that a command without such a file does not load it.
    from aclkit.kafka.client.broker_file import read_broker_file

    is_part = text is not None and allow_everyone is not None
    return read_broker_file(file, is_part=is_part).overridden_by(given)


def said_super_users(chosen: Mapping[str, Any]) -> str | None:
    """Return the options' super users; empty for none, None where no option is passed.

    An option on the command line overrides the other one in a settings file.

    Raises:
        UsageError: both are set in the same place.
    """
    text: str | None = chosen["super_users"]
    if not chosen["no_super_users"]:
        return text
    if text:
        ctx = click.get_current_context()
        given, none = map(ctx.get_parameter_source, ("super_users", "no_super_users"))
        if given == none:
            raise UsageError("Pass --super-users or --no-super-users, not both.")
        if given is not None and none is not None and given.value < none.value:
            return text
    return ""


def builder_of(
    chosen: Mapping[str, Any], mapping_rules: str | None = None
) -> CheckedBuilder | None:
    """Return the builder that the options name, or None where they name none.

    Args:
        chosen: the options.
        mapping_rules: those of the broker's file, which hold where the options name none.

    Raises:
        UsageError: properties without a builder, bad properties, or no such builder.
    """
    name, properties = chosen["principal_builder"], chosen["principal_builder_properties"]
    if name is None:
        if properties:
            raise UsageError("--principal-builder-properties needs --principal-builder.")
        return None
    # Here, for few commands have these options and the others.
    from aclkit.kafka.principals.load import load_builder, parse_properties

    given = parse_properties(properties)
    built = load_builder(name, given)
    if mapping_rules is None or MAPPING_RULES in given:
        return built
    # Here, for the builder reads names with a package that only certificates need.
    from aclkit.kafka.principals.x500 import X500Builder

    is_brokers = isinstance(built.builder, X500Builder)
    return load_builder(name, {**given, MAPPING_RULES: mapping_rules}) if is_brokers else built
