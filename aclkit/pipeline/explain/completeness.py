"""The written tables → every decision counted and a sample decided again, or a failed run.

What is proven is proven of the files, read back by another engine than wrote them, if they can be:

- the names asked about are those of the scope, each once, with its class (``read_back``);
- every key is there once; every class has a ruleset for every resource, every ruleset a row, a pair
  and a ruling of each operation of its type, and nothing names what does not exist (``counted``);
- so every cell of the view ``explain`` has one decision. That it is also right is looked at in a
  sample of all kinds of decisions (``sample``), by the pure rule.

That a pair of a principal's own is missing no count of the files shows: the principal then has the
ruleset of its class. It shows where the ruleset has no other pair, and in the number of rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

import numpy as np
import pyarrow as pa

from aclkit.errors import DataError
from aclkit.model.acl import Acl, Request
from aclkit.model.groups import grouped
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.pipeline.explain.counted import CountedRulings, count_pairs
from aclkit.pipeline.explain.faults import KEYS, refuse_faults
from aclkit.pipeline.explain.output import Output
from aclkit.pipeline.explain.read_back import KNOWN, ReadBack, require_inventory
from aclkit.pipeline.explain.sample import Draw, Order
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.explain.slices import NARROWED, WHOLE, counts_of, drawn_resources, narrow
from aclkit.pipeline.plan import slices_to_read
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.match import (
    has_wildcard,
    names_exactly,
    pattern_matches,
    principal_matches,
    start_of_names,
)
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.codecs import ACL_COLUMNS, ALIVE_SQL, acl_of
from aclkit.warehouse.reader import Asks, Reader

SAMPLE: Final = 1_000
"""How many cells of the view are decided again by the pure rule, at most."""

READ_BACK: Final = (*KEYS, "acl_history")
"""The tables that are looked at, and ``explain`` where it was written."""

SLICED: Final = {f"{WHOLE}{name}" if name in NARROWED else name: name for name in READ_BACK}
"""What this process calls them where they are too large for it → their names."""

SLICES_READ: Final = "slices_read"
SLICES: Final = "slices"
"""The counts of a run: so many slices of the resources were read back by DuckDB, of so many."""

Pattern = tuple[str, str, str]
"""Resource type, pattern type and name."""

Cell = tuple[Any, ...]
"""The values of ``sample.CELL``."""


def check_completeness(
    scope: Scope,
    written: Reader,
    settings: BrokerSettings,
    expected: int,
    *,
    is_dense: bool,
    seed: str,
    rows: Mapping[str, int] | None = None,
    asked: Asks | None = None,
) -> dict[str, int]:
    """Check the tables as written: each decision is there once, a sample equals the pure rule.

    Args:
        scope: what was asked about.
        written: the tables ``READ_BACK``, or where ``asked`` is given those of ``SLICED``.
        settings: the brokers'.
        expected: how many decisions there must be.
        is_dense: ``explain`` was written and is opened too.
        seed: decides which cells are drawn, and which slices.
        rows: how many rows of tables this process made, where it knows: the files have as many.
        asked: Spark, of all tables, where they are too large for this process, which then reads
            slices; see ``slices``.

    Returns:
        counts for the run's row.

    Raises:
        DataError: a key twice or missing, a name that does not exist, a ruleset without its
            rulings or without a pair, or a drawn cell that the pure rule decides differently.
    """
    if asked is None:
        counts, cells = read_counted(scope, written, seed, SAMPLE)
    else:
        counts, cells = read_sliced(scope, written, asked, seed, SAMPLE)
    ((acls,),) = written.rows(f"SELECT count(*) {ALIVE_SQL}")
    counts |= {"acls": acls, "rows_expected": expected}
    for table, count in (rows or {}).items():
        if counts.get(table, count) != count:
            raise DataError(f"Expected {count:,} rows in {table}, it has {counts[table]:,}")
    if (decided := counts["rows_decided"]) != expected:
        raise DataError(f"Expected {expected:,} decisions, the written tables have {decided:,}")
    if is_dense:
        ((dense,),) = (asked or written).rows("SELECT count(decision) FROM explain")
        if dense != expected:
            raise DataError(f"Expected {expected:,} rows in explain, it has {dense:,}")
    _check_cells(scope, written, settings, cells)
    return counts | {"cells_checked": len(cells)}


@contextmanager
def open_written(output: Output, *, is_dense: bool) -> Iterator[tuple[Reader, Asks | None]]:
    """Open what ``check_completeness`` looks at, for this process, and for Spark if it is large."""
    tables = (*READ_BACK, "explain") if is_dense else READ_BACK
    if not output.is_large:
        with output.ask(*tables) as written:
            yield written, None
        return
    versions = output.store.versions
    here = {name: (table, versions.get(table)) for name, table in SLICED.items()}
    every = {table: (table, versions.get(table)) for table in tables}
    with output.ask_here(here) as written, output.ask_all(every) as asked:
        yield written, asked


def note_on_slices(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield what a run says of who read back its tables, where Spark did.

    >>> next(note_on_slices({"slices_read": 4, "slices": 80}))
    'Spark counted all written decisions; DuckDB read 4 of 80 slices of the resources too.'
    """
    if SLICES in counts:
        yield (
            f"Spark counted all written decisions; DuckDB read {counts[SLICES_READ]:,} of "
            f"{counts[SLICES]:,} slices of the resources too."
        )


