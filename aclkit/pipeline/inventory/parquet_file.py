"""A Parquet file's bytes → its batches, read by a process of its own whose memory is limited.

A few bytes of Parquet may unpack to gigabytes. So the sizes in its footer are checked before
anything is read. After that the memory of reading is limited, because a footer may lie. The limit
holds for a whole process, so this one does not set it for itself: its other threads read the log
and start Spark meanwhile.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from aclkit.errors import SurroundingsError, UsageError, first_line
from aclkit.pipeline.inventory.arrow_rows import (
    ROWS_PER_BATCH,
    UNUSABLE,
    plain_batch,
    plain_schema,
)
from aclkit.runtime import child
from aclkit.runtime.notation import MOST_NESTED, MOST_VALUES
from aclkit.runtime.safe_read import MIB
from aclkit.runtime.scratch import scratch

LARGEST_FOOTER: Final = 16 * MIB
"""Bytes of a Parquet file's footer."""

MOST_MEMORY: Final = 1024 * MIB
"""Bytes of memory that reading a Parquet file may take, where the system limits it."""


def parquet_batches(
    data: bytes, path: str, *, most_rows: int, most_bytes: int
) -> tuple[list[str], Iterator[pa.RecordBatch]]:
    """Return the columns of a Parquet file, and its rows in batches.

    Raises:
        UsageError: it is not a Parquet file, is encrypted or nested too deeply, or claims to hold
            more than is read; also raised while batches are read.
        SurroundingsError: the process that reads it does not start.
    """
    if data[-4:] == _ENCRYPTED:
        raise UsageError(f"{path}: expected a Parquet file that is not encrypted")
    footer = int.from_bytes(data[-8:-4], "little")
    if data[-4:] == _MAGIC and footer > LARGEST_FOOTER:
        raise UsageError(f"{path}: expected a footer of at most {LARGEST_FOOTER // MIB} MiB")
    read = _read_apart(data, path, most_rows, most_bytes)
    # The first thing that it yields is a batch without rows, or it refuses the file.
    return next(read).schema.names, read


def _read_apart(
    data: bytes, path: str, most_rows: int, most_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Yield what the other process reads: a batch without rows, and all batches."""
    command = [*child.python_module(_READER), path, str(most_rows), str(most_bytes)]
    with tempfile.TemporaryFile() as words:
        try:
            process = child.start(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=words,
                env=os.environ | _PLAIN_MEMORY | {"PYTHONPATH": child.module_path()},
                cwd=scratch(),
            )
        except OSError as error:
            raise SurroundingsError(f"Cannot start {sys.executable}: {error}") from None
        try:
            is_whole = False
            # What it sends may end well too where it breaks off: its exit code tells.
            with suppress(pa.ArrowInvalid, OSError):
                yield from _receive(process, data)
                is_whole = True
            if (code := process.wait()) or not is_whole:
                raise _refusal(path, code, words)
        finally:
            child.end(process)


def _receive(process: subprocess.Popen[bytes], data: bytes) -> Iterator[pa.RecordBatch]:
    with suppress(BrokenPipeError), cast(IO[bytes], process.stdin) as stdin:
        stdin.write(data)
    with cast(IO[bytes], process.stdout) as stdout, pa.ipc.open_stream(stdout) as batches:
        yield pa.RecordBatch.from_pylist([], schema=batches.schema)
        yield from batches


def _refusal(path: str, code: int, words: IO[bytes]) -> UsageError:
    """Return why the other process read no more; without words of its own it was ended."""
    words.seek(0)
    said = words.read(_LONGEST_REFUSAL).decode(errors="replace")
    if code != UsageError.exit_code or not said:
        said = f"{path}: not a Parquet file: reading it ended with code {code}"
    return UsageError(said)


def main() -> None:
    """Read a file from stdin, and write its batches to stdout, or to stderr what is wrong."""
    path, most_rows, most_bytes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    try:
        _limit_memory()
        batches = read_here(sys.stdin.buffer.read(), path, most_rows, most_bytes)
        with pa.ipc.new_stream(sys.stdout.buffer, next(batches).schema) as out:
            for batch in batches:
                out.write_batch(batch)
    except MemoryError:
        _refuse(
            f"{path}: not a usable Parquet file: reading it takes more than "
            f"{MOST_MEMORY // MIB:,} MiB of memory"
        )
    except UsageError as error:
        _refuse(str(error))


def _refuse(said: str) -> None:
    sys.stderr.buffer.write(said.encode(errors="replace"))
    sys.exit(UsageError.exit_code)


def read_here(data: bytes, path: str, most_rows: int, most_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield a batch without rows, and all batches, with no limit of memory.

    Raises:
        UsageError: see ``parquet_batches``.
    """
    with _refusing(path):
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        schema = file.schema_arrow
    _require_limits(path, file.metadata, schema, most_rows, most_bytes)
    yield pa.RecordBatch.from_pylist([], schema=plain_schema(schema))
    first = 1
    for batch in _batches(file, path):
        yield plain_batch(batch, path, first)
        first += len(batch)


def _require_limits(
    path: str, about: pq.FileMetaData, schema: pa.Schema, most_rows: int, most_bytes: int
) -> None:
    """Refuse a file that claims to hold more than is read, or is nested too deeply."""
    rows, size = about.num_rows, _unpacked_size(about)
    if rows > most_rows or rows * len(schema) > MOST_VALUES or size > most_bytes:
        raise UsageError(
            f"{path}: expected at most {most_rows:,} rows, {MOST_VALUES:,} values and "
            f"{most_bytes // MIB} MiB unpacked, found {rows:,} rows of {len(schema):,} columns "
            f"and {size // MIB:,} MiB"
        )
    if any(_depth(field.type) > MOST_NESTED for field in schema):
        raise UsageError(f"{path}: nested too deeply, over {MOST_NESTED} levels")


def _batches(file: pq.ParquetFile, path: str) -> Iterator[pa.RecordBatch]:
    batches = file.iter_batches(batch_size=ROWS_PER_BATCH, use_threads=False)
    while True:
        with _refusing(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _unpacked_size(about: pq.FileMetaData) -> int:
    """Return how many bytes the data has according to the footer.

    Columns are not asked one by one: of a damaged one pyarrow ends the process.
    """
    groups = map(about.row_group, range(about.num_row_groups))
    return sum(max(0, group.total_byte_size) for group in groups)


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
    except UNUSABLE as error:
        raise UsageError(f"{path}: not a Parquet file: {first_line(error)}") from None


def _limit_memory() -> None:
    """Let this process take at most ``MOST_MEMORY`` more than it has now; only on Linux."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        taken = int(statm.read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
        known = [n for n in resource.getrlimit(resource.RLIMIT_AS) if n != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_AS, (min([taken + MOST_MEMORY, *known]),) * 2)


_READER: Final = "aclkit.pipeline.inventory.parquet_file"

_PLAIN_MEMORY: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Arrow's own pool reserves a gigabyte at once, whatever is read."""

_LONGEST_REFUSAL: Final = 4_096
_MAGIC, _ENCRYPTED = b"PAR1", b"PARE"

if __name__ == "__main__":
    main()
