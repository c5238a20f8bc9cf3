"""What an alert says, and when one is worth sending."""

from __future__ import annotations

import json

import pytest

from aclkit.audit.alerts.alerts import (
    MOST_FINDINGS,
    alert_of,
    alert_of_failure,
    render_alert,
)
from aclkit.errors import DataError
from tests.audit.reports.made import HOSTILE, UNPROVEN, finding, hostile, report


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
