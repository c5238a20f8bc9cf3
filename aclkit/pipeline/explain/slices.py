"""Tables too large for this process → all counted by Spark, and slices of them read by DuckDB.

Spark asks the list of faults (``faults``) of all rows; what comes back are counts. DuckDB reads
the tables as it reads small ones (``counted``, ``sample``), narrowed to some resources:

- slices of the sorted resources, drawn by lot for each run, with all of their pairs, and all
  rulings of the rulesets that these have;
- for each stratum of the sample some resources at which a ruling of it decides, drawn by lot
  among all of them: so the cells that are decided again are of all kinds that there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from string import Template
from typing import Final

import numpy as np
import pyarrow as pa

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.pipeline.explain.faults import KEYS
from aclkit.pipeline.explain.rows import default_rulesets
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.entry import Entry
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.reader import Asks

WHOLE: Final = "whole_"
"""Before the name of a table that is narrowed to slices: the name of all of it."""

NARROWED: Final = ("resource", "explain_pair", "explain_class_pair", "ruleset", "explain_ruling")


def counts_of(scope: Scope, asked: Asks) -> dict[str, int]:
    """Return the numbers of rows and decisions of tables in which ``refuse_faults`` found none."""
    ((pairs,),) = asked.rows("SELECT coalesce(sum(pairs), 0) FROM used_by_pair")
    ((rulings,),) = asked.rows("SELECT coalesce(sum(rulings), 0) FROM ruled")
    ((rulesets,),) = asked.rows("SELECT count(*) FROM ruleset")
    of_classes = asked.rows(_CLASS_PAIRS)
    supers = {name for name in scope.principal_names if name in scope.super_users}
    members = Counter(
        scope.classes.class_of[name] for name in scope.principal_names if name not in supers
    )
    decided = sum(
        members[of_class] * len(OPERATIONS_OF_TYPE[of_type]) * count
        for of_class, of_type, count in of_classes
    )
    of_supers = sum(len(OPERATIONS_OF_TYPE[e.resource_type]) for e in scope.inventory.resources)
    return {
        "principal": len(scope.principal_names),
        "resource": len(scope.inventory.resources),
        "host": len(scope.host_names),
        "explain_pair": int(pairs),
        "explain_class_pair": sum(int(count) for *_, count in of_classes),
        "ruleset": rulesets,
        "explain_ruling": int(rulings),
        "rows_decided": len(scope.host_names) * (int(decided) + len(supers) * of_supers),
    }


def drawn_resources(
    scope: Scope, asked: Asks, seed: int, slices: tuple[int, int], most: int
) -> tuple[Entry, ...]:
    """Draw the resources that DuckDB reads.

    Args:
        scope: what is asked about.
        asked: has the steps of ``faults``.
        seed: decides which are drawn.
        slices: how many of how many.
        most: so many cells are to be drawn.
    """
    entries = sorted(scope.inventory.resources, key=lambda entry: entry.key)
    count, of = slices
    random = np.random.default_rng(seed)
    found: set[tuple[str, str]] = set()
    for number in random.choice(of, count, replace=False).tolist() if entries else ():
        start, end = (len(entries) * n // of for n in (number, number + 1))
        found.update(entry.key for entry in entries[start:end])
    found |= _of_strata(asked, str(seed), len(found), most)
    # Super users have a ruleset at every resource: one of each type shows it.
    lots = random.permutation(len(entries)).tolist()
    found.update({entries[place].resource_type: entries[place].key for place in lots}.values())
    return tuple(entry for entry in entries if entry.key in found)


def _of_strata(asked: Asks, seed: str, wanted: int, most: int) -> set[tuple[str, str]]:
    """Return resources at which rulings of strata decide: one of each stratum, up to the most.

    Where there are fewer strata than resources wanted, more rulings of each are drawn.
    """
    asked.see("standing", _STANDING)
    asked.see("lot", Template(_LOT).substitute(most=most, seed=repr(seed)))
    drawn = asked.rows(Template(_DRAWN).substitute(most=most))
    standing = {row[:3] for place, row in enumerate(drawn) if row[3] == 1 or place < wanted}
    schema = pa.schema(dict.fromkeys(("how", "of_class", "ruleset_id"), pa.string()))
    asked.give("drawn", arrow_table(sorted(standing), schema))
    rows = asked.rows(Template(_RESOURCES).substitute(seed=repr(seed)))
    return {(of_type, name) for of_type, name in rows}


def narrow(scope: Scope, written: Asks, resources: Sequence[Entry]) -> Scope:
    """Make a reader of whole tables show the rows about some resources; return their scope."""
    keys = [entry.key for entry in resources]
    schema = pa.schema(dict.fromkeys(KEYS["resource"], pa.string()))
    written.give("drawn_resource", arrow_table(keys, schema))
    for table in ("resource", "explain_pair", "explain_class_pair"):
        written.see(table, _of_drawn(table, "drawn_resource", KEYS["resource"]))
    defaults = ", ".join(f"({ruleset_id!r})" for ruleset_id, *_ in default_rulesets())
    written.keep("drawn_ruleset", Template(_RULESETS).substitute(defaults=defaults))
    for table in ("ruleset", "explain_ruling"):
        written.see(table, _of_drawn(table, "drawn_ruleset", KEYS["ruleset"]))
    return replace(scope, inventory=replace(scope.inventory, resources=tuple(resources)))


def _of_drawn(table: str, drawn: str, key: Iterable[str]) -> str:
    """Return the SELECT of a table's rows about what was drawn."""
    same = " AND ".join(f"d.{column} = w.{column}" for column in key)
    words = {"whole": WHOLE + table, "drawn": drawn, "same": same}
    return Template("SELECT w.* FROM $whole w SEMI JOIN $drawn d ON $same").substitute(words)


