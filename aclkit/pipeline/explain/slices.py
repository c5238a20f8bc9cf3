"""The matched resources of a cluster → ranges of them that are decided one by one. Pure."""

from __future__ import annotations

import numpy as np

from aclkit.pipeline.explain.arrays import Numbers
from aclkit.pipeline.explain.pairing import common_patterns, kinds_of
from aclkit.pipeline.explain.prepared import Matched, Prepared

Slice = tuple[int, int]
"""The places of the first resource and of the one behind the last."""


def cut(prepared: Prepared, resources: Matched, most: int, parts: int = 1) -> list[Slice]:
    """Cut resources into ranges, each of about so many entries at most and at least one resource.

    There are at least ``parts`` ranges, if there are so many resources.

    An entry is a row that ``pairing`` holds in memory: what a pattern grants to a subject, once
    for each kind of a range and for each other resource; and a pair of a class.
    """
    if not len(resources):
        return [(0, 0)]
    of_resource, of_kind, kind = _entries(prepared, resources)
    longest = -(-len(resources) // parts)
    slices, start, held = [], 0, 0
    known: set[int] = set()
    for place, (own, shared, number) in enumerate(
        zip(of_resource.tolist(), of_kind.tolist(), kind.tolist(), strict=True)
    ):
        more = own + (0 if number in known else shared)
        if place > start and (held + more > most or place - start >= longest):
            slices.append((start, place))
            start, held, more = place, 0, own + shared
            known.clear()
        held += more
        known.add(number)
    return [*slices, (start, len(resources))]


def _entries(p: Prepared, resources: Matched) -> tuple[Numbers, Numbers, Numbers]:
    """Return how many entries each resource has, how many its kind, and its kind."""
    common = common_patterns(p, resources.pattern)[resources.pattern]
    own = p.own.of_pattern.counts[resources.pattern]
    shared = p.shared.of_pattern.counts[resources.pattern]
    size = len(resources)

    def total(values: Numbers) -> Numbers:
        found = np.bincount(resources.resource, weights=values, minlength=size)
        return found.astype(np.int64)

    kind, _ = kinds_of(p, resources, common)
    return total(own * ~common + shared) + len(p.classes), total(own * common), kind
