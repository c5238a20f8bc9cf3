"""The header of a CSV with an ACL a row → whose CSV it is, and where its fields stand. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aclkit.kafka.desired.fields import CAPITALS, PASCAL, Words
from aclkit.model.acl import BINDING
from aclkit.model.phrases import most_like
from aclkit.model.principal import java_trim

_REAL_PATTERNS: Final = {"LITERAL": "LITERAL", "PREFIXED": "PREFIXED"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Whose CSV it is.

    Attributes:
        tool: its name.
        columns: our name of a field → the tool's, in the tool's order.
        words: the valid words.
        is_lenient: the case of the header is ignored, and blanks around its names and all fields.
    """

    tool: str
    columns: Mapping[str, str]
    words: Words
    is_lenient: bool = False


_PASCAL_NAMES: Final = {
    "principal": "Principal",
    "resource_type": "ResourceType",
    "pattern_type": "PatternType",
    "resource_name": "ResourceName",
    "operation": "Operation",
    "permission_type": "PermissionType",
    "host": "Host",
}
MANAGER: Final = Dialect(
    tool="kafka-security-manager",
    columns={**_PASCAL_NAMES, "principal": "KafkaPrincipal"},
    words=replace(PASCAL, pattern_type=_REAL_PATTERNS),
)
KAFBAT: Final = Dialect(
    tool="Kafbat",
    columns=_PASCAL_NAMES,
    words=replace(CAPITALS, pattern_type=_REAL_PATTERNS),
    is_lenient=True,
)
_OWN: Final = Dialect(
    tool="aclkit", columns={name: name for name in BINDING}, words=CAPITALS
)  # fmt: skip

UNTIL: Final = "until"
"""The column in which an ACL may have an end; only aclkit reads it."""

IGNORED: Final = frozenset((
    "aclid", "clusterid", "cluster", "addedoffset", "effectiveoffset", "addedat", "addedby",
    "file", "line", "address", "source", "sensitive", "comment", "comments", "note",
    "notes", "description", "owner", "team", "ticket",
))  # fmt: skip
"""Columns that say nothing about what an ACL is: our own, and usual ones of people."""

_REFUSED: Final = frozenset((
    "action", "change", "effect", "state", "status", "enabled", "disabled", "active",
    "removed", "removedat", "removedoffset", "removedby", "deleted", "delete", "remove",
    "ensure", "verdict",
))  # fmt: skip
"""Columns that may mean that the ACL of a row does not exist or shall go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Where the fields of a row stand.

    Attributes:
        places: our name of a field → its place.
        names: the fields whose name in the file is another one.
        cells: those of the header.
        is_header: whether a header told it.
        until: the place of the column until, in which an ACL may have an end.
        unread: columns that are not read.
    """

    dialect: Dialect
    places: Mapping[str, int]
    names: Mapping[str, str]
    cells: Sequence[str]
    is_header: bool = True
    until: int | None = None
    unread: Sequence[str] = ()


def plain_name(name: str) -> str:
    """Return a name without what people write in different ways."""
    return name.casefold().replace("_", "").replace(" ", "")


_KNOWN: Final = frozenset(
    plain_name(name) for dialect in (MANAGER, KAFBAT) for name in dialect.columns.values()
)


def known_columns(cells: Sequence[str]) -> frozenset[str]:
    """Return the names of fields, in any of the forms, that stand among cells."""
    return _KNOWN.intersection(map(plain_name, cells))


def is_header_line(cells: Sequence[str]) -> bool:
    """Whether cells are a header, sound or not."""
    known = known_columns(cells)
    return len(known) > 2 and not known.isdisjoint(
        ("principal", "kafkaprincipal", "resourcetype", "resourcename")
    )


def is_like_row(cells: Sequence[str]) -> bool:
    """Whether a line has seven fields of which most are Kafka's words where Kafbat has them."""
    if len(cells) != len(BINDING):
        return False
    _, resource_type, pattern_type, _, operation, permission_type, _ = map(_upper, cells)
    known = (
        resource_type in _UPPER.resource_type,
        pattern_type in _UPPER.pattern_type,
        operation in _UPPER.operation,
        permission_type in _UPPER.permission_type,
    )
    return sum(known) > 2


