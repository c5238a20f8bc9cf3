"""The options that say under which settings ACLs are read, and what they come to."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from aclkit.cli.options import option, together
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, GivenSettings
from aclkit.model.principal import parse_super_users
from aclkit.model.semantics import AUTO, OFF, ON, PRESETS, Semantics

settings_options = together(
    option(
        "--super-users",
        metavar="'TYPE:NAME;…'",
        help="super.users of the brokers, separated by ';'.",
    ),
    option(
        "--allow-everyone/--no-allow-everyone",
        default=None,
        help="allow.everyone.if.no.acl.found of the brokers.",
    ),
    option(
        "--server-properties",
        metavar="FILE",
        help="Read both from a broker's server.properties.",
    ),
    option(
        "--semantics",
        type=click.Choice([*PRESETS]),
        default="kip-1042",
        help="How ACLs are read: with globs, or exactly as today's brokers do.",
    ),
    option("--glob-patterns/--no-glob-patterns", default=None, help="Pattern code 5 is a glob."),
    option(
        "--identity-globs/--no-identity-globs",
        default=None,
        help="Principals and hosts of ACLs may be globs.",
    ),
    option(
        "--deciding-acl",
        type=click.Choice(["most-specific", "broker"]),
        help="Which of several matching ACLs is named.",
    ),
    option(
        "--wildcard-defect/--no-wildcard-defect",
        default=None,
        help="LITERAL * misses longer names that begin with *.",
    ),
    option(
        "--cidr-hosts",
        type=click.Choice([AUTO, ON, OFF]),
        help="A host of an ACL such as 10.0.0.0/8 is a range of addresses, as in Kafka from 4.4 "
        "on. auto, the default, follows the newest broker that the log or the live cluster names; "
        "without one, a range ends with exit code 3.",
    ),
)


def semantics_of(chosen: dict[str, Any]) -> Semantics:
    """Return the preset with the settings that were given on their own."""
    return dataclasses.replace(PRESETS[chosen["semantics"]], **own_semantics(chosen))


def follows_brokers(chosen: dict[str, Any]) -> bool:
    """Whether ranges (CIDR) decide as the brokers that are known read them."""
    return chosen["cidr_hosts"] in (None, AUTO)


def own_semantics(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of semantics that were given on their own."""
    names = [field.name for field in dataclasses.fields(Semantics)]
    own = {name: chosen[name] for name in names if chosen[name] not in (None, AUTO)}
    if "cidr_hosts" in own:
        own["cidr_hosts"] = own["cidr_hosts"] == ON
    return own


def given_settings(chosen: dict[str, Any]) -> GivenSettings:
    """Return super users and allow.everyone: options win over ``--server-properties``.

    Raises:
        UsageError: a bad super user, or no such file.
    """
    super_users, allow_everyone = chosen["super_users"], chosen["allow_everyone"]
    if file := chosen["server_properties"]:
        # Here, so that nobody waits for it who has no such file.
        from aclkit.kafka.client.properties import read_properties
        from aclkit.kafka.client.providers import resolve_variables

        read = read_properties(file)
        named = {key: read.get(key, "") for key in (SUPER_USERS, ALLOW_EVERYONE)}
        providers = {k: v for k, v in read.items() if k.startswith("config.providers")}
        told = resolve_variables({**named, **providers})
        if super_users is None:
            super_users = told[SUPER_USERS]
        if allow_everyone is None:
            allow_everyone = told[ALLOW_EVERYONE].strip().lower() == "true"
    return GivenSettings(
        super_users=None if super_users is None else parse_super_users(super_users),
        allow_everyone=allow_everyone,
    )
