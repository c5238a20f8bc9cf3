"""SARIF: valid, a rule per kind, a result per finding, and the same fingerprint every night."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft7Validator

from aclkit.audit.reports.as_sarif import render_sarif
from tests.audit.reports.made import BROKEN, HOSTILE, KEPT, UNPROVEN, finding, hostile, report
from tests.audit.reports.sarif_schema import SCHEMA

VALIDATOR = Draft7Validator(SCHEMA)
REPORTS = {
    "empty": report(),
    "findings": report(finding(), finding(2, severity="info", kind="b")),
    "assertions": report(assertions=(BROKEN, KEPT)),
    "hostile": hostile(),
}


def run_of(made):
    (run,) = json.loads(render_sarif(made))["runs"]
    return run


def test_the_schema_is_a_schema():
    Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", REPORTS)
def test_sarif_is_valid(name):
    VALIDATOR.validate(json.loads(render_sarif(REPORTS[name])))


def test_the_validation_can_fail():
    made = json.loads(render_sarif(REPORTS["findings"]))
    made["runs"][0]["results"][0]["level"] = "high"
    assert not VALIDATOR.is_valid(made)


@pytest.mark.parametrize("name", REPORTS)
def test_each_result_points_at_its_rule(name):
    run = run_of(REPORTS[name])
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


@pytest.mark.parametrize(
    ("severity", "level"),
    [("high", "error"), ("medium", "warning"), ("low", "note"), ("info", "note")],
)
def test_severities_become_levels(severity, level):
    (result,) = run_of(report(finding(severity=severity)))["results"]
    assert result["level"] == level


def test_a_rule_has_the_level_of_its_worst_finding():
    run = run_of(report(finding(1, severity="low"), finding(2, severity="medium")))
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["defaultConfiguration"] == {"level": "warning"}


def test_a_result_has_the_fingerprint_and_the_evidence_of_its_finding():
    (result,) = run_of(report(found := finding()))["results"]
    assert result["partialFingerprints"] == {"aclkit/v1": found.fingerprint}
    assert result["properties"]["evidence"] == list(found.evidence)


def test_only_broken_assertions_are_results_and_names_are_exact():
    (result,) = run_of(report(assertions=(BROKEN, KEPT)))["results"]
    assert result["ruleId"] == "assertion"
    assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == HOSTILE


def test_an_assertion_that_is_unknown_is_a_result_that_says_so():
    results = run_of(report(assertions=(BROKEN, UNPROVEN)))["results"]
    assert [result["properties"]["state"] for result in results] == ["failed", "unknown"]


def test_an_incomplete_run_is_no_success():
    (invocation,) = run_of(report(status="incomplete"))["invocations"]
    assert invocation["executionSuccessful"] is False
