"""Groups: the ACLs of one pattern and one principal text, and which of them could decide."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain.groups import (
    NONE,
    Best,
    NamedHosts,
    group_acls,
    hashed,
    joined,
    list_array,
    sign_of_allows,
)
from aclkit.pipeline.explain.ranked_acls import BITS_OF_ACL, OPERATIONS, rank_acls
from tests.factories import acl
from tests.pipeline.explain.decided import acl_table
from tests.pipeline.explain.frames import scope_of

TOPIC = OPERATIONS_OF_TYPE["TOPIC"]
HOSTS = ("10.0.0.1", "10.0.0.2", "9.9.9.9")


def grouped(acls, semantics=KIP_1042, hosts=HOSTS):
    """The groups of ACLs, and the ids of these by their numbers."""
    scope = scope_of(acls, hosts=hosts, semantics=semantics)
    ranked = rank_acls(acl_table(acls), scope.texts, semantics)
    named = NamedHosts.of(scope.texts.hosts, scope.host_names, semantics)
    found = group_acls(ranked, len(scope.texts.principals), named, semantics)
    return found, ranked.ids_by_number.to_pylist()


def deciders(best, ids, semantics=KIP_1042):
    """Of each row the ACLs that could decide: (ALLOW or DENY, operation) → id."""
    found = []
    for row in range(len(best.deny)):
        sides = {"DENY": best.deny[row], "ALLOW": best.allow[row]}
        sign = {"DENY": 1, "ALLOW": int(sign_of_allows(semantics))}
        found.append(
            {
                (side, TOPIC[operation]): ids[sign[side] * value & ((1 << BITS_OF_ACL) - 1)]
                for side, values in sides.items()
                for operation, value in enumerate(values.tolist())
                if value != NONE
            }
        )
    return found


def content_id(text):
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def test_a_group_is_the_acls_of_one_pattern_and_one_principal():
    acls = [
        acl(acl_id="2"),
        acl(principal="User:b", acl_id="3"),
        acl(acl_id="1", host="10.0.0.1", operation="WRITE", permission_type="DENY"),
        acl(pattern_type="PREFIXED", acl_id="4"),
    ]
    found, _ = grouped(acls)
    assert found.acl_ids.to_pylist() == [["1", "2"], ["3"], ["4"]]
    assert (found.pattern.tolist(), found.principal.tolist()) == ([0, 0, 1], [0, 1, 0])


def test_the_id_of_a_group_is_a_hash_of_the_sorted_ids_of_its_acls():
    found, _ = grouped([acl(acl_id="b"), acl(principal="User:b", acl_id="c"), acl(acl_id="a")])
    ids = [content_id("a,b"), content_id("c")]
    assert found.ids.to_pylist() == ids
    assert found.ids_by_rank.to_pylist() == sorted(ids)
    assert [found.ids_by_rank[rank].as_py() for rank in found.id_rank.tolist()] == ids


def test_a_group_has_its_best_for_any_other_host_and_for_each_host_that_an_acl_names():
    acls = [
        acl(host="10.*", operation="READ", acl_id="a"),
        acl(operation="WRITE", permission_type="DENY", acl_id="b"),
        acl(host="8.8.8.8", operation="ALL", acl_id="c"),
    ]
    found, ids = grouped(acls)
    assert deciders(found.best, ids) == [{("DENY", "WRITE"): "b"}]
    assert found.host.tolist() == [0, 1]
    reads = {("ALLOW", "READ"): "a", ("ALLOW", "DESCRIBE"): "a"}
    assert deciders(found.best_at_host, ids) == [reads, reads]


def test_each_group_has_the_hosts_of_its_own_acls():
    acls = [
        acl(host="9.9.9.9", acl_id="a"),
        acl(principal="User:b", acl_id="b"),
        acl(principal="User:c", host="10.0.0.?", permission_type="DENY", acl_id="c"),
        acl(principal="User:c", host="10.0.0.2", permission_type="DENY", acl_id="d"),
    ]
    found, ids = grouped(acls)
    assert found.at_host.counts.tolist() == [1, 0, 2]
    assert found.host.tolist() == [2, 0, 1]
    assert deciders(found.best_at_host, ids) == [
        {("ALLOW", "READ"): "a", ("ALLOW", "DESCRIBE"): "a"},
        {("DENY", "READ"): "c"},
        {("DENY", "READ"): "d"},
    ]


@pytest.mark.parametrize(("semantics", "allow"), [(KIP_1042, "2"), (KAFKA, "6")])
def test_of_a_groups_denies_the_first_decides_and_of_its_allows_to_a_broker_the_last(
    semantics, allow
):
    acls = [
        acl(permission_type=side, acl_id=f"{number}")
        for number, side in enumerate(("DENY", "DENY", "ALLOW", "ALLOW", "DENY", "ALLOW", "ALLOW"))
    ]
    found, ids = grouped(acls, semantics)
    assert deciders(found.best, ids, semantics) == [
        {("DENY", "READ"): "0", ("ALLOW", "READ"): allow, ("ALLOW", "DESCRIBE"): allow}
    ]


def test_an_acl_that_answers_nothing_is_in_its_group_and_decides_nothing():
    found, _ = grouped([acl(operation="UNKNOWN(77)", host="10.0.0.1", acl_id="a")])
    assert found.acl_ids.to_pylist() == [["a"]]
    for best in (found.best, found.best_at_host):
        assert best.deny.tolist() == best.allow.tolist() == [[NONE] * OPERATIONS]


def test_no_acls_have_no_groups():
    found, _ = grouped([])
    assert (len(found.ids), found.acl_ids.to_pylist(), len(found.best.deny)) == (0, [], 0)


def hosts_of(named, texts):
    places = [named.lists.elements(np.array([text]))[1] for text in range(texts)]
    return [[HOSTS[host] for host in named.hosts[at]] for at in places]


CIDR = {"10.0.0.0/8": ["10.0.0.1", "10.0.0.2"], "10.0.0.2/32": ["10.0.0.2"], "10.0.0.0/33": []}


@pytest.mark.parametrize("are_ranges", [True, False])
def test_a_range_names_the_hosts_within_it_where_brokers_read_ranges(are_ranges):
    texts, semantics = (*CIDR, "*"), replace(KAFKA, cidr_hosts=are_ranges)
    found = NamedHosts.of(texts, HOSTS, semantics)
    assert hosts_of(found, 4) == [*(CIDR.values() if are_ranges else [[], [], []]), []]
    assert found.is_every.tolist() == [False, False, False, True]


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_a_host_with_wildcards_names_hosts_where_globs_are_read(semantics):
    texts = ("10.*", "*", "10.0.0.?", "**", "10.0.0.1")
    found = NamedHosts.of(texts, HOSTS, semantics)
    globs, tens = semantics is KIP_1042, [*HOSTS[:2]]
    assert hosts_of(found, 5) == [tens if globs else [], [], tens if globs else [], [], [HOSTS[0]]]
    assert found.is_every.tolist() == [False, True, False, globs, False]


def test_the_least_of_rows_is_taken_operation_by_operation():
    def values(*read):
        return np.array([[n, *[NONE] * (OPERATIONS - 1)] for n in read], np.int64)

    best = Best(values(5, 3, NONE), values(-7, NONE, -9))
    found = best.least(np.array([0, 0, 2]), 4)
    assert found.deny[:, 0].tolist() == [3, NONE, NONE, NONE]
    assert found.allow[:, 0].tolist() == [-7, NONE, -9, NONE]
    other = found.better(Best(values(4, 1, 2, NONE), values(-8, NONE, NONE, NONE)))
    assert other.deny[:, 0].tolist() == [3, 1, 2, NONE]
    assert other.allow[:, 0].tolist() == [-8, NONE, -9, NONE]
    assert Best.none(0).least(np.array([], np.int64), 1).deny.tolist() == [[NONE] * OPERATIONS]


def test_texts_are_joined_by_commas_list_by_list_and_empty_lists_are_empty_texts():
    counts = np.array([2, 0, 1])
    assert joined(pa.array(["a", "b", "c"]), counts).to_pylist() == ["a,b", "", "c"]
    assert list_array(pa.array(["a", "b", "c"]), counts).to_pylist() == [["a", "b"], [], ["c"]]


def test_a_hash_is_32_hex_digits_of_sha_256():
    assert hashed(pa.array(["a,b", "é"])).to_pylist() == [content_id("a,b"), content_id("é")]
