"""A selection and a name → is the name meant? By names, prefixes, globs, attributes. Pure.

``<any-other>`` stands for what is named nowhere: a pattern means it only where it means every
name, and leaves it out only where it leaves out every name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.glob import glob_matches
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.questions.assertions.model import Attributes, Pattern, ResourcePattern, What, Who
from aclkit.rules.patterns.contain import glob_symbols
from aclkit.rules.patterns.cover import ANY_RUN, covers
from aclkit.rules.patterns.match import LITERAL, PREFIXED

_NOTHING: Final[Mapping[str, str]] = {}
_ANY_OTHER: Final = {
    ANY_OTHER: (ANY_RUN,),
    ANY_OTHER_PRINCIPAL: (*ANY_OTHER_PRINCIPAL.removesuffix(ANY_OTHER), ANY_RUN),
}
"""Symbol → pattern of all the names that it may stand for."""


def symbols_of(pattern: Pattern) -> tuple[str, ...]:
    """Split a pattern into the symbols of ``aclkit.rules.patterns.cover``."""
    if pattern.pattern_type == LITERAL:
        return tuple(pattern.text)
    if pattern.pattern_type == PREFIXED:
        return (*pattern.text, ANY_RUN)
    return glob_symbols(pattern.text)


def matches(pattern: Pattern, name: str) -> bool:
    """Whether a pattern means a name.

    >>> matches(Pattern("GLOB", "User:s*"), "User:svc-a"), matches(Pattern("LITERAL", "a*"), "ab")
    (True, False)
    >>> matches(Pattern("GLOB", "User:*"), "User:<any-other>")
    True
    """
    if name in _ANY_OTHER:
        return covers(symbols_of(pattern), _ANY_OTHER[name])
    if pattern.pattern_type == LITERAL:
        return pattern.text == name
    if pattern.pattern_type == PREFIXED:
        return name.startswith(pattern.text)
    return glob_matches(pattern.text, name)


def means_principal(
    who: Who, principal: str, *, is_super_user: bool, attributes: Mapping[str, str] = _NOTHING
) -> bool:
    """Whether an assertion is about a principal; who is in no inventory has no attributes."""
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
    return _any_of(what.hosts, host)


def operations_on(what: What, resource_type: str) -> tuple[str, ...]:
    """Return the operations on a resource type that an assertion is about."""
    known = OPERATIONS_OF_TYPE[resource_type]
    return tuple(name for name in known if what.operations is None or name in what.operations)


def has_attributes(wanted: Attributes, attributes: Mapping[str, str]) -> bool:
    """Whether each attribute that is asked for has a value that is asked for."""
    return all(
        key in attributes and _any_of(patterns, attributes[key]) for key, patterns in wanted.items()
    )


def _any_of(patterns: Iterable[Pattern] | None, name: str) -> bool:
    return patterns is None or any(matches(pattern, name) for pattern in patterns)


def _reaches(patterns: Iterable[ResourcePattern], resource: Resource) -> bool:
    return any(
        pattern.resource_type == resource.resource_type
        and matches(pattern.name, resource.resource_name)
        for pattern in patterns
    )
