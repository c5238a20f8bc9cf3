"""Columns and rows → text on stdout, as table, JSON, JSON lines or CSV."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, TextIO

import click

from aclkit.cli.table import Layout, Table, lay_out
from aclkit.cli.values import json_value, plain_text
from aclkit.errors import UsageError
from aclkit.model.columns import distinct
from aclkit.model.visible import visible

_LONGEST_MESSAGE: Final = 2_000


def tell(message: str) -> None:
    """Print a message for a person: on stderr and in one line, whatever names stand in it."""
    click.echo(visible(message), err=True)


def tell_all(messages: Iterable[str]) -> None:
    """Say several things on stderr, a line each."""
    for message in messages:
        tell(message)


def tell_error(error: Exception) -> None:
    """Print why a command ends; further lines are indented, so that none looks like another's."""
    message = str(error)
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[:_LONGEST_MESSAGE]} … ({len(message):,} characters)"
    click.echo("Error: " + "\n  ".join(map(visible, message.split("\n"))), err=True)


def write_rows(
    columns: Sequence[str], rows: Iterable[Sequence[object]], output_format: str, stream: TextIO
) -> None:
    """Write rows in one of ``FORMATS``, see ``render_rows``."""
    write_lines(render_rows(columns, rows, output_format), stream)


def render_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    output_format: str = "table",
    layout: Layout | None = None,
) -> Iterator[str]:
    """Yield the lines of rows in one of ``FORMATS``.

    A table is for people, see ``lay_out``; without a layout each row is one line. The other
    formats hold values as they are. CSV is RFC 4180: lines end with CR LF, null is empty and the
    empty text is ``""``.
    """
    # What fails at its first row fails here, before the names of the columns are written.
    rows = iter(rows)
    if output_format == TABLE:
        return lay_out([Table(columns, rows)], layout or Layout())
    return _RENDERERS[output_format](columns, rows)


def choose_columns(
    names: Sequence[str], columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    """Return the columns that are wanted and their cells; all if none is named.

    Raises:
        UsageError: there is no such column.
    """
    if not names:
        return columns, rows
    for name in names:
        if name not in columns:
            raise UsageError(f"no column {name!r}: expected some of {', '.join(columns)}")
    places = [columns.index(name) for name in names]
    return names, (tuple(row[place] for place in places) for row in rows)


def render_object(value: object) -> Iterator[str]:
    """Yield a whole answer as one object of JSON."""
    yield json.dumps(json_value(value), ensure_ascii=False, indent=2) + "\n"


class Objects(NamedTuple):
    """Objects of JSON with the same keys, and their values."""

    columns: Sequence[str]
    rows: Iterable[Sequence[object]]


Members = Iterable[tuple[str, object]]
"""Members of an object of JSON; one whose value is an iterator is a list, made item by item."""

JsonAnswer = Objects | Mapping[str, object] | Members
"""A whole answer; an object may be written as it is made."""

AS_OF: Final = ("as_of", "as_of_offset")
"""The keys of what an answer stands on; where the first means something else, ``as_of_time``."""


def stamp(names: Container[str], values: Sequence[object]) -> dict[str, object]:
    """Return what an answer stands on under keys that it does not have itself."""
    first = "as_of_time" if AS_OF[0] in names else AS_OF[0]
    return dict(zip((first, AS_OF[1]), values, strict=True)) if values else {}


def render_json(answer: JsonAnswer, values: Sequence[object]) -> Iterator[str]:
    """Yield the lines of a whole answer in JSON, each object with what it stands on."""
    if isinstance(answer, Objects):
        return _render_json(*stamped(answer.columns, answer.rows, values))
    if isinstance(answer, Mapping):
        return render_object({**answer, **stamp(answer, values)})
    return _members(chain(answer, stamp((), values).items()))


def stamped(
    columns: Sequence[str], rows: Iterable[Sequence[object]], values: Sequence[object]
) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    """Return rows with what they stand on behind their own cells."""
    more = stamp(columns, values)
    return (*columns, *more), ((*row, *more.values()) for row in rows)


def _members(members: Members) -> Iterator[str]:
    before = "{\n"
    for name, value in members:
        yield f"{before}{json.dumps(name)}: "
        if isinstance(value, Iterator):
            yield from _items(value)
        else:
            yield json.dumps(json_value(value), ensure_ascii=False)
        before = ",\n"
    yield "\n}\n"


def _items(items: Iterator[object]) -> Iterator[str]:
    before = "[\n"
    for item in items:
        yield before + json.dumps(item, ensure_ascii=False)
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"


def as_objects(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[dict[str, object]]:
    """Return rows with the names of their cells."""
    return [dict(zip(columns, row, strict=True)) for row in rows]


def write_lines(lines: Iterable[str], stream: TextIO) -> None:
    """Write lines; a reader that closes its end early (``| head``) is no error."""
    try:
        for line in lines:
            stream.write(line)
        stream.flush()
    except BrokenPipeError:
        _close(stream)


def flush_output() -> None:
    """Empty the buffers of stdout and stderr, which Python would do last of all, and complain.

    What could not be written was told when it was written, or nobody wants to know.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # closed by who started this
                stream.flush()
        except OSError:
            _close(stream)


def is_unread() -> bool:
    """Whether the reader of stdout or stderr has gone."""
    asked = select.poll()
    for descriptor in (1, 2):
        asked.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in asked.poll(0))


def _close(stream: TextIO) -> None:
    """Send what is left in a buffer nowhere: it would fail again when Python exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _render_json(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    before = "[\n"
    columns = distinct(columns)
    for row in rows:
        yield before + _object(columns, row)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _render_jsonl(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    columns = distinct(columns)
    for row in rows:
        yield _object(columns, row) + "\n"


def _render_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    for row in chain([columns], rows):
        yield ",".join(csv_field(value) for value in row) + "\r\n"


_RENDERERS: Final[dict[str, Callable[..., Iterator[str]]]] = {
    "json": _render_json,
    "jsonl": _render_jsonl,
    "csv": _render_csv,
}
TABLE: Final = "table"
JSON: Final = "json"
JSONL: Final = "jsonl"
CSV: Final = "csv"
FORMATS: Final = (TABLE, *_RENDERERS)


def csv_field(value: object) -> str:
    """Return a value as a field of CSV: RFC 4180, null is empty and the empty text is ``""``."""
    text = plain_text(value)
    if text is None:
        return ""
    if not text or any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _object(columns: Sequence[str], row: Sequence[object]) -> str:
    return json.dumps(dict(zip(columns, map(json_value, row), strict=True)), ensure_ascii=False)
