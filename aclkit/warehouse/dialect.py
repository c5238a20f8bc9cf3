"""This package's SQL, which is DuckDB's → the same statement for Spark, and the names it reads.

The text is parsed and written anew from its tree. Only who asks Spark imports this: sqlglot takes
a tenth of a second to load.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final, TypeGuard

from sqlglot import ErrorLevel, TokenType, exp, parse_one
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.parsers.duckdb import DuckDBParser


@dataclass(frozen=True, slots=True)
class SparkSql:
    """A statement in Spark's SQL.

    Attributes:
        text: it; in it ``before.host`` is ``before_host``, for a temporary view is in no schema.
        names: what stands where a table or view does, those of WITH too.
        parameters: the names that its ``?`` have got, in their order: Spark mixes those of a
            subquery up when they are counted.
    """

    text: str
    names: frozenset[str]
    parameters: tuple[str, ...]


@lru_cache(maxsize=256)
def spark_sql(query: str) -> SparkSql:
    """Return one of this package's own statements for Spark.

    Its values are to be plain ones, but for ``CAST(? AS VARCHAR[])`` and its like: there a list
    is given as JSON.

    Raises:
        sqlglot.errors.SqlglotError: it is no SQL of DuckDB's, or Spark cannot express it.
    """
    tree = parse_one(query, dialect=_Noting).transform(_in_spark)
    marks = (mark.name for mark in tree.find_all(exp.Placeholder))
    return SparkSql(
        text=tree.sql("spark", unsupported_level=ErrorLevel.RAISE),
        names=frozenset(table.name for table in tree.find_all(exp.Table)),
        parameters=tuple(sorted(marks, key=lambda name: int(name.removeprefix(_MARK)))),
    )


class _NotingParser(DuckDBParser):
    """Names each ``?`` by its position: a tree does not keep the order."""

    PLACEHOLDER_PARSERS: ClassVar = {
        **DuckDBParser.PLACEHOLDER_PARSERS,
        TokenType.PLACEHOLDER: lambda self: exp.Placeholder(this=f"{_MARK}{self._prev.start}"),
    }


class _Noting(DuckDB):
    Parser = _NotingParser


_MARK: Final = "p"


def _in_spark(node: exp.Expr) -> exp.Expr:
    """Return what Spark has for a part of a statement, where sqlglot does not know it."""
    if isinstance(node, exp.UnixToTime) and node.args.get("scale") == exp.UnixToTime.MILLIS:
        # DuckDB has one name for both directions; here it is always asked of a time.
        return exp.UnixMillis(this=node.this)
    if _is_list(node):
        kind = exp.Literal.string(node.to.sql("spark"))
        return exp.func("from_json", exp.cast(node.this, exp.DType.TEXT), kind, dialect="spark")
    if isinstance(node, exp.Anonymous) and node.name.lower() == "hash":
        # Of 64 bits in both; Spark's own ``hash`` has 32. Not the same ones.
        return exp.Anonymous(this="xxhash64", expressions=node.expressions)
    if isinstance(node, exp.Table) and node.db:
        return exp.to_table(f"{node.db}_{node.name}", alias=node.alias or None)
    return node


def _is_list(node: exp.Expr) -> TypeGuard[exp.Cast]:
    """Whether a value is given that is a list."""
    return (
        isinstance(node, exp.Cast)
        and isinstance(node.this, exp.Placeholder)
        and node.to.is_type(exp.DType.ARRAY)
    )
