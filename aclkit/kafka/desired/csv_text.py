"""CSV with an ACL a row → the ACLs, each with its line.

The header decides whose CSV it is, and so which words are valid:

- kafka-security-manager (CsvAclParser, with scala-csv): ``KafkaPrincipal,ResourceType,
  PatternType,ResourceName,Operation,PermissionType,Host``. Words as ``Topic`` and
  ``DescribeConfigs``, pattern types in capitals. Without PatternType each name is LITERAL. It trims
  nothing, so a name keeps its blanks. It reads words in any case; here they must be exact.
- Kafbat and kafka-ui (AclCsv): ``Principal,ResourceType,PatternType,ResourceName,Operation,
  PermissionType,Host``, blanks and case of the header ignored, and the header may be missing. Words
  are Kafka's own in capitals. It trims each field as Java's String.trim, so this reader does too.
  It takes quotes for letters of a name; here they are CSV's, and a note says so.
- aclkit (``export acls --format csv``, ``desired show --format csv``): the names of its columns and
  Kafka's words in capitals. Fields are exact.

None of the tools knows comments; lines that begin with ``#`` are passed over, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from aclkit.kafka.desired.fields import CAPITALS, PASCAL, Raw, Words, desired_acl
from aclkit.kafka.desired.formats import Format
from aclkit.kafka.desired.model import DesiredAcl, Document, Part, Problem
from aclkit.model.acl import BINDING
from aclkit.model.phrases import few, most_like, number_of
from aclkit.model.principal import java_trim

_REAL_PATTERNS: Final = {"LITERAL": "LITERAL", "PREFIXED": "PREFIXED"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dialect:
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
_MANAGER: Final = _Dialect(
    tool="kafka-security-manager",
    columns={**_PASCAL_NAMES, "principal": "KafkaPrincipal"},
    words=replace(PASCAL, pattern_type=_REAL_PATTERNS),
)
_KAFBAT: Final = _Dialect(
    tool="Kafbat",
    columns=_PASCAL_NAMES,
    words=replace(CAPITALS, pattern_type=_REAL_PATTERNS),
    is_lenient=True,
)
_OWN: Final = _Dialect(
    tool="aclkit", columns={name: name for name in BINDING}, words=CAPITALS
)  # fmt: skip

_SEPARATORS: Final = (",", ";", "\t")
_BEGINNING: Final = 100_000
"""Characters in which the header must stand."""

_IGNORED: Final = frozenset((
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
"""Columns that may say that the ACL of a row does not exist or shall go."""


def holds_csv(document: Document) -> bool:
    """Whether a text has a known header, or rows of Kafbat without one."""
    lines = list(_first_lines(document))
    if not lines:
        return False
    if any(_is_header(_split(lines[0], separator)) for separator in _SEPARATORS):
        return True
    return any(
        _is_like_row(_split(line, separator)) for line in lines[:20] for separator in _SEPARATORS
    )


def read_csv(document: Document) -> Part:
    """Read a CSV; each row that is no ACL is a problem with its line."""
    reading = _Reading(document)
    records = _records(document, _separator(document), reading)
    columns = None
    for number, cells in records:
        if columns is None:
            columns = _columns(reading, number, cells)
            if columns is None:
                break
            if columns.is_header:
                continue
        _read_row(reading, columns, number, cells)
    return Part(
        document=document.name,
        form=CSV.name,
        reach="asked",
        acls=reading.acls,
        problems=reading.problems,
        notes=_notes(reading, columns),
    )


@dataclass(slots=True)
class _Reading:
    """What was read so far.

    Attributes:
        texts: each text once: the same names stand in many rows.
        comments: lines that were passed over.
        quoted: rows with a field in quotes.
    """

    document: Document
    acls: list[DesiredAcl] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    comments: int = 0
    quoted: int = 0

    def refuse(self, line: int, text: str) -> None:
        """Add a problem."""
        self.problems.append(Problem(self.document.place(line), text))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Where the fields of a row stand.

    Attributes:
        places: our name of a field → its place.
        names: the fields whose name in the file is another one.
        cells: those of the header.
        is_header: whether a header told it.
        unread: columns that are not read.
    """

    dialect: _Dialect
    places: Mapping[str, int]
    names: Mapping[str, str]
    cells: Sequence[str]
    is_header: bool = True
    unread: Sequence[str] = ()


