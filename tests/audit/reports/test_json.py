"""JSON: every value unchanged, whatever the names are."""

from __future__ import annotations

import json

from aclkit.audit.reports.as_json import render_json
from tests.audit.reports.made import HOSTILE, finding, hostile, report


def test_json_holds_findings_with_their_acls_and_fingerprints():
    found = finding()
    read = json.loads(render_json(report(found)))
    (only,) = read["findings"]
    assert (only["fingerprint"], only["holds_for"]) == (found.fingerprint, "every-name")
    assert only["acls"][0]["added_at"] == "2026-11-21T02:00:03.000Z"
    assert read["counts"]["findings"] == {"high": 1, "medium": 0, "low": 0, "info": 0}
    assert read["run"]["log_head"] == 920
    assert [point["acls"] for point in read["trend"]] == [1200, 1201, 1202]
    assert read["assertions"] is None


def test_json_keeps_names_exactly():
    read = json.loads(render_json(hostile()))
    assert read["cluster_id"] == HOSTILE
    assert read["findings"][0]["subject"] == HOSTILE
    assert read["access_changes"][0]["causes"][0]["acl"]["principal"] == f"User:{HOSTILE}"
    assert read["assertions"][0]["example"] == HOSTILE


def test_half_a_surrogate_pair_is_no_obstacle():
    text = render_json(report(finding(subject="\ud800")))
    assert json.loads(text.encode())["findings"][0]["subject"] == "\ud800"
