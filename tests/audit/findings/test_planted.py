"""On the sample: each finding fires on an ACL planted for it, and is silent without it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from aclkit.audit.findings.audit_input import AuditInput, Life
from aclkit.audit.findings.by_hand import CHANGED_BY_HAND
from aclkit.audit.findings.readings import (
    BROKER_SETTINGS_DIFFER,
    DUPLICATE_ACL,
    READING_CHANGED,
    READS_DIFFERENTLY,
    SUPER_USERS_UNKNOWN,
    UNKNOWN_CODE,
)
from aclkit.audit.findings.registry import KINDS, REGISTRY, Finder, find_all
from aclkit.audit.findings.rights import MISSING_RIGHT
from aclkit.model.acl import Acl
from aclkit.model.findings import (
    AUTHORIZER_LOG_MISMATCH,
    DRIFT,
    ENDS,
    EVERY_NAME,
    INVENTORY,
    LOG_DIVERGED,
    REFUSED_ACCESS,
    SEVERITIES,
    SNAPSHOT_CONTRADICTS_LOG,
    UNUSED_GRANT,
)
from aclkit.model.semantics import KIP_1042, BrokerSettings
from tests.audit.findings.sample import sample_acls, sample_topics
from tests.factories import acl
from tests.upgrading import ROLLING

OF_READINGS = (DUPLICATE_ACL, READS_DIFFERENTLY, UNKNOWN_CODE)
OF_LOGS = (
    REFUSED_ACCESS,
    LOG_DIVERGED,
    SNAPSHOT_CONTRADICTS_LOG,
    AUTHORIZER_LOG_MISMATCH,
    UNUSED_GRANT,
)
GONE = Life(name="payments-legacy", first_offset=30, last_offset=920, topic_id="old")


def audit_sample(*planted: Acl, **known: Any) -> AuditInput:
    """Audit the sample and a few ACLs; every principal of the sample is a SCRAM user."""
    users = sorted({row.principal for row in sample_acls() if row.principal != "User:*"})
    topics = [Life(name=name, first_offset=40) for name in sample_topics() if name != GONE.name]
    facts = {
        "semantics": KIP_1042,
        "settings": BrokerSettings(super_users=frozenset({"User:admin"})),
        "topics": [*topics, GONE],
        "users": [Life(name=name, first_offset=1) for name in [*users, "User:new"]],
        "asked_principals": [*users, "User:new"],
        "added_offsets": {row.acl_id: 100 for row in (*sample_acls(), *planted)},
    }
    return AuditInput(**{"acls": [*sample_acls(), *planted]} | facts | known)


def found(audit: AuditInput) -> set[tuple[str, str]]:
    return {(finding.finding, finding.subject) for finding in find_all(audit)}


def found_of(kind: str, audit: AuditInput) -> set[tuple[str, str]]:
    """Ask the finder of one kind alone."""
    find = REGISTRY[KINDS[kind]]
    assert find is not None
    return {(finding.finding, finding.subject) for finding in find(audit)}


def new(resource_name: str = "new.topic", **fields: str) -> Acl:
    return acl(resource_name, **{"principal": "User:new", "host": "10.0.0.1"} | fields)


GROUP = new("new-group", resource_type="GROUP")
TOKENS = new("User:alice", resource_type="USER", operation="CREATE_TOKENS")
TRANSACTIONS = new("t1", resource_type="TRANSACTIONAL_ID", operation="WRITE")


@dataclass(frozen=True)
class Case:
    """A finding, the ACL planted for it with those that it takes, and what does not fire."""

    kind: str
    planted: Acl
    beside: tuple[Acl, ...] = ()
    harmless: tuple[Acl, ...] = ()
    subject: str = ""
    known: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.subject or str(self.planted)


RANGES = replace(KIP_1042, cidr_hosts=True)
EVERYONE = BrokerSettings(allow_everyone=True)
BORN_AGAIN = [
    Life(name="new.topic", first_offset=50, last_offset=200, topic_id="old"),
    Life(name="new.topic", first_offset=300, topic_id="new"),
]
CASES = [
    Case("redundant-acl", acl_2 := new(acl_id="2"), beside=(replace(acl_2, acl_id="1"),)),
    Case("allow-shadowed", new(), beside=(new("new.", pattern_type="PREFIXED"),)),
    Case(
        "deny-shadowed",
        new(permission_type="DENY"),
        beside=(new("new.", pattern_type="PREFIXED", operation="ALL", permission_type="DENY"),),
    ),
    Case(
        "allow-overridden",
        new(),
        beside=(new(permission_type="DENY", operation="ALL"),),
        harmless=(new(permission_type="DENY", operation="WRITE"),),
    ),
    Case("never-matches", new("*", pattern_type="PREFIXED")),
    Case("never-matches", new("a b")),
    Case("never-matches", new("new.*")),
    Case("never-matches", new(host="broker.example")),
    Case("never-matches", new(host="::1")),
    Case("never-matches", new(operation="CLUSTER_ACTION")),
    Case("never-matches", replace(TOKENS, resource_name="alice"), harmless=(TOKENS,)),
    Case("never-matches", new(principal="alice")),
    Case("unusual-principal", new(principal="Group:new"), harmless=(new(),)),
    Case("unusual-principal", new(principal="User:CN=new, O=x")),
    Case("malformed-range", new(host="10.0.0.0/33"), known={"semantics": RANGES}),
    Case("glob-lookalike", new("new-*", resource_type="GROUP")),
    Case("glob-lookalike", new("*", resource_type="GROUP", pattern_type="PREFIXED")),
    Case("public-access", new(principal="User:*")),
    Case("public-access", new(principal="User:ANONYMOUS")),
    Case("public-access", new(principal="*:*")),
    Case("any-host", new(host="*", operation="DELETE"), subject="User:new on TOPIC"),
    Case("any-host", new(host="*", operation="ALL"), subject="User:new on TOPIC"),
    Case(
        "any-host", replace(TOKENS, host="*"), harmless=(TOKENS,), subject="User:new on USER"
    ),
    Case("over-broad", new("*")),
    Case("over-broad", new("?*.*", pattern_type="GLOB")),
    Case(
        "escalation", new("kafka-cluster", resource_type="CLUSTER", operation="ALTER"),
        harmless=(new("kafka-cluster", resource_type="CLUSTER", operation="DESCRIBE"),),
    ),
    Case("escalation", new("kafka-cluster", resource_type="CLUSTER", operation="ALTER_CONFIGS")),
    Case(
        "escalation",
        TOKENS,
        harmless=(replace(TOKENS, resource_name="User:new"), replace(TOKENS, acl_id="d",
            operation="DESCRIBE_TOKENS")),
    ),
    Case("orphan-resource", new(), harmless=(new(operation="CREATE"),)),
    Case("orphan-resource", new(GONE.name, operation="CREATE")),
    Case("orphan-principal", new(principal="User:left"), subject="User:left"),
    Case(
        "inherited-access",
        new(),
        harmless=(new(permission_type="DENY"), new("new.", pattern_type="PREFIXED")),
        known={"topics": BORN_AGAIN},
    ),
    Case("read-without-group", new(), subject="User:new", harmless=(GROUP,)),
    Case(
        "transactional-id-without-topic", TRANSACTIONS, subject="User:new",
        harmless=(new(operation="WRITE"),),
    ),
    Case(
        "deny-leaves-describe",
        new(permission_type="DENY"),
        beside=(new(operation="WRITE"),),
        harmless=(new("other.topic"),),
    ),
    Case("sleeping-range", new(host="10.0.0.0/8"), harmless=(new(host="10.0.0.0/33"),)),
    Case("sleeping-range", new(host="2001:db8::/32", permission_type="DENY")),
    Case(
        "brokers-disagree", new(host="10.0.0.0/8"), subject="cluster",
        harmless=(new(host="10.0.0.0/33"),), known={"brokers": ROLLING},
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def known() -> set[tuple[str, str]]:
    return found(audit_sample())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_a_finding_fires_on_the_acl_planted_for_it_and_is_silent_without_it(case, known):
    assert case.key not in known
    audit = audit_sample(case.planted, *case.beside, **case.known)
    assert case.key in found_of(case.kind, audit)
    silent = found_of(case.kind, audit_sample(*case.beside, *case.harmless, **case.known))
    assert case.key not in silent
    assert not {key for key in silent if key[0] == case.kind} & {
        (case.kind, str(row)) for row in case.harmless
    }


def test_an_audit_finds_what_the_finders_find_and_each_finds_its_own_kinds_only():
    """With all that is planted anywhere at once."""
    rows = [row for case in CASES for row in (case.planted, *case.beside, *case.harmless)]
    audit = audit_sample(*{row.acl_id: row for row in rows}.values(), brokers=ROLLING)
    of_finder: dict[Finder, set[str]] = {}
    for kind, find in REGISTRY.items():
        if find is not None:
            of_finder.setdefault(find, set()).add(kind.id)
    every = set()
    for kinds in of_finder.values():
        keys = found_of(min(kinds), audit)
        assert {kind for kind, _ in keys} <= kinds
        every |= keys
    assert found(audit) == every


def test_a_resource_without_acl_is_open_to_everyone_until_an_acl_reaches_it():
    key = "open-to-everyone", "topic:new.topic"
    lives = {"topics": [Life(name="new.topic", first_offset=1)], "settings": EVERYONE}
    acls = {"acls": [row for row in sample_acls() if row.resource_name != "*"]}
    assert key in found(audit_sample(**lives | acls))
    assert key not in found(audit_sample(**lives | acls | {"settings": BrokerSettings()}))
    assert key not in found(audit_sample(**lives | {"acls": [*acls["acls"], new()]}))


def test_every_kind_of_an_audit_has_a_planted_acl():
    planted = {case.kind for case in CASES} | {"open-to-everyone"}
    of_runs = (
        BROKER_SETTINGS_DIFFER, READING_CHANGED, SUPER_USERS_UNKNOWN, CHANGED_BY_HAND,
        MISSING_RIGHT,
    )  # fmt: skip
    others = {kind.id for kind in (*OF_READINGS, *OF_LOGS, *of_runs)} | {*DRIFT, *ENDS}
    assert planted == KINDS.keys() - others


def test_every_finding_on_the_sample_is_of_a_kind_and_says_what_it_holds_for():
    for finding in find_all(audit_sample()):
        assert finding.finding in KINDS
        assert finding.severity in SEVERITIES
        assert finding.severity in KINDS[finding.finding].severity_words
        assert finding.holds_for in (EVERY_NAME, INVENTORY)
        assert finding.evidence, finding
        assert finding.message.endswith("."), finding.message


def test_a_fingerprint_depends_on_kind_and_subject_only():
    first = find_all(audit_sample())
    again = find_all(audit_sample(new("far.away")))
    assert {f.fingerprint for f in first} <= {f.fingerprint for f in again}
    assert len({f.fingerprint for f in first}) == len(first)
