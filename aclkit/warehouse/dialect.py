"""A view of this package in DuckDB's SQL → the same for Spark, and the names it reads.

The text is parsed and written anew from its tree. Only who asks Spark imports this: sqlglot takes
a tenth of a second to load.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import ErrorLevel, exp, parse_one


class SparkSql(NamedTuple):
    """A statement in Spark's SQL.

    Attributes:
        text: it; in it ``before.host`` is ``before_host``, for a temporary view is in no schema.
        names: what stands where a table or view does, those of WITH too.
    """

    text: str
    names: frozenset[str]


def spark_sql(query: str) -> SparkSql:
    """Return the SELECT of a view for Spark.

    Raises:
        sqlglot.errors.SqlglotError: it is no SQL of DuckDB's, or Spark cannot express it.
    """
    tree = parse_one(query, dialect="duckdb").transform(_in_spark)
    names = frozenset(table.name for table in tree.find_all(exp.Table))
    return SparkSql(tree.sql("spark", unsupported_level=ErrorLevel.RAISE), names)


def _in_spark(node: exp.Expr) -> exp.Expr:
    """Return what Spark has for a part of a statement: a temporary view is in no schema."""
    if isinstance(node, exp.Table) and node.db:
        return exp.to_table(f"{node.db}_{node.name}", alias=node.alias or None)
    return node
