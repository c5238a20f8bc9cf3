"""The written tables → numbers in the place of their names, a batch of rows at a time.

The tables are read by another engine than wrote them, if they can be (``warehouse.reader``). It
puts numbers in the place of names by joins, so that what is proven of millions of rows is
arithmetic, and no text of theirs is held. A name that no other table knows is an error here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from aclkit.errors import DataError
from aclkit.model.enums import AclOperation
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.pipeline.explain.scope import Scope
from aclkit.rules.decide.rules import (
    ALLOWED,
    DEFAULT_ALLOW,
    DEFAULT_DENY,
    DENIED,
    MATCHING_ACL,
    SUPER_USER,
)
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.reader import Reader
from aclkit.warehouse.views import SUPER_RULESET

Numbers = npt.NDArray[np.int32]
Lots = npt.NDArray[np.uint64]

KEYS: Final = {
    "principal": ("principal",),
    "host": ("host",),
    "resource": ("resource_type", "resource_name"),
    "ruleset": ("ruleset_id",),
    "explain_pair": ("principal", "resource_type", "resource_name"),
    "explain_class_pair": ("principal_class", "resource_type", "resource_name"),
    "explain_ruling": ("ruleset_id", "host", "operation"),
}
"""Table → the columns of which no two of its rows have the same values."""

TYPES: Final = tuple(OPERATIONS_OF_TYPE)
SUPER_TYPE: Final = len(TYPES)
"""The number that stands for a type with the ruleset of super users, which has none."""

OPERATIONS: Final = tuple(AclOperation.__members__)
KNOWN: Final = np.array(
    [
        sum(1 << OPERATIONS.index(operation) for operation in known)
        for known in (*OPERATIONS_OF_TYPE.values(), {o for k in OPERATIONS_OF_TYPE.values() for o in k})
    ],
    np.int32,
)
"""The operations of each type as bits; those of all types for the ruleset of super users."""

RULES: Final = (SUPER_USER, MATCHING_ACL, DEFAULT_ALLOW, DEFAULT_DENY)
OUTCOMES: Final = tuple((decision, rule) for decision in (ALLOWED, DENIED) for rule in RULES)
"""What a ruling may say: decision and rule."""

_NAMED: Final = {
    "explain_pair": ("principal", "resource", "ruleset"),
    "explain_class_pair": ("class", "resource", "ruleset"),
    "explain_ruling": ("ruleset", "host", "operation", "outcome"),
}
"""Table → what the names in its rows are of."""

_COLUMNS: Final = {name: KEYS[name] for name in ("principal", "resource", "ruleset", "host")} | {
    "class": ("principal_class",),
    "operation": ("operation",),
    "outcome": ("decision", "rule"),
}
"""What a name is of → the columns that have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBack:
    """The tables of a scope as written, with the numbers of their names.

    Those of rulesets are held by the engine: here are eight bytes and a few more of each.

    Attributes:
        written: has the tables.
        names: what is asked about, in the order of its numbers: of ``principal``, ``class``,
            ``resource`` and ``host``, each name a tuple.
        class_of: the class of each principal.
        is_super: whether it is a super user.
        type_of_resource: the type of each resource.
        type_of_ruleset: the type of each ruleset.
        lots: of each ruleset, from its id and the seed.
    """

    written: Reader
    names: Mapping[str, Sequence[tuple[str, ...]]]
    class_of: Numbers
    is_super: npt.NDArray[np.bool_]
    type_of_resource: Numbers
    type_of_ruleset: Numbers
    lots: Lots

    @classmethod
    def of(cls, scope: Scope, written: Reader, seed: int) -> ReadBack:
        """Read the names; refuse any that is not asked about, is missing or occurs twice.

        Raises:
            DataError: it names the row.
        """
        class_of, supers = scope.classes.class_of, scope.super_users
        people = [(name, class_of[name], name in supers) for name in scope.principal_names]
        people = _require_rows(written, "principal", "principal_class, is_super_user", people)
        hosts = _require_rows(written, "host", "", [(name,) for name in scope.host_names])
        resources = [entry.key for entry in scope.inventory.resources]
        resources = _require_rows(written, "resource", "", resources)
        classes = sorted({row[1] for row in people})
        numbers = {name: number for number, name in enumerate(classes)}
        names = {
            "principal": [(row[0],) for row in people],
            "class": [(name,) for name in classes],
            "resource": resources,
            "host": hosts,
        }
        known = {"operation": [(name,) for name in OPERATIONS], "outcome": OUTCOMES}
        for of, rows in (names | known).items():
            _give_numbers(written, of, rows)
        types, lots = _number_rulesets(written, seed)
        return cls(
            written=written,
            names=names,
            class_of=np.array([numbers[row[1]] for row in people], np.int32),
            is_super=np.array([row[2] for row in people], np.bool_),
            type_of_resource=np.array([TYPES.index(row[0]) for row in resources], np.int32),
            type_of_ruleset=types,
            lots=lots,
        )

    def numbers(self, table: str) -> Iterator[tuple[Numbers, ...]]:
        """Yield the rows of a table in batches, a column of numbers for each of its names.

        Raises:
            DataError: a row has a name that the table of such names lacks.
        """
        named = _NAMED[table]
        columns = ", ".join(f"coalesce({of}_no.no, -1)" for of in named)
        for batch in self.written.stream(f"SELECT {columns} {_from(table)}"):  # noqa: S608 -- names of the contract
            found = tuple(column.to_numpy() for column in batch.columns)
            for of, column in zip(named, found, strict=True):
                if len(column) and column.min() < 0:
                    self._refuse_name(table, of)
            yield found

    def ruleset_ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of a few rulesets."""
        rows = self.written.rows(
            "SELECT no, ruleset_id FROM ruleset_no WHERE list_contains(?, no)", list(numbers)
        )
        return dict(rows)

    def _refuse_name(self, table: str, of: str) -> None:
        """Name the first row of a table whose name another lacks."""
        shown = ", ".join(dict.fromkeys((*KEYS[table], *_COLUMNS[of])))
        row, *_ = self.written.rows(
            f"SELECT {', '.join(f't.{c}' for c in shown.split(', '))} {_from(table)} "  # noqa: S608 -- contract
            f"WHERE {of}_no.no IS NULL ORDER BY ALL LIMIT 1"
        )
        raise DataError(f"Unknown {of} in {table} ({shown}): {row}")


def require_once(written: Reader, table: str) -> None:
    """Refuse a key of a table that occurs twice, where its keys have turned out to be too few.

    Raises:
        DataError: it names the key.
    """
    key = ", ".join(KEYS[table])
    twice = written.rows(
        f"SELECT {key}, count(*) FROM {table} GROUP BY {key} "  # noqa: S608 -- names of the contract
        "HAVING count(*) > 1 ORDER BY ALL LIMIT 1"
    )
    if twice:
        raise DataError(f"Expected one row per {key} in {table}, found {twice[0]}")


def _require_rows(
    written: Reader, table: str, more: str, rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Read a table of the inventory: it has exactly these rows. Return them sorted."""
    require_once(written, table)
    columns = ", ".join(filter(None, (*KEYS[table], more)))
    found = Counter(written.rows(f"SELECT {columns} FROM {table}"))  # noqa: S608 -- contract
    expected = Counter(rows)
    for wrong, what in ((expected - found, "lacks"), (found - expected, "has an unknown row:")):
        if wrong:
            raise DataError(f"Table {table} ({columns}) {what} {min(wrong, key=repr)}")
    return sorted(expected)


