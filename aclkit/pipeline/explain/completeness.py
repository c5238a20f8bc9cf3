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

from collections.abc import Mapping
from typing import Any, Final
from zlib import crc32

import numpy as np
import pyarrow as pa

from aclkit.errors import DataError
from aclkit.model.acl import Acl, Request
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.explain.counted import Rulings, count_pairs
from aclkit.pipeline.explain.near import Pattern, resources_matched
from aclkit.pipeline.explain.read_back import KEYS, KNOWN, ReadBack
from aclkit.pipeline.explain.sample import Draw, Order
from aclkit.pipeline.explain.scope import Scope
from aclkit.rules.decide.broker_rescan import BrokerRescan
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.match import names_exactly, principal_matches
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.codecs import ACL_COLUMNS, ALIVE_SQL, acl_of
from aclkit.warehouse.reader import Reader

SAMPLE: Final = 1_000
"""How many cells of the view are decided again by the pure rule, at most."""

READ_BACK: Final = (*KEYS, "acl_history")
"""The tables that are looked at, and ``explain`` where it was written."""

Key = tuple[str, str, str]
"""A principal and a resource: its type and name."""


def check_completeness(
    scope: Scope,
    written: Reader,
    settings: BrokerSettings,
    expected: int,
    *,
    is_dense: bool,
    seed: str,
    rows: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Check the tables as written: each decision is there once, a sample equals the pure rule.

    Args:
        scope: what was asked about.
        written: the tables ``READ_BACK``.
        settings: the brokers'.
        expected: how many decisions there must be.
        is_dense: ``explain`` was written and is opened too.
        seed: decides which cells are drawn.
        rows: how many rows of tables this process made, where it knows: the files have as many.

    Returns:
        counts for the run's row.

    Raises:
        DataError: a key twice or missing, a name that does not exist, a ruleset without its
            rulings or without a pair, or a drawn cell that the pure rule decides differently.
    """
    counts, cells = read_counted(scope, written, seed, SAMPLE)
    ((acls,),) = written.rows(f"SELECT count(*) {ALIVE_SQL}")
    counts |= {"acls": acls, "rows_expected": expected}
    for table, count in (rows or {}).items():
        if counts[table] != count:
            raise DataError(f"Expected {count:,} rows in {table}, it has {counts[table]:,}")
    if (decided := counts["rows_decided"]) != expected:
        raise DataError(f"Expected {expected:,} decisions, the written tables have {decided:,}")
    if is_dense:
        ((dense,),) = written.rows("SELECT count(decision) FROM explain")
        if dense != expected:
            raise DataError(f"Expected {expected:,} rows in explain, it has {dense:,}")
    _check_cells(scope, written, settings, cells)
    return counts | {"cells_checked": len(cells)}


def read_counted(
    scope: Scope, written: Reader, seed: str, most: int
) -> tuple[dict[str, int], list[tuple[Any, ...]]]:
    """Read all tables but the ACLs; return the number of rows and decisions, and cells drawn.

    Each of the large ones is read once.
    """
    number = crc32(seed.encode())
    read = ReadBack.of(scope, written, number)
    order = Order.of(read, number)
    pairs = count_pairs(read, order.places)
    rulings, draw = Rulings(read), Draw(read, pairs, order, most)
    for batch in read.numbers("explain_ruling"):
        rulings.add(*batch)
        draw.add(*batch)
    rulings.require_all()
    supers = int(read.is_super.sum()) * int(np.bitwise_count(KNOWN)[read.type_of_resource].sum())
    counts = {name: len(read.names[name]) for name in ("principal", "host", "resource")}
    counts |= {**pairs.counts, "ruleset": len(read.lots), "explain_ruling": rulings.rows}
    counts["rows_decided"] = counts["host"] * (pairs.decided + supers)
    return counts, draw.cells()


def _check_cells(
    scope: Scope, written: Reader, settings: BrokerSettings, cells: list[tuple[Any, ...]]
) -> None:
    """Decide cells again by the pure rule."""
    mine = _acls_of_pairs(scope, written, {(cell[0], cell[3], cell[4]) for cell in cells})
    rescan = BrokerRescan.of(scope.texts.patterns)
    for cell in cells:
        request = Request(**dict(zip(Request.__slots__, cell[:5], strict=True)))
        acls = mine[request.principal, request.resource_type, request.resource_name]
        is_last = rescan.wildcard_is_last(request.resource_type, request.resource_name)
        ruling = decide(acls, request, settings, scope.semantics, wildcard_is_last=is_last)
        right = (ruling.decision, ruling.rule, ruling.acl_id)
        if cell[5:] != right:
            raise DataError(f"{request}: the tables have {cell[5:]}, the rule gives {right}")


def _acls_of_pairs(scope: Scope, written: Reader, pairs: set[Key]) -> dict[Key, list[Acl]]:
    """Read the ACLs that reach each pair's resource and match its principal, without the trie.

    Of the others the rule only asks whether there are any: one stands for them.
    """
    resources = {(kind, name) for _, kind, name in pairs}
    reaching: dict[tuple[str, str], list[Pattern]] = {resource: [] for resource in resources}
    for pattern, resource in resources_matched(scope.texts.patterns, resources, scope.semantics):
        reaching[resource].append(pattern)
    acls = _acls_of(written, {pattern for found in reaching.values() for pattern in found})
    shared = [t for t in scope.texts.principals if not names_exactly(t, scope.semantics)]
    texts_of = {
        who: [t for t in {who, *shared} if principal_matches(t, who, scope.semantics)]
        for who, _, _ in pairs
    }
    found = {}
    for who, kind, name in pairs:
        near = [acls[pattern] for pattern in reaching[kind, name]]
        matching = [acl for of in near for text in texts_of[who] for acl in of.get(text, ())]
        others = [acl for of in near[:1] for same in of.values() for acl in same[:1]]
        found[who, kind, name] = matching or others[:1]
    return found


def _acls_of(written: Reader, patterns: set[Pattern]) -> dict[Pattern, dict[str, list[Acl]]]:
    """Read the ACLs alive of some patterns, by their principal text."""
    schema = pa.schema(dict.fromkeys(_PATTERN, pa.string()))
    written.give("reaching", arrow_table(sorted(patterns), schema))
    found: dict[Pattern, dict[str, list[Acl]]] = {pattern: {} for pattern in patterns}
    for row in written.rows(_REACHING):
        acl = acl_of(row)
        found[acl.pattern].setdefault(acl.principal, []).append(acl)
    return found


_PATTERN: Final = ("resource_type", "pattern_type", "resource_name")
_REACHING: Final = (
    f"SELECT {', '.join(f'h.{field}' for field in ACL_COLUMNS)} FROM acl_history h "  # noqa: S608 -- contract
    f"JOIN reaching r ON {' AND '.join(f'r.{name} = h.{name}' for name in _PATTERN)} "
    "WHERE h.removed_offset IS NULL"
)
