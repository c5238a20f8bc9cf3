"""One SELECT in DuckDB's SQL that a person wrote → a statement that may run, or a refusal.

The text is parsed by the very parser that will run it, and nothing of it is bound, let alone run,
until every part of the tree is one of those known to be harmless. What DuckDB calls a SELECT is
not enough: since 2.0 a WITH may hold a COPY, an INSERT, a DELETE, an UPDATE or a MERGE. The tree
is that of ``json_serialize_sql``, which knows queries only; so what it cannot write down is no
query, and refused. It belongs to a version of DuckDB: hence the upper bound in ``pyproject.toml``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import duckdb

from aclkit.errors import UsageError

_Tree = Any
"""What JSON holds: a node is an object with a ``type``; an expression has a ``class`` as well."""

_NODES: Final = frozenset({
    "SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE",
    "BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "EMPTY", "PIVOT",
    "SHOW_REF",
    "ORDER_MODIFIER", "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "DISTINCT_MODIFIER",
    "ORDER_DEFAULT", "ASCENDING", "DESCENDING",
})  # fmt: skip
"""Parts of a query; what writes has nodes of its own, such as ``COPY_QUERY_NODE``."""

_EXPRESSIONS: Final = frozenset({
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT",
    "FUNCTION", "LAMBDA", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "SUBQUERY", "TYPE", "WINDOW",
})  # fmt: skip

_PLAIN: Final = frozenset(
    frozenset(keys.split())
    for keys in (
        "node named_param_map", "expression name", "expr unit", "then_expr when_expr",
        "alias star_expr values", "catalog column schema table", "kind text", "map", "key value",
        "entries pivot_enum pivot_expressions unpivot_names", "path", "id type_info",
        "is_percentage method repeatable sample_rate sample_size seed", "is_null type value",
        "aliases key_targets materialized payload_aggregates query_node",
    )
)  # fmt: skip
"""The fields of objects that are no nodes: those of COPY are others."""

_SHOWN: Final = frozenset({
    '"tables"', '"schemas"', '"databases"', '"variables"', "__show_tables_expanded",
})  # fmt: skip
"""What SHOW lists. Any other name is a table's, or that of a setting: SHOW allowed_paths."""

_CATALOG: Final = frozenset(
    ("information_schema", name) for name in ("columns", "schemata", "tables")
)

_TABLE_FUNCTIONS: Final = frozenset({
    "generate_series", "icu_calendar_names", "json_each", "json_tree", "pg_timezone_names",
    "range", "repeat", "repeat_row", "unnest",
})  # fmt: skip
"""The others read files, reveal settings, or take a text and run it."""

_STABLE: Final = frozenset({"CONSISTENT", "CONSISTENT_WITHIN_QUERY"})
"""DuckDB's words for a function that computes from its arguments, the time and the catalog."""

_VOLATILE: Final = frozenset({"error", "gen_random_uuid", "random", "uuid", "uuidv4", "uuidv7"})
"""Functions with side effects that are none: the others sleep, count up, log or set a seed."""

_UNSTABLE: Final = frozenset({
    # These reveal settings and variables, or plan a text, which opens the text's files.
    "current_setting", "getvariable", "json_serialize_plan",
    # These take bytes for the inside of DuckDB's memory.
    "combine", "combine_aggr", "finalize", "to_aggregate_state", "variant_bytes_to_variant",
})  # fmt: skip
"""Functions that DuckDB calls stable but that are refused, like all called ``__internal…``."""

_OF_THE_PARSER: Final = frozenset({"unnest"})
"""What stands where a function does and is in no list of them."""

_ASKED: Final = (
    "Expected one SELECT (also WITH, VALUES, DESCRIBE, SHOW, or EXPLAIN of a SELECT), because sql "
    "only reads a warehouse."
)

_OPTION: Final = r"(?:ANALYZE|FORMAT '?\w+'?)"
_EXPLAIN: Final = re.compile(rf"EXPLAIN(?: (ANALYZE))?(?: \( ({_OPTION}(?: , {_OPTION})*) \))?")


