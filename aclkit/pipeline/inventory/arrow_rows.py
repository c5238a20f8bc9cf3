"""Parquet, or batches of Arrow → rows of Python values; what cannot become one says its place.

Parquet says in a few bytes what takes gigabytes: what its footer says is checked before anything is
read, and behind that the memory of reading is limited, for a footer may lie.
"""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from aclkit.errors import UsageError, first_line
from aclkit.runtime.notation import MOST_NESTED, MOST_VALUES
from aclkit.runtime.user_file import LARGEST_DATA, MIB

LARGEST_FOOTER: Final = 16 * MIB
"""Bytes of a Parquet file's footer."""

MOST_MEMORY: Final = 1024 * MIB
"""Bytes of memory that reading a part of a Parquet file may take, where the system limits it."""

ROWS_PER_BATCH: Final = 1_000
"""Rows that are in memory as Python values at once."""


def parquet_batches(
    data: bytes, path: str, *, most_rows: int, most_bytes: int
) -> tuple[list[str], Iterator[pa.RecordBatch]]:
    """Return the columns of a Parquet file, and its rows in batches.

    Raises:
        UsageError: it is none, it is encrypted or nested too deeply, or it says that it holds more
            than is read; as batches come, too.
    """
    if data[-4:] == _ENCRYPTED:
        raise UsageError(f"{path}: expected a Parquet file that is not encrypted")
    footer = int.from_bytes(data[-8:-4], "little")
    if data[-4:] == _MAGIC and footer > LARGEST_FOOTER:
        raise UsageError(f"{path}: expected a footer of at most {LARGEST_FOOTER // MIB} MiB")
    with _memory_limit(path), _refusing(path):
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        schema = file.schema_arrow
    rows, size = file.metadata.num_rows, _unpacked_size(file.metadata)
    if rows > most_rows or rows * len(schema) > MOST_VALUES or size > most_bytes:
        raise UsageError(
            f"{path}: expected at most {most_rows:,} rows, {MOST_VALUES:,} values and "
            f"{most_bytes // MIB} MiB unpacked, found {rows:,} rows of {len(schema):,} columns "
            f"and {size // MIB:,} MiB"
        )
    if any(_depth(field.type) > MOST_NESTED for field in schema):
        raise UsageError(f"{path}: nested too deeply, over {MOST_NESTED} levels")
    return schema.names, _batches(file, path)


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
            _values(column, path, first, name)
            for name, column in zip(names, batch.columns, strict=True)
        ]
        for cells in zip(*columns, strict=True):
            yield dict(zip(names, cells, strict=True))
        first += len(batch)


def _batches(file: pq.ParquetFile, path: str) -> Iterator[pa.RecordBatch]:
    batches = file.iter_batches(batch_size=ROWS_PER_BATCH, use_threads=False)
    while True:
        with _memory_limit(path), _refusing(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _unpacked_size(about: pq.FileMetaData) -> int:
    """Return how many bytes the footer says that there are.

    Columns are not asked one by one: of a damaged one pyarrow ends the process.
    """
    groups = map(about.row_group, range(about.num_row_groups))
    return sum(max(0, group.total_byte_size) for group in groups)


def _values(column: pa.Array, path: str, first: int, name: str) -> list[Any]:
    """Return the values of a column; of one that cannot be had, say where it is."""
    try:
        return _to_python(column, f"{path}, column {name!r}")
    except _UNUSABLE:
        pass
    for at in range(len(column)):
        where = f"{path}, row {first + at}, column {name!r}"
        try:
            # Taken, for what is cast is a slice's whole inner column.
            _to_python(column.take(pa.array([at])), where)
        except _UNUSABLE as error:
            _refuse_value(column, error, where)
    raise UsageError(f"{path}, row {first}, column {name!r}: cannot be read as {column.type}")


def _to_python(column: pa.Array, where: str) -> list[Any]:
    wanted = _plain_type(column.type)
    if wanted != column.type:
        with _memory_limit(where):
            column = column.cast(wanted)
    if column.nbytes > LARGEST_DATA or _count(column) > _MOST_AT_ONCE:
        raise UsageError(
            f"{where}: expected at most {_MOST_AT_ONCE:,} values and {LARGEST_DATA // MIB} MiB "
            f"in {ROWS_PER_BATCH:,} rows, found more"
        )
    values: list[Any] = column.to_pylist()
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

    Python knows no finer times, and a dictionary may say the same large value many times.
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


def _depth(kind: pa.DataType) -> int:
    """Return how many types are nested in a type; its own stack is no limit to it."""
    deepest, rest = 0, [(kind, 0)]
    while rest:
        kind, depth = rest.pop()
        deepest = max(deepest, depth)
        inner = [kind.field(number).type for number in range(kind.num_fields)]
        rest += [(each, depth + 1) for each in inner]
    return deepest


@contextmanager
def _refusing(path: str) -> Iterator[None]:
    """Raise in our words why Arrow cannot read a file."""
    try:
        yield
    except MemoryError:  # also one of Arrow's own errors
        raise
    except _UNUSABLE as error:
        raise UsageError(f"{path}: not a Parquet file: {first_line(error)}") from None


@contextmanager
def _memory_limit(path: str) -> Iterator[None]:
    """Let this process take no more than ``MOST_MEMORY`` beside what it has; Linux alone can."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        yield
        return
    taken = int(statm.read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([taken + MOST_MEMORY, *known]), hard))
    try:
        yield
    except MemoryError:
        raise UsageError(
            f"{path}: not a usable Parquet file: reading it takes more than "
            f"{MOST_MEMORY // MIB:,} MiB of memory"
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


_MOST_AT_ONCE: Final = MOST_VALUES // 10
_MAGIC, _ENCRYPTED = b"PAR1", b"PARE"
_UNUSABLE: Final = (
    OSError, ValueError, OverflowError, KeyError, RecursionError, pa.ArrowException
)  # fmt: skip
