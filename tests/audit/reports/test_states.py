"""States of findings in every report: new, known, muted with who and why, run out, fixed."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import date
from xml.etree import ElementTree

import pytest
from jsonschema import Draft7Validator

from aclkit.audit.alerts.alert import MOST_FINDINGS, Moved, alert_of, alert_since, render_alert
from aclkit.audit.findings.baseline import BaselineEntry, Mute, classify
from aclkit.audit.reports.render import FORMATS, render
from tests.audit.reports.made import HOSTILE, IMAGE, finding, report
from tests.audit.reports.sarif_schema import SCHEMA

TODAY = date(2026, 11, 21)
NEW, KNOWN = finding(1, severity="low"), finding(2)
MUTED, LATE = finding(3, kind="escalation"), finding(4, severity="low", kind="any-host")


def known(found, **fields):
    names = ("fingerprint", "finding", "severity", "subject")
    return BaselineEntry(**({name: getattr(found, name) for name in names} | fields))


def mute(found, until, **fields):
    said = {"owner": "ops", "reason": "moves away"} | fields
    return Mute(
        fingerprint=found.fingerprint, finding=None, subject=None, until=until, **said
    )  # fmt: skip


FIXED = known(finding(9), fingerprint="gone", subject="topic:gone")
BASELINE = {one.fingerprint: one for one in (known(KNOWN), FIXED)}
MUTES = [mute(MUTED, date(2026, 12, 31)), mute(LATE, date(2026, 1, 1))]


def judged_report(*found, baseline=BASELINE, mutes=MUTES, **fields):
    made = report(*found, **fields)
    judged = classify(found, baseline, mutes, TODAY)
    return replace(made, summary=made.summary.with_states(judged))


def all_states():
    return judged_report(NEW, KNOWN, MUTED, LATE)


def test_muted_findings_are_no_longer_among_those_in_force():
    summary = all_states().summary
    assert set(summary.findings) == {NEW, KNOWN, LATE}
    assert [item.state for item in summary.judged].count("muted") == 1


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "prometheus"])
def test_every_form_says_who_answers_for_a_muted_finding_until_when_and_why(form):
    text = render(all_states(), form)
    for word in ("ops", "2026-12-31", "moves away"):
        assert word in text
    assert ("topic:gone" in text) is (form != "junit")


def test_without_a_baseline_and_mutes_nothing_is_called_new():
    made = report(NEW)
    page = render(made, "html")
    assert "data-state=" not in page
    assert 'name="state"' not in page
    assert "State:" not in render(made, "markdown")
    assert "baseline" not in render(made, "junit", "low")
    assert "finding_states" not in render(made, "prometheus")
    assert alert_of(made.summary).lines == ("low public-access: Everyone has READ.",)


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_owners_and_reasons_stay_text(form):
    evil = mute(MUTED, TODAY, owner=HOSTILE, reason=HOSTILE)
    gone = known(FIXED, subject=HOSTILE)
    made = judged_report(MUTED, baseline={"gone": gone}, mutes=[evil])
    text = render(made, form)
    text.encode()
    if form in ("html", "markdown"):
        assert IMAGE not in text
    if form == "junit":
        ElementTree.fromstring(text)
    if form in ("json", "sarif"):
        assert HOSTILE in _texts(json.loads(text))


def _texts(value):
    if isinstance(value, dict):
        return " ".join(map(_texts, value.values()))
    return " ".join(map(_texts, value)) if isinstance(value, list) else str(value)


def test_the_verdict_counts_the_states():
    text = render(all_states(), "markdown")
    states = "(2 not in the baseline, 1 in the baseline, 1 muted, 1 fixed)"
    assert f"1 high and 2 low findings {states}" in text
    assert "- Fix or accept anew 1 finding: the acceptance has expired." in text


def test_markdown_tells_muted_and_fixed_findings_apart():
    text = render(all_states(), "markdown")
    muted = text.partition("## Accepted\n\n")[2].partition("\n\n")[0]
    assert muted == (
        "- high escalation topic:t3: muted until 2026-12-31 by ops: moves away"
    )  # fmt: skip
    assert text.partition("## Fixed\n\n")[2].startswith("- high public-access topic:gone\n")
    late = "not in the baseline; the mute of ops ran out on 2026-01-01: moves away"
    assert f"  - State: {late}\n" in text
    assert "  - State: in the baseline\n" in text


def test_json_has_state_and_mute_of_each_finding_and_what_is_fixed():
    read = json.loads(render(all_states(), "json"))
    states = {row["subject"]: (row["state"], row["mute"]) for row in read["findings"]}
    answer = {"owner": "ops", "reason": "moves away"}
    assert states == {
        "topic:t1": ("new", None),
        "topic:t2": ("known", None),
        "topic:t3": ("muted", {"until": "2026-12-31", "has_run_out": False, **answer}),
        "topic:t4": ("new", {"until": "2026-01-01", "has_run_out": True, **answer}),
    }
    assert [row["subject"] for row in read["fixed"]] == ["topic:gone"]
    assert read["counts"]["findings"] == {"high": 1, "medium": 0, "low": 2, "info": 0}
    assert read["counts"]["states"] == {"new": 2, "known": 1, "muted": 1, "fixed": 1}


def test_json_without_states_says_null():
    read = json.loads(render(report(NEW), "json"))
    assert (read["findings"][0]["state"], read["findings"][0]["mute"]) == (None, None)
    assert (read["fixed"], read["counts"]["states"]) == ([], None)


def sarif(made):
    read = json.loads(render(made, "sarif"))
    Draft7Validator(SCHEMA).validate(read)
    (run,) = read["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    place = "fullyQualifiedName"
    return {one["locations"][0]["logicalLocations"][0][place]: one for one in run["results"]}


def test_sarif_has_baseline_states_and_suppressions():
    results = sarif(all_states())
    assert {name: one["baselineState"] for name, one in results.items()} == {
        "topic:t1": "new", "topic:t2": "unchanged", "topic:t3": "new", "topic:t4": "new",
        "topic:gone": "absent",
    }  # fmt: skip
    assert results["topic:t3"]["suppressions"] == [
        {
            "kind": "external",
            "status": "accepted",
            "justification": "ops, until 2026-12-31: moves away",
        }
    ]
    others = [one["suppressions"] for name, one in results.items() if name != "topic:t3"]
    assert others == [[]] * 4
    late = results["topic:t4"]["properties"]["muteRanOut"]
    assert late == "ops, until 2026-01-01: moves away"


def test_what_is_fixed_passes_in_sarif_though_no_finding_of_its_kind_is_left():
    results = sarif(judged_report(baseline={"gone": replace(FIXED, finding="of-old")}))
    only = results["topic:gone"]
    assert (only["kind"], only["level"], only["ruleId"]) == ("pass", "none", "of-old")


def test_a_kind_of_which_all_is_fixed_has_the_level_of_the_worst_that_it_can_be():
    made = judged_report(baseline={"gone": replace(FIXED, finding="never-matches")})
    (rule,) = json.loads(render(made, "sarif"))["runs"][0]["tool"]["driver"]["rules"]
    assert (rule["id"], rule["defaultConfiguration"]) == ("never-matches", {"level": "warning"})


def test_sarif_without_states_has_none():
    (only,) = sarif(report(NEW)).values()
    assert not {"baselineState", "suppressions"} & set(only)


def junit(made, fail_on="high"):
    root = ElementTree.fromstring(render(made, "junit", fail_on))
    (suite,) = root.iter("testsuite")
    found = {
        (case.get("classname").removeprefix("aclkit."), case.get("name")): [p.tag for p in case]
        for case in root.iter("testcase")
    }
    assert int(suite.get("skipped")) == sum(tags == ["skipped"] for tags in found.values())
    assert int(suite.get("failures")) == sum(tags == ["failure"] for tags in found.values())
    return found


def test_junit_skips_what_is_muted_and_fails_by_what_is_new_or_has_run_out():
    found = junit(all_states())
    assert found["muted", "escalation"] == ["skipped"]
    assert ("finding", "escalation") not in found
    assert found["finding", "any-host"] == ["failure"]
    assert found["finding", "public-access"] == ["system-out"]
    assert junit(all_states(), "low")["finding", "public-access"] == ["failure"]


def test_the_failing_findings_of_a_kind_stand_first():
    made = judged_report(KNOWN, NEW)
    (failure,) = ElementTree.fromstring(render(made, "junit", "low")).iter("failure")
    assert failure.get("message") == "1 findings, the worst is low"
    assert failure.text.splitlines()[0].startswith("low (not in the baseline): ")


def test_the_spreadsheet_has_columns_for_the_states():
    rows = list(csv.DictReader(io.StringIO(render(all_states(), "spreadsheet"), newline="")))
    said = {row["subject"]: row["state"] for row in rows}
    assert said == {
        "topic:t1": "new", "topic:t2": "known", "topic:t3": "muted", "topic:t4": "new",
        "topic:gone": "fixed",
    }  # fmt: skip
    (muted,) = (row for row in rows if row["state"] == "muted")
    assert (muted["muted_until"], muted["owner"], muted["reason"]) == (
        "2026-12-31", "ops", "moves away",
    )  # fmt: skip


def test_prometheus_counts_the_states_and_leaves_muted_findings_out():
    text = render(all_states(), "prometheus")
    assert 'aclkit_findings{cluster="kraft-4.1",severity="high"} 1\n' in text
    assert 'aclkit_finding_states{cluster="kraft-4.1",state="muted"} 1\n' in text


def test_the_page_lists_muted_findings_last_with_their_owner_and_what_is_fixed():
    page = render(all_states(), "html")
    asked, _, muted = page.partition('data-state="muted"')
    assert muted.count("<tr data-fingerprint") == 0
    assert "muted until 2026-12-31 by ops: moves away" in muted
    assert "topic:gone" in page.partition('id="fixed"')[2]
    assert "mute ran out" in asked


def test_known_findings_are_not_worth_an_alert_and_mutes_that_ran_out_are():
    def is_alarming(judged, least):
        return alert_since(judged.summary, None, Moved(), least) is not None

    assert not is_alarming(judged_report(KNOWN, MUTED), "info")
    assert not is_alarming(judged_report(NEW), "high")
    assert is_alarming(judged_report(NEW), "low")
    assert is_alarming(judged_report(LATE), "high")


def test_an_alert_tells_what_is_new_before_what_is_known():
    old = [finding(number + 10) for number in range(MOST_FINDINGS)]
    baseline = {one.fingerprint: known(one) for one in old}
    told = alert_of(judged_report(*old, NEW, LATE, MUTED, baseline=baseline).summary)
    assert told.lines[0].startswith("low any-host (mute ran out): ")
    assert told.lines[1].startswith("low public-access (not in the baseline): ")
    assert told.lines[2].startswith("high public-access (in the baseline): ")
    said = render_alert(told, "json")
    assert [one["state"] for one in said["worst"][:3]] == ["new", "new", "known"]
    assert said["states"]["muted"] == 1
