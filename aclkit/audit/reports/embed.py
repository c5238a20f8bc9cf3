"""The explorer of a report → plain lists, as the page's script reads them. Names are said once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from aclkit.audit.reports.data import AliveAcl, Explorer, HeatMap, NumberedRuling
from aclkit.audit.reports.words import utc
from aclkit.model.resource import WORD_OF_TYPE

_Name = TypeVar("_Name")


def embed(explorer: Explorer, heat: HeatMap | None = None) -> dict[str, Any]:
    """Return lists of numbers wherever a row is meant many times.

    A ruling is four numbers: operation, host (0 is any other), ACL (0 is none), and twice the
    rule, plus one where it is ALLOWED. A pair is three: principal, resource, ruleset. The names of
    the heat map's rows and columns are there too, as they are: on the page two may look alike.
    """
    types = sorted({kind for kind, _ in explorer.resources})
    type_of = _number(types)
    operations = sorted({name for kind in types for name in explorer.operations[kind]})
    operation_of = _number(operations)
    return {
        "principals": [[name, kind, int(is_super)] for name, kind, is_super in explorer.principals],
        "hosts": list(explorer.hosts),
        "types": [WORD_OF_TYPE[kind] for kind in types],
        "resources": [[type_of[kind], name] for kind, name in explorer.resources],
        "operations": operations,
        "known": [[operation_of[name] for name in explorer.operations[kind]] for kind in types],
        "acls": [_acl(alive) for alive in explorer.acls],
        "rulesets": [list(members) for members in explorer.rulesets],
        "rulings": [_rulings(rulings, operation_of) for rulings in explorer.rulings],
        "rules": list(explorer.rules),
        "super": explorer.super_ruleset,
        "classes": [list(row) for row in explorer.classes],
        "pairs": [number for pair in explorer.pairs for number in pair],
        "heatPrincipals": list(heat.principals) if heat else [],
        "heatPrefixes": [prefix for prefix, _ in heat.prefixes] if heat else [],
    }


def _rulings(rulings: Iterable[NumberedRuling], operation_of: Mapping[str, int]) -> list[int]:
    """Return rulings one behind the other; those on operations of other types are left out."""
    return [
        number
        for operation, host, is_allowed, rule, acl in rulings
        if operation in operation_of
        for number in (operation_of[operation], host + 1, acl + 1, rule * 2 + is_allowed)
    ]


def _acl(alive: AliveAcl) -> list[Any]:
    at = utc(alive.added_at) if alive.added_at else None
    return [alive.acl.acl_id, *alive.acl.binding, alive.added_offset, at]


def _number(names: Iterable[_Name]) -> dict[_Name, int]:
    return {name: place for place, name in enumerate(names)}
