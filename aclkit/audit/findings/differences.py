"""Two readings of the same ACLs → which ACLs they read differently, and how much depends on it.

Wherever two readings decide differently, an ACL that they read differently decided in one of
them: what both read alike hits in both. Only between DefaultAllow and DefaultDeny nothing
decided; there the ACLs count that reach the resource in one reading alone.

Whether an ACL reads oddly hangs on one of its texts at a time: its pattern, its principal, its
host, or its operation and permission on the type. A cluster has few of these and perhaps millions
of ACLs, so each text is looked at once, and of the ACLs only those with an odd one are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa

from aclkit.audit.findings.readings import READS_DIFFERENTLY, reads_differently
from aclkit.audit.findings.registry import find_by_texts, find_readings
from aclkit.model.acl import BINDING, Acl, acl_words
from aclkit.model.findings import Finding
from aclkit.model.phrases import number_of
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042, PRESETS, Semantics, other_reading
from aclkit.pipeline.explain.decided import MaterializeOptions
from aclkit.pipeline.explain.differing import (
    DECIDED_TABLES,
    DIFFERING,
    INVENTORY_TABLES,
    SUSPECT,
    differing_steps,
)
from aclkit.pipeline.explain.materialize import MaterializeResult, decide_scope
from aclkit.pipeline.explain.output import Output
from aclkit.pipeline.explain.scope import Scope, of_inventory
from aclkit.pipeline.inventory.entry import Entry
from aclkit.pipeline.inventory.survey import Inventory, Texts
from aclkit.rules.patterns.identity import IdentityIndex, index_principals
from aclkit.rules.patterns.match import PREFIXED, has_wildcard, names_exactly
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.runtime.arrow import arrow_table, rows_of
from aclkit.runtime.progress import step
from aclkit.warehouse.codecs import ALIVE_SQL, acl_of, acl_sql
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.reader import Asks, Reader, read_written
from aclkit.warehouse.run import Run
from aclkit.warehouse.store import Store, scratch_store

_SUSPECT: Final = pa.schema({"acl_id": pa.string()})
_IN_ORDER: Final = f"FROM {DIFFERING} ORDER BY resource_type, resource_name, example"
_MOST_EXAMPLES: Final = 5
"""Of so many resources a decision that differs is shown for an ACL."""


def note_readings(run: Run, result: MaterializeResult, options: MaterializeOptions) -> None:
    """Add the findings about how ACLs are read, and what depends on the reading."""
    with step("Comparing the readings"):
        with read_written(run.store, run.cluster_id, "acl_history") as read:
            acls = read_suspicious_acls(read, result.scope.texts, result.scope.semantics)
        run.findings.extend(find_readings(acls, result.scope.semantics))
        by_id = {acl.acl_id: acl for acl in acls}
        suspects = {i: (by_id[i], reason) for i, reason in reads_differently(acls).items()}
        differing = find_differing(result, suspects, options)
        run.findings.extend(_finding(*each, differing) for each in suspects.values())
        run.notes.append(differing.words(len(suspects), other_reading(result.scope.semantics)))


@dataclass(slots=True)
class Differing:
    """The decisions of the inventory that two readings make differently.

    Attributes:
        total: how many.
        counts: id of an ACL → how many of them it causes.
        examples: id of an ACL → some of these, in words.
    """

    total: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def words(self, suspects: int, other: Semantics) -> str:
        """Write how the presets differ, and how many of this run's decisions the other changes."""
        if not suspects:
            return "The presets kip-1042 and kafka give the same decisions for every possible name."
        name = next(name for name, preset in PRESETS.items() if _is_like(preset, other))
        return (
            f"The presets kip-1042 and kafka read {number_of(suspects, 'ACL')} differently (see "
            f"reads-differently). Under {name}, "
            f"{number_of(self.total, 'decision') if self.total else 'no decision'} of this run "
            "would change."
        )


