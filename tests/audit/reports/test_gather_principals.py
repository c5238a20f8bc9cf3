"""Principals are counted by what the decisions themselves say, and by the ACLs that name them."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing

import pytest

from aclkit.audit.reports.gather_principals import gather_principals, principals_of
from aclkit.model.acl import ANY_OTHER
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
