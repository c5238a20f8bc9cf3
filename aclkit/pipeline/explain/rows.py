"""Pairs, sets and rulings in numbers → rows of the contract, in columns of Arrow. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.pipeline.explain.arrays import Numbers
from aclkit.pipeline.explain.groups import hashed, joined, list_array
from aclkit.pipeline.explain.pairing import NO_SET, Paired, Sets
from aclkit.pipeline.explain.prepared import AMONG_ALL, AMONG_DENIES, Prepared
from aclkit.pipeline.explain.ranked_acls import OPERATIONS, TYPES
from aclkit.pipeline.explain.rulings import LOOKS, NO_ACL, Ruler, Rulings
from aclkit.rules.decide.rules import (
    ALLOWED,
    DEFAULT_ALLOW,
    DEFAULT_DENY,
    DENIED,
    MATCHING_ACL,
    SUPER_USER,
)
from aclkit.warehouse.views import SUPER_RULESET

ROWS_OF_A_PART: Final = 400_000
"""About so many pairs, a range of resources, are sorted by principal: so questions about one
resource or one principal read a few row groups."""

_WORD_OF: Final = {AMONG_DENIES: "deny", AMONG_ALL: "all"}
_OPERATIONS: Final = [*dict.fromkeys(name for t in TYPES for name in OPERATIONS_OF_TYPE[t])]
_OPERATION_OF: Final = np.array(
    [
        [_OPERATIONS.index(name) for name in known] + [0] * (OPERATIONS - len(known))
        for known in (OPERATIONS_OF_TYPE[of_type] for of_type in TYPES)
    ]
)
"""[type, operation of it] → its place among all operations."""


def group_rows(p: Prepared) -> pa.Table:
    """Return the rows of ``ruleset_group``."""
    resource_types, kinds, names = (
        _texts([pattern[part] for pattern in p.patterns]) for part in range(3)
    )
    pattern = pa.array(p.groups.pattern)
    return pa.table(
        {
            "cluster_id": pa.repeat(p.cluster_id, len(pattern)),
            "group_id": p.groups.ids,
            "resource_type": resource_types.take(pattern),
            "resource_name": names.take(pattern),
            "pattern_type": kinds.take(pattern),
            "principal": _take(_texts(p.acl_principals), p.groups.principal),
            "acl_ids": p.groups.acl_ids,
        }
    )


def pair_rows(p: Prepared, paired: Paired, ids: pa.Array) -> Iterator[pa.Table]:
    """Yield the rows of ``explain_pair`` in parts; ``ids`` are those of the sets."""
    principals, names = _texts(p.principals), _names(paired)
    for subject, resource, number in paired.pairs(ROWS_OF_A_PART):
        yield pa.table(
            {
                "cluster_id": _same(p.cluster_id, len(subject)),
                "principal": _few(principals, subject),
                **_resources(paired, names, resource),
                "ruleset_id": _few(ids, number),
            }
        )


def class_pair_rows(p: Prepared, paired: Paired, ids: pa.Array) -> pa.Table:
    """Return the rows of ``explain_class_pair``: a set's id, or the ruleset of a default."""
    defaults = _texts([f"{word}:{t}" for word in (NONE, OTHER) for t in TYPES])
    is_reached = paired.resources.lists.counts > 0
    default = len(ids) + np.where(is_reached, len(TYPES), 0) + paired.resource_type
    number = np.where(paired.class_set == NO_SET, default[:, None], paired.class_set).reshape(-1)
    (size, classes), names = paired.class_set.shape, _names(paired)
    resource = np.repeat(np.arange(size), classes)
    return pa.table(
        {
            "cluster_id": _same(p.cluster_id, len(number)),
            "principal_class": _few(_texts(p.classes), np.tile(np.arange(classes), size)),
            **_resources(paired, names, resource),
            "ruleset_id": _few(pa.concat_arrays([ids, defaults]), number),
        }
    )


def set_rows(p: Prepared, sets: Sets, which: Numbers) -> pa.Table:
    """Return the rows of ``ruleset`` of some sets, whose ids are hashes of their content.

    The content are the ids of the groups, and where a broker meets the wildcard last.
    """
    groups = p.groups
    row, group = sets.groups(which)
    bits = max(1, len(groups.id_rank).bit_length())
    key = np.sort((row << bits) | groups.id_rank[group])
    counts = np.bincount(row, minlength=len(which))
    group_ids = _take(groups.ids_by_rank, key & ((1 << bits) - 1))
    contents, met_last = joined(group_ids, counts), sets.met_last[which]
    if met_last.any():
        words = [f",* {_WORD_OF[n]}" if n in _WORD_OF else "" for n in met_last.tolist()]
        ends, none = pa.array(words, pa.large_string()), pa.scalar("", pa.large_string())
        contents = pc.binary_join_element_wise(contents, ends, none)
    return pa.table(
        {
            "cluster_id": _same(p.cluster_id, len(which)),
            "ruleset_id": hashed(contents),
            "resource_type": _few(_texts(TYPES), sets.resource_type[which]),
            "group_ids": list_array(group_ids, counts),
            "wildcard_last": pa.array([_WORD_OF.get(n) for n in met_last.tolist()], pa.string()),
        }
    )


