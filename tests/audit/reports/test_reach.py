"""Principals, their topics and heat maps count what the decisions themselves say, one by one."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import closing

import pytest

from aclkit.audit.reports import reach
from aclkit.audit.reports.reach import gather_principals, prefix_of, principals_of
from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE, USE_OF_OPERATION, USES
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import deciding_run, open_warehouse
from tests.audit.reports.made import finding
from tests.questions.query import small_warehouse as small

ALLOWED = (
    "SELECT DISTINCT principal, operation, resource_name FROM explain WHERE cluster_id = ? "
    "AND resource_type = 'TOPIC' AND resource_name <> ? AND decision = 'ALLOWED'"
)
ADMINISTER = {"CREATE", "DELETE", "ALTER", "ALTER_CONFIGS"}


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    path = tmp_path_factory.mktemp("principals") / "warehouse"
    small.build(path)
    published = open_warehouse(str(path))
    with closing(connect(published)) as connection:
        yield connection, deciding_run(published, small.CLUSTER)


def found(opened, *findings):
    return {each.name: each for each in gather_principals(*opened, findings)}


def test_topics_are_those_that_a_principal_is_allowed_from_some_host(opened):
    topics = defaultdict(set)
    for who, operation, name in opened[0].execute(ALLOWED, [small.CLUSTER, ANY_OTHER]).fetchall():
        topics[who, "administer" if operation in ADMINISTER else operation].add(name)
    people = found(opened)
    assert set(people) == set(small.PRINCIPALS)
    for name, each in people.items():
        counted = (each.administers, each.writes, each.reads)
        purposes = ("administer", "WRITE", "READ")
        assert counted == tuple(len(topics[name, purpose]) for purpose in purposes), name
    assert any(each.reads for each in people.values())


def test_those_who_administer_most_come_first_and_super_users_are_told(opened):
    people = list(found(opened).values())
    assert [each.is_super for each in people[:2]] == [True, False]
    order = [(-each.administers, -each.writes, -each.reads, each.name) for each in people]
    assert order == sorted(order)


def test_a_deny_counts_for_the_principal_that_it_names_and_for_no_other(opened):
    denies = {name: each.denies for name, each in found(opened).items()}
    assert denies == {**dict.fromkeys(small.PRINCIPALS, 0), "User:bob": 1}


def test_the_last_change_is_that_of_an_acl_that_names_the_principal(opened):
    changed = {name for name, each in found(opened).items() if each.changed_at}
    assert changed == {"User:alice", "User:bob", "User:x'y"}


def test_a_finding_counts_for_its_subject_and_for_whom_its_acls_name(opened):
    findings = [finding(1, acl_ids=("acl-01", "acl-06")), finding(2, subject="User:bob")]
    people = found(opened, *findings)
    numbers = {name: each.findings for name, each in people.items() if each.findings}
    assert numbers == {"User:alice": 1, "User:bob": 1}
    acls = {"acl-04": small.ACLS[3]}
    assert principals_of(finding(3, acl_ids=("acl-04",)), acls) == {"topic:t3", "User:bob"}


TOPICS = ("pay.eu", "pay.us", "pay.asia", "orders-1", "orders-2", "_a", "--")
DECISIONS = (
    "SELECT DISTINCT principal, resource_name, operation FROM explain WHERE cluster_id = ? "
    "AND resource_type = 'TOPIC' AND resource_name <> ? AND decision = 'ALLOWED'"
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    path = tmp_path_factory.mktemp("heat") / "warehouse"
    with pytest.MonkeyPatch.context() as patched:
        resources = (*small.RESOURCES, *(("TOPIC", name) for name in TOPICS))
        patched.setattr(small, "RESOURCES", resources)
        small.build(path, (
            *small.ACLS,
            small.acl(11, resource_name="pay.eu", principal="User:x'y", host="10.0.0.1"),
            small.acl(12, resource_name="orders-", pattern_type="PREFIXED", operation="ALL"),
            small.acl(13, resource_name="orders-1", principal="User:*", permission_type="DENY"),
        ))  # fmt: skip
    with closing(connect(open_warehouse(str(path)))) as connection:
        yield connection


def test_a_cell_counts_the_decisions_that_allow_from_some_host(tables):
    allowed = Counter(
        (USE_OF_OPERATION[operation], principal, prefix_of(topic))
        for principal, topic, operation in tables.execute(
            DECISIONS, [small.CLUSTER, ANY_OTHER]
        ).fetchall()
    )
    heat = reach.gather_heat(tables, small.CLUSTER)
    names = [name for name, _ in heat.prefixes]
    assert dict(heat.prefixes).items() >= {"pay.": 3, "orders-": 2, "": 1}.items()
    for use in USES:
        found = {
            (use, who, name): number
            for who, row in zip(heat.principals, heat.allowed[use], strict=True)
            for name, number in zip(names, row, strict=True)
        }
        assert found == {key: allowed[key] for key in found}
        assert sum(found.values()) == sum(n for key, n in allowed.items() if key[0] == use) > 0
        known = sum(USE_OF_OPERATION[name] == use for name in OPERATIONS_OF_TYPE["TOPIC"])
        assert heat.possible[use] == tuple(topics * known for _, topics in heat.prefixes)


def test_the_rows_that_are_kept_are_those_of_widest_access_and_the_first_of_equals(
    tables, monkeypatch
):
    whole = reach.gather_heat(tables, small.CLUSTER)
    totals = {
        who: sum(sum(whole.allowed[use][place]) for use in USES)
        for place, who in enumerate(whole.principals)
    }
    widest = sorted(small.PRINCIPALS, key=lambda who: (-totals[who], who))
    assert list(whole.principals) == widest != sorted(small.PRINCIPALS)
    monkeypatch.setattr(reach, "MOST_PRINCIPALS", 2)
    heat = reach.gather_heat(tables, small.CLUSTER)
    assert list(heat.principals) == widest[:2] != sorted(small.PRINCIPALS)[:2]
    assert heat.more_principals == len(widest) - 2
