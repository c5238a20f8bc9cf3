"""What an alert says, when one is worth sending, and each change once, whatever was missed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.audit.alerts.alert import (
    MOST_ACLS,
    MOST_FINDINGS,
    Alerted,
    Moved,
    alert_of,
    alert_of_failure,
    alert_of_return,
    alert_of_silence,
    alert_since,
    alerted_by,
    read_alerted,
    render_alert,
)
from aclkit.errors import DataError, SurroundingsError
from tests.audit.reports.made import BROKEN, HOSTILE, KEPT, UNPROVEN, finding, hostile, report
from tests.factories import acl


def summary(*findings, **fields):
    return report(*findings, **fields).summary


def test_what_is_unknown_is_told_apart_from_what_is_broken():
    alert = alert_of(summary(assertions=(UNPROVEN,)))
    assert alert.lines[0] == "unknown assertion: no strangers"
    assert (alert.facts["broken_assertions"], alert.facts["unknown_assertions"]) == (
        [], ["no strangers"],
    )  # fmt: skip


def test_generic_json_has_the_facts_and_the_worst_findings_first():
    found = [finding(number, severity="low") for number in range(MOST_FINDINGS)] + [finding(99)]
    said = render_alert(alert_of(summary(*found)), "json")
    assert (said["source"], said["cluster_id"]) == ("aclkit", "kraft-4.1")
    assert said["findings"]["low"] == MOST_FINDINGS
    assert said["worst"][0]["subject"] == "topic:t99"
    assert said["worst"][0]["fingerprint"] == finding(99).fingerprint
    assert said["lines"][-1] == "… and 1 more findings"
    json.dumps(said)


def test_slack_gets_plain_text_in_which_no_name_is_a_mark():
    said = render_alert(
        alert_of(summary(finding(message="<!channel> <http://h.example|x>"))), "slack"
    )
    header, section = said["blocks"]
    assert {header["text"]["type"], section["text"]["type"]} == {"plain_text"}
    assert "<!channel> <http://h.example|x>" in section["text"]["text"]


def test_slack_reads_no_mark_in_the_text_of_notifications():
    text = render_alert(alert_of(summary(cluster_id="<!here>&")), "slack")["text"]
    assert "&lt;!here&gt;&amp;" in text
    assert "<" not in text


def test_slack_is_given_no_more_than_it_takes():
    found = [finding(number, message="m" * 5_000) for number in range(20)]
    said = render_alert(alert_of(summary(*found, cluster_id="c" * 500)), "slack")
    header, section = (block["text"]["text"] for block in said["blocks"])
    assert len(header) <= 150
    assert len(section) <= 3_000


@pytest.mark.parametrize("style", ["json", "slack"])
def test_hostile_names_are_no_obstacle(style):
    said = json.dumps(render_alert(alert_of(hostile().summary), style))
    assert json.loads(said)
    assert HOSTILE not in said


def test_a_failed_run_tells_its_error():
    said = render_alert(alert_of_failure("c1", DataError("a hole at 7")), "json")
    assert said["text"] == "The run failed with exit code 3: a hole at 7"
    assert said["exit_code"] == 3


KNOWN = alerted_by(summary(finding(1)), "high")


def since(now, known=KNOWN, moved=None, least="high"):
    return alert_since(now, known, moved or Moved(), least)


@pytest.mark.parametrize(
    ("least", "severity", "wanted"),
    [
        ("high", "high", True),
        ("high", "medium", False),
        ("low", "medium", True),
        ("info", "info", True),
        ("always", "info", True),
        ("always", None, False),
        ("never", "high", False),
        ("info", None, False),
    ],
)
def test_the_least_severity_decides(least, severity, wanted):
    found = [finding(severity=severity)] if severity else []
    assert (since(summary(*found), None, least=least) is not None) is wanted


def test_a_quiet_night_is_worth_no_alert():
    assert since(summary(assertions=(KEPT,), exit_code=0), None, least="info") is None


def test_the_text_holds_what_is_of_the_asked_severity():
    """Ten milder ones would hide it, and a count of them would say that they are new."""
    mild = [finding(number, severity="low", message="mild") for number in range(20)]
    told = since(summary(*mild, finding(99)), None)
    assert told.text == "Action needed: 1 new finding (1 high). No access changed."
    assert told.lines == ("high public-access: Everyone has READ.",)
    said = render_alert(told, "slack")
    assert "mild" not in json.dumps(said)
    assert "low" not in json.dumps(said)


def test_a_change_of_an_acl_is_in_the_text_of_always_and_in_the_facts_of_each_alert():
    moved = Moved(added=[acl("a")])
    told = since(summary(finding(1), finding(2)), moved=moved)
    assert "ACL" not in "".join((told.text, *told.lines))
    assert told.facts["acls_added_count"] == 1


def test_findings_come_before_the_acls_that_made_them():
    moved = Moved(added=[acl("a")])
    told = since(summary(finding(1), finding(2)), moved=moved, least="always")
    assert [line.split()[0] for line in told.lines] == ["high", "added:"]


@pytest.mark.parametrize("trouble", [{"assertions": (BROKEN,)}, {"exit_code": 3}])
def test_who_cannot_judge_a_trouble_leaves_it_known(trouble):
    """``alert`` tests no policy: the run after it must not alert the same policy again."""
    known = alerted_by(summary(**trouble), "high")
    between = alerted_by(summary(), "high", known)
    assert since(summary(**trouble), between) is None
    mended = alerted_by(summary(assertions=(KEPT,), exit_code=0), "high", known)
    assert since(summary(**trouble), mended) is not None


def test_a_finding_is_told_once():
    assert since(summary(finding(1))) is None
    told = since(summary(finding(1), finding(2)))
    assert [each["subject"] for each in told.facts["worst"]] == ["topic:t2"]
    assert since(summary(finding(1), finding(2)), alerted_by(summary(finding(2)), "high"))


def test_a_finding_that_went_and_comes_again_is_told_again():
    gone = alerted_by(summary(), "high")
    assert since(summary(finding(1)), gone).facts["worst"]


def test_a_milder_finding_is_told_only_where_that_is_asked_for():
    now = summary(finding(1), finding(2, severity="low"))
    assert since(now) is None
    assert since(now, alerted_by(summary(finding(1)), "low"), least="low")


def test_who_knows_nothing_is_told_all_findings_and_no_acl():
    told = since(summary(finding(1), finding(2)), None, least="always")
    assert len(told.facts["worst"]) == 2
    assert told.facts["acls_added_count"] == 0


def test_always_tells_each_acl_that_came_or_went():
    moved = Moved(added=[acl("a")], removed=[acl("b")])
    assert since(summary(finding(1)), moved=moved) is None
    told = since(summary(finding(1)), moved=moved, least="always")
    assert told.lines == (
        "added: ALLOW READ on topic a for User:a from any host",
        "removed: ALLOW READ on topic b for User:a from any host",
    )
    assert (
        told.text
        == "1 ACL added, 1 ACL removed. Nothing to do: no new findings. No access changed."
    )
    assert [each["resource_name"] for each in told.facts["acls_added"]] == ["a"]


def test_always_tells_an_access_that_changed_by_a_setting_once():
    now = summary(finding(1), access_changes=3, run_id="later")
    assert since(now, least="always")
    assert since(now, replace(KNOWN, run_id="later"), least="always") is None


def test_never_tells_nothing():
    now = summary(finding(2), status="incomplete")
    assert since(now, moved=Moved(added=[acl()]), least="never") is None


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "incomplete"},
        {"rows_decided": 1},
        {"assertions": (BROKEN, KEPT)},
        {"assertions": (UNPROVEN,)},
        {"exit_code": 3},
    ],
)
def test_each_trouble_is_told_once_whatever_the_severity(fields):
    now = summary(finding(1), **fields)
    assert since(now).facts["worst"] == []
    assert since(now, alerted_by(now, "high")) is None


def test_a_policy_that_failed_before_is_not_named_again():
    known = alerted_by(summary(assertions=(BROKEN,)), "high")
    told = since(summary(finding(2), assertions=(BROKEN,)), known)
    assert told.facts["broken_assertions"] == []


def test_of_many_acls_the_first_are_named_and_all_are_counted():
    moved = Moved(added=[acl(str(n)) for n in range(MOST_ACLS + 5)])
    told = since(summary(), moved=moved, least="always")
    assert told.lines[MOST_ACLS] == "… and 5 more ACLs added"
    assert (len(told.facts["acls_added"]), told.facts["acls_added_count"]) == (10, 15)


def test_the_same_alert_has_the_same_id_and_another_has_another():
    now = summary(finding(1), finding(2))
    assert since(now).facts["alert_id"] == since(now).facts["alert_id"]
    assert since(now).facts["alert_id"] != since(summary(finding(3))).facts["alert_id"]


def test_names_of_strangers_are_data_in_every_style():
    moved = Moved(added=[acl(HOSTILE, principal=f"User:{HOSTILE}")])
    told = since(summary(), moved=moved, least="always")
    for style in ("json", "slack"):
        json.dumps(render_alert(told, style))
    said = json.dumps(render_alert(told, "slack")["blocks"], ensure_ascii=False)
    assert "\u202e" not in said


def test_silence_and_return_are_told_with_ids_of_their_own():
    error = SurroundingsError("the folder is gone")
    silence = alert_of_silence("c", error, 3, "2026-11-27T00:00:00.000Z")
    back = alert_of_return("c", "2026-11-27T00:00:00.000Z")
    assert "since 2026-11-27T00:00:00.000Z (3 polls): the folder is gone" in silence.text
    assert silence.facts["alert_id"] != back.facts["alert_id"]
    assert (silence.facts["is_failing"], back.facts["is_failing"]) == (True, False)


@given(
    st.builds(
        Alerted,
        run_id=st.text(),
        offset=st.integers(0),
        findings=st.frozensets(st.text()),
        troubles=st.frozensets(st.text()),
    )
)
def test_what_was_told_is_read_as_it_was_written(told):
    assert read_alerted(json.loads(json.dumps(told.write()))) == told


@pytest.mark.parametrize("said", [{}, {"offset": "x"}, {**KNOWN.write(), "findings": None}])
def test_what_is_none_of_ours_is_nothing_that_was_told(said):
    assert read_alerted(said) is None