def _upper(word: str) -> str:
    return word.upper().replace("_", "")


def _without_bars(words: Mapping[str, str]) -> dict[str, str]:
    return {_upper(word): name for word, name in words.items()}


_UPPER: Final = Words(
    *(_without_bars(words) for words in (
        CAPITALS.resource_type, CAPITALS.pattern_type, CAPITALS.operation, CAPITALS.permission_type
    ))
)  # fmt: skip


Refuse = Callable[[str], None]


def columns_of(cells: Sequence[str], refuse: Refuse) -> Columns | None:
    """Return the places of the fields, by the first record; None if it does not tell them.

    Args:
        cells: the first record.
        refuse: takes each reason why the file cannot be read.
    """
    if is_like_row([cell.strip() for cell in cells]) and len(known_columns(cells)) < 3:
        return Columns(
            dialect=KAFBAT,
            places={name: place for place, name in enumerate(KAFBAT.columns)},
            names=KAFBAT.columns,
            cells=(),
            is_header=False,
        )
    if not known_columns(cells):
        forms = "; or ".join(",".join(d.columns.values()) for d in (MANAGER, KAFBAT, _OWN))
        refuse(f"The header has none of the known columns. Write {forms}")
        return None
    return _of_header(cells, refuse)


def _of_header(cells: Sequence[str], refuse: Refuse) -> Columns | None:
    dialect = _dialect(cells)
    by_name = {_key(dialect, name): ours for ours, name in dialect.columns.items()}
    places: dict[str, int] = {}
    unread: list[str] = []
    faults: list[str] = []
    for place, cell in enumerate(cells):
        ours = by_name.get(_key(dialect, cell)) or (UNTIL if plain_name(cell) == UNTIL else None)
        if ours is None:
            unread.append(cell)
        elif ours in places:
            faults.append(f"The column {dialect.columns.get(ours, ours)} stands twice. Remove one")
        else:
            places[ours] = place
    missing = [name for ours, name in dialect.columns.items() if ours not in places]
    for cell in unread:
        if text := _why_refused(cell, dialect, missing):
            faults.append(text)
    if dialect is MANAGER and missing == ["PatternType"]:
        missing = []
    faults += (f"The column {name} of {dialect.tool} is missing. Add it" for name in missing)
    for text in faults:
        refuse(text)
    if faults:
        return None
    until = places.pop(UNTIL, None)
    names = {ours: name for ours, name in dialect.columns.items() if ours != name}
    return Columns(
        dialect=dialect, places=places, names=names, cells=cells, unread=unread, until=until
    )


def _dialect(cells: Sequence[str]) -> Dialect:
    """Return whose header it is, wrong names in it or not."""
    if "kafkaprincipal" in map(plain_name, cells):
        return MANAGER
    if any("_" in cell and plain_name(cell) in _KNOWN for cell in cells):
        return _OWN
    return KAFBAT


def _key(dialect: Dialect, name: str) -> str:
    """Return by what the tool tells a column."""
    return java_trim(name).replace(" ", "").lower() if dialect.is_lenient else name


def _why_refused(cell: str, dialect: Dialect, missing: Sequence[str]) -> str | None:
    """Return why a file with an unknown column is refused; None if it does not matter."""
    plain = plain_name(cell)
    if plain in _REFUSED:
        return (
            f"The column '{cell[:60]}' may mean that the ACL of a row does not exist. Remove the "
            "column, and the rows whose ACL shall not exist"
        )
    if not plain or plain in IGNORED:
        return None
    like = next((name for name in dialect.columns.values() if plain_name(name) == plain), None)
    like = like or most_like(cell, [*missing, *dialect.columns.values()])
    if like:
        return f"The column '{cell[:60]}' is unknown to {dialect.tool}. Did you mean {like}?"
    if missing:
        return (
            f"The column '{cell[:60]}' is unknown to {dialect.tool}. "
            f"Valid: {', '.join(dialect.columns.values())}"
        )
    return None
