"""An X.500 distinguished name → the principal that a broker with TLS makes of it.

Source of ``ssl.principal.mapping.rules``: Kafka's SslPrincipalMapper. Rules are ``DEFAULT``, the
whole name, and ``RULE:pattern/replacement/`` with ``L`` or ``U`` after it for lower or upper case;
the first whose pattern matches the whole name counts. The patterns are regular expressions of the
operator, and the names come from any holder of a certificate. So RE2 matches them: its time grows
with the length of the name and never faster, whatever the pattern. What RE2 does not know (looking
around, references back within a pattern, possessive quantifiers) is refused when rules are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aclkit.errors import UsageError
from aclkit.kafka.principals.distinguished_name import (
    KEYWORDS,
    NameAttribute,
    decode,
    parse_name,
    readable_type,
    render_name,
)
from aclkit.kafka.principals.principal import USER_TYPE, ChannelPrincipal, KafkaPrincipal
from aclkit.model.broker_settings import MAPPING_RULES
from aclkit.runtime.notation import shown_key


class NoMatchingRuleError(UsageError):
    """No rule matches a distinguished name; a broker closes such a connection."""


_Compiled = re.Pattern[str]
"""What RE2 compiles has the methods of Python's own patterns, and no types."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One ``RULE``; DEFAULT has no pattern.

    Attributes:
        pattern: compiled by RE2, or None.
        replacement: literal texts and, as numbers, groups.
        case: ``L``, ``U`` or nothing.
    """

    pattern: _Compiled | None
    replacement: tuple[str | int, ...] = ()
    case: str = ""

    def apply(self, name: str) -> str | None:
        """Return the name that the rule makes, or None where its pattern does not match it all.

        Like Java's ``replaceAll`` every match is replaced, also the empty one that a pattern such
        as ``.*`` finds once more at the end.
        """
        if self.pattern is None:
            return name
        if self.pattern.fullmatch(name) is None:
            return None
        mapped = self.pattern.sub(self._expand, name)
        if self.case == "L":
            return mapped.lower()
        return mapped.upper() if self.case == "U" else mapped

    def _expand(self, match: re.Match[str]) -> str:
        return "".join(
            part if isinstance(part, str) else match.group(part) or "" for part in self.replacement
        )


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Read the rules as a broker does; empty ones are ignored.

    Raises:
        UsageError: a rule has another form, its pattern is none that RE2 knows, or its replacement
            is one at which Java would throw; or RE2 is not installed.
    """
    return tuple(_rule(part) for part in _split(text) if part)


def map_name(rules: Sequence[Rule], name: str) -> str:
    """Return the principal's name by the first rule that matches.

    Raises:
        NoMatchingRuleError: none does.
    """
    mapped = (rule.apply(name) for rule in rules)
    found = next((each for each in mapped if each is not None), None)
    if found is None:
        raise NoMatchingRuleError(
            f"No rules apply to {name}: none of the {len(rules)} rules of {MAPPING_RULES} "
            "matches it. To use such names unchanged, add DEFAULT as the last rule."
        )
    return found


_BODY: Final = r"(?:\\.|[^\\/])*"
_RULE: Final = re.compile(rf"RULE:({_BODY})/({_BODY})/([LU]?)")
# A rule ends at a comma, but the commas of its pattern and replacement are its own.
_NEXT: Final = re.compile(rf"\s*(DEFAULT|RULE:{_BODY}/{_BODY}/[LU]?.*?|.*?)\s*(?:,\s*|$)")
_REFERENCE: Final = re.compile(r"\$(\d+)|\\(.)|([^$\\]+)", re.DOTALL)


def _split(text: str) -> Iterator[str]:
    text, at = text.strip(), 0
    while at < len(text) and (found := _NEXT.match(text, at)):
        yield found[1]
        at = found.end()


def _rule(text: str) -> Rule:
    if text == "DEFAULT":
        return Rule(None)
    parts = _RULE.fullmatch(text)
    if parts is None:
        raise UsageError(
            f"Invalid rule: `{text}` in {MAPPING_RULES}: expected DEFAULT or "
            "RULE:pattern/replacement/ with L, U or nothing after it"
        )
    pattern = _compile(parts[1])
    return Rule(pattern, tuple(_replacement(parts[2], pattern.groups)), parts[3])


def _compile(pattern: str) -> _Compiled:
    try:
        import re2  # type: ignore[import-untyped]  # google-re2 ships no types
    except ImportError:
        raise UsageError(
            f"{MAPPING_RULES} with a RULE needs the package google-re2, which matches in "
            "linear time: pip install 'aclkit[x500]'"
        ) from None
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: _Compiled = re2.compile(pattern, options)
    except re2.error as error:
        why = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise UsageError(
            f"Invalid rule: pattern `{pattern}` in {MAPPING_RULES}: {why}; expected a regular "
            "expression without look-around and back-references"
        ) from None
    return compiled


def _replacement(text: str, groups: int) -> Iterator[str | int]:
    r"""Yield the parts of a replacement: Java's, after Kafka's escapeLiteralBackReferences.

    ``$12`` is group 12, or group 1 and ``2`` where there are fewer; a group that the pattern does
    not have at all stands for itself, unless the pattern has no group.
    """
    at = 0
    while at < len(text):
        found = _REFERENCE.match(text, at)
        if found is None:
            raise UsageError(
                f"Invalid rule: replacement `{text}` in {MAPPING_RULES}: expected $number or a "
                f"character after {text[at]!r}"
            )
        at = found.end()
        digits = found[1]
        if digits is None:
            yield found[2] or found[3]
        elif int(digits[0]) <= groups:
            used = max(n for n in range(1, len(digits) + 1) if int(digits[:n]) <= groups)
            yield int(digits[:used])
            yield digits[used:]
        elif groups:
            yield found[0]
        else:
            raise UsageError(
                f"Invalid rule: replacement `{text}` in {MAPPING_RULES}: its pattern has no "
                f"group {digits}"
            )


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
