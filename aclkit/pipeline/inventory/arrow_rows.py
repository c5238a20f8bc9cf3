"""Batches of Arrow → rows of Python values; an error names the place of an unusable one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeVar

import pyarrow as pa

from aclkit.errors import UsageError, first_line
from aclkit.runtime.notation import MOST_VALUES
from aclkit.runtime.safe_read import LARGEST_DATA, MIB

T = TypeVar("T")

ROWS_PER_BATCH: Final = 1_000
"""Rows that are in memory as Python values at once."""


def batch_rows(
    names: Sequence[str], batches: Iterable[pa.RecordBatch], path: str
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of batches under the given names of their columns.

    Raises:
        UsageError: a value that Python cannot hold: text of other bytes than UTF-8, a time of
            other years than 1 to 9999, of an unknown zone or of single nanoseconds.
    """
    first = 1
    for batch in batches:
        columns = [
            _each(column, _to_python, path, first, name)
            for name, column in zip(names, batch.columns, strict=True)
        ]
        for cells in zip(*columns, strict=True):
            yield dict(zip(names, cells, strict=True))
        first += len(batch)


def plain_batch(batch: pa.RecordBatch, path: str, first: int) -> pa.RecordBatch:
    """Return a batch whose columns have plain types, none of which repeats what is in it once.

    Args:
        batch: up to ``ROWS_PER_BATCH`` rows.
        path: of the file, for the message.
        first: the number of its first row.

    Raises:
        UsageError: see ``batch_rows``; or it is too large.
    """
    columns = [
        _each(column, _plain, path, first, name)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=plain_schema(batch.schema))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema of ``plain_batch``."""
    return pa.schema([_plain_field(field) for field in schema])


def _each(
    column: pa.Array, convert: Callable[[pa.Array, str], T], path: str, first: int, name: str
) -> T:
    """Return a converted column; if that fails, the error names the first unusable value."""
    try:
        return convert(column, f"{path}, column {name!r}")
    except UNUSABLE:
        pass
    for at in range(len(column)):
        where = f"{path}, row {first + at}, column {name!r}"
        try:
            # Taken, for what is cast is a slice's whole inner column.
            convert(column.take(pa.array([at])), where)
        except UNUSABLE as error:
            _refuse_value(column, error, where)
    raise UsageError(f"{path}, row {first}, column {name!r}: cannot be read as {column.type}")


def _plain(column: pa.Array, where: str) -> pa.Array:
    wanted = _plain_type(column.type)
    if wanted != column.type:
        column = column.cast(wanted)
    if column.nbytes > LARGEST_DATA or _count(column) > _MOST_AT_ONCE:
        raise UsageError(
            f"{where}: expected at most {_MOST_AT_ONCE:,} values and {LARGEST_DATA // MIB} MiB "
            f"in {ROWS_PER_BATCH:,} rows, found more"
        )
    return column


def _to_python(column: pa.Array, where: str) -> list[Any]:
    values: list[Any] = _plain(column, where).to_pylist()
    return values


def _count(column: pa.Array) -> int:
    """Return how many values are in a column, those within lists and objects too.

    Repeated ones take no room in a file, truth values an eighth of a byte in Arrow, and both a
    hundred bytes in Python.
    """
    count, rest = 0, [column]
    while rest:
        array = rest.pop()
        count += len(array)
        if pa.types.is_map(array.type):
            rest += [array.keys, array.items]
        elif array.type.num_fields:
            inner = array.flatten()
            rest += inner if isinstance(inner, list) else [inner]
    return count


def _refuse_value(column: pa.Array, error: BaseException, where: str) -> NoReturn:
    if isinstance(error, UnicodeDecodeError):
        raise UsageError(f"{where}: expected UTF-8, found other bytes") from None
    raise UsageError(
        f"{where}: expected a value of {column.type} that is kept here: years 1 to 9999, a known "
        f"zone, no parts of a microsecond; found {first_line(error)}"
    ) from None


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return a type with microseconds for nanoseconds, and without dictionaries.

    Python has no finer times, and a dictionary may repeat the same large value many times.
    """
    types = pa.types
    if types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if types.is_time64(kind) and kind.unit == "ns":
        return pa.time64("us")
    if types.is_duration(kind) and kind.unit == "ns":
        return pa.duration("us")
    if types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if types.is_list(kind):
        return pa.list_(_plain_field(kind.value_field))
    if types.is_large_list(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if types.is_map(kind):
        return pa.map_(_plain_type(kind.key_type), _plain_type(kind.item_type))
    if types.is_struct(kind):
        return pa.struct([_plain_field(field) for field in kind])
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(_plain_type(field.type))


_MOST_AT_ONCE: Final = MOST_VALUES // 10
UNUSABLE: Final = (
    OSError, ValueError, OverflowError, KeyError, RecursionError, pa.ArrowException
)  # fmt: skip
"""What Arrow raises of values and files that it cannot read; memory that lacks aside."""
