"""The report's script writes an ACL as every other text does."""

from __future__ import annotations

from dataclasses import replace

from aclkit.model.acl import acl_words
from aclkit.model.visible import visible
from tests.audit.reports.asking import go
from tests.audit.reports.made import HOSTILE, WHEN, AliveAcl, explorer, report
from tests.factories import acl

ACLS = (
    acl("payments."),
    acl("payments.", pattern_type="PREFIXED", host="10.0.0.0/8", permission_type="DENY"),
    acl("p*s", pattern_type="GLOB"),
    acl("p*s"),
    acl("why?"),
    acl("*"),
    acl("*", pattern_type="PREFIXED"),
    acl("*", pattern_type="GLOB"),
    acl("", pattern_type="PREFIXED"),
    acl("two words", principal="User:CN=a b", host="a b"),
    acl("*", resource_type="TRANSACTIONAL_ID", operation="WRITE"),
    acl("kafka-cluster", resource_type="CLUSTER", operation="ALTER"),
    acl("kafka-cluster", resource_type="CLUSTER", pattern_type="PREFIXED", operation="ALTER"),
    acl("kafka-cluster"),
    acl("t1", resource_type="DELEGATION_TOKEN", operation="DESCRIBE", principal=""),
    acl(HOSTILE, principal=f"User:{HOSTILE}", host=""),
)


def test_the_script_writes_the_one_short_form_of_an_acl(browser, pages):
    made = [
        AliveAcl(acl=replace(each, acl_id=f"id-{number}"), added_offset=number, added_at=WHEN)
        for number, each in enumerate(ACLS)
    ]
    decided = replace(explorer(2, 2), acls=tuple(made))
    browser.open(pages("acls", report(explorer=decided)))
    for alive in made:
        go(browser, f"#acl={alive.acl.acl_id}&decision=both")
        shown = browser.js("document.querySelector('#answer p').textContent")
        assert shown == visible(acl_words(alive.acl))
