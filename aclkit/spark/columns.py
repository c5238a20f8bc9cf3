"""A frame and names → whether it has these columns, by the rule of its session for names.

Spark finds a column whatever its case, unless the session sets ``spark.sql.caseSensitive``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from pyspark.sql import DataFrame
from pyspark.sql.types import StringType

from aclkit.errors import UsageError


def require_texts(frame: DataFrame, names: Collection[str]) -> None:
    """Insist that a frame has text columns.

    Raises:
        UsageError: one is missing, of another type, or there twice.
    """
    fold = _folding(frame)
    wrong = []
    for name in names:
        kinds = [field.dataType for field in frame.schema if fold(field.name) == fold(name)]
        if not kinds:
            wrong.append(f"missing: {name}")
        elif len(kinds) > 1:
            wrong.append(f"more than once: {name}")
        elif not isinstance(kinds[0], StringType):
            wrong.append(f"{name} is {kinds[0].simpleString()}")
    if wrong:
        raise UsageError(f"Expected text columns {', '.join(names)}; {', '.join(wrong)}")


def has_column(frame: DataFrame, name: str) -> bool:
    """Whether a frame has a column of a name."""
    fold = _folding(frame)
    return fold(name) in map(fold, frame.columns)


def free_name(frame: DataFrame, name: str) -> str:
    """Return a name that no column of a frame has: this one, or a longer one."""
    return free_name(frame, f"{name}_") if has_column(frame, name) else name


def _folding(frame: DataFrame) -> Callable[[str], str]:
    """Return what makes one of names that are one in the session of a frame."""
    sensitive = frame.sparkSession.conf.get("spark.sql.caseSensitive", "false")
    return str if sensitive == "true" else str.lower
