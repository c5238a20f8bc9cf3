"""All findings in one list, the worst first."""

from __future__ import annotations

from aclkit.audit.findings.registry import find_all, find_readings
from tests.audit.findings.auditing import audit_of
from tests.factories import acl

GROUP = acl("g", resource_type="GROUP")


def test_the_audit_holds_the_families_the_worst_first():
    rows = [acl(), acl(), acl(principal="User:*", operation="WRITE"), acl("a b"), GROUP]
    found = [(finding.severity, finding.finding) for finding in find_all(audit_of(*rows))]
    assert found == [
        ("high", "public-access"),
        ("low", "never-matches"),
        ("low", "redundant-acl"),
    ]


def test_the_readings_hold_what_is_odd_in_the_records():
    rows = [acl(), acl(), acl(principal="x"), acl(host="h"), acl(permission_type="UNKNOWN(0)")]
    assert {finding.finding for finding in find_readings(rows)} == {
        "duplicate-acl",
        "never-matches",
        "unknown-code",
    }


def test_an_acl_that_never_matches_is_one_finding_of_audit_and_readings_together():
    rows = [acl(principal="x"), acl(host="h"), acl("a b"), acl("c", host="::1", acl_id="2")]
    rows += [acl("c", host="::1", acl_id="1")]
    audited = [found for found in find_all(audit_of(*rows)) if found.finding == "never-matches"]
    read = [found for found in find_readings(rows) if found.finding == "never-matches"]
    assert set(audited) == set(read)
    assert len(audited) == 4


def test_acls_with_the_same_fields_are_one_finding_of_a_kind():
    rows = [acl(acl_id=acl_id, principal="User:*") for acl_id in "cab"]
    for found in (find_all(audit_of(*rows)), find_readings(rows)):
        assert len({finding.fingerprint for finding in found}) == len(found)
    by_kind = {finding.finding: finding for finding in find_all(audit_of(*rows))}
    assert by_kind["public-access"].acl_ids == ("a", "b", "c")
    assert by_kind["redundant-acl"].acl_ids == ("b", "a", "c")


def test_ordinary_acls_give_no_finding():
    rows = [acl(), acl("b", pattern_type="PREFIXED", permission_type="DENY"), GROUP]
    assert find_all(audit_of(*rows)) == []
    assert find_readings(rows) == []


def test_an_access_that_a_deny_takes_back_is_overridden_and_nothing_else():
    allow = acl(principal="User:*", operation="ALL")
    deny = acl(principal="User:*", operation="ALL", permission_type="DENY")
    found = [finding.finding for finding in find_all(audit_of(allow, deny))]
    assert found == ["allow-overridden"]
