"""The pairs of a slice → the cells of ``explain``, principals with one ruleset together. Pure.

A row is a resource, the principals that have the same ruleset there, and what that ruleset decides
for each host and operation. Spark multiplies both lists out, so a decision crosses from Python to
the JVM once for all principals that share it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import parse_principal
from aclkit.pipeline.explain import rows, tasks
from aclkit.pipeline.explain.arrays import Flags, Lists, Numbers, ranges_of, runs_of
from aclkit.pipeline.explain.groups import list_array
from aclkit.pipeline.explain.pairing import NO_SET, Paired
from aclkit.pipeline.explain.ranked_acls import OPERATIONS, TYPES
from aclkit.pipeline.explain.rulings import ANY_HOST, NO_ACL, Ruler
from aclkit.rules.decide.rules import (
    ALLOWED,
    DEFAULT_ALLOW,
    DEFAULT_DENY,
    DENIED,
    MATCHING_ACL,
    SUPER_USER,
)

_TEXT: Final = pa.string()
_PRINCIPAL: Final = pa.struct(
    [("principal", _TEXT), ("principal_type", _TEXT), ("principal_name", _TEXT)]
)
_CELL: Final = pa.struct(
    [
        *(("host", _TEXT), ("operation", _TEXT), ("decision", _TEXT), ("rule", _TEXT)),
        ("deciding_acl_id", _TEXT),
    ]
)
CELLS: Final = pa.schema(
    {
        "resource_type": _TEXT,
        "resource_name": _TEXT,
        "principals": pa.list_(pa.field("element", _PRINCIPAL)),
        "cells": pa.list_(pa.field("element", _CELL)),
    }
)
_CELLS_AT_ONCE: Final = 1_000_000
"""Of so many (principal, resource), and of so many cells of rulesets, lists are made at once."""
_RULES: Final = [SUPER_USER, MATCHING_ACL, DEFAULT_ALLOW, DEFAULT_DENY]
_OPERATIONS_OF: Final = np.array([len(OPERATIONS_OF_TYPE[of_type]) for of_type in TYPES])


def cells(shared: tasks.Shared, batches: tasks.Batches) -> Iterator[pa.Table]:
    """Yield the cells of a partition, resource by resource."""
    for paired in tasks.slices(shared, batches):
        every, most = np.arange(len(paired.resources)), len(shared.prepared.principals)
        for part in ranges_of(np.full(len(every), max(1, most)), _CELLS_AT_ONCE):
            yield from _of_resources(shared, paired, every[part])


def _of_resources(shared: tasks.Shared, paired: Paired, which: Numbers) -> Iterator[pa.Table]:
    """Yield the cells of some resources next to each other."""
    p, principals = shared.prepared, len(shared.prepared.principals)
    known = _Known.of(shared, paired)
    kind = known.kinds(paired, which).reshape(-1)
    # By resource and, within it, by ruleset; principals in their order.
    key = np.repeat(np.arange(len(which)), principals) * known.size + kind
    order = np.argsort(key, kind="stable")
    first, counts, _ = runs_of(key[order])
    resource, of_group = key[order][first] // known.size, key[order][first] % known.size
    hosts = len(p.hosts)
    for part in ranges_of(np.maximum(counts, hosts * OPERATIONS), _CELLS_AT_ONCE):
        of_part = resource[part] + which[0]
        members, lengths = order[first[part][0] :][: int(counts[part].sum())], counts[part]
        table = [
            _texts(TYPES).take(pa.array(paired.resource_type[of_part])),
            _texts([paired.resources.keys[n][1] for n in of_part.tolist()]),
            list_array(
                _principals(tuple(p.principals)).take(pa.array(members % principals)), lengths
            ),
            list_array(*known.cells(of_group[part])),
        ]
        yield pa.table(table, schema=CELLS)


@dataclass(frozen=True, slots=True)
class _Known:
    """The rulesets of a slice: its sets by their numbers, then those without ACLs by types.

    Attributes:
        shared: what every task needs.
        ruler: decides the sets.
        resource_type: of each, a place in ``TYPES``.
    """

    shared: tasks.Shared
    ruler: Ruler
    resource_type: Numbers

    @classmethod
    def of(cls, shared: tasks.Shared, paired: Paired) -> _Known:
        types = np.arange(len(TYPES))
        of_sets = paired.sets.resource_type
        return cls(
            shared,
            Ruler.of(shared.prepared, paired.sets),
            np.concatenate([of_sets, types, types, types]),
        )

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.resource_type)

    @property
    def sets(self) -> int:
        """How many of them have ACLs; no ACL applies, only those of others, super users follow."""
        return self.size - 3 * len(TYPES)

    def kinds(self, paired: Paired, which: Numbers) -> Numbers:
        """Return the ruleset of each principal at each of some resources: [resource, principal]."""
        p, types = self.shared.prepared, paired.resource_type[which]
        found = paired.class_set[which][:, p.class_of]
        subject, resource, number = paired.pairs_of(which)
        found[resource - which[0], subject] = number
        is_reached = paired.resources.lists.counts[which] > 0
        default = self.sets + np.where(is_reached, len(TYPES), 0) + types
        found = np.where(found == NO_SET, default[:, None], found)
        of_super = self.sets + 2 * len(TYPES) + types
        return np.where(self.shared.is_super[None, :], of_super[:, None], found)

    def cells(self, which: Numbers) -> tuple[pa.Array, Numbers]:
        """Return the cells of some rulesets, laid end to end, and how many each has."""
        used, place = np.unique(which, return_inverse=True)
        p, types = self.shared.prepared, self.resource_type[used]
        hosts = len(p.hosts)
        is_known = np.arange(OPERATIONS)[None, :] < _OPERATIONS_OF[types][:, None]
        asked = np.repeat(is_known[:, None, :], hosts, axis=1)
        is_allowed, rule, acl = self._decided(used, hosts)
        ruleset, host, operation = np.nonzero(asked)
        of_cells = pa.StructArray.from_arrays(
            [
                _texts(p.hosts).take(pa.array(host)),
                rows.operation_names(types[ruleset], operation).cast(_TEXT),
                pa.array([DENIED, ALLOWED]).take(pa.array(is_allowed[asked].astype(np.int64))),
                pa.array(_RULES).take(pa.array(rule[asked])),
                p.acl_ids.take(pa.array(acl[asked], mask=acl[asked] == NO_ACL)).cast(_TEXT),
            ],
            fields=list(_CELL),
        )
        counts = hosts * _OPERATIONS_OF[types]
        lists = Lists(np.cumsum(counts) - counts, counts)
        return of_cells.take(pa.array(lists.elements(place)[1])), counts[place]

    def _decided(self, used: Numbers, hosts: int) -> tuple[Flags, Numbers, Numbers]:
        """Decide some rulesets: [ruleset, host, operation] → allowed, place of the rule, ACL."""
        shape = (len(used), hosts, OPERATIONS)
        is_allowed, acl = np.zeros(shape, bool), np.full(shape, NO_ACL)
        found = self.ruler.rule(used[used < self.sets])  # sorted: sets come first
        other = found.host == ANY_HOST
        for out, values in ((is_allowed, found.is_allowed), (acl, found.acl)):
            out[found.set[other], :, found.operation[other]] = values[other][:, None]
            named = found.set[~other], found.host[~other], found.operation[~other]
            out[named] = values[~other]
        rule = np.where(acl != NO_ACL, _RULES.index(MATCHING_ACL), _RULES.index(DEFAULT_DENY))
        kind = (used - self.sets) // len(TYPES)
        if self.shared.allow_everyone:
            is_allowed[kind == 0], rule[kind == 0] = True, _RULES.index(DEFAULT_ALLOW)
        is_allowed[kind == 2], rule[kind == 2] = True, _RULES.index(SUPER_USER)
        return is_allowed, rule, acl


@lru_cache(maxsize=1)
def _principals(names: tuple[str, ...]) -> pa.Array:
    parts = [(name, *parse_principal(name)) for name in names]
    return pa.array([dict(zip(_PRINCIPAL.names, each, strict=True)) for each in parts], _PRINCIPAL)


def _texts(texts: object) -> pa.Array:
    return pa.array(texts, _TEXT)