def _give_numbers(written: Reader, of: str, rows: Sequence[tuple[str, ...]]) -> None:
    columns = dict.fromkeys(_COLUMNS[of], pa.string())
    schema = pa.schema({"no": pa.int32(), **columns})
    numbered = [(number, *row) for number, row in enumerate(rows)]
    written.give(f"{of}_no", arrow_table(numbered, schema))


def _number_rulesets(written: Reader, seed: int) -> tuple[Numbers, Lots]:
    """Number the rulesets for the engine; return the type of each, and its lot."""
    written.give("type_no", pa.table({"no": range(SUPER_TYPE), "resource_type": TYPES}))
    written.keep("ruleset_no", _RULESET_NO)
    read = written.arrow(f"SELECT no, type_no, hash({seed}, ruleset_id) AS lot FROM ruleset_no")  # noqa: S608 -- a number
    numbers, *columns = (column.to_numpy() for column in read.columns)
    types, lots = np.empty(len(read), np.int32), np.empty(len(read), np.uint64)
    types[numbers], lots[numbers] = columns
    if len(np.unique(lots)) < len(lots):
        require_once(written, "ruleset")
    if len(types) and types.min() < 0:
        row, *_ = written.rows(_OF_NO_TYPE)
        raise DataError(f"Unknown resource_type in ruleset (ruleset_id, resource_type): {row}")
    return types, lots


_RULESET_NO: Final = f"""\
SELECT CAST(row_number() OVER () - 1 AS INTEGER) AS no, s.ruleset_id,
       CAST(CASE WHEN s.ruleset_id = '{SUPER_RULESET}' THEN {SUPER_TYPE}
                 ELSE coalesce(k.no, -1) END AS INTEGER) AS type_no
FROM ruleset s LEFT JOIN type_no k ON k.resource_type = s.resource_type"""  # noqa: S608 -- names of the contract
_OF_NO_TYPE: Final = """\
SELECT s.ruleset_id, s.resource_type
FROM ruleset_no n JOIN ruleset s ON s.ruleset_id = n.ruleset_id
WHERE n.type_no < 0 ORDER BY ALL LIMIT 1"""


def _from(table: str) -> str:
    """Return the rows of a table with the numbers of their names, null where there are none.

    The table, which has most rows, stands on the left: of a join the right is kept in memory.
    """
    joins = [f"FROM {table} t"]
    for of in _NAMED[table]:
        same = " AND ".join(f"{of}_no.{column} = t.{column}" for column in _COLUMNS[of])
        joins.append(f"LEFT JOIN {of}_no ON {same}")
    return " ".join(joins)
