"""The SQL of a view, in DuckDB's words → the same in those of another engine."""

from __future__ import annotations

from sqlglot import ErrorLevel, exp, parse_one


def spark_sql(query: str) -> str:
    """Return the SELECT of a view for Spark; see ``sql_for``."""
    return sql_for(query, "spark")


def sql_for(query: str, dialect: str) -> str:
    """Return the SELECT of a view for an engine.

    It is parsed as DuckDB's and written again from its tree. ``before.host`` becomes
    ``before_host``, because a temporary view of Spark is in no schema.

    Raises:
        sqlglot.errors.SqlglotError: it is no SQL of DuckDB's, or the engine cannot express it.
    """
    tree = parse_one(query, dialect="duckdb").transform(_without_schema)
    return tree.sql(dialect, unsupported_level=ErrorLevel.RAISE)


def _without_schema(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Table) and node.db:
        return exp.to_table(f"{node.db}_{node.name}", alias=node.alias or None)
    return node
