"""Ranked ACLs → groups: the ACLs with one pattern and one principal text, and what is best there.

Of all ACLs of a group that answer an operation only the first DENY and the deciding ALLOW can ever
decide: among those whose host is every host, and among those that name one host. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aclkit.model.acl import ANY_OTHER
from aclkit.model.semantics import BROKER, Semantics
from aclkit.pipeline.explain.arrays import (
    EMPTY,
    Flags,
    Lists,
    Numbers,
    first_places,
    inverse_of,
    order_of,
    runs_of,
)
from aclkit.pipeline.explain.ranked_acls import OPERATIONS, RankedAcls
from aclkit.pipeline.explain.scope import match_hosts

NONE: Final = np.int64(2**63 - 1)
"""Stands where no ACL answers: it is behind all precedences."""


@dataclass(frozen=True, slots=True)
class Best:
    """The ACLs that would decide: a row for a group or a ruleset, or for one of its hosts.

    Attributes:
        deny: [row, operation] → the least precedence of the DENYs, or ``NONE``.
        allow: the same of the ALLOWs; a broker names the last of them, so there it is the least
            of negative precedences.
    """

    deny: Numbers
    allow: Numbers

    @classmethod
    def none(cls, rows: int) -> Best:
        """Return rows that no ACL answers."""
        return cls(*(np.full((rows, OPERATIONS), NONE) for _ in range(2)))

    def take(self, at: Numbers) -> Best:
        """Return some rows."""
        return Best(self.deny[at], self.allow[at])

    def least(self, rows: Numbers, size: int) -> Best:
        """Return what is best for each row, below a size, to which some of these belong, sorted."""
        found = Best.none(size)
        if len(rows):
            first = first_places(rows)
            for out, values in ((found.deny, self.deny), (found.allow, self.allow)):
                out[rows[first]] = np.minimum.reduceat(values, first, axis=0)
        return found

    def better(self, other: Best) -> Best:
        """Return the better of each pair."""
        return Best(np.minimum(self.deny, other.deny), np.minimum(self.allow, other.allow))


@dataclass(frozen=True, slots=True)
class NamedHosts:
    """Which hosts asked about the hosts of ACLs name.

    Attributes:
        is_every: of each text whether it is every host.
        lists: of each other text the hosts that it names.
        hosts: these, places among the hosts asked about.
    """

    is_every: Flags
    lists: Lists
    hosts: Numbers

    @classmethod
    def of(cls, texts: Sequence[str], hosts: Sequence[str], semantics: Semantics) -> NamedHosts:
        """Match the hosts of ACLs with those asked about."""
        matches = match_hosts(texts, hosts, semantics)
        every = {text for text, host in matches if host == ANY_OTHER}
        text_no = {text: place for place, text in enumerate(texts)}
        host_no = {host: place for place, host in enumerate(hosts)}
        named = sorted((text_no[t], host_no[h]) for t, h in matches if t not in every)
        owners, found = np.array(named, np.int64).reshape(-1, 2).T
        is_every = np.array([text in every for text in texts], bool)
        return cls(is_every, Lists.of(owners, len(texts)), found.copy())


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Groups, by pattern and principal text.

    Attributes:
        pattern: of each, its place among the patterns of the texts.
        principal: its place among the principals of ACLs.
        ids: hashes of the ids of its ACLs.
        acl_ids: these, sorted.
        id_rank: the place of its id among the ids, sorted.
        ids_by_rank: ids, sorted.
        best: for any other host.
        at_host: its rows of ``host`` and ``best_at_host``.
        host: the hosts that its ACLs name.
        best_at_host: of those ACLs alone that name the host.
    """

    pattern: Numbers
    principal: Numbers
    ids: pa.Array
    acl_ids: pa.Array
    id_rank: Numbers
    ids_by_rank: pa.Array
    best: Best
    at_host: Lists
    host: Numbers
    best_at_host: Best


