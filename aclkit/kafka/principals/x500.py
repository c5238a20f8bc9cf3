"""An X.500 distinguished name → the principal that a broker with TLS makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from aclkit.errors import UsageError
from aclkit.kafka.principals.attribute_types import KEYWORDS, decode, readable_type
from aclkit.kafka.principals.distinguished_name import NameAttribute, parse_name, render_name
from aclkit.kafka.principals.mapping_rules import map_name, parse_rules
from aclkit.kafka.principals.principal import USER_TYPE, ChannelPrincipal, KafkaPrincipal
from aclkit.model.broker_settings import MAPPING_RULES
from aclkit.runtime.notation import shown_key

DISTINGUISHED_NAME: Final = "distinguished_name"


class X500Builder:
    """Maps the subject of a certificate as DefaultKafkaPrincipalBuilder does.

    Properties: ``ssl.principal.mapping.rules``, as in a broker's configuration; without it, and
    with ``DEFAULT``, the principal's name is the whole name. Custom fields are the parts of the
    name (``CN``, ``OU``, of several equal types ``OU.2`` and so on) and ``distinguished_name``. Of
    types that Java writes encoded they are the keyword and the text: ``SERIALNUMBER``, ``4711``.
    """

    def __init__(self) -> None:
        """Make a builder that takes names whole."""
        self._rules = parse_rules("DEFAULT")

    def configure(self, properties: Mapping[str, str]) -> None:
        """Read the mapping rules.

        Raises:
            UsageError: another property, or bad rules.
        """
        unknown = sorted(set(properties) - {MAPPING_RULES})
        if unknown:
            found = ", ".join(map(shown_key, unknown))
            raise UsageError(f"Expected the property {MAPPING_RULES}, found {found}")
        self._rules = parse_rules(properties.get(MAPPING_RULES, "DEFAULT"))

    def build_principal(self, properties: Mapping[str, str]) -> KafkaPrincipal:
        """Build a principal from ``distinguished_name``, or from the parts of a name in order.

        Properties that are no attribute types of RFC 2253 are custom fields.

        Raises:
            UsageError: there is neither, or no rule matches.
        """
        fields = dict(properties)
        name = fields.pop(DISTINGUISHED_NAME, None)
        if name is not None:
            return self._build(parse_name(name), fields)
        parts = [NameAttribute(k.upper(), v) for k, v in fields.items() if k.upper() in KEYWORDS]
        if not parts:
            raise UsageError(
                f"Expected a property {DISTINGUISHED_NAME}, or some of {', '.join(KEYWORDS)}; "
                f"found {', '.join(map(shown_key, fields)) or 'none'}"
            )
        others = {key: value for key, value in fields.items() if key.upper() not in KEYWORDS}
        return self._build(parts, others)

    def build_principal_from_name(self, name: str) -> KafkaPrincipal:
        """Build a principal from a distinguished name, with or without ``User:`` before it.

        Raises:
            UsageError: it is no distinguished name, or no rule matches.
        """
        return self._build(parse_name(name.removeprefix(f"{USER_TYPE}:")), {})

    def _build(self, parts: Sequence[NameAttribute], fields: Mapping[str, str]) -> KafkaPrincipal:
        name = render_name(parts)
        attributes = {**fields, **_numbered(parts), DISTINGUISHED_NAME: name}
        return KafkaPrincipal(
            USER_TYPE, map_name(self._rules, name), ChannelPrincipal(name, attributes)
        )


def _numbered(parts: Sequence[NameAttribute]) -> dict[str, str]:
    """Return the parts by type; of equal types the second one is ``TYPE.2``, and so on."""
    attributes: dict[str, str] = {}
    counts: dict[str, int] = {}
    for part in parts:
        kind = readable_type(part.attribute_type)
        count = counts[kind] = counts.get(kind, 0) + 1
        text = decode(part.value) if part.is_encoded else None
        attributes[kind if count == 1 else f"{kind}.{count}"] = part.value if text is None else text
    return attributes
