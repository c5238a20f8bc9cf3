"""All findings in one list, the worst first."""

from __future__ import annotations

from aclkit.audit.collect import find_all, find_readings
from aclkit.model.semantics import KIP_1042
from tests.factories import acl


def test_the_audit_holds_the_three_families_the_worst_first():
    rows = [acl(), acl(), acl(principal="User:*", operation="WRITE"), acl("a b")]
    found = [(finding.severity, finding.finding) for finding in find_all(rows, KIP_1042)]
    assert found == [
        ("high", "public-access"),
        ("low", "never-matches"),
        ("low", "redundant-acl"),
    ]


def test_the_readings_hold_what_is_odd_in_the_records():
    rows = [acl(), acl(), acl(principal="x"), acl(host="h"), acl(permission_type="UNKNOWN(0)")]
    assert {finding.finding for finding in find_readings(rows)} == {
        "duplicate-acl",
        "host-never-matches",
        "malformed-principal",
        "unknown-code",
    }


def test_ordinary_acls_give_no_finding():
    rows = [acl(), acl("b", pattern_type="PREFIXED", permission_type="DENY")]
    assert find_all(rows, KIP_1042) == []
    assert find_readings(rows) == []