def group_acls(
    acls: RankedAcls, principals: int, named: NamedHosts, semantics: Semantics
) -> Groups:
    """Put ACLs into groups and find what is best in each.

    Args:
        acls: the ACLs.
        principals: how many principals of ACLs there are.
        named: what the hosts of ACLs name.
        semantics: names the deciding ACL.
    """
    key = acls.pattern * principals + acls.principal
    order = order_of([key, acls.id_rank])
    first, counts, group = runs_of(key[order])
    acl_ids = acls.ids_by_rank.take(pa.array(acls.id_rank[order]))
    ids = hashed(joined(acl_ids, counts))
    by_id = pc.sort_indices(ids).to_numpy().astype(np.int64)
    size = len(first)

    host = acls.host[order]
    of_every = np.flatnonzero(named.is_every[host])
    best = _best_of(acls, order[of_every], group[of_every], size, semantics)
    of_some = np.flatnonzero(~named.is_every[host])
    row, at = named.lists.elements(host[of_some])
    rows, hosts = of_some[row], named.hosts[at]
    by_host = order_of([group[rows], hosts])
    rows, hosts = rows[by_host], hosts[by_host]
    places, _, number = runs_of(group[rows], hosts)
    return Groups(
        pattern=key[order][first] // principals if principals else EMPTY,
        principal=key[order][first] % principals if principals else EMPTY,
        ids=ids,
        acl_ids=list_array(acl_ids, counts),
        id_rank=inverse_of(by_id),
        ids_by_rank=ids.take(pa.array(by_id)),
        best=best,
        at_host=Lists.of(group[rows][places], size),
        host=hosts[places],
        best_at_host=_best_of(acls, order[rows], number, len(places), semantics),
    )


def _best_of(
    acls: RankedAcls, rows: Numbers, owners: Numbers, size: int, semantics: Semantics
) -> Best:
    """Return what is best of ACLs for each owner, below a size; they lie by their owners."""
    found = Best.none(size)
    sign = sign_of_allows(semantics)
    is_allow = acls.is_allow[rows]
    for operation in range(OPERATIONS):
        answers, precedences = acls.precedences(rows, operation)
        mine, allows = owners[answers], is_allow[answers]
        for out, which, values in (
            (found.deny, ~allows, precedences),
            (found.allow, allows, precedences * sign),
        ):
            of_side = mine[which]
            if len(of_side):
                first = first_places(of_side)
                out[of_side[first], operation] = np.minimum.reduceat(values[which], first)
    return found


def sign_of_allows(semantics: Semantics) -> np.int64:
    """Return -1 where the last ALLOW decides, so that the least of all is it."""
    return np.int64(-1 if semantics.deciding_acl == BROKER else 1)


def joined(texts: pa.Array, counts: Numbers) -> pa.Array:
    """Join texts, laid end to end in lists of so many, by commas."""
    lists = pa.LargeListArray.from_arrays(pa.array(_ends(counts)), texts.cast(pa.large_string()))
    return pc.binary_join(lists, pa.scalar(",", pa.large_string()))


def list_array(values: pa.Array, counts: Numbers) -> pa.Array:
    """Return values, laid end to end, as lists of so many."""
    ends = pa.array(_ends(counts).astype(np.int32))
    # The name that Spark and Delta give it.
    kind = pa.list_(pa.field("element", values.type))
    return pa.ListArray.from_arrays(ends, values, type=kind)


def _ends(counts: Numbers) -> Numbers:
    return np.concatenate([[0], np.cumsum(counts)])


def hashed(contents: pa.Array) -> pa.Array:
    """Return the ids of contents: 32 hex digits of sha-256, which are equal in every run.

    >>> hashed(pa.array(["a,b"])).to_pylist()[0][:8]
    '1eb7c54d'
    """
    sha256 = hashlib.sha256
    ids = [sha256(text.encode()).hexdigest()[:32] for text in contents.to_pylist()]
    return pa.array(ids, pa.string())
