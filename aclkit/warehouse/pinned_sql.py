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
from sqlglot import exp, parse_one

from aclkit.errors import UsageError
from aclkit.warehouse.duck import tables_before
from aclkit.warehouse.formats import GROWN
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.published import Published, versions_before
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.spark_sql import sql_for
from aclkit.warehouse.storage import newest_version
from aclkit.warehouse.views import PAST, PAST_TABLES, view_sql

_VIEW_IF_UNWRITTEN: Final = "explain"
_OF_THE_PAST: Final = f"{PAST}_"

_PAST: Final = frozenset(f"{_OF_THE_PAST}{name}" for name in PAST_TABLES)

Named = Callable[[str, int], str]
"""Table and version → how a FROM names it."""


def is_past(name: str) -> bool:
    """Whether a SELECT is one of the past, that the others stand on."""
    return name.startswith(_OF_THE_PAST)


def pinned_sql(
    published: Published, dialect: str, named: Named, only: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the name and the SELECT of each table and view, in an order to create them.

    A table that no run has written has no rows; a column that aclkit did not have then is null.

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
    wanted = _with_below(only, views, dialect) if only else {*there, *views, *_PAST}
    if unknown := sorted(wanted - {*there, *views, *_PAST}):
        raise UsageError(f"Unknown table: {', '.join(unknown)}. See docs/tables.md.")
    select = partial(_select, published, dialect, named)
    for name in (name for name in there if name in wanted):
        if name == JOB_RUN:  # somebody may have published since
            newest = newest_version(published.place.files, name)
            yield name, select(name, newest, f"run_number <= {published.run.run_number:d}")
        else:
            yield name, select(name, written.get(name))
    if wanted.intersection(_PAST):
        yield from _past(published, select)
    yield from ((name, query) for name, query in views.items() if name in wanted)


def _with_below(only: Collection[str], views: Mapping[str, str], dialect: str) -> set[str]:
    """Return names and all that their views stand on: a view stands on what comes before it."""
    wanted = {*only}
    for name in reversed([*views]):
        if name in wanted:
            tree = parse_one(views[name], dialect=dialect)
            within = {each.alias for each in tree.find_all(exp.CTE)}
            wanted |= {table.name for table in tree.find_all(exp.Table)} - within
    return wanted


def _past(published: Published, select: Callable[..., str]) -> Iterator[tuple[str, str]]:
    """Yield the tables as they were before the run that decided last, each cluster's own rows."""
    kept = tables_before(published)
    for name in PAST_TABLES:
        clusters = [cluster for of, cluster in kept if of == name]
        parts = [
            select(
                name, versions_before(published, cluster)[name], f"cluster_id = {_text(cluster)}"
            )
            for cluster in clusters
        ]
        yield f"{_OF_THE_PAST}{name}", " UNION ALL ".join(parts or [select(name, None)])


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


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def by_place(published: Published) -> Named:
    """Return how Spark names tables: by their place."""

    def named(table: str, version: int) -> str:
        place = published.place.of_table(table).replace("`", "``")
        return f"delta.`{place}` VERSION AS OF {version}"

    return named
