"""JUnit: a test case per kind of finding and per assertion, well-formed whatever the names are."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from aclkit.audit.reports.as_junit import MOST_LINES, render_junit
from tests.audit.reports.made import BROKEN, KEPT, UNPROVEN, finding, hostile, report


def cases(text):
    root = ElementTree.fromstring(text)
    found = {
        (case.get("classname").removeprefix("aclkit."), case.get("name")): [p.tag for p in case]
        for case in root.iter("testcase")
    }
    assert int(root.get("tests")) == len(found)
    assert int(root.get("failures")) == sum(parts == ["failure"] for parts in found.values())
    return found


def test_a_kind_that_was_found_fails_and_one_that_is_gone_passes():
    assert cases(render_junit(report(finding()))) == {
        ("finding", "public-access"): ["failure"],
        ("finding", "redundant-acl"): [],
    }


@pytest.mark.parametrize(
    ("fail_on", "parts"),
    [("never", ["system-out"]), ("medium", ["system-out"]), ("low", ["failure"])],
)
def test_fail_on_says_which_severity_fails(fail_on, parts):
    made = report(finding(severity="low", kind="redundant-acl"))
    assert cases(render_junit(made, fail_on))["finding", "redundant-acl"] == parts


def test_an_assertion_that_is_unknown_fails_as_what_it_is():
    text = render_junit(report(assertions=(UNPROVEN,)))
    assert cases(text)["assertion", "no strangers"] == ["failure"]
    assert 'type="assertion-unknown"' in text


def test_an_assertion_is_a_case_that_fails_if_it_is_broken():
    found = cases(render_junit(report(assertions=(BROKEN, KEPT))))
    assert found["assertion", "no guests"] == []
    assert ["failure"] in found.values()


def test_long_lists_are_cut_and_counted():
    made = report(*(finding(number) for number in range(MOST_LINES + 3)))
    (failure,) = ElementTree.fromstring(render_junit(made)).iter("failure")
    assert failure.text.endswith("… and 3 more")
    assert failure.get("message") == f"{MOST_LINES + 3} findings, the worst is high"


def test_hostile_names_leave_the_xml_well_formed():
    text = render_junit(hostile())
    names = cases(text)
    assert any(name.startswith("<img src=x onerror=alert(1)></script>") for _, name in names)
    assert "<img" not in text
    assert "\x1b" not in text
