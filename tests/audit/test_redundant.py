"""Redundant ACLs: what is reported can go, one at a time and all together."""

from __future__ import annotations

import time
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.audit.redundant import find_redundant
from aclkit.decide.rules import decide
from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.patterns.contain import acl_contains
from tests.factories import acl, request
from tests.strategies import pattern_types, semantics

NAMES = ["".join(name) for length in range(3) for name in product("ab*", repeat=length)]
REQUESTS = [
    request(name, resource_type=resource_type, principal=principal, host=host, operation=operation)
    for name in [*NAMES, "a?b", ANY_OTHER]
    for resource_type in ("TOPIC", "GROUP")
    for principal, host in (
        ("User:a", "10.0.0.1"),
        ("User:ab", "10.0.0.2"),
        ("Group:a", ANY_OTHER),
        (ANY_OTHER_PRINCIPAL, "10.0.0.12"),
    )
    for operation in ("READ", "DESCRIBE", "DESCRIBE_CONFIGS")
]


# Few texts, so that ACLs contain each other often.
crowds = st.lists(
    st.builds(
        acl,
        st.text("ab*?", max_size=2),
        resource_type=st.sampled_from(("TOPIC", "TOPIC", "GROUP")),
        pattern_type=pattern_types,
        principal=st.sampled_from(("User:a", "User:a*", "User:*", "*:*", ":a", "Group:a", "a")),
        host=st.sampled_from(("*", "10.0.0.1", "10.*", "")),
        operation=st.sampled_from(("READ", "DESCRIBE", "ALL", "ALTER_CONFIGS")),
        permission_type=st.sampled_from(("ALLOW", "ALLOW", "DENY", "UNKNOWN(7)")),
    ),
    min_size=10,
    max_size=25,
)


def decisions(rows, read):
    """Decide everything; ``allow_everyone`` shows a resource that lost its last ACL."""
    everyone = BrokerSettings(allow_everyone=True)
    return [decide(rows, asked, everyone, read).decision for asked in REQUESTS]


def reported(rows, read):
    return {found.acl_ids[0]: found.acl_ids[1] for found in find_redundant(rows, read)}


@settings(max_examples=30)
@given(crowds, semantics)
def test_no_decision_changes_without_the_reported_acls_one_at_a_time_or_all_together(rows, read):
    found = reported(rows, read)
    before = decisions(rows, read)
    for acl_id in sorted(found)[:4]:
        assert decisions([row for row in rows if row.acl_id != acl_id], read) == before
    assert decisions([row for row in rows if row.acl_id not in found], read) == before


@given(crowds, semantics)
def test_the_trie_loses_no_containment_and_the_named_acl_stays(rows, read):
    found = reported(rows, read)
    by_id = {row.acl_id: row for row in rows}
    expected = {
        row.acl_id
        for row in rows
        for other in rows
        if row is not other
        and acl_contains(other, row, read)
        and (other.acl_id < row.acl_id or not acl_contains(row, other, read))
    }
    assert found.keys() == expected
    assert not found.keys() & set(found.values())
    for acl_id, kept in found.items():
        assert acl_contains(by_id[kept], by_id[acl_id], read)


@pytest.mark.parametrize(
    "wide",
    [
        {"resource_name": "ord", "pattern_type": "PREFIXED"},
        {"resource_name": "o*s", "pattern_type": "GLOB"},
        {"resource_name": "*"},
        {"principal": "User:*"},
        {"principal": "User:?"},
        {"host": "10.*"},
        {"operation": "ALL"},
        {},
    ],
)
def test_a_contained_acl_is_reported_with_the_one_that_contains_it(wide):
    kept = acl(**{"acl_id": "1", "host": "10.0.0.1"} | wide)
    narrow = acl(acl_id="2", host="10.0.0.1")
    (found,) = find_redundant([narrow, kept], KIP_1042)
    assert (found.finding, found.severity) == ("redundant-acl", "low")
    assert (found.subject, found.acl_ids) == (str(narrow), ("2", "1"))
    assert str(kept) in found.message
    assert "holds for every possible name" in found.message


@pytest.mark.parametrize(
    "other",
    [
        {"resource_name": "orders2"},
        {"resource_name": "o?", "pattern_type": "GLOB"},
        {"resource_type": "GROUP"},
        {"principal": "User:b"},
        {"host": "10.0.0.2"},
        {"operation": "WRITE"},
        {"permission_type": "DENY", "operation": "ALL"},
    ],
)
def test_an_acl_that_says_something_of_its_own_is_not_reported(other):
    rows = [acl(host="10.0.0.1"), acl(**{"host": "10.0.0.1"} | other)]
    assert not list(find_redundant(rows, KIP_1042))


def test_of_equal_acls_the_first_by_id_stays_and_the_advice_says_that_both_would_go():
    (found,) = find_redundant([acl(acl_id="b"), acl(acl_id="a")], KAFKA)
    assert found.acl_ids == ("b", "a")
    assert "add it once" in found.fix


def test_the_end_of_a_chain_is_named():
    rows = [acl("a", pattern_type="PREFIXED"), acl("ab", pattern_type="PREFIXED"), acl("abc")]
    assert set(reported(rows, KAFKA).values()) == {rows[0].acl_id}


def test_twenty_thousand_acls_take_seconds():
    rows = [
        acl(
            f"team-{number % 300}.topic-{number // 30}",
            pattern_type=("LITERAL", "PREFIXED", "LITERAL")[number % 3],
            principal=f"User:svc-{number % 5_000}",
            operation=("READ", "WRITE")[number % 2],
        )
        for number in range(20_000)
    ]
    rows += [
        acl(f"team-{n}.", pattern_type="PREFIXED", principal=f"User:svc-{n}") for n in range(300)
    ]
    started = time.perf_counter()
    assert reported(rows, KIP_1042)
    assert time.perf_counter() - started < 10
