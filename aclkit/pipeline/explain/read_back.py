"""The written tables → numbers in the place of their names, a batch of rows at a time.

The tables are read by another engine than wrote them, if they can be (``warehouse.reader``). It
puts numbers in the place of names, so that what is proven of millions of rows is arithmetic, and
no text of theirs is held. A name that no other table knows is an error; see ``faults``.

A ruleset's number is the rank of its hash of 64 bits, which comes of its id and a seed. That all
of them differ is checked; that an id which the table of rulesets lacks has the hash of one that it
has, in a run whose seed is new, is as likely as one in 2^64 for each ruleset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from aclkit.errors import DataError
from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.pipeline.explain.faults import (
    BITS,
    COLUMNS,
    DECISIONS,
    KEYS,
    OPERATIONS,
    RULES,
    TYPES,
    refuse_faults,
    require_once,
)
from aclkit.pipeline.explain.scope import Scope
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.reader import Asks, Reader
from aclkit.warehouse.views import SUPER_RULESET

Numbers = npt.NDArray[np.int64]
"""Of rows: what numpy takes as it is to look others up."""

Few = npt.NDArray[np.int32]
"""Of names: they are held."""

Hashes = npt.NDArray[np.uint64]

SUPER_TYPE: Final = len(TYPES)
"""The number that stands for a type with the ruleset of super users, which has none."""

BIT_OF_OPERATION: Final = np.array([*BITS.values()], np.int32)

_EVERY: Final = {operation for known in OPERATIONS_OF_TYPE.values() for operation in known}
KNOWN: Final = np.array(
    [sum(map(BITS.__getitem__, known)) for known in (*OPERATIONS_OF_TYPE.values(), _EVERY)],
    np.int32,
)
"""The operations of each type, as bits; those of all types for the ruleset of super users."""

OUTCOMES: Final = len(DECISIONS) * len(RULES)
"""How many different things a ruling may say: a decision and a rule."""

_NAMED: Final = {
    "explain_pair": ("principal", "resource", "ruleset"),
    "explain_class_pair": ("class", "resource", "ruleset"),
    "explain_ruling": ("ruleset", "ruling"),
}
"""Table → what the names in its rows are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBack:
    """The tables of a scope as written, with the numbers of their names.

    Attributes:
        written: has the tables.
        names: what is asked about, in the order of its numbers: of ``principal``, ``class``,
            ``resource`` and ``host``, each name a tuple. Rulings have ``<any-other>`` as a host
            where none is left to ask about too; it is the last one then.
        hosts: how many hosts are asked about.
        class_of: the class of each principal.
        is_super: whether it is a super user.
        type_of_resource: the type of each resource.
        rulesets: their hashes.
        type_of_ruleset: the type of each ruleset.
    """

    written: Reader
    names: Mapping[str, Sequence[tuple[str, ...]]]
    hosts: int
    class_of: Few
    is_super: npt.NDArray[np.bool_]
    type_of_resource: Few
    rulesets: Ranks
    type_of_ruleset: Few
    _streams: list[pa.RecordBatchReader] = field(default_factory=list)

    @classmethod
    def of(cls, scope: Scope, written: Reader, seed: int) -> ReadBack:
        """Read the names; refuse any that is not asked about, is missing or occurs twice.

        Raises:
            DataError: it names the row.
        """
        people, hosts, resources = require_inventory(scope, written)
        classes = sorted({row[1] for row in people})
        names: dict[str, Sequence[tuple[str, ...]]] = {
            "principal": [(row[0],) for row in people],
            "class": [(name,) for name in classes],
            "resource": resources,
            "host": [*hosts, *({(ANY_OTHER,)} - {*hosts})],
        }
        for of, rows in names.items():
            schema = pa.schema({"no": pa.int32(), **dict.fromkeys(COLUMNS[of], pa.string())})
            numbered = [(number, *row) for number, row in enumerate(rows)]
            written.give(f"{of}_no", arrow_table(numbered, schema))
        numbers = {name: number for number, name in enumerate(classes)}
        rulesets, types = _read_rulesets(written, seed)
        return cls(
            written=written,
            names=names,
            hosts=len(hosts),
            class_of=np.array([numbers[row[1]] for row in people], np.int32),
            is_super=np.array([row[2] for row in people], np.bool_),
            type_of_resource=np.array([TYPES.index(row[0]) for row in resources], np.int32),
            rulesets=rulesets,
            type_of_ruleset=types,
        )

    def numbers(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table in batches: a column of numbers for each of its names.

        Behind them stands a column of the hashes of rulesets, and of rulings one of the deciding
        ACLs. Host, operation and outcome of a ruling are one number, see ``parts_of``.

        Raises:
            DataError: a row has a name that the table of such names lacks.
        """
        named = _NAMED[table]
        texts = ["deciding_acl_id"] if table == "explain_ruling" else []
        columns = ", ".join([*map(self._number_sql, named), *texts])
        stream = self.written.stream(f"SELECT {columns} {_from(table)}")
        self._streams.append(stream)
        for batch in stream:
            found = {of: batch.column(at).to_numpy() for at, of in enumerate(named)}
            hashes = found["ruleset"]
            found["ruleset"], unknown = self.rulesets.numbers_of(hashes)
            if len(unknown) or any(len(c) and c.min() < 0 for c in found.values()):
                self.refuse()
            yield *found.values(), hashes, *batch.columns[len(named) :]

    def refuse(self) -> NoReturn:
        """Say what is wrong in tables in which something is. It ends what ``numbers`` yields.

        Raises:
            DataError: always.
        """
        while self._streams:
            self._streams.pop().close()
        refuse_faults(self.written)
        raise DataError("The tables are not complete as they were read, but are when read again")

    def ranks_of(self, ids: Collection[str]) -> Numbers:
        """Return the numbers of those of some rulesets that are there."""
        sql = f"SELECT {_hash_sql(self.rulesets.seed)} FROM (SELECT unnest(?) AS ruleset_id)"  # noqa: S608 -- a number
        hashes = [row[0] for row in self.written.rows(sql, sorted(ids))]
        found: Numbers = np.flatnonzero(np.isin(self.rulesets.hashes, np.array(hashes, np.uint64)))
        return found

    def _number_sql(self, of: str) -> str:
        """Return the SQL of a number, -1 where there is none, or of the hash of a ruleset."""
        if of == "ruleset":
            return _hash_sql(self.rulesets.seed)
        return f"CAST(coalesce({_NUMBER[of]}, -1) AS BIGINT)"


class Ranks:
    """Different hashes, sorted, and where each lies among them.

    >>> ranks = Ranks(np.array([5, 1 << 63], np.uint64), 0)
    >>> [found.tolist() for found in ranks.numbers_of(np.array([1 << 63, 5, 5, 6], np.uint64))]
    [[1, 0, 0, 1], [6]]
    """

    def __init__(self, hashes: Hashes, seed: int) -> None:
        """Take sorted hashes; ``seed`` is part of them."""
        padded = np.append(hashes, _GREATEST)
        self.hashes, self.seed, self._padded = padded[:-1], seed, padded
        bits = max(len(hashes).bit_length() - 1, 1)
        self._shift = np.uint64(64 - bits)
        # Of each beginning the first that has it or a greater one.
        counts = np.bincount((hashes >> self._shift).astype(np.int64), minlength=1 << bits)
        self._starts = np.cumsum(counts) - counts

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.hashes)

    def numbers_of(self, hashes: Hashes) -> tuple[Numbers, Hashes]:
        """Return the numbers of hashes, and those that are unknown; equal ones often follow."""
        is_new = np.ones(len(hashes), np.bool_)
        np.not_equal(hashes[1:], hashes[:-1], out=is_new[1:])
        asked = hashes[is_new]
        found = self._starts[(asked >> self._shift).astype(np.int64)]
        later = np.flatnonzero(self._padded[found] < asked)
        while len(later):
            found[later] += 1
            later = later[self._padded[found[later]] < asked[later]]
        unknown = asked[(self._padded[found] != asked) | (found == len(self))]
        lengths = np.diff(np.flatnonzero(np.append(is_new, True)))
        return np.repeat(found, lengths), unknown


def parts_of(rulings: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the numbers of host, operation and outcome that the numbers of rulings stand for.

    >>> parts_of(np.array([5 * 128 + 3 * 8 + 1]))
    (array([5]), array([3]), array([1]))
    """
    at_host, outcome = np.divmod(rulings, OUTCOMES)
    return (*np.divmod(at_host, len(OPERATIONS)), outcome)


def require_inventory(scope: Scope, written: Asks) -> tuple[list[tuple[Any, ...]], ...]:
    """Read the names; refuse any that is not asked about, is missing or occurs twice.

    Returns:
        the rows of ``principal``, with class and whether it is a super user, of ``host`` and of
        ``resource``, sorted.

    Raises:
        DataError: it names the row.
    """
    class_of, supers = scope.classes.class_of, scope.super_users
    people = [(name, class_of[name], name in supers) for name in scope.principal_names]
    resources = [entry.key for entry in scope.inventory.resources]
    return (
        _require_rows(written, "principal", ("principal_class", "is_super_user"), people),
        _require_rows(written, "host", (), [(name,) for name in scope.host_names]),
        _require_rows(written, "resource", (), resources),
    )


def are_repeated(ordered: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which of some sorted numbers equal the one before.

    >>> are_repeated(np.array([4, 4, 5])).tolist()
    [False, True, False]
    """
    found = np.zeros(len(ordered), np.bool_)
    np.equal(ordered[1:], ordered[:-1], out=found[1:])
    return found


def _require_rows(
    written: Asks, table: str, more: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Read a table of the inventory: it has exactly these rows. Return them sorted."""
    columns = ", ".join((*KEYS[table], *more))
    found = Counter(written.rows(f"SELECT {columns} FROM {table}"))  # noqa: S608 -- contract
    expected = Counter(rows)
    if found != expected:
        require_once(written, table)
        lost, unknown = expected - found, found - expected
        what = f"lacks {min(lost)}" if lost else f"has an unknown row: {min(unknown, key=repr)}"
        raise DataError(f"Table {table} ({columns}) {what}")
    return sorted(expected)


def _read_rulesets(written: Reader, seed: int) -> tuple[Ranks, Few]:
    """Return the hashes of the rulesets, each of which is there once, and their types."""
    read = written.arrow(f"SELECT {_hash_sql(seed)}, {_TYPE_NO} FROM ruleset")  # noqa: S608 -- names of the contract
    hashes, types = (column.to_numpy() for column in read.columns)
    order = np.argsort(hashes)
    hashes, types = hashes[order], types[order]
    if are_repeated(hashes).any():
        require_once(written, "ruleset")
        return _read_rulesets(written, seed + 1)
    if len(types) and types.min() < 0:
        refuse_faults(written)
    return Ranks(hashes, seed), types


def _hash_sql(seed: int) -> str:
    return f"hash(ruleset_id, {seed})"


def _from(table: str) -> str:
    """Return a table, joined with the numbers of its names.

    It stands on the left, for it has most rows: of a join the right is kept in memory.
    """
    joins = [f"FROM {table} t"]
    for of in ("host",) if table == "explain_ruling" else _NAMED[table]:
        if of in _GIVEN:
            same = " AND ".join(f"{of}_no.{column} = t.{column}" for column in COLUMNS[of])
            joins.append(f"LEFT JOIN {of}_no ON {same}")
    return " ".join(joins)


def _place_sql(names: Sequence[str], column: str) -> str:
    """Return the SQL of a text's place among a few, from 0 on; null for another text."""
    return f"(list_position({list(names)}, {column}) - 1)"


_GREATEST: Final = np.uint64(2**64 - 1)
_GIVEN: Final = ("principal", "class", "resource", "host")
_NUMBER: Final = {of: f"{of}_no.no" for of in _GIVEN} | {
    "ruling": f"((host_no.no * {len(OPERATIONS)} + {_place_sql(OPERATIONS, 'operation')}) "
    f"* {len(DECISIONS)} + {_place_sql(DECISIONS, 'decision')}) "
    f"* {len(RULES)} + {_place_sql(RULES, 'rule')}"
}
"""What a name is of → the SQL of its number; null where it has none."""
_TYPE_NO: Final = (
    f"CAST(CASE WHEN ruleset_id IS NULL THEN -1 WHEN ruleset_id = '{SUPER_RULESET}' "
    f"THEN {SUPER_TYPE} ELSE coalesce({_place_sql(TYPES, 'resource_type')}, -1) END AS INTEGER)"
)