def decided_rows(p: Prepared, sets: Sets, ids: pa.Array, which: Numbers) -> Iterator[pa.Table]:
    """Decide some of the sets, and yield the rows of ``explain_ruling``; ``ids`` are of all."""
    ruler = Ruler.of(p, sets)
    for part in ruler.parts(which, LOOKS):
        yield ruling_rows(p, sets.resource_type[part], ids.take(pa.array(part)), ruler.rule(part))


def ruling_rows(p: Prepared, resource_type: Numbers, ids: pa.Array, rulings: Rulings) -> pa.Table:
    """Return the rows of ``explain_ruling``.

    Args:
        p: what the slices share.
        resource_type: of each set, a place in ``TYPES``.
        ids: of each set.
        rulings: of the sets.
    """
    hosts = _texts([ANY_OTHER, *p.hosts])
    decides = rulings.acl != NO_ACL
    return pa.table(
        {
            "cluster_id": _same(p.cluster_id, len(rulings.set)),
            "ruleset_id": _few(ids, rulings.set),
            "host": _few(hosts, rulings.host + 1),
            "operation": operation_names(resource_type[rulings.set], rulings.operation),
            "decision": _few(pa.array([DENIED, ALLOWED]), rulings.is_allowed.astype(np.int64)),
            "rule": _few(pa.array([DEFAULT_DENY, MATCHING_ACL]), decides.astype(np.int64)),
            "deciding_acl_id": p.acl_ids.take(pa.array(rulings.acl, mask=~decides)),
        }
    )


def operation_names(resource_type: Numbers, operation: Numbers) -> pa.Array:
    """Return the names of operations, each a place among those of its resource type."""
    return _few(_texts(_OPERATIONS), _OPERATION_OF[resource_type, operation])


def _names(paired: Paired) -> pa.Array:
    return _texts([name for _, name in paired.resources.keys])


def _resources(paired: Paired, names: pa.Array, resource: Numbers) -> dict[str, pa.Array]:
    """Return the columns of types and names of a slice's resources."""
    return {
        "resource_type": _few(_texts(TYPES), paired.resource_type[resource]),
        "resource_name": _few(names, resource),
    }


def _texts(texts: Sequence[str]) -> pa.Array:
    return pa.array(texts, pa.string())


def _same(text: str, size: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), pa.array([text]))


def _take(values: pa.Array, at: Numbers) -> pa.Array:
    return values.take(pa.array(at))


def _few(values: pa.Array, at: Numbers) -> pa.Array:
    """Return values at places as a dictionary, which holds each of them once."""
    return pa.DictionaryArray.from_arrays(pa.array(at.astype(np.int32)), values)


NONE: Final = "none"
"""Before a resource type: of resources that no ACL reaches."""

OTHER: Final = "other"
"""Of those that only ACLs of others reach."""


def default_rulesets() -> Iterator[tuple[str, str | None, list[str], str | None]]:
    """Yield their rows of ``ruleset``, the cluster aside."""
    yield SUPER_RULESET, None, [], None
    for kind in (NONE, OTHER):
        for resource_type in OPERATIONS_OF_TYPE:
            yield f"{kind}:{resource_type}", resource_type, [], None


def default_rulings(*, allow_everyone: bool) -> Iterator[tuple[str, str, str, str, str, None]]:
    """Yield their rows of ``explain_ruling``, the cluster aside."""
    every = {operation for known in OPERATIONS_OF_TYPE.values() for operation in known}
    for ruleset_id, resource_type, *_ in default_rulesets():
        if resource_type is None:
            decided = ALLOWED, SUPER_USER
        elif allow_everyone and ruleset_id.startswith(f"{NONE}:"):
            decided = ALLOWED, DEFAULT_ALLOW
        else:
            decided = DENIED, DEFAULT_DENY
        for operation in OPERATIONS_OF_TYPE[resource_type] if resource_type else sorted(every):
            yield ruleset_id, ANY_OTHER, operation, *decided, None
