"""An answer → JSON, JSON lines and CSV, with every value as it is.

CSV is RFC 4180: lines end with CR LF, null is empty and the empty text is ``""``.
Text of JSON is readable, and no letter in it acts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import chain, count
from typing import Final

from aclkit.answer.document import Answer, JsonObject, Members, Row
from aclkit.errors import UsageError
from aclkit.model.facts import in_utc
from aclkit.model.phrases import number_of
from aclkit.model.visible import visible_json

AS_OF: Final = ("as_of", "as_of_offset")
"""The keys of what an answer stands on; where the first means something else, ``as_of_time``."""


def render_json(answer: Answer, stamp: Sequence[object]) -> Iterator[str]:
    """Yield the lines of an answer in JSON, each object with what it stands on."""
    if answer.json is None:
        return _render_rows(json_rows(answer, stamp))
    whole = answer.json()
    if isinstance(whole, Mapping):
        return render_object(dict(json_members(whole, stamp)))
    return _render_members(json_members(whole, stamp))


def json_rows(answer: Answer, stamp: Sequence[object]) -> Iterator[dict[str, object]]:
    """Yield the rows of an answer as objects of JSON, each with what it stands on."""
    more = {**answer.more, **_stamp((*answer.columns, *answer.more), stamp)}
    return _objects(*_with(answer.columns, answer.rows, more))


def json_members(whole: JsonObject, stamp: Sequence[object]) -> Members:
    """Return the members of an answer that is one object of JSON; what it stands on comes last."""
    if isinstance(whole, Mapping):
        return {**whole, **_stamp(whole, stamp)}.items()
    return chain(whole, _stamp((), stamp).items())


def render_jsonl(
    columns: Sequence[str], rows: Iterable[Row], stamp: Sequence[object] = ()
) -> Iterator[str]:
    """Yield rows as objects of JSON, one a line."""
    for each in _objects(*_with(columns, rows, _stamp(columns, stamp))):
        yield json_text(each) + "\n"


def render_csv(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Yield rows as lines of CSV."""
    # What fails at its first row fails here, before the names of the columns are written.
    rows = iter(rows)
    return (",".join(map(csv_field, row)) + "\r\n" for row in chain([columns], rows))


def render_object(value: object) -> Iterator[str]:
    """Yield a whole answer as one object of JSON."""
    yield json_text(json_value(value), indent=2) + "\n"


class Counted:
    """Rows that are counted while they are read, once."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Count these."""
        self._rows, self._number = rows, 0

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        for row in self._rows:
            self._number += 1
            yield row

    @property
    def words(self) -> str:
        """How many rows were read, as a line."""
        return f"({number_of(self._number, 'row')})\n"


def choose_columns(
    names: Sequence[str], columns: Sequence[str], rows: Iterable[Row]
) -> tuple[Sequence[str], Iterable[Row]]:
    """Return the columns that are wanted and their cells; all if none is named.

    Raises:
        UsageError: there is no such column.
    """
    if not names:
        return columns, rows
    for name in names:
        if name not in columns:
            raise UsageError(f"No column {name!r}. Columns: {', '.join(columns)}.")
    places = [columns.index(name) for name in names]
    return names, (tuple(row[place] for place in places) for row in rows)


def as_objects(columns: Sequence[str], rows: Iterable[Row]) -> list[dict[str, object]]:
    """Return rows with the names of their cells."""
    return [dict(zip(columns, row, strict=True)) for row in rows]


def csv_field(value: object) -> str:
    """Return a value as a field of CSV."""
    text = plain_text(value)
    if text is None:
        return ""
    if not text or any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _stamp(names: Container[str], values: Sequence[object]) -> dict[str, object]:
    """Return what an answer stands on under keys that it does not have itself."""
    first = "as_of_time" if AS_OF[0] in names else AS_OF[0]
    return dict(zip((first, AS_OF[1]), values, strict=True)) if values else {}


def _with(
    columns: Sequence[str], rows: Iterable[Row], more: Mapping[str, object]
) -> tuple[Sequence[str], Iterable[Row]]:
    """Return rows with what holds for all of them after their own cells."""
    return (*columns, *more), ((*row, *more.values()) for row in rows) if more else rows


def _render_rows(rows: Iterable[dict[str, object]]) -> Iterator[str]:
    yield from _list(map(json_text, rows))
    yield "\n"


def _render_members(members: Members) -> Iterator[str]:
    before = "{\n"
    for name, value in members:
        yield f"{before}{json_text(name)}: "
        if isinstance(value, Iterator):
            yield from _list(map(json_text, value))
        else:
            yield json_text(json_value(value))
        before = ",\n"
    yield "\n}\n"


def _list(items: Iterable[str]) -> Iterator[str]:
    before = "[\n"
    for item in items:
        yield before + item
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"


def _objects(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[dict[str, object]]:
    """Yield rows as objects of JSON; columns of one name are told apart."""
    columns = distinct(columns)
    return (dict(zip(columns, map(json_value, row), strict=True)) for row in rows)


def plain_text(value: object) -> str | None:
    """Return a value as text, lists and maps as JSON; None for null."""
    value = json_value(value)
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def json_value(value: object) -> object:
    """Return a value in what JSON has: times as ISO 8601 in UTC, other things as text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime):
        return in_utc(value).replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return _json_container(value)


def _json_container(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def json_text(
    value: object,
    *,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    is_sorted: bool = False,
    default: Callable[..., object] | None = None,
) -> str:
    r"""Write a value of JSON; a reader of JSON gets exactly the value, half surrogates too.

    What a person does not see, or what acts on a terminal or in a CI system's log, is escaped.

    >>> print(json_text({"é": "a\u202eb"}))
    {"é": "a\u202eb"}
    """
    text = json.dumps(
        value,
        ensure_ascii=False,
        indent=indent,
        separators=separators,
        sort_keys=is_sorted,
        default=default,
    )
    return visible_json(text)


def distinct(columns: Sequence[str]) -> list[str]:
    """Number columns of one name: an object would keep the last of them only.

    >>> distinct(["a", "a", "b"])
    ['a', 'a_1', 'b']
    """
    names: list[str] = []
    for column in columns:
        numbered = (f"{column}_{number}" for number in count(1))
        free = (name for name in chain([column], numbered) if name not in names)
        names.append(next(name for name in free if name == column or name not in columns))
    return names