def find_differing(
    result: MaterializeResult,
    suspects: Mapping[str, tuple[Acl, str]],
    options: MaterializeOptions,
) -> Differing:
    """Decide everything in the other reading too and count what each suspect ACL changes.

    Args:
        result: the run's materialize.
        suspects: ACL id → the ACL and how the readings differ on it.
        options: of the run's materialize.
    """
    ours = result.scope
    theirs = replace(ours, semantics=other_reading(ours.semantics))
    read = Suspects.of([acl for acl, _ in suspects.values()], ours.semantics, theirs.semantics)
    allow_everyone = options.settings.allow_everyone
    affected = read.affected(ours.inventory, allow_everyone=allow_everyone)
    if not affected.resources or not affected.principals:
        return Differing()
    theirs = replace(theirs, inventory=affected)
    rows = _rows_that_differ(result.output, theirs, suspects, options)
    return _count(rows, read)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspects:
    """ACLs that two readings take differently, indexed under both.

    Attributes:
        acls: the ACLs.
        patterns: their patterns, each with its ACL's place in ``acls``.
        principals: their principals.
        by_identity: places of those whose principal or host the readings take differently.
    """

    acls: Sequence[Acl]
    patterns: tuple[PatternIndex, PatternIndex]
    principals: tuple[IdentityIndex, IdentityIndex]
    by_identity: frozenset[int]

    @classmethod
    def of(cls, acls: Sequence[Acl], ours: Semantics, theirs: Semantics) -> Suspects:
        """Index ACLs under two readings."""
        rows = [(n, a.resource_type, a.pattern_type, a.resource_name) for n, a in enumerate(acls)]
        names = {acl.principal for acl in acls}
        return cls(
            acls=acls,
            patterns=(PatternIndex.build(rows, ours), PatternIndex.build(rows, theirs)),
            principals=(index_principals(names, ours), index_principals(names, theirs)),
            by_identity=frozenset(n for n, acl in enumerate(acls) if _is_read_by_identity(acl)),
        )

    def affected(self, inventory: Inventory, *, allow_everyone: bool) -> Inventory:
        """Return the resources and principals for which the ACLs can make a difference.

        A resource is affected if an ACL applies to it in only one reading, or in both while the
        readings take the ACL's principal or host differently. A principal is affected if an ACL
        matches it in either reading. Where allow.everyone holds, an ACL that applies to a resource
        in only one reading affects every principal.
        """
        resources = [e for e in inventory.resources if self._is_affected(e)]
        if allow_everyone and any(
            self.reaching_in_one_reading(e.resource_type, e.name) for e in resources
        ):
            return replace(inventory, resources=tuple(resources))
        principals = [
            e for e in inventory.principals if any(i.matching(e.name) for i in self.principals)
        ]
        return replace(inventory, principals=tuple(principals), resources=tuple(resources))

    def reaching_in_one_reading(self, resource_type: str, name: str) -> set[str]:
        """Return the ids of the ACLs that reach a resource in one reading alone."""
        ours, theirs = (set(index.matches(resource_type, name)) for index in self.patterns)
        return {self.acls[number].acl_id for number in ours ^ theirs}

    def _is_affected(self, entry: Entry) -> bool:
        ours, theirs = (set(i.matches(entry.resource_type, entry.name)) for i in self.patterns)
        return bool(ours ^ theirs or ours & self.by_identity)


def _is_read_by_identity(acl: Acl) -> bool:
    is_one = acl.principal == WILDCARD_PRINCIPAL or names_exactly(acl.principal, KIP_1042)
    return not is_one or (acl.host != "*" and has_wildcard(acl.host))


def _is_like(one: Semantics, other: Semantics) -> bool:
    return one == replace(other, deciding_acl=one.deciding_acl, cidr_hosts=one.cidr_hosts)


def _rows_that_differ(
    ours: Output, theirs: Scope, suspects: Iterable[str], options: MaterializeOptions
) -> Iterator[Sequence[Any]]:
    """Decide a scope in their reading, and yield what this run's tables decide otherwise."""
    given = {SUSPECT: arrow_table([(acl_id,) for acl_id in suspects], _SUSPECT)}
    inventory = of_inventory(theirs)
    for table in INVENTORY_TABLES:
        given[f"theirs_{table}"] = arrow_table(inventory[table], arrow_schema(table))
    asked = _versions("ours", ours.store, (*INVENTORY_TABLES, *DECIDED_TABLES))
    with scratch_store(ours.store) as store:
        decide_scope(ours, theirs, store, options)
        beside = store, _versions("theirs", store, DECIDED_TABLES)
        yield from _ask(ours.ask_all(asked, beside), given)


def _versions(side: str, store: Store, names: Iterable[str]) -> dict[str, tuple[str, int | None]]:
    return {f"{side}_{table}": (table, store.versions.get(table)) for table in names}


