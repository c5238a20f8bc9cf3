"""Whom a finding is about, what, and which access, from the ACLs behind it."""

from __future__ import annotations

import pytest

from aclkit.audit.findings.sentences import SubjectColumns, subject_columns, subject_words
from aclkit.model.acl import Acl, acl_words
from aclkit.model.findings import Finding
from tests.factories import acl


def columns(subject: str, *behind: Acl, finding: str = "any-host") -> SubjectColumns:
    found = Finding(
        finding=finding,
        severity="low",
        subject=subject,
        message="m",
        fix="f",
        acl_ids=tuple(each.acl_id for each in behind),
    )
    return subject_columns(found, {each.acl_id: each for each in behind})


def test_a_finding_on_one_acl_is_about_that_acl_and_not_about_the_one_that_covers_it():
    row = acl("payments.", pattern_type="PREFIXED", principal="User:bob", host="10.0.0.1")
    assert columns(str(row), row, acl("*", operation="ALL")) == SubjectColumns(
        "User:bob", "topic payments.* (prefix)", "ALLOW READ from 10.0.0.1"
    )


def test_any_host_of_one_acl_is_left_out_for_it_is_the_default():
    row = acl()
    assert columns(str(row), row) == ("User:a", "topic orders", "ALLOW READ")


def test_the_same_acl_under_two_ids_is_one():
    rows = acl(acl_id="1"), acl(acl_id="2")
    assert columns(str(rows[0]), *rows) == ("User:a", "topic orders", "ALLOW READ")


def test_a_finding_on_several_acls_counts_what_differs():
    rows = [acl("a"), acl("b", operation="WRITE"), acl("b", operation="WRITE", host="10.0.0.1")]
    assert columns("User:a on TOPIC", *rows[:2]) == SubjectColumns(
        "User:a", "2 patterns", "ALLOW READ, WRITE from any host"
    )
    assert columns("User:a on TOPIC", *rows).access == "ALLOW READ, WRITE from 2 hosts"


def test_several_principals_are_the_first_and_a_number():
    rows = [acl(principal=f"User:{name}") for name in "abc"]
    assert columns("cluster", *rows).principal == "User:a and 2 more"


def test_allow_and_deny_stand_apart():
    rows = [acl(), acl(operation="WRITE"), acl(operation="ALL", permission_type="DENY")]
    assert columns("cluster", *rows).access == "ALLOW READ, WRITE; DENY ALL from any host"


def test_of_many_operations_a_few_are_named():
    rows = [acl(operation=name) for name in ("READ", "WRITE", "CREATE", "DELETE", "ALTER")]
    access = columns("User:a on TOPIC", *rows).access
    assert access == "ALLOW READ, WRITE, CREATE and 2 more from any host"


@pytest.mark.parametrize(
    ("finding", "subject", "expected"),
    [
        ("public-access", "User:ANONYMOUS", ("User:ANONYMOUS", "", "")),
        ("open-to-everyone", "topic:<any-other>", ("", "topic:<any-other>", "")),
        ("super-users-unknown", "super.users", ("", "super.users", "")),
        (
            "authorizer-log-mismatch", "User:a READ topic:x from h: DENIED; named is another ACL",
            ("", "User:a READ topic:x from h: DENIED; named is another ACL", ""),
        ),
    ],
)  # fmt: skip
def test_without_an_acl_the_subject_takes_its_place(finding, subject, expected):
    assert columns(subject, finding=finding) == expected


def test_acls_that_are_not_known_any_more_count_as_none():
    found = Finding(
        finding="read-without-group", severity="info", subject="User:a", message="m", fix="f",
        acl_ids=("gone",),
    )  # fmt: skip
    assert subject_columns(found, {}) == ("User:a", "", "")


def test_a_subject_that_is_an_acl_has_the_short_form():
    row = acl()
    assert subject_words(str(row), [acl("b"), row]) == acl_words(row)
    assert subject_words("cluster", [row]) == "cluster"
