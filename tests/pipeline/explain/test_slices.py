"""Slices: ranges of the resources with about so many entries each."""

from __future__ import annotations

import pytest

from aclkit.pipeline.explain.pairing import cut
from aclkit.pipeline.explain.prepared import prepare
from tests.factories import acl
from tests.pipeline.explain.decided import acl_table, matched
from tests.pipeline.explain.frames import scope_of

USERS = tuple(f"User:u{number}" for number in range(8))
NAMES = ("a1", "a2", "a3", "b1", "b2", "b3")


def cut_up(acls, most, resources=NAMES, principals=USERS, parts=1):
    scope = scope_of(acls, principals=principals, resources=[("TOPIC", name) for name in resources])
    prepared = prepare(scope, acl_table(acls))
    return cut(prepared, matched(scope, prepared), most, parts)


def literal(*names):
    """Two principals for each name: two entries, and one of the class."""
    return [acl(name, principal=who) for name in names for who in USERS[:2]]


def common(*starts):
    """Eight principals for each beginning: eight entries of the kind."""
    return [acl(start, pattern_type="PREFIXED", principal=who) for start in starts for who in USERS]


@pytest.mark.parametrize(
    ("most", "slices"),
    [
        (18, [(0, 6)]),
        (17, [(0, 5), (5, 6)]),
        (9, [(0, 3), (3, 6)]),
        (8, [(0, 2), (2, 4), (4, 6)]),
        (5, [(n, n + 1) for n in range(6)]),
    ],
)
def test_a_slice_ends_before_the_resource_with_which_it_has_too_many_entries(most, slices):
    assert cut_up(literal(*NAMES), most) == slices


def test_a_slice_has_at_least_one_resource_however_many_entries_that_has():
    assert cut_up(literal(*NAMES), 1) == [(n, n + 1) for n in range(6)]


def test_what_a_kind_grants_counts_once_in_each_slice():
    acls = common("a", "b")
    # A kind has 8 entries, and each resource one of the class.
    assert cut_up(acls, 2 * 8 + 6) == [(0, 6)]
    assert cut_up(acls, 8 + 3) == [(0, 3), (3, 6)]
    assert cut_up(acls, 8 + 2) == [(0, 2), (2, 3), (3, 5), (5, 6)]


def test_a_kind_counts_again_in_the_next_slice():
    assert cut_up(common(""), 8 + 2) == [(0, 2), (2, 4), (4, 6)]


def test_entries_of_classes_count_for_every_resource():
    acls = [acl("", pattern_type="PREFIXED", principal="User:*")]
    # One that the pattern grants to the class, and one of its pair.
    assert cut_up(acls, 6) == [(0, 3), (3, 6)]


def test_without_acls_each_resource_has_the_pairs_of_its_classes_alone():
    assert cut_up([], 3) == [(0, 3), (3, 6)]


def test_without_resources_there_is_one_slice_without_any():
    assert cut_up(literal("a"), 10, resources=()) == [(0, 0)]


@pytest.mark.parametrize("most", range(1, 40, 3))
def test_slices_lie_end_to_end_and_cover_every_resource(most):
    found = cut_up([*literal("a1", "b2", "b3"), *common("a")], most)
    assert [start for start, _ in found] == [0, *(end for _, end in found[:-1])]
    assert found[-1][1] == len(NAMES)


@pytest.mark.parametrize(("parts", "found"), [(1, 1), (2, 2), (3, 3), (99, len(NAMES))])
def test_there_are_as_many_slices_as_workers_want_if_there_are_so_many_resources(parts, found):
    assert len(cut_up([], 1_000_000, parts=parts)) == found
