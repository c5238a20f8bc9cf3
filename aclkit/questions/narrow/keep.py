"""``--keep FILE``: what must stay although the log may not show it, such as yearly jobs.

A TOML file lists accesses in tables ``[[keep]]``. Any other file holds ACLs, in a format that
``aclkit desired show`` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aclkit.answer.masked import Hidden
from aclkit.errors import UsageError
from aclkit.kafka.desired.answer import hidden_in
from aclkit.kafka.desired.documents import read_documents
from aclkit.kafka.desired.read import Asked, desired_of
from aclkit.model.acl import Acl
from aclkit.model.operation import parse_operation
from aclkit.model.principal import parse_principal
from aclkit.model.resource import parse_resource
from aclkit.model.symbol import PRINCIPALS, RESOURCES, refuse_symbol
from aclkit.questions.preview.desired_forms import ALL_FORMATS, read_bytes
from aclkit.rules.patterns.match import LITERAL, PREFIXED, has_wildcard
from aclkit.runtime.notation import parse_tables, refuse_unknown, require_texts
from aclkit.runtime.safe_read import read_text

_KEYS: Final = ("principal", "operation", "resource", "host", "why")
_ANY: Final = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What files want to stay.

    Attributes:
        acls: ALLOWs, and why each is to stay.
        hidden: sensitive values, which people must not see.
        notes: what a reader must know.
    """

    acls: Mapping[Acl, str]
    hidden: tuple[Hidden, ...] = ()
    notes: tuple[str, ...] = ()


def read_kept(paths: tuple[str, ...], asked: Asked) -> Kept:
    """Read what is to stay.

    Raises:
        UsageError: a TOML file is invalid, or a format is unknown.
        DataError: see ``desired_of``.
        SurroundingsError: a file cannot be read.
    """
    acls: dict[Acl, str] = {}
    others = [path for path in paths if not path.endswith(".toml")]
    for path in paths:
        if path not in others:
            acls |= parse_kept(read_text(path), path)
    if not others:
        return Kept(acls=acls)
    desired = desired_of(read_documents(others, read_bytes), ALL_FORMATS, asked)
    acls |= {each.acl: f"in {each.place}" for each in desired.acls if each.acl.is_allow}
    return Kept(acls=acls, hidden=tuple(hidden_in(desired.parts)), notes=tuple(desired.notes))


def parse_kept(text: str, source: str) -> dict[Acl, str]:
    """Read accesses: TOML tables ``[[keep]]`` with principal, operation and resource.

    ``host`` may be added, and ``why``, which is shown. A resource ``topic:orders.*`` is all names
    that start so, ``topic:*`` is all. The operation ANY is all.

    Raises:
        UsageError: no TOML, an unknown key, one that is missing, an invalid value, or no table.
    """
    tables = parse_tables(text, source, "keep", is_needed=True)
    return {acl: why for where, table in tables.items() for acl, why in _read(table, where)}


def _read(table: Mapping[str, Any], where: str) -> Iterator[tuple[Acl, str]]:
    refuse_unknown(table, _KEYS, where, ", ".join(_KEYS))
    require_texts(table, where)
    for key in _KEYS[:3]:
        if key not in table:
            raise UsageError(f"{where}: {key} is missing")
    try:
        parse_principal(table["principal"])
        refuse_symbol(PRINCIPALS, table["principal"])
        resource = parse_resource(table["resource"])
        operations = parse_operation(table["operation"], resource.resource_type)
        pattern_type, name = _pattern(resource.resource_name)
        refuse_symbol(RESOURCES, name)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    for operation in operations:
        acl = Acl(
            acl_id="",
            resource_type=resource.resource_type,
            resource_name=name,
            pattern_type=pattern_type,
            principal=table["principal"],
            host=table.get("host", _ANY),
            operation=operation,
            permission_type="ALLOW",
        )
        yield acl, table.get("why", f"in {where}")


def _pattern(name: str) -> tuple[str, str]:
    start = name.removesuffix(_ANY)
    if has_wildcard(start) and start:
        raise UsageError(f"{name!r} has a wildcard inside. Expected a name, or a start and *.")
    if name == _ANY or not name.endswith(_ANY):
        return LITERAL, name
    return PREFIXED, start