_CLASS_PAIRS: Final = """\
SELECT principal_class, resource_type, sum(pairs) AS pairs
FROM used_by_class GROUP BY principal_class, resource_type"""
_RULESETS: Final = """\
SELECT ruleset_id FROM explain_pair
UNION SELECT ruleset_id FROM explain_class_pair
UNION SELECT * FROM (VALUES $defaults) AS d(ruleset_id)"""
# Who has a ruleset, as in ``sample``: a ruling is in a stratum for each of them.
_STANDING: Final = """\
SELECT 'pair' AS how, p.principal_class AS of_class, u.resource_type, u.ruleset_id
FROM used_by_pair u JOIN principal p ON p.principal = u.principal
UNION ALL
SELECT 'class', principal_class, resource_type, ruleset_id FROM used_by_class"""
_LOT: Final = """\
SELECT s.how, s.of_class, s.ruleset_id, md5(concat(s.ruleset_id, $seed)) AS lot,
       row_number() OVER (
           PARTITION BY s.how, s.of_class, s.resource_type, w.is_named, w.decision, w.rule
           ORDER BY md5(concat(s.ruleset_id, $seed)), s.ruleset_id) AS turn
FROM standing s JOIN way w ON w.ruleset_id = s.ruleset_id"""
_DRAWN: Final = """\
SELECT how, of_class, ruleset_id, turn, lot FROM lot
WHERE turn <= $most ORDER BY turn, lot, how, of_class LIMIT $most"""
_RESOURCES: Final = """\
SELECT p.resource_type,
       min_by(p.resource_name, md5(concat(p.resource_name, $seed))) AS resource_name
FROM explain_pair p JOIN drawn d ON d.ruleset_id = p.ruleset_id AND d.how = 'pair'
GROUP BY p.resource_type, p.ruleset_id
UNION
SELECT p.resource_type,
       min_by(p.resource_name, md5(concat(p.resource_name, $seed))) AS resource_name
FROM explain_class_pair p
JOIN drawn d ON d.how = 'class' AND d.of_class = p.principal_class AND d.ruleset_id = p.ruleset_id
GROUP BY p.resource_type, p.principal_class, p.ruleset_id"""