def _ask(
    opened: AbstractContextManager[Asks], given: Mapping[str, pa.Table]
) -> Iterator[Sequence[Any]]:
    with opened as read:
        for name, rows in given.items():
            read.give(name, rows)
        # One at a time: all at once they would hold twice as much, and take twice as long.
        for name, sql in differing_steps().items():
            read.keep(name, sql)
        # Of many suspects there are as many rows as resources that each decides on.
        for batch in read.stream(_IN_ORDER):
            yield from rows_of(batch.columns)


def _count(rows: Iterable[Sequence[Any]], suspects: Suspects) -> Differing:
    """Count the decisions that differ, for each ACL that decided or kept the default away."""
    known = {acl.acl_id for acl in suspects.acls}
    found = Differing()
    for kind, name, ours, theirs, is_default, decisions, example in rows:
        behind = {ours, theirs} & known
        if is_default:
            behind = suspects.reaching_in_one_reading(kind, name)
        found.total += decisions
        found.counts.update(dict.fromkeys(behind, decisions))
        for acl_id in behind:
            shown = found.examples.setdefault(acl_id, [])
            if len(shown) < _MOST_EXAMPLES:
                shown.append(_example(Resource(kind, name), *example))
    return found


def _example(what: Resource, who: str, operation: str, host: str, ours: str, theirs: str) -> str:
    asked = f"{operation} on {what} for {who} from {host}"
    return f"for example, {asked}: {ours}, under the other preset {theirs}"


def _finding(acl: Acl, reason: str, differing: Differing) -> Finding:
    decisions = differing.counts[acl.acl_id]
    number = number_of(
        decisions, "decision on known names differs", "decisions on known names differ"
    )
    return READS_DIFFERENTLY.about(
        acl,
        f"{acl_words(acl)} depends on how ACLs are read: {reason}. {number}.",
        severity="medium" if decisions else "info",
        evidence=(reason, number, *differing.examples.get(acl.acl_id, ())),
    )


PLAIN: Final = Acl(
    acl_id="",
    resource_type="TOPIC",
    resource_name="",
    pattern_type=PREFIXED,
    principal="User:plain",
    host="*",
    operation="ALL",
    permission_type="ALLOW",
)
"""An ACL without findings, whatever its resource type: every name begins with its empty name."""


def read_suspicious_acls(read: Reader, texts: Texts, semantics: Semantics) -> list[Acl]:
    """Read the ACLs alive that have an odd text or that are there twice, by their ids.

    Args:
        read: has ``acl_history``.
        texts: what the ACLs alive are made of.
        semantics: how ACLs are read.
    """
    known: dict[tuple[str, ...], Iterable[tuple[str, ...]]] = {
        ("resource_type", "pattern_type", "resource_name"): texts.patterns,
        ("principal",): zip(texts.principals, strict=True),
        ("host",): zip(texts.hosts, strict=True),
        _ACTION: read.rows(f"SELECT DISTINCT {', '.join(_ACTION)} {ALIVE_SQL}"),
    }
    conditions = [_TWICE]
    for columns, found in known.items():
        name, listed = f"odd_{columns[-1]}", ", ".join(columns)
        schema = pa.schema(dict.fromkeys(columns, pa.string()))
        read.give(name, arrow_table(odd_texts(columns, found, semantics), schema))
        conditions.append(f"({listed}) IN (FROM {name} SELECT ({listed}))")
    rest = f"{ALIVE_SQL} AND ({' OR '.join(conditions)}) ORDER BY acl_id"
    return list(map(acl_of, read.rows(acl_sql(rest))))


def odd_texts(
    columns: Sequence[str], known: Iterable[tuple[str, ...]], semantics: Semantics
) -> list[tuple[str, ...]]:
    """Return those texts of some columns that cause a finding in any ACL.

    >>> from aclkit.model.semantics import KIP_1042
    >>> odd_texts(["host"], [("10.0.0.1",), ("localhost",)], KIP_1042)
    [('localhost',)]
    """
    trials = ((text, replace(PLAIN, **dict(zip(columns, text, strict=True)))) for text in known)
    return [text for text, acl in trials if _is_odd(acl, semantics)]


def _is_odd(acl: Acl, semantics: Semantics) -> bool:
    return bool(reads_differently([acl])) or any(find_by_texts([acl], semantics))


_ACTION: Final = ("resource_type", "operation", "permission_type")
_BINDING: Final = f"hash({', '.join(BINDING)})"
# Whether equal numbers stand for equal ACLs is seen by who looks for duplicates.
_TWICE: Final = f"{_BINDING} IN (SELECT {_BINDING} {ALIVE_SQL} GROUP BY ALL HAVING count(*) > 1)"
