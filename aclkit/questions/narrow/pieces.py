"""An ALLOW, and the operations and names that were used → the parts of it that are needed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.model.operation import IMPLIED_BY_ALLOW, OPERATIONS_OF_TYPE
from aclkit.model.semantics import Semantics
from aclkit.rules.names.cover import is_plainly_covered
from aclkit.rules.names.rows import Symbols, may_share, of_host, of_pattern, operations_of
from aclkit.rules.patterns.match import (
    GLOB,
    LITERAL,
    PREFIXED,
    common_start,
    host_matches,
    is_any_host,
    pattern_matches,
    range_of_host,
)

Names = Literal["keep", "prefix", "literal"]
"""What becomes of the pattern of a used ALLOW.

``keep``: it stays, and names to come are allowed as before. ``prefix``: used names that share a
start up to a ``.``, ``-`` or ``_`` become that prefix, and others stand alone; a prefix whose used
names have no such start beyond its own stays. ``literal``: each used name stands alone, and names
to come are denied.
"""

MOST_NAMES: Final = 200
"""An ALLOW of which more names were used keeps its pattern."""

_SEPARATORS: Final = ".-_"
_SEPARATOR: Final = re.compile(r"[._-]")

Used = tuple[str, str | None]
"""An operation, and the name on which it was used; None for any name of the ALLOW's."""


def pieces_of(acl: Acl, used: Iterable[Used], names: Names) -> Iterator[Acl]:
    """Yield the parts of an ALLOW that were used, each an operation on a pattern within its own."""
    operations = grouped((name, operation) for operation, name in used)
    anywhere = operations.pop(None, ())
    patterns = _patterns(acl, [*filter(None, operations)], names)
    told = grouped(
        (patterns.get(name or "", (acl.pattern_type, acl.resource_name)), operation)
        for name, some in operations.items()
        for operation in some
    )
    elsewhere = {operation for some in told.values() for operation in some}
    if missing := set(anywhere) - elsewhere:
        told.setdefault((acl.pattern_type, acl.resource_name), []).extend(missing)
    for (pattern_type, name), some in told.items():
        for operation in _least(acl, set(some)):
            yield replace(acl, pattern_type=pattern_type, resource_name=name, operation=operation)


def _least(acl: Acl, used: set[str]) -> Iterator[str]:
    """Yield the operations that cover the used ones, without what another one implies."""
    known = OPERATIONS_OF_TYPE.get(acl.resource_type, ())
    if used.issuperset(known) and acl.operation == "ALL":
        yield acl.operation
        return
    implied = {IMPLIED_BY_ALLOW[each] for each in used if each in IMPLIED_BY_ALLOW}
    yield from sorted(used - implied)


def _patterns(acl: Acl, names: Sequence[str], how: Names) -> dict[str, tuple[str, str]]:
    """Return the pattern that each used name gets; names that are left out keep the ALLOW's own."""
    is_one = acl.pattern_type == LITERAL and acl.resource_name != "*"
    if how == "keep" or is_one or acl.resource_type == "CLUSTER" or len(names) > MOST_NAMES:
        return {}
    # LITERAL * would be every name.
    sayable = [name for name in names if name != "*"]
    literal = {name: (LITERAL, name) for name in sayable}
    if how == "literal":
        return literal
    if acl.pattern_type == GLOB:
        return {}
    start = "" if acl.pattern_type == LITERAL else acl.resource_name
    groups = grouped((_segment(name, len(start)), name) for name in sayable)
    found: dict[str, tuple[str, str]] = {}
    for segment, some in groups.items():
        if len(some) > 1:
            found |= dict.fromkeys(some, (PREFIXED, _common(some)))
        elif not start or segment not in some:
            found |= {name: literal[name] for name in some}
    return found


def _segment(name: str, start: int) -> str:
    """Return the beginning of a name up to the first separator after a start."""
    found = _SEPARATOR.search(name, start)
    return name[: found.end()] if found else name


def _common(names: Sequence[str]) -> str:
    """Return what some names begin with, up to a separator.

    >>> _common(["orders.eu.a", "orders.eu.b"]), _common(["orders", "orders2"])
    ('orders.eu.', '')
    """
    start = names[0]
    for name in names[1:]:
        start = common_start(start, name)
    return start[: max(map(start.rfind, _SEPARATORS)) + 1]


def shared_parts(kept: Acl, acl: Acl, semantics: Semantics) -> Iterator[Acl]:
    """Yield what an ALLOW shares with an ACL to keep, as parts of the ALLOW.

    Where names may overlap without some being within the others, it is all names of the ALLOW.
    """
    host = _shared_host(kept.host, acl.host, semantics)
    if kept.resource_type != acl.resource_type or host is None:
        return
    part = replace(acl, host=host)
    if _has_names_of(acl, kept, semantics):
        pattern_type, name = acl.pattern_type, acl.resource_name
    elif _has_names_of(kept, acl, semantics):
        pattern_type, name = kept.pattern_type, kept.resource_name
    elif _may_share(_rows(kept, semantics), _rows(acl, semantics)):
        pattern_type, name = acl.pattern_type, acl.resource_name
    else:
        return
    # What both answer, implied or not: READ and DELETE share DESCRIBE.
    for operation in _least(acl, set(operations_of(acl) & operations_of(kept))):
        yield replace(part, pattern_type=pattern_type, resource_name=name, operation=operation)


def _shared_host(kept: str, own: str, semantics: Semantics) -> str | None:
    if is_any_host(kept, semantics) or kept == own:
        return own
    if _host_within(kept, own, semantics):
        return kept
    return own if may_share(of_host(kept, semantics), of_host(own, semantics)) else None


def is_within(narrow: Acl, wide: Acl, semantics: Semantics) -> bool:
    """Whether names and hosts of one ACL are among those of another, as far as is plain to see."""
    return (
        narrow.resource_type == wide.resource_type
        and _has_names_of(narrow, wide, semantics)
        and (narrow.host == wide.host or _host_within(narrow.host, wide.host, semantics))
    )


def _has_names_of(narrow: Acl, wide: Acl, semantics: Semantics) -> bool:
    if narrow.pattern_type == LITERAL and narrow.resource_name != "*":
        return pattern_matches(*wide.pattern[1:], narrow.resource_name, semantics)
    rows = set(_rows(wide, semantics))
    return all(is_plainly_covered(rows, row) for row in _rows(narrow, semantics))


def _may_share(some: Iterable[Symbols], others: Sequence[Symbols]) -> bool:
    return any(may_share(one, other) for one in some for other in others)


def _rows(acl: Acl, semantics: Semantics) -> tuple[Symbols, ...]:
    return of_pattern(acl.resource_type, acl.pattern_type, acl.resource_name, semantics)


def _host_within(narrow: str, wide: str, semantics: Semantics) -> bool:
    if is_any_host(wide, semantics):
        return True
    inner, outer = (range_of_host(each, semantics) for each in (narrow, wide))
    if inner is not None and outer is not None:
        return outer.contains(inner)
    return inner is None and host_matches(wide, narrow, semantics)