def read_counted(
    scope: Scope, written: Reader, seed: str, most: int
) -> tuple[dict[str, int], list[Cell]]:
    """Read all tables but the ACLs; return the number of rows and decisions, and cells drawn.

    Each of the large ones is read once.
    """
    number = crc32(seed.encode())
    read = ReadBack.of(scope, written, number)
    order = Order.of(read, number)
    pairs = count_pairs(read, order.places)
    rulings, draw = CountedRulings(read), Draw(read, pairs, order, most)
    for ruleset, ruling, hashes, acl_ids in read.numbers("explain_ruling"):
        rulings.add(ruleset, ruling)
        draw.add(ruleset, ruling, hashes, acl_ids)
    drawn = draw.drawn()
    is_taken = rulings.require_all(rulings.keys(*draw.tried(drawn)))
    supers = int(read.is_super.sum()) * int(np.bitwise_count(KNOWN)[read.type_of_resource].sum())
    counts = {name: len(read.names[name]) for name in ("principal", "resource")}
    counts["host"] = read.hosts
    counts |= {**pairs.counts, "ruleset": len(read.rulesets), "explain_ruling": rulings.rows}
    counts["rows_decided"] = counts["host"] * (pairs.decided + supers)
    return counts, draw.cells(drawn, is_taken)


def read_sliced(
    scope: Scope, written: Reader, asked: Asks, seed: str, most: int
) -> tuple[dict[str, int], list[Cell]]:
    """Let Spark count all rows, and read slices; return the same counts, and those of slices."""
    number = crc32(seed.encode())
    written.see("resource", f"FROM {WHOLE}resource")
    require_inventory(scope, written)
    refuse_faults(asked)
    counts = counts_of(scope, asked)
    rows = counts["explain_pair"] + counts["explain_class_pair"] + counts["explain_ruling"]
    slices = slices_to_read(pairs=scope.pairs, rows=rows, resources=counts["resource"])
    drawn = drawn_resources(scope, asked, number, slices, most)
    _, cells = read_counted(narrow(scope, written, drawn), written, seed, most)
    return counts | dict(zip((SLICES_READ, SLICES), slices, strict=True)), cells


def _check_cells(
    scope: Scope, written: Reader, settings: BrokerSettings, cells: Sequence[Cell]
) -> None:
    """Decide cells again by the pure rule."""
    requests = [Request(**dict(zip(Request.__slots__, cell, strict=False))) for cell in cells]
    near = _Near.of(scope, written, requests, with_others=settings.allow_everyone)
    rescan = BrokerRescan.of(scope.texts.patterns)
    for cell, request in zip(cells, requests, strict=True):
        is_last = rescan.wildcard_is_last(request.resource_type, request.resource_name)
        acls = near.acls_for(request)
        ruling = decide(acls, request, settings, scope.semantics, wildcard_is_last=is_last)
        right = (ruling.decision, ruling.rule, ruling.acl_id)
        if cell[5:] != right:
            raise DataError(f"{request}: the tables have {cell[5:]}, the rule gives {right}")