def _first_lines(document: Document) -> Iterator[str]:
    for line in document.text[:_BEGINNING].split("\n"):
        if line.strip() and not line.startswith("#"):
            yield line


def _split(line: str, separator: str) -> list[str]:
    """Split a line roughly, to look at its words."""
    return [cell.strip().strip('"') for cell in line.split(separator)]


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace(" ", "")


_KNOWN: Final = frozenset(
    _plain(name) for dialect in (_MANAGER, _KAFBAT) for name in dialect.columns.values()
)


def _known(cells: Sequence[str]) -> frozenset[str]:
    return _KNOWN.intersection(map(_plain, cells))


def _is_header(cells: Sequence[str]) -> bool:
    known = _known(cells)
    return len(known) > 2 and not known.isdisjoint(
        ("principal", "kafkaprincipal", "resourcetype", "resourcename")
    )


def _is_like_row(cells: Sequence[str]) -> bool:
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


def _separator(document: Document) -> str:
    """Return what separates the fields: with it the first line has the most known words."""
    line = next(_first_lines(document), "")

    def worth(separator: str) -> tuple[bool, int, int]:
        cells = _split(line, separator)
        return _is_like_row(cells), len(_known(cells)), len(cells)

    return max(_SEPARATORS, key=worth)


def _records(
    document: Document, separator: str, reading: _Reading
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which a record begins, and its fields; a line end may stand in quotes."""
    # Here: a cold start of other commands needs no csv.
    import csv

    lines = _Lines(document, reading)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        lines.begin()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reading.refuse(lines.first, _fault(str(error)))
            continue
        raw = sum(line.count('"') for line in lines.record)
        if raw and raw > sum(cell.count('"') for cell in cells):
            reading.quoted += 1
        yield lines.first, cells


class _Lines:
    """The lines of a text, without blank ones and comments between records."""

    def __init__(self, document: Document, reading: _Reading) -> None:
        """Begin at the first line."""
        self._lines = document.lines()
        self._reading = reading
        self._number = 0
        self.first = 0
        self.record: list[str] = []

    def begin(self) -> None:
        """Expect the first line of a record."""
        self.record.clear()

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        for line in self._lines:
            self._number += 1
            if not self.record:
                if line.startswith("#"):
                    self._reading.comments += 1
                    continue
                if line.isspace():
                    continue
                self.first = self._number
            self.record.append(line)
            return line
        raise StopIteration


def _fault(error: str) -> str:
    """Return what is wrong with a record that the csv module cannot read."""
    if error.startswith("new-line"):
        return (
            "A carriage return stands within the line. Save the file with LF or CR LF at line "
            "ends, or put the field in quotes"
        )
    if error.startswith("field larger"):
        return "A field is longer than 131,072 characters. Is a closing quote missing?"
    if error.startswith("unexpected end"):
        return "A field that begins with a quote does not end. Close it, and double quotes within"
    return (
        "Text follows the closing quote of a field. Write the separator there, and double quotes "
        "within a field"
    )


def _columns(reading: _Reading, line: int, cells: Sequence[str]) -> _Columns | None:
    """Return the places of the fields, by the first record; None if it does not tell them."""
    if _is_like_row([cell.strip() for cell in cells]) and len(_known(cells)) < 3:
        return _Columns(
            dialect=_KAFBAT,
            places={name: place for place, name in enumerate(_KAFBAT.columns)},
            names=_KAFBAT.columns,
            cells=(),
            is_header=False,
        )
    if not _known(cells):
        forms = "; or ".join(",".join(d.columns.values()) for d in (_MANAGER, _KAFBAT, _OWN))
        reading.refuse(line, f"The header has none of the known columns. Write {forms}")
        return None
    return _of_header(reading, line, cells)


def _of_header(reading: _Reading, line: int, cells: Sequence[str]) -> _Columns | None:
    dialect = _dialect(cells)
    by_name = {_key(dialect, name): ours for ours, name in dialect.columns.items()}
    places: dict[str, int] = {}
    unread: list[str] = []
    before = len(reading.problems)
    for place, cell in enumerate(cells):
        ours = by_name.get(_key(dialect, cell))
        if ours is None:
            unread.append(cell)
        elif ours in places:
            reading.refuse(line, f"The column {dialect.columns[ours]} stands twice. Remove one")
        else:
            places[ours] = place
    missing = [name for ours, name in dialect.columns.items() if ours not in places]
    for cell in unread:
        if text := _why_refused(cell, dialect, missing):
            reading.refuse(line, text)
    if dialect is _MANAGER and missing == ["PatternType"]:
        missing = []
    for name in missing:
        reading.refuse(line, f"The column {name} of {dialect.tool} is missing. Add it")
    if missing or len(reading.problems) > before:
        return None
    names = {ours: name for ours, name in dialect.columns.items() if ours != name}
    return _Columns(dialect=dialect, places=places, names=names, cells=cells, unread=unread)


def _dialect(cells: Sequence[str]) -> _Dialect:
    """Return whose header it is, wrong names in it or not."""
    if "kafkaprincipal" in map(_plain, cells):
        return _MANAGER
    if any("_" in cell and _plain(cell) in _KNOWN for cell in cells):
        return _OWN
    return _KAFBAT


def _key(dialect: _Dialect, name: str) -> str:
    """Return by what the tool tells a column."""
    return java_trim(name).replace(" ", "").lower() if dialect.is_lenient else name


def _why_refused(cell: str, dialect: _Dialect, missing: Sequence[str]) -> str | None:
    """Return why a file with an unknown column is refused; None if the column says nothing."""
    plain = _plain(cell)
    if plain in _REFUSED:
        return (
            f"The column '{cell[:60]}' may say that the ACL of a row does not exist. Remove the "
            "column, and the rows whose ACL shall not exist"
        )
    if not plain or plain in _IGNORED:
        return None
    like = next((name for name in dialect.columns.values() if _plain(name) == plain), None)
    like = like or most_like(cell, [*missing, *dialect.columns.values()])
    if like:
        return f"The column '{cell[:60]}' is unknown to {dialect.tool}. Did you mean {like}?"
    if missing:
        return (
            f"The column '{cell[:60]}' is unknown to {dialect.tool}. "
            f"Valid: {', '.join(dialect.columns.values())}"
        )
    return None


def _read_row(reading: _Reading, columns: _Columns, line: int, cells: Sequence[str]) -> None:
    if fault := _fault_of_row(columns, cells):
        reading.refuse(line, fault)
        return
    texts, is_lenient = reading.texts, columns.dialect.is_lenient
    fields = {"pattern_type": "LITERAL"}
    for name, place in columns.places.items():
        text = java_trim(cells[place]) if is_lenient else cells[place]
        fields[name] = texts.setdefault(text, text)
    raw = Raw(**fields, names=columns.names)
    found = desired_acl(raw, columns.dialect.words, reading.document.place(line))
    if isinstance(found, DesiredAcl):
        reading.acls.append(found)
    else:
        reading.problems += found


def _fault_of_row(columns: _Columns, cells: Sequence[str]) -> str | None:
    if not any(cell.strip() for cell in cells):
        return "All fields are empty. Remove the line"
    width = len(columns.cells) or len(BINDING)
    if len(cells) != width:
        return (
            f"Expected {number_of(width, 'field')}, found {len(cells)}. A field with a separator "
            "in it must be in quotes"
        )
    if cells == columns.cells:
        return "The header stands here again. Remove the line"
    return None


def _notes(reading: _Reading, columns: _Columns | None) -> list[str]:
    name, notes = reading.document.name, list[str]()
    if columns is None:
        return notes
    if "pattern_type" not in columns.places:
        notes.append(f"{name} has no column PatternType, so each of its names is LITERAL.")
    if reading.comments:
        number = number_of(reading.comments, "line")
        notes.append(f"{name}: {number} with # passed over; {columns.dialect.tool} would not.")
    if reading.quoted and columns.dialect is _KAFBAT:
        number = number_of(reading.quoted, "row")
        notes.append(
            f"{name}: {number} with a field in quotes. Kafbat takes such quotes for letters."
        )
    unread = [f"'{cell[:60]}'" for cell in columns.unread if _plain(cell) not in _IGNORED]
    if unread:
        notes.append(f"{name}: columns not read: {few(unread, 8)}.")
    return notes


CSV: Final = Format(
    name="csv",
    title="CSV of kafka-security-manager, Kafbat or aclkit",
    holds=holds_csv,
    read=read_csv,
)
FORMATS: Final[tuple[Format, ...]] = (CSV,)
