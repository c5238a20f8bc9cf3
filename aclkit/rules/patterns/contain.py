"""Two patterns, principals, hosts or ACLs → does the wide one cover the narrow one?

For resource patterns the answer is exact: True if and only if the wide one matches every name
that the narrow one matches (``cover``). So it is for hosts, and for principals that have a colon.
An ACL is contained where each part is: exact as well, but for an ACL that never matches anything.
Containment is transitive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.cover import ANY_ONE, ANY_RUN, covers
from aclkit.rules.patterns.match import GLOB, LITERAL, PREFIXED, effective_pattern_type, is_any_host

_WILDCARD: Final = re.compile(r"[*?]")
_STARS: Final = re.compile(r"\*+")
_WILDCARDS: Final = {"*": ANY_RUN, "?": ANY_ONE}


def acl_contains(wide: Acl, narrow: Acl, semantics: Semantics) -> bool:
    """Whether ``wide`` answers every request that ``narrow`` answers, in the same way.

    Same resource type and same permission class (ALLOW, or else: whatever is not ALLOW denies);
    resource pattern, principal, host and operations are contained each on its own.
    """
    return (
        wide.resource_type == narrow.resource_type
        and wide.is_allow == narrow.is_allow
        and operation_contains(wide, narrow)
        and host_contains(wide.host, narrow.host, semantics)
        and principal_contains(wide.principal, narrow.principal, semantics)
        and pattern_contains(
            wide.pattern_type,
            wide.resource_name,
            narrow.pattern_type,
            narrow.resource_name,
            semantics,
        )
    )


def pattern_contains(
    wide_type: str, wide_name: str, narrow_type: str, narrow_name: str, semantics: Semantics
) -> bool:
    """Whether the wide resource pattern matches every name that the narrow one matches.

    Under ``wildcard_defect`` LITERAL ``*`` misses longer names that begin with ``*``, so it
    contains only itself and patterns that reach no such name.

    >>> from aclkit.model.semantics import KAFKA, KIP_1042
    >>> pattern_contains("GLOB", "pay*-?", "PREFIXED", "pay-", KIP_1042)
    False
    >>> pattern_contains("GLOB", "p*", "GLOB", "pay-*-in?", KIP_1042)
    True
    >>> pattern_contains("LITERAL", "*", "PREFIXED", "*", KAFKA)
    False
    """
    if (wide_type, wide_name) == (narrow_type, narrow_name):
        return True
    kind = effective_pattern_type(wide_type, semantics)
    if kind == PREFIXED:
        return _literal_start(narrow_type, narrow_name, semantics).startswith(wide_name)
    if kind == LITERAL and wide_name not in ("*", narrow_name):
        return False
    narrow = pattern_symbols(narrow_type, narrow_name, semantics)
    if semantics.wildcard_defect and (wide_type, wide_name) == (LITERAL, "*"):
        return not _reaches_long_star_names(narrow)
    return covers(pattern_symbols(wide_type, wide_name, semantics), narrow)


def principal_contains(wide: str, narrow: str, semantics: Semantics) -> bool:
    """Whether an ACL's principal stands for everybody another one stands for.

    A principal without a colon matches nobody; it is contained in itself and in what matches
    everybody.
    """
    if wide in (WILDCARD_PRINCIPAL, narrow):
        return True
    wide_parts, narrow_parts = split_principal(wide), split_principal(narrow)
    if wide_parts is None or not semantics.identity_globs:
        return False
    if narrow == WILDCARD_PRINCIPAL or narrow_parts is None:
        narrow_parts = ("*", "*")
    return all(
        covers(glob_symbols(part), glob_symbols(other))
        for part, other in zip(wide_parts, narrow_parts, strict=True)
    )


def host_contains(wide: str, narrow: str, semantics: Semantics) -> bool:
    """Whether an ACL's host stands for every host another one stands for."""
    if wide == narrow or is_any_host(wide, semantics):
        return True
    return semantics.identity_globs and covers(glob_symbols(wide), glob_symbols(narrow))


def operation_contains(wide: Acl, narrow: Acl) -> bool:
    """Whether ``wide`` covers every operation of the type that ``narrow`` covers.

    Both are of one resource type and one permission class. Of an unknown type no operations
    are known; there the operations themselves are compared.
    """
    operations = OPERATIONS_OF_TYPE.get(narrow.resource_type)
    if operations is None:
        return _covers_operation(wide, narrow.operation)
    return all(
        _covers_operation(wide, operation)
        for operation in operations
        if _covers_operation(narrow, operation)
    )


def _covers_operation(acl: Acl, operation: str) -> bool:
    return coverage(acl.operation, acl.permission_type, operation) is not None


def _literal_start(pattern_type: str, name: str, semantics: Semantics) -> str:
    """Return the letters with which every name begins that a pattern matches."""
    kind = effective_pattern_type(pattern_type, semantics)
    if kind == GLOB:
        return _WILDCARD.split(name, maxsplit=1)[0]
    return "" if kind == LITERAL and name == "*" else name


def pattern_symbols(pattern_type: str, name: str, semantics: Semantics) -> tuple[str, ...]:
    """Split a resource pattern into letters, ``ANY_ONE`` and ``ANY_RUN``."""
    kind = effective_pattern_type(pattern_type, semantics)
    if kind == GLOB or (kind == LITERAL and name == "*"):
        return glob_symbols(name)
    return (*name, ANY_RUN) if kind == PREFIXED else tuple(name)


def glob_symbols(glob: str) -> tuple[str, ...]:
    """Split a glob into symbols; the empty one is ``*``, and a run of stars is one star."""
    return tuple(_WILDCARDS.get(character, character) for character in _STARS.sub("*", glob or "*"))


def _reaches_long_star_names(narrow: Sequence[str]) -> bool:
    """Whether a pattern may match a name that begins with a star and is longer."""
    if not narrow or narrow[0] not in ("*", ANY_ONE, ANY_RUN):
        return False
    return len(narrow) > 1 or narrow[0] == ANY_RUN