@dataclass(frozen=True, slots=True)
class _Near:
    """The ACLs that may match some requests, found without the trie.

    Attributes:
        patterns_of: the patterns that match each resource.
        texts_of: the principal texts of ACLs that match each principal.
        acls: pattern and principal text → host, or ``_WIDE`` for one that may match several → ACLs.
        others: an ACL of a pattern, of any principal: the rule only asks whether there is one.
    """

    patterns_of: Mapping[tuple[str, str], Sequence[Pattern]]
    texts_of: Mapping[str, Sequence[str]]
    acls: Mapping[tuple[str, ...], Mapping[str, Sequence[Acl]]]
    others: Mapping[Pattern, Acl]

    @classmethod
    def of(
        cls, scope: Scope, written: Reader, requests: Sequence[Request], *, with_others: bool
    ) -> _Near:
        """Read the ACLs for some requests."""
        semantics = scope.semantics
        asked = {request.resource for request in requests}
        patterns_of = grouped(_matching(scope.texts.patterns, asked, semantics))
        shared = [text for text in scope.texts.principals if not names_exactly(text, semantics)]
        texts_of = {
            who: [text for text in {who, *shared} if principal_matches(text, who, semantics)]
            for who in {request.principal for request in requests}
        }
        wanted = {
            (*pattern, text)
            for request in requests
            for pattern in patterns_of.get(request.resource, ())
            for text in texts_of[request.principal]
        }
        of_all = sorted({pattern for patterns in patterns_of.values() for pattern in patterns})
        acls = grouped(
            ((*acl.pattern, acl.principal), acl)
            for acl in _read_acls(written, "wanted", (*_PATTERN, "principal"), sorted(wanted))
        )
        others = _read_acls(written, "near", _PATTERN, of_all if with_others else [])
        return cls(
            patterns_of,
            texts_of,
            {key: grouped((_host_of(acl), acl) for acl in same) for key, same in acls.items()},
            {acl.pattern: acl for acl in others},
        )

    def acls_for(self, request: Request) -> list[Acl]:
        """Return the ACLs that may match a request, or if none does one that is another's."""
        patterns = self.patterns_of.get(request.resource, ())
        texts = self.texts_of[request.principal]
        found = [self.acls.get((*pattern, text), {}) for pattern in patterns for text in texts]
        mine = [acl for by in found for host in (request.host, _WIDE) for acl in by.get(host, ())]
        return mine or [self.others[pattern] for pattern in patterns[:1] if self.others]


def _matching(
    patterns: Iterable[Pattern], resources: Collection[tuple[str, str]], semantics: Semantics
) -> Iterator[tuple[tuple[str, str], Pattern]]:
    """Yield a few resources with each pattern that matches them, by the specification.

    A pattern is tried on the sorted names that begin with its text, or if it is LITERAL equal it.
    """
    names = grouped(sorted(resources))
    for pattern in patterns:
        resource_type, kind, text = pattern
        start, is_whole = start_of_names(kind, text, semantics)
        known = names.get(resource_type, [])
        for at in range(bisect_left(known, start), len(known)):
            name = known[at]
            if not name.startswith(start) or (is_whole and name != start):
                break
            if pattern_matches(kind, text, name, semantics):
                yield (resource_type, name), pattern


def _read_acls(
    written: Reader, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[Acl]:
    """Read the ACLs in force that have the values of one of some rows."""
    written.give(name, arrow_table(rows, pa.schema(dict.fromkeys(columns, pa.string()))))
    same = " AND ".join(f"n.{column} = h.{column}" for column in columns)
    fields = ", ".join(f"h.{field}" for field in ACL_COLUMNS)
    sql = f"SELECT {fields} FROM acl_history h JOIN {name} n ON {same} "  # noqa: S608 -- names of the contract
    return [acl_of(row) for row in written.rows(f"{sql} WHERE h.removed_offset IS NULL")]


def _host_of(acl: Acl) -> str:
    """Return the only host that an ACL may match, or ``_WIDE``."""
    return _WIDE if has_wildcard(acl.host) or "/" in acl.host else acl.host


_WIDE: Final = "*"
_PATTERN: Final = ("resource_type", "pattern_type", "resource_name")