def checked_statement(connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement:
    """Return the statement of a text once all of it is known to be harmless.

    A function is harmless if all that goes by its name comes with DuckDB, and DuckDB declares it
    free of side effects; or if it is a macro whose definition is harmless. Lists name what is
    an exception, and the few table functions that read nothing. An EXPLAIN is put together anew
    from its options and the question that was checked.

    Args:
        connection: one of ``duck.connect``, which holds no functions of its own.
        text: what a person wrote.

    Raises:
        UsageError: it is no question, or names a relation or a function that is not allowed.
        duckdb.Error: it is no SQL.
    """
    if "\0" in text:
        raise UsageError("Invalid SQL: the text contains the character NUL")
    statement = _only_statement(connection, text)
    if _kind(statement) != "EXPLAIN":
        _check(connection, statement)
        return statement
    options, explained = _split_explain(connection, statement.query)
    _check(connection, explained)
    return _only_statement(connection, f"EXPLAIN {options}{explained.query}")


def _only_statement(connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement:
    statements = connection.extract_statements(text)
    if len(statements) != 1:
        raise UsageError(f"Expected one SELECT, found {len(statements)} statements")
    return statements[0]


def _kind(statement: duckdb.Statement) -> str:
    """Return DuckDB's word for a kind of statement; its Python has none for UPDATE EXTENSIONS."""
    try:
        return str(statement.type.name)
    except ValueError:
        return "this statement"


def _split_explain(
    connection: duckdb.DuckDBPyConnection, text: str
) -> tuple[str, duckdb.Statement]:
    """Return the options of an EXPLAIN, in words of our own, and the statement that it holds.

    That is the first rest of the text that the parser takes, provided that nothing but options
    stands before it.
    """
    encoded, words = text.encode(), ""
    tokens = duckdb.tokenize(text)
    ends = [*(offset for offset, _ in tokens[1:]), len(encoded)]
    for (offset, kind), end in zip(tokens, ends, strict=True):
        options = _EXPLAIN.fullmatch(words)
        if options is not None:
            try:
                (inner,) = connection.extract_statements(encoded[offset:].decode())
            except (duckdb.ParserException, ValueError):
                pass
            else:
                given = [word for word in options.groups() if word]
                return f"({', '.join(given)}) " if given else "", inner
        if kind != duckdb.token_type.comment:
            words = (
                f"{words} {encoded[offset:end].decode(errors='replace').strip().upper()}".lstrip()
            )
    raise UsageError(
        "Invalid SQL: expected EXPLAIN, EXPLAIN ANALYZE or EXPLAIN (ANALYZE, FORMAT json)"
    )


def _check(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> None:
    """Refuse a statement that is no question, or one that is not known to be harmless."""
    kind = _kind(statement)
    if kind == "MULTI":
        raise UsageError(
            "A PIVOT without column values is not allowed, because DuckDB creates a type for "
            "them. Name the values: PIVOT host ON cluster_id IN ('a', 'b') USING count(*)"
        )
    if kind != "SELECT":
        raise _refused(kind)
    walk = _Walk({tuple(names) for names in connection.execute(_VIEWS).fetchall()} | _CATALOG)
    walk.visit(_tree(connection, statement.query))
    _check_functions(connection, walk)


_VIEWS: Final = "SELECT schema_name, lower(view_name) FROM duckdb_views() WHERE NOT internal"


def _tree(connection: duckdb.DuckDBPyConnection, text: str) -> _Tree:
    """Return the tree of the one query of a text."""
    try:
        (written,) = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()[0]
        tree = json.loads(written)
    except RecursionError:
        raise UsageError("Invalid SQL: it is nested too deeply") from None
    if tree["error"] or len(tree["statements"]) != 1:
        raise _refused("Anything but a single query")
    return tree["statements"][0]


def relations(
    connection: duckdb.DuckDBPyConnection, text: str, known: Collection[str]
) -> frozenset[str] | None:
    """Return which relations of a text are known ones, before any of them is opened.

    None where that does not say what it sees: of SHOW and DESCRIBE, of any other name that is none
    of WITH, and of what is no query. It judges nothing: see ``checked_statement``.
    """
    try:
        todo = [_tree(connection, text)]
    except (UsageError, duckdb.Error):
        return None
    found, of_with = set[str](), set[str]()
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            if part.get("type") == "BASE_TABLE":
                found.add(".".join(map(_lower, part["qualified_name"]["path"])))
            elif part.get("type") == "SHOW_REF":
                return None
            of_with |= {
                _lower(entry["key"]) for entry in (part.get("cte_map") or {"map": ()})["map"]
            }
            todo += part.values()
    # A name of WITH may be a known one too, which its own query sees.
    return frozenset(found & {*known}) if found <= of_with | {*known} else None


def _check_functions(connection: duckdb.DuckDBPyConnection, walk: _Walk) -> None:
    """Refuse functions that are not known to be harmless; macros are what they stand for."""
    checked: set[str] = set(_OF_THE_PARSER)
    while names := walk.functions - checked:
        checked |= names
        found: set[str] = set()
        for name, kind, stability, macro in connection.execute(_LOOK_UP, [list(names)]).fetchall():
            found.add(name)
            if kind == "macro":
                walk.visit(_tree(connection, f"SELECT {macro}"))
            elif not _is_harmless(name, stability):
                raise UsageError(f"Invalid SQL: the function {name} is not allowed")
        if unknown := sorted(names - found):
            raise UsageError(
                f"Invalid SQL: the function {unknown[0]} does not exist or is not allowed"
            )


def _is_harmless(name: str, stability: str | None) -> bool:
    if name in _UNSTABLE or name.startswith("__internal"):
        return False
    return stability in _STABLE or name in _VOLATILE


_LOOK_UP: Final = (
    "SELECT DISTINCT lower(function_name), function_type, stability, macro_definition "
    "FROM duckdb_functions() WHERE lower(function_name) IN (SELECT unnest(?::VARCHAR[])) "
    "AND function_type IN ('scalar', 'aggregate', 'window', 'macro')"
)


@dataclass(slots=True)
class _Walk:
    """A way through a parsed statement, which may be deep: no call for each step down.

    Attributes:
        known: schema and name of the tables and views that may be read.
        functions: what it calls, in lower case, table functions aside.
    """

    known: Collection[tuple[str, ...]]
    functions: set[str] = field(default_factory=set)

    def visit(self, tree: _Tree) -> None:
        """Check a tree; each part goes with the names of WITH that it sees."""
        todo: list[tuple[_Tree, frozenset[str]]] = [(tree, frozenset())]
        while todo:
            part, scope = todo.pop()
            if isinstance(part, list):
                todo += ((inner, scope) for inner in part)
            elif isinstance(part, dict):
                self._check(part, scope)
                todo += self._inside(part, scope)

    def _inside(
        self, part: dict[str, _Tree], scope: frozenset[str]
    ) -> Iterator[tuple[_Tree, frozenset[str]]]:
        """Yield what a part is made of; what WITH names sees what was named before it.

        A recursive one sees itself in its second half alone: in the first, its name is a file's.
        """
        for entry in (part.get("cte_map") or {"map": ()})["map"]:
            yield entry["value"], scope
            scope |= {_lower(entry["key"])}
        is_recursive = part.get("type") == "RECURSIVE_CTE_NODE"
        for key, inner in part.items():
            if is_recursive and key == "right":
                yield inner, scope | {_lower(part["cte_name"])}
            elif key == "function" and part.get("type") == "TABLE_FUNCTION":
                # It is in another list than the functions of an expression; its fields are not.
                yield list(inner.values()), scope
            elif key != "cte_map":
                yield inner, scope

    def _check(self, part: dict[str, _Tree], scope: frozenset[str]) -> None:
        """Refuse what is not known to be harmless."""
        kind = part.get("type")
        if "class" in part:
            self._check_expression(part)
        elif not isinstance(kind, str):
            if frozenset(part) not in _PLAIN:
                raise _refused(" ".join(sorted(part)))
        elif kind not in _NODES:
            raise _refused(kind.removesuffix("_NODE").removesuffix("_QUERY"))
        elif kind == "BASE_TABLE":
            self._check_table(part, scope)
        elif kind == "TABLE_FUNCTION":
            name = _function(part["function"])
            if name not in _TABLE_FUNCTIONS:
                raise UsageError(f"Invalid SQL: the table function {name} is not allowed")
        elif kind == "SHOW_REF":
            self._check_show(part, scope)

    def _check_expression(self, part: dict[str, _Tree]) -> None:
        """Refuse an expression of another kind, and note the function that it calls."""
        if part["class"] == "PARAMETER":
            raise UsageError("Expected a SELECT without parameters, found ? or $name in it")
        if part["class"] not in _EXPRESSIONS:
            raise UsageError(f"Invalid SQL: {part['class']} is not allowed")
        if "function_name" in part:
            self.functions.add(_function(part))

    def _check_show(self, part: dict[str, _Tree], scope: frozenset[str]) -> None:
        """Refuse a SHOW of anything but tables, schemas and the columns of a table."""
        kind = part["show_type"]
        if kind == "SHOW":
            self._check_table(part, scope)
        elif kind == "SHOW_SPECIAL":
            if part["table_name"] not in _SHOWN:
                raise UsageError(f"Invalid SQL: SHOW {part['table_name']} is not allowed")
        elif kind not in ("DESCRIBE", "SUMMARY", "SHOW_FROM"):
            raise UsageError(f"Invalid SQL: {kind} is not allowed")

    def _check_table(self, part: dict[str, _Tree], scope: frozenset[str]) -> None:
        """Refuse a relation that is no published one, such as the name of a file."""
        path = [_lower(name) for name in part["qualified_name"]["path"]]
        if len(path) == 1 and path[0] in scope:
            return
        own = path[1:] if path[0] == "memory" else path
        if ("main", *own)[-2:] not in self.known or len(own) > 2:
            known = ", ".join(name for schema, name in sorted(self.known) if schema == "main")
            raise UsageError(
                f"Invalid SQL: the table or view {'.'.join(path)} does not exist. Expected one "
                f"of {known}"
            )


def _function(part: dict[str, _Tree]) -> str:
    """Return the name of a function, which must be one of DuckDB's own."""
    *where, name = (_lower(name) for name in part["qualified_name"]["path"])
    if not {"system", "main", "pg_catalog"}.issuperset(where):
        raise UsageError(
            f"Invalid SQL: the function {'.'.join([*where, name])} does not exist or is not allowed"
        )
    return name


def _lower(name: str) -> str:
    """Write a name as DuckDB compares it: of ASCII only, É is no é."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


def _refused(what: str) -> UsageError:
    return UsageError(f"{what} is not allowed. {_ASKED}")
