"""The options that name a principal builder (KIP-111), and the builder that they name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aclkit.cli.acl_options import Text
from aclkit.cli.options import option, together
from aclkit.errors import UsageError
from aclkit.kafka.principals.load import CheckedBuilder, load_builder, parse_properties
from aclkit.model.broker_settings import MAPPING_RULES

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
    given = parse_properties(properties)
    built = load_builder(name, given)
    if mapping_rules is None or MAPPING_RULES in given:
        return built
    # Here, for the builder reads names with a package that only certificates need.
    from aclkit.kafka.principals.x500 import X500Builder

    is_brokers = isinstance(built.builder, X500Builder)
    return load_builder(name, {**given, MAPPING_RULES: mapping_rules}) if is_brokers else built
