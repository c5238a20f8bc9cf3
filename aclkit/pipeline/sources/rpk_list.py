"""Text of ``rpk acl list`` → the ACLs of a listing.

It is a table: each column is as wide as its longest cell and two blanks. Names may hold blanks and
are not escaped, so a cell is what stands between the places where the header's words begin. Where
a line does not keep to these places the text was changed, and nothing of it is used. Since 25.2 rpk
lists ACLs of the Schema Registry too, by which no broker decides: they are counted and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from aclkit.errors import DataError
from aclkit.model.acl import is_storable
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.facts import NOTE, SourceRow
from aclkit.model.phrases import number_of
from aclkit.model.semantics import REDPANDA
from aclkit.pipeline.sources.listing import acl_row
from aclkit.pipeline.sources.text_lines import NOT_UTF_8, is_utf_8


def is_rpk_header(text: str) -> bool:
    """Whether a line is the header of ``rpk acl list``."""
    return tuple(text.split()) in (_COLUMNS, _COLUMNS[:-1])


def read_rpk_list(lines: Iterable[tuple[int, str]], source: str) -> Iterator[tuple[int, SourceRow]]:
    """Read a table, whose header is the first line that is not empty; each ACL with its line.

    The last row is a note: that the ACLs are Redpanda's, and how many were left out.

    Raises:
        DataError: a line cannot be used; of a whole state no line may be left out.
    """
    places: list[int] = []
    rows: list[list[str]] = []
    numbers: dict[tuple[str, ...], int] = {}
    registry = 0
    for number, text in lines:
        if not text.strip():
            continue
        if not places:
            places = [text.index(word) for word in text.split()]
            rows.append(text.split())
            continue
        cells = _cells(text, places)
        bad = "expected cells below the header's words" if cells is None else _fault(cells)
        if cells is None or bad:
            raise DataError(f"{source}, line {number}: {bad}; {_WAY_OUT}")
        rows.append(cells)
        if _is_of_registry(cells):
            registry += 1
        else:
            numbers.setdefault(tuple(cells[:7]), number)
    _require_widths(rows, places, source)
    for (principal, host, *resource, operation, permission), number in numbers.items():
        yield number, acl_row(source, *resource, principal, host, operation, permission)
    yield 0, SourceRow(kind=NOTE, source=source, fact=REDPANDA, reason=_left_out(registry))


def _left_out(registry: int) -> str | None:
    if not registry:
        return None
    rows = number_of(registry, "row")
    return f"{rows} of the Schema Registry left out (SUBJECT, REGISTRY): no broker decides by them."


def _is_of_registry(cells: Sequence[str]) -> bool:
    return cells[_KIND] in _REGISTRY


def _cells(text: str, places: Sequence[int]) -> list[str] | None:
    """Cut a line at the places; None where a cell reaches into the two blanks before one."""
    ends = [*places[1:], max(len(text), places[-1])]
    if "\t" in text or any(text[max(0, at - 2) : at].strip() for at in places[1:]):
        return None
    return [text[at:end].rstrip(" ") for at, end in zip(places, ends, strict=True)]


def _fault(cells: Sequence[str]) -> str | None:
    """Return what is wrong with the cells of a line."""
    principal, host, kind, name, pattern, operation, permission, *error = cells
    if not all(map(is_utf_8, cells)):
        return NOT_UTF_8
    is_other = _is_of_registry(cells)
    words = list(zip((kind, pattern, operation, permission), _ENUMS, strict=True))[is_other:]
    if any(error):
        return "the cell ERROR is not empty"
    if not all(enum.is_word(word) for word, enum in words):
        return "expected Kafka's words in type, pattern type, operation and permission"
    if is_other:
        return None
    if not principal or not host or not all(map(is_storable, (principal, host, name))):
        return "expected a principal, a host and a name"
    return None


def _require_widths(rows: Sequence[Sequence[str]], places: Sequence[int], source: str) -> None:
    """Refuse a table of which a column is wider than its cells: blanks at an end were lost."""
    for column, (start, end) in enumerate(pairwise(places[:6])):
        if end - start not in (max(len(row[column]) for row in rows) + 2, _LEAST_WIDTH):
            raise DataError(f"{source}: a column is wider than its cells; {_WAY_OUT}")


_COLUMNS: Final = (
    "PRINCIPAL", "HOST", "RESOURCE-TYPE", "RESOURCE-NAME", "RESOURCE-PATTERN-TYPE", "OPERATION",
    "PERMISSION", "ERROR",
)  # fmt: skip
RPK_BEGIN: Final = _COLUMNS[0]
"""The word that a table begins with."""

_KIND: Final = _COLUMNS.index("RESOURCE-TYPE")
_REGISTRY: Final = ("SUBJECT", "REGISTRY")
"""Types of resources of the Schema Registry."""

_ENUMS: Final = (ResourceType, PatternType, AclOperation, AclPermissionType)
_LEAST_WIDTH: Final = 6
_WAY_OUT: Final = "write the output of rpk acl list to a file as it is: rpk acl list > acls.txt"
