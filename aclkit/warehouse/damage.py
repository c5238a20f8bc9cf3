"""An error of an engine that read a warehouse's own files → one of ours, with the way out.

The engine that reads a missing, cut or foreign file first reports it: deltalake for the log, DuckDB
or Spark for the rows. Each has its own error, and none knows what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import duckdb
from deltalake.exceptions import DeltaError

from aclkit.errors import DamagedError, SurroundingsError, first_line
from aclkit.runtime.environment import DISK_FAILS, is_of_system
from aclkit.warehouse.location import Location
from aclkit.warehouse.storage import LOG

WAY_OUT: Final = (
    "If files are lost, restore them from a backup, or compute the tables again: aclkit run "
    "--rebuild"
)
"""What to do where tables cannot be read."""


def damaged(what: str, error: BaseException) -> SurroundingsError:
    """Return the error of something of a warehouse that cannot be read.

    What the system refused, for too many files are open or by their modes, is no damage.
    """
    lines = (line.strip() for line in str(error).splitlines())
    reason = next((line for line in lines if any(word in line for word in _MISSING)), "")
    told = f"Cannot read {what}: {(reason or first_line(error))[:_LONGEST].rstrip('.')}"
    return (
        SurroundingsError(told) if _is_refused(str(error)) else DamagedError(f"{told}. {WAY_OUT}")
    )


def _is_refused(text: str) -> bool:
    return is_of_system(text) and DISK_FAILS not in text


def damage_of(error: BaseException, place: str = "") -> SurroundingsError | None:
    """Return our error if an engine reports damage to a warehouse's files; otherwise None.

    Args:
        error: what was raised.
        place: the warehouse; Spark and DuckDB name the file, which may be a user's own.
    """
    whole = str(error)
    # For invalid content DuckDB reports neither a kind of error of its own nor the file.
    is_damage = isinstance(error, DeltaError) or type(error) is duckdb.Error
    if not is_damage and not (_is_of_a_file(error, whole) and place in whole):
        return None
    if is_of_spark(error) and _is_refused(whole):
        return None  # it may have written: see ``late_session``
    return damaged(f"the tables in {place}" if place else "the tables", error)


@contextmanager
def telling_damage(place: Location) -> Iterator[None]:
    """Raise an engine's error about a warehouse's files as an error of ours.

    Raises:
        DamagedError: a file is missing or cannot be read.
        SurroundingsError: the system does not allow opening it.
    """
    try:
        yield
    except Exception as error:
        plain = damage_of(error, "" if place.is_remote else place.text)
        if plain is None:
            raise
        raise plain from error


def _is_of_a_file(error: BaseException, text: str) -> bool:
    known = (duckdb.IOException, duckdb.InvalidInputException, FileNotFoundError)
    is_known = isinstance(error, known) or _is_of_arrow(error)
    if is_known or (type(error) is OSError and error.errno is None):
        return any(word in text for word in _OF_TABLES)
    return is_of_spark(error) and any(word in text for word in _MISSING)


def is_of_spark(error: BaseException) -> bool:
    """Whether an error is one of PySpark's, by its name: who asks need not have PySpark."""
    return _package_of(error) in _SPARK


def _is_of_arrow(error: BaseException) -> bool:
    """Whether Arrow hands on what DuckDB met in a file after the first rows of an answer."""
    return (_package_of(error), type(error).__name__) == ("pyarrow", "ArrowInvalid")


def _package_of(error: BaseException) -> str:
    """Return where an error's class is from: who asks does not import that for it."""
    return type(error).__module__.partition(".")[0]


_LONGEST: Final = 500
_OF_TABLES: Final = (".parquet", f"{LOG}/")
_SPARK: Final = ("pyspark", "py4j")
_MISSING: Final = (
    *("FileNotFoundException", "FILE_NOT_EXIST", "FAILED_READ_FILE", "DELTA_FILE_NOT_FOUND"),
    *("LOG_FILE_NOT_FOUND", "DELTA_VERSIONS_NOT_CONTIGUOUS", "is not a Parquet file"),
)
"""Spark's words for a file that is gone or cut, in one of many lines."""
