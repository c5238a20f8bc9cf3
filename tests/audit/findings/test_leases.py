"""Ends that people wrote for ACLs: which are over, which are near, and which fit no ACL."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.audit.findings.leases import (
    GRANT_ENDED,
    GRANT_ENDS_SOON,
    LEASE_WITHOUT_ACL,
    Lease,
    Leases,
    find_ends,
    first_ends,
    parse_leases,
)
from aclkit.errors import UsageError
from aclkit.kafka.desired.model import DesiredAcl, Place
from aclkit.model.acl import BINDING
from aclkit.questions.query.lifetimes import AclEnd
from tests.factories import acl

NOW = datetime(2026, 11, 27, tzinfo=UTC)
DAY = timedelta(days=1)


def lease(until, **fields):
    return Lease(fields=fields, until=until, place="leases.toml: [[lease]] 1", is_of_file=True)


def kinds(found):
    return [each.finding for each in found]


ACL = acl("orders", principal="User:temp", acl_id="a1")


@pytest.mark.parametrize("permission", ["DENY", "UNKNOWN(7)"])
def test_an_end_is_never_that_of_a_deny(permission):
    deny = acl("secret", principal="User:temp", permission_type=permission, acl_id="d1")
    of_principal, of_all = lease(NOW - DAY, principal="User:temp"), Lease(
        fields=dict(zip(BINDING, deny.binding, strict=True)), until=NOW - DAY, place="users.yaml"
    )  # fmt: skip
    assert list(find_ends([deny], [of_principal, of_all], NOW)) == []
    assert first_ends([deny, ACL], [of_principal, of_all]) == {"a1": of_principal}
    known = AclEnd(until=NOW - DAY, place="users.yaml", owner=None, reason=None)
    assert Leases().with_known([deny], {"d1": known}).ends_of([deny]) == {}


def test_a_lease_that_fits_a_deny_alone_fits_no_acl():
    deny = acl("secret", principal="User:temp", permission_type="DENY")
    (found,) = find_ends([deny], [lease(NOW + DAY, principal="User:temp")], NOW)
    assert found.finding == LEASE_WITHOUT_ACL.id


def test_a_lease_of_a_deny_is_refused():
    text = '[[lease]]\nprincipal = "User:a"\nuntil = 2026-12-31\npermission_type = "DENY"\n'
    with pytest.raises(UsageError, match="permission_type: expected ALLOW, found 'DENY'"):
        parse_leases(text, "leases.toml")


@pytest.mark.parametrize(
    ("until", "kind"),
    [
        (NOW - DAY, [GRANT_ENDED.id]),
        (NOW, [GRANT_ENDED.id]),
        (NOW + timedelta(microseconds=1), [GRANT_ENDS_SOON.id]),
        (NOW + 14 * DAY, [GRANT_ENDS_SOON.id]),
        (NOW + 14 * DAY + timedelta(microseconds=1), []),
    ],
)
def test_a_grant_is_over_from_its_end_on_and_near_for_the_notice_before(until, kind):
    assert kinds(find_ends([ACL], [lease(until, principal="User:temp")], NOW)) == kind


def test_the_finding_has_the_place_of_the_end_and_the_command_that_removes_the_acl():
    (found,) = find_ends([ACL], [lease(NOW - DAY, principal="User:temp")], NOW)
    assert "was needed until 2026-11-25" in found.message
    assert found.acl_ids == ("a1",)
    assert "end: leases.toml: [[lease]] 1" in found.evidence
    assert any("--remove" in line and "--topic orders" in line for line in found.evidence)


def test_of_several_leases_the_first_end_counts():
    early, late = NOW - DAY, NOW + 100 * DAY
    leases = [lease(late, principal="User:temp"), lease(early, resource_name="orders")]
    assert first_ends([ACL], leases)["a1"].until == early


def test_a_lease_that_fits_no_acl_is_a_finding_until_its_end():
    typo = lease(NOW + DAY, principal="User:tmep")
    assert kinds(find_ends([ACL], [typo], NOW)) == [LEASE_WITHOUT_ACL.id]
    assert kinds(find_ends([ACL], [lease(NOW, principal="User:tmep")], NOW)) == []


def test_an_end_of_a_file_of_desired_state_that_is_not_applied_is_no_finding_of_ours():
    wanted = DesiredAcl(
        acl(principal="User:new", acl_id=""), Place("users.yaml", 3), until=NOW + DAY
    )
    assert Leases().with_files([wanted]).findings([ACL], NOW) == []


def test_an_end_of_a_file_of_desired_state_is_that_of_its_acl():
    wanted = DesiredAcl(acl("orders", principal="User:temp", acl_id=""),
                        Place("users.yaml", 3), until=NOW - DAY)  # fmt: skip
    leases = Leases().with_files([wanted])
    assert kinds(leases.findings([ACL], NOW)) == [GRANT_ENDED.id]
    assert leases.ends_of([ACL])["a1"].place == "users.yaml:3"


FIELDS = st.fixed_dictionaries(
    {}, optional={"principal": st.sampled_from(["User:a", "User:b"]),
                  "resource_name": st.sampled_from(["x", "y"]),
                  "operation": st.sampled_from(["READ", "WRITE"])},
).filter(lambda fields: fields.keys() & {"principal", "resource_name"})  # fmt: skip
MOMENTS = st.integers(-30, 30).map(lambda days: NOW + days * DAY)
ACLS = [
    acl(name, principal=f"User:{who}", operation=operation, acl_id=f"{who}{name}{operation}")
    for who in "abc" for name in "xyz" for operation in ("READ", "WRITE")
]  # fmt: skip


@given(st.lists(st.tuples(FIELDS, MOMENTS), max_size=6), st.integers(0, 20))
def test_findings_are_those_of_the_rule_on_each_acl(drawn, notice):
    leases = [lease(until, **fields) for fields, until in drawn]
    found = find_ends(ACLS, leases, NOW, notice * DAY)
    expected = set()
    for each in ACLS:
        ends = [until for fields, until in drawn
                if all(getattr(each, name) == text for name, text in fields.items())]  # fmt: skip
        if ends and min(ends) <= NOW:
            expected.add((GRANT_ENDED.id, each.acl_id))
        elif ends and min(ends) - notice * DAY <= NOW:
            expected.add((GRANT_ENDS_SOON.id, each.acl_id))
    about_acls = {(f.finding, *f.acl_ids) for f in found if f.finding != LEASE_WITHOUT_ACL.id}
    assert about_acls == expected


def test_a_file_of_leases_is_read():
    (found,) = parse_leases(
        '[[lease]]\nprincipal = "User:temp"\noperation = "READ"\nuntil = 2026-12-31\n'
        'owner = "ann"\nreason = "migration"\n',
        "leases.toml",
    )
    assert found.fields == {"principal": "User:temp", "operation": "READ"}
    assert found.until == datetime(2027, 1, 1, tzinfo=UTC)
    assert (found.owner, found.reason) == ("ann", "migration")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('principal = "User:a"', "until is missing"),
        ('until = 2026-12-31\noperation = "READ"', "expected principal, resource_name or both"),
        ('until = 2026-12-31T18:00:00\nprincipal = "User:a"', "a time with a zone"),
        ('until = "soon"\nprincipal = "User:a"', "found 'soon'"),
        ('until = 2026-12-31\nprincipal = 3', "principal: expected a text, found 3"),
        ('until = 2026-12-31\nprincipal = " "', "principal: expected a text"),
        ('until = 2026-12-31\nprinciple = "User:a"', "unknown principle, expected some of"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_refused_with_table_and_reason(table, says):
    with pytest.raises(UsageError, match=r"leases\.toml: \[\[lease\]\] 1: ") as told:
        parse_leases(f"[[lease]]\n{table}\n", "leases.toml")
    assert says in str(told.value)


def test_names_of_a_lease_are_texts_and_no_patterns():
    leases = [lease(NOW - DAY, principal="User:.*"), lease(NOW - DAY, resource_name="o%")]
    assert first_ends([ACL], leases) == {}


def test_many_leases_by_name_are_each_looked_up_once():
    acls = [acl(f"topic-{number}", acl_id=str(number)) for number in range(20_000)]
    leases = [lease(NOW - DAY, resource_name=f"topic-{number}") for number in range(0, 20_000, 2)]
    began = time.process_time()
    assert len(list(find_ends(acls, leases, NOW))) == 10_000
    assert time.process_time() - began < 10
