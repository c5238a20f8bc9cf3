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

A column ``until`` of any of them is the end of its row's ACL; the other tools refuse or ignore it.

None of the tools knows comments; lines that begin with ``#`` are passed over, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from aclkit.kafka.desired.csv_header import (
    IGNORED,
    KAFBAT,
    Columns,
    columns_of,
    is_header_line,
    is_like_row,
    known_columns,
    plain_name,
)
from aclkit.kafka.desired.fields import Raw, desired_acl
from aclkit.kafka.desired.formats import Format, PartBuilder
from aclkit.kafka.desired.model import DesiredAcl, Document, Part
from aclkit.model.acl import BINDING
from aclkit.model.moment import parse_until
from aclkit.model.phrases import few, number_of
from aclkit.model.principal import java_trim

_SEPARATORS: Final = (",", ";", "\t")
LONGEST_QUOTE: Final = 60
_BEGINNING: Final = 100_000
"""Characters in which the header must stand."""


def holds_csv(document: Document) -> bool:
    """Whether a text has a known header, or rows of Kafbat without one."""
    lines = list(_first_lines(document))
    if not lines:
        return False
    if any(is_header_line(_split(lines[0], separator)) for separator in _SEPARATORS):
        return True
    return any(
        is_like_row(_split(line, separator)) for line in lines[:20] for separator in _SEPARATORS
    )


def read_csv(document: Document) -> Part:
    """Read a CSV; each row that is no ACL is a problem with its line."""
    reading = _Rows(document)
    records = _records(document, _separator(document), reading)
    columns = None
    for number, cells in records:
        if columns is None:
            columns = columns_of(cells, partial(reading.refuse, number))
            if columns is None:
                break
            if columns.is_header:
                continue
        _read_row(reading, columns, number, cells)
    reading.notes += _notes(reading, columns)
    return reading.part(CSV.name, "asked")


@dataclass(slots=True)
class _Rows(PartBuilder):
    """What was read so far.

    Attributes:
        texts: each text once: the same names stand in many rows.
        comments: lines that were passed over.
        quoted: rows with a field in quotes.
    """

    texts: dict[str, str] = field(default_factory=dict)
    comments: int = 0
    quoted: int = 0


def _first_lines(document: Document) -> Iterator[str]:
    for line in document.text[:_BEGINNING].split("\n"):
        if line.strip() and not line.startswith("#"):
            yield line


def _split(line: str, separator: str) -> list[str]:
    """Split a line roughly, to look at its words."""
    return [cell.strip().strip('"') for cell in line.split(separator)]


def _separator(document: Document) -> str:
    """Return what separates the fields: with it the first line has the most known words."""
    line = next(_first_lines(document), "")

    def worth(separator: str) -> tuple[bool, int, int]:
        cells = _split(line, separator)
        return is_like_row(cells), len(known_columns(cells)), len(cells)

    return max(_SEPARATORS, key=worth)


def _records(document: Document, separator: str, reading: _Rows) -> Iterator[tuple[int, list[str]]]:
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

    def __init__(self, document: Document, reading: _Rows) -> None:
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


def _read_row(reading: _Rows, columns: Columns, line: int, cells: Sequence[str]) -> None:
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
    until = "" if columns.until is None else cells[columns.until].strip()
    if isinstance(found, DesiredAcl) and until:
        try:
            reading.acls.append(replace(found, until=parse_until(until)))
        except ValueError as error:
            reading.refuse(line, f"until: {error}, found '{until[:LONGEST_QUOTE]}'")
    else:
        reading.take(found)


def _fault_of_row(columns: Columns, cells: Sequence[str]) -> str | None:
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


def _notes(reading: _Rows, columns: Columns | None) -> list[str]:
    name, notes = reading.document.name, list[str]()
    if columns is None:
        return notes
    if "pattern_type" not in columns.places:
        notes.append(f"{name} has no column PatternType, so each of its names is LITERAL.")
    if reading.comments:
        number = number_of(reading.comments, "line")
        notes.append(f"{name}: {number} with # passed over; {columns.dialect.tool} would not.")
    if reading.quoted and columns.dialect is KAFBAT:
        number = number_of(reading.quoted, "row")
        notes.append(
            f"{name}: {number} with a field in quotes. Kafbat takes such quotes for letters."
        )
    unread = [f"'{cell[:60]}'" for cell in columns.unread if plain_name(cell) not in IGNORED]
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
