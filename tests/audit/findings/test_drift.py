"""ACLs of a cluster against the files of a team: what is missing, and what no file holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.audit.findings.drift import DesiredFiles, find_drift
from aclkit.kafka.desired.model import DesiredAcl, Owner, Part, Place, ResourceChange
from aclkit.kafka.desired.read import Desired
from tests.factories import acl

HELD = acl("orders", principal="User:a")
OTHER = acl("logs", principal="User:a")
FOREIGN = acl("orders", principal="User:z")
DENY = acl("orders", principal="User:a", permission_type="DENY")


def wanted(one, line=3, address="", sensitive=()):
    place = Place("users.yaml", line, address)
    return DesiredAcl(replace(one, acl_id=""), place, frozenset(sensitive))


def desired(*acls, reach="asked", **more):
    return Desired(
        [Part(document="users.yaml", form="csv", reach=reach, acls=[*map(wanted, acls)], **more)],
        [],
    )


def found(real, files, scope="add", **more):
    return [*find_drift(real, files, scope, **more)]


def kinds(findings):
    return [(each.finding, each.severity) for each in findings]


def test_without_difference_there_is_no_finding():
    assert found([HELD, FOREIGN], desired(HELD)) == []


def test_an_allow_that_does_not_exist_is_medium_and_names_its_file():
    (missing,) = found([FOREIGN], desired(HELD))
    assert kinds([missing]) == [("missing-acl", "medium")]
    assert missing.message.startswith("users.yaml:3 holds ALLOW READ on topic orders")


def test_a_deny_that_does_not_exist_is_high():
    assert kinds(found([], desired(DENY))) == [("missing-acl", "high")]


@pytest.mark.parametrize(
    ("scope", "count"),
    [("add", 0), ("principals", 1), ("all", 2)],
    ids=["add", "principals", "all"],
)
def test_an_acl_that_no_file_holds_is_unmanaged_where_the_scope_says_so(scope, count):
    findings = found([HELD, OTHER, FOREIGN], desired(HELD), scope)
    assert kinds(findings) == [("unmanaged-acl", "medium")] * count


def test_an_unmanaged_acl_names_the_file_that_has_acls_of_its_principal():
    (unmanaged,) = found([HELD, OTHER], desired(HELD), "all")
    assert unmanaged.message.endswith("users.yaml has the ACLs of User:a.")
    assert unmanaged.fix == "Add the ACL to users.yaml, or remove it from the cluster."


def test_an_unmanaged_acl_names_the_document_that_owns_its_principal():
    owner = Owner(("User:a", "User:CN=a"), Place("users.yaml", 1))
    files = desired(HELD, reach="owners", owners=[owner])
    (unmanaged,) = found([HELD, OTHER, FOREIGN], files, None)
    assert "users.yaml:1 has the ACLs of User:a" in unmanaged.message


def test_an_unmanaged_acl_of_a_foreign_principal_names_no_file():
    (unmanaged,) = found([HELD, FOREIGN], desired(HELD), "all")
    assert unmanaged.fix == "Add the ACL to a file, or remove it from the cluster."


def test_the_operator_leaves_no_user_without_a_file():
    owner = Owner(("User:a", "User:CN=a"), Place("users.yaml", 1))
    files = desired(HELD, reach="owners", owners=[owner])
    assert found([HELD, FOREIGN], files, None) == []
    assert kinds(found([HELD, FOREIGN], files, None, with_operator=True)) == [
        ("unmanaged-acl", "medium")
    ]


def test_acls_of_a_paused_user_are_left_alone():
    paused = Owner(("User:z", "User:CN=z"), Place("users.yaml", 9))
    files = desired(HELD, reach="owners", untouched=[paused])
    assert found([HELD, FOREIGN], files, None, with_operator=True) == []


# Plans


def plan(*changes):
    held = [each for change in changes for each in (change.creates, change.keeps) if each]
    return Desired(
        [Part(document="plan.json", form="terraform-plan", reach="change", acls=held,
              changes=changes)],
        [],
    )  # fmt: skip


def change(address, *, deletes=None, creates=None, keeps=None, create_first=False):
    old, new, kept = (
        None if each is None else wanted(each, 0, address) for each in (deletes, creates, keeps)
    )
    place = Place("plan.json", 0, address)
    return ResourceChange(
        place=place, actions=("x",), deletes=old, creates=new, keeps=kept,
        is_create_first=create_first,
    )  # fmt: skip


def test_an_acl_that_a_plan_keeps_and_the_cluster_lacks_is_missing():
    findings = found([FOREIGN], plan(change("kafka_acl.a", keeps=HELD)), None)
    assert kinds(findings) == [("missing-acl", "medium")]


def test_an_acl_that_a_plan_creates_is_missing_until_it_is_applied():
    files = plan(change("kafka_acl.a", creates=HELD))
    assert kinds(found([], files, None)) == [("missing-acl", "medium")]
    assert found([HELD], files, None) == []


def test_an_acl_that_a_plan_deletes_is_unmanaged_until_it_is_applied():
    files = plan(change("kafka_acl.a", deletes=HELD))
    assert kinds(found([HELD], files, None)) == [("unmanaged-acl", "medium")]
    assert found([], files, None) == []


@pytest.mark.parametrize("create_first", [False, True])
def test_an_acl_that_a_plan_replaces_by_itself_is_held(create_first):
    files = plan(change("kafka_acl.a", deletes=HELD, creates=HELD, create_first=create_first))
    assert found([HELD], files, None) == []


def test_an_acl_that_two_resources_hold_is_held_though_one_of_them_goes():
    files = plan(change("kafka_acl.a", deletes=HELD), change("kafka_acl.b", keeps=HELD))
    assert found([HELD], files, None) == []
    moved = plan(change("kafka_acl.a", deletes=HELD), change("kafka_acl.b", creates=HELD))
    assert found([HELD], moved, None) == []


# What is told


def test_a_sensitive_field_is_in_no_finding():
    secret = acl("t0psecret", principal="User:a")
    part = Part(
        document="plan.json", form="terraform-state", reach="asked",
        acls=[wanted(secret, 0, "kafka_acl.s", ["resource_name"])],
    )  # fmt: skip
    (missing,) = found([], Desired([part], []))
    assert "t0psecret" not in str(missing)
    assert "(sensitive: kafka_acl.s)" in missing.message


def test_an_unmanaged_acl_shows_no_sensitive_field_of_the_files():
    secret = wanted(HELD, 0, "kafka_acl.s", ["principal"])
    part = Part(document="state.json", form="terraform-state", reach="asked", acls=[secret])
    (unmanaged,) = found([HELD, OTHER], Desired([part], []), "principals")
    assert unmanaged.acl_ids == (OTHER.acl_id,)


def test_a_note_counts_what_is_held_and_what_differs():
    files = DesiredFiles(paths=["users.yaml"], desired=desired(HELD, DENY), scope="all")
    _, (note, *_) = files.compared_with([HELD, FOREIGN])
    assert note == (
        "Desired state: 2 ACLs in 1 file; 1 exist, 1 are missing, 1 exist that the files do not "
        "hold."
    )


def test_files_that_cannot_be_used_are_one_high_finding():
    files = DesiredFiles(paths=["a.yaml", "b.yaml"], reason="a.yaml:1: no text\n  b.yaml:2: twice")
    (unreadable,), notes = files.compared_with([HELD])
    assert kinds([unreadable]) == [("desired-unreadable", "high")]
    assert "a.yaml:1: no text" in unreadable.message
    assert notes == []


def test_a_finding_keeps_its_fingerprint_when_its_line_moves():
    one, moved = (
        Desired([Part(document="f", form="csv", reach="asked", acls=[wanted(HELD, line)])], [])
        for line in (3, 9)
    )
    (first,), (second,) = found([], one), found([], moved)
    assert first.fingerprint == second.fingerprint
