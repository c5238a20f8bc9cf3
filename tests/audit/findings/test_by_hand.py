"""Changes by others than the automation are findings, one for each request."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from aclkit.audit.findings.by_hand import find_by_hand, parse_automation
from aclkit.errors import UsageError
from aclkit.questions.by_whom.match import ADDED, REMOVED
from aclkit.questions.by_whom.tables import CertainChange
from aclkit.questions.query.lifetimes import ONE, ChangedBy
from tests.factories import acl

AUTOMATION = {"User:strimzi": "Strimzi User Operator"}
AT = datetime(2026, 11, 21, 10, tzinfo=UTC)


def changed(number, principal="User:alice", change=ADDED, at=AT):
    return CertainChange(
        acl=acl(acl_id=f"id-{number}", resource_name=f"t{number}"),
        change=change,
        log_offset=number,
        time=at,
        by=ChangedBy(ONE, ((principal, "10.0.0.9"),)),
    )


def found(*changes):
    return list(find_by_hand(changes, AUTOMATION))


def test_a_change_by_the_automation_is_no_finding():
    assert not found(changed(1, "User:strimzi"))


def test_acls_of_one_request_are_one_finding_that_is_called_by_its_first_offset():
    (finding,) = found(changed(1), changed(2))
    assert finding.subject == "User:alice added ACLs at offset 1"
    assert finding.acl_ids == ("id-1", "id-2")
    assert finding.severity == "medium"
    assert (
        "User:alice, from 10.0.0.9, created 2 ACLs at 2026-11-21 10:00:00 UTC." in finding.message
    )
    assert "Strimzi User Operator (User:strimzi)" in finding.message


def test_a_removal_names_the_acl_in_its_evidence_alone():
    (finding,) = found(changed(3, change=REMOVED))
    assert not finding.acl_ids
    assert finding.evidence[0].startswith("removed at offset 3: ")


def test_requests_of_other_times_and_principals_are_other_findings():
    later = AT.replace(hour=11)
    changes = changed(1), changed(2, at=later), changed(3, "User:bob"), changed(4, change=REMOVED)
    assert len({finding.fingerprint for finding in found(*changes)}) == 4


def test_the_file_names_principals():
    text = '[[automation]]\nprincipal = "User:strimzi"\nname = "Strimzi User Operator"\n'
    assert parse_automation(text, "a.toml") == AUTOMATION


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "expected at least one table"),
        ("[[robot]]\n", "unknown robot"),
        ("automation = 1\n", "expected tables"),
        ('[[automation]]\nprincipal = "User:a"\n', "name: expected a text"),
        ('[[automation]]\nprincipal = "a"\nname = "A"\n', "expected TYPE:NAME"),
        ('[[automation]]\nprincipal = "User:a"\nname = "A"\nid = 1\n', "unknown id"),
    ],
)
def test_another_file_is_refused(text, error):
    with pytest.raises(UsageError, match=error):
        parse_automation(text, "a.toml")
