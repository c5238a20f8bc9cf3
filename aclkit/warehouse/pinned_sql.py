"""A published run → a SELECT for each table and view, at the Delta versions that the run names.

A reader who opens the newest version of a table sees what a run at work has written; these do not.
The tables below are named in the engine's own way: Spark by their place, Trino by the name under
which they are registered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Final

from deltalake import DeltaTable
from sqlglot import ErrorLevel, exp, parse_one

from aclkit.errors import UsageError
from aclkit.warehouse.duck import tables_before
from aclkit.warehouse.formats import GROWN
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.published import Published, versions_before
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.storage import newest_version
from aclkit.warehouse.views import PAST, PAST_TABLES, view_sql

_VIEW_IF_UNWRITTEN: Final = "explain"
_PAST: Final = frozenset(f"{PAST}_{name}" for name in PAST_TABLES)

Named = Callable[[str, int], str]
"""Table and version → how a FROM names it."""


def pinned_sql(
    published: Published, dialect: str, named: Named, only: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the name and the SELECT of each table and view, in an order to create them.

    A table that no run has written has no rows; a column that aclkit did not have then is null.
    A view that reads the past has it within: a name for it could be one that somebody else uses.

    Args:
        published: the warehouse.
        dialect: whose SQL it is.
        named: how the engine names the tables.
        only: these, and what they stand on; by default all.

    Raises:
        UsageError: there is no table or view of such a name.
        SurroundingsError: a table cannot be read.
    """
    written = published.run.table_versions
    there = [name for name in TABLES if name != _VIEW_IF_UNWRITTEN or name in written]
    views = {name: sql_for(query, dialect) for name, query in view_sql(there).items()}
    below = {name: _names_in(query, dialect) for name, query in views.items()}
    if unknown := sorted({*only} - {*there, *views}):
        raise UsageError(f"Unknown table: {', '.join(unknown)}. See docs/tables.md.")
    wanted = _with_below(only or {*there, *views}, below)
    select = partial(_select, published, dialect, named)
    for name in (name for name in there if name in wanted):
        if name == JOB_RUN:  # somebody may have published since
            newest = newest_version(published.place.files, name)
            yield name, select(name, newest, f"run_number <= {published.run.run_number:d}")
        else:
            yield name, select(name, written.get(name))
    past = _past(published, select) if wanted & _PAST else {}
    for name in (name for name in views if name in wanted):
        yield name, _with_tables(views[name], {n: past[n] for n in past if n in below[name]})


def _names_in(query: str, dialect: str) -> set[str]:
    """Return the names of the tables and views that a view reads."""
    tree = parse_one(query, dialect=dialect)
    within = {each.alias for each in tree.find_all(exp.CTE)}
    return {table.name for table in tree.find_all(exp.Table)} - within


def _with_below(only: Collection[str], below: Mapping[str, set[str]]) -> set[str]:
    """Return names and all that their views stand on: a view stands on what comes before it."""
    wanted = {*only}
    for name in reversed([*below]):
        if name in wanted:
            wanted |= below[name]
    return wanted


def _with_tables(query: str, within: Mapping[str, str]) -> str:
    """Return a SELECT that has tables of its own."""
    tables = ", ".join(f"{name} AS ({select})" for name, select in within.items())
    return f"WITH {tables}, {query.removeprefix('WITH ')}" if within else query


def _past(published: Published, select: Callable[..., str]) -> dict[str, str]:
    """Select the tables as they were before the run that decided last, each cluster's own rows."""
    kept = tables_before(published)
    found = {}
    for name in PAST_TABLES:
        clusters = [cluster for of, cluster in kept if of == name]
        parts = [
            select(
                name, versions_before(published, cluster)[name], f"cluster_id = {sql_text(cluster)}"
            )
            for cluster in clusters
        ]
        found[f"{PAST}_{name}"] = " UNION ALL ".join(parts or [select(name, None)])
    return found


def _select(
    published: Published,
    dialect: str,
    named: Named,
    table: str,
    version: int | None,
    where: str = "",
) -> str:
    """Return the SELECT of the columns of the contract."""
    known: frozenset[str] = frozenset()
    if version is not None:
        known = frozenset(TABLES[table].column_names)
        if table in GROWN:
            there = DeltaTable(published.place.of_table(table), version=version).schema()
            known = frozenset(field.name for field in there.fields)
    columns = ", ".join(
        name if name in known else f"CAST(NULL AS {_type(kind, dialect)}) AS {name}"
        for name, kind, _ in TABLES[table].columns
    )
    rows = "" if version is None else f" FROM {named(table, version)}"
    condition = where if version is not None else "1 = 0"
    return f"SELECT {columns}{rows}{f' WHERE {condition}' * bool(condition)}"


def _type(kind: str, dialect: str) -> str:
    if dialect == "spark":
        return kind
    return exp.DataType.build(kind, dialect="spark").sql(dialect)


def sql_text(text: str) -> str:
    """Write a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def by_place(published: Published) -> Named:
    """Return how Spark names tables: by their place."""

    def named(table: str, version: int) -> str:
        place = published.place.of_table(table).replace("`", "``")
        return f"delta.`{place}` VERSION AS OF {version}"

    return named


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
