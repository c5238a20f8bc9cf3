"""The options that name a principal builder (KIP-111), and the builder that they name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aclkit.cli.acl_options import Text
from aclkit.cli.options import option, together
from aclkit.errors import UsageError
from aclkit.kafka.principals.load import CheckedBuilder, load_builder, parse_properties

principal_options = together(
    option(
        "--principal-builder",
        metavar="MODULE:CLASS",
        help=(
            "Build principals, and what is known of them, by this class; "
            "aclkit.api:X500Builder and aclkit.api:AttributeTableBuilder are there."
        ),
    ),
    option(
        "--principal-builder-properties",
        multiple=True,
        type=Text(),
        metavar="KEY=VALUE",
        help="A property of the principal builder; may be given again.",
    ),
)


def builder_of(chosen: Mapping[str, Any]) -> CheckedBuilder | None:
    """Return the builder that the options name, or None where they name none.

    Raises:
        UsageError: properties without a builder, bad properties, or no such builder.
    """
    name, properties = chosen["principal_builder"], chosen["principal_builder_properties"]
    if name is None:
        if properties:
            raise UsageError("expected --principal-builder with --principal-builder-properties")
        return None
    return load_builder(name, parse_properties(properties))
