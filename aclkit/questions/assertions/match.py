"""A selection and a name → is the name selected? By names, prefixes, globs, attributes. Pure.

``<any-other>`` stands for all names that nothing names. A pattern selects it only where it selects
every name, and excludes it only where it excludes every name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.cidr import is_any_other
from aclkit.model.glob import glob_matches
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042
from aclkit.questions.assertions.model import Attributes, Pattern, ResourcePattern, What, Who
from aclkit.rules.names.budget import Budget
from aclkit.rules.names.cover import covers
from aclkit.rules.names.domain import PRINCIPALS
from aclkit.rules.names.symbols import EVERYTHING, RUN, Symbols, of_pattern
from aclkit.rules.patterns.match import GLOB, LITERAL, PREFIXED

_NOTHING: Final[Mapping[str, str]] = {}
_EMPTY_GLOB: Final = Pattern(GLOB, "")
_ANY_USER: Final = (*ANY_OTHER_PRINCIPAL.removesuffix(ANY_OTHER), RUN)


def symbols_of(pattern: Pattern) -> Symbols:
    """Write a pattern as symbols; an empty glob is the empty name, unlike that of an ACL."""
    if pattern.pattern_type == LITERAL or pattern == _EMPTY_GLOB:
        return tuple(pattern.text)
    (symbols,) = of_pattern("TOPIC", pattern.pattern_type, pattern.text, KIP_1042)
    return symbols


def matches(pattern: Pattern, name: str) -> bool:
    """Whether a pattern means a name.

    >>> matches(Pattern("GLOB", "User:s*"), "User:svc-a"), matches(Pattern("LITERAL", "a*"), "ab")
    (True, False)
    >>> matches(Pattern("GLOB", "User:*"), "User:<any-other>")
    True
    """
    if name == ANY_OTHER:
        return symbols_of(pattern) == EVERYTHING
    if name == ANY_OTHER_PRINCIPAL:
        return _means_every_user(pattern)
    if pattern.pattern_type == LITERAL:
        return pattern.text == name
    if pattern.pattern_type == PREFIXED:
        return name.startswith(pattern.text)
    return glob_matches(pattern.text, name)


def means_principal(
    who: Who, principal: str, *, is_super_user: bool, attributes: Mapping[str, str] = _NOTHING
) -> bool:
    """Whether an assertion is about a principal; an unknown principal has no attributes."""
    if is_super_user and not who.super_users:
        return False
    is_named = (
        _any_of(who.names, principal)
        and not _any_of(who.but, principal)
        and has_attributes(who.attributes, attributes)
    )
    return is_named != who.is_inverted


def means_resource(
    what: What, resource: Resource, attributes: Mapping[str, str] = _NOTHING
) -> bool:
    """Whether an assertion is about a resource."""
    return (
        (what.names is None or _reaches(what.names, resource))
        and not _reaches(what.but, resource)
        and has_attributes(what.attributes, attributes)
        and bool(operations_on(what, resource.resource_type))
    )


def means_host(what: What, host: str) -> bool:
    """Whether an assertion is about a host."""
    return _any_of(what.hosts, ANY_OTHER if is_any_other(host) else host)


def principals_said(who: Who) -> Iterator[str]:
    """Yield the principals that an assertion spells out, each once.

    ``only`` is about all other principals, and about those that its exceptions leave out.
    """
    return _said(who.but if who.is_inverted else who.names or ())


def hosts_said(what: What) -> Iterator[str]:
    """Yield the hosts that an assertion spells out, each once."""
    return _said(what.hosts or ())


def resources_said(what: What) -> Iterator[Resource]:
    """Yield the resources that an assertion spells out, each once."""
    said = (p for p in what.names or () if p.name.pattern_type == LITERAL)
    return iter(dict.fromkeys(Resource(p.resource_type, p.name.text) for p in said))


def operations_on(what: What, resource_type: str) -> tuple[str, ...]:
    """Return the operations on a resource type that an assertion is about."""
    known = OPERATIONS_OF_TYPE[resource_type]
    return tuple(name for name in known if what.operations is None or name in what.operations)


def has_attributes(wanted: Attributes, attributes: Mapping[str, str]) -> bool:
    """Whether each attribute that is asked for has a value that is asked for."""
    return all(
        key in attributes and _any_of(patterns, attributes[key]) for key, patterns in wanted.items()
    )


def _said(patterns: Iterable[Pattern]) -> Iterator[str]:
    return iter(dict.fromkeys(p.text for p in patterns if p.pattern_type == LITERAL))


@cache
def _means_every_user(pattern: Pattern) -> bool:
    return covers([symbols_of(pattern)], [_ANY_USER], PRINCIPALS, Budget()) is True


def _any_of(patterns: Iterable[Pattern] | None, name: str) -> bool:
    return patterns is None or any(matches(pattern, name) for pattern in patterns)


def _reaches(patterns: Iterable[ResourcePattern], resource: Resource) -> bool:
    return any(
        pattern.resource_type == resource.resource_type
        and matches(pattern.name, resource.resource_name)
        for pattern in patterns
    )
