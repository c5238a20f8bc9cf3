"""SARIF of a planned change: valid, and it points into the files of the team."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft7Validator

from aclkit.kafka.acls.text import render_list
from tests.audit.reports.sarif_schema import SCHEMA
from tests.cli.running import run
from tests.factories import acl
from tests.kafka.desired.terraform_files import acl as tf
from tests.kafka.desired.terraform_files import plan, resource

VALIDATOR = Draft7Validator(SCHEMA)
KNOWN = ("--no-super-users", "--no-allow-everyone")
USERS = """\
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata: {name: ann, labels: {strimzi.io/cluster: main}}
spec:
  authorization:
    type: simple
    acls:
      - resource: {type: topic, name: orders}
        operations: [Read]
      - resource: {type: topic, name: invoices}
        operations: [Read]
"""
MODULE = """\
locals {
  names = ["a"]
}

resource "kafka_acl" "new" {
  for_each = toset(local.names)
}
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "now.txt").write_text(
        "\n".join(render_list([acl("orders", principal="User:ann")])), encoding="utf-8"
    )
    return tmp_path


def sarif(*words, code=0):
    words = ("preview", "apply", *words, "--base", "now.txt", *KNOWN, "--format", "sarif")
    found = json.loads(run(*words, code=code).stdout)
    VALIDATOR.validate(found)
    (only,) = found["runs"]
    return only


def places(result):
    return [
        (
            each["physicalLocation"]["artifactLocation"]["uri"],
            each["physicalLocation"].get("region", {}).get("startLine"),
        )
        for each in result["locations"]
        if "physicalLocation" in each
    ]


def test_an_acl_of_a_kafka_user_is_at_its_line(work):
    (work / "users.yaml").write_text(USERS, encoding="utf-8")
    (result,) = sarif("users.yaml")["results"]
    assert result["ruleId"] == "added"
    assert result["level"] == "warning"
    ((file, line),) = places(result)
    assert file == "users.yaml"
    assert USERS.splitlines()[line - 1].strip() in (
        "- resource: {type: topic, name: invoices}", "operations: [Read]"
    )  # fmt: skip


def made(address):
    return plan(resource(address, "create", None, tf("invoices")))


def test_an_acl_of_a_plan_is_at_the_block_of_its_resource(work):
    (work / "modules").mkdir()
    (work / "modules" / "main.tf").write_text(MODULE, encoding="utf-8")
    (work / "plan.json").write_text(
        json.dumps(made('module.m.kafka_acl.new["a"]')), encoding="utf-8"
    )
    (result,) = sarif("plan.json")["results"]
    assert places(result) == [("modules/main.tf", 5)]
    (logical,) = result["locations"][0]["logicalLocations"]
    assert logical["fullyQualifiedName"] == 'module.m.kafka_acl.new["a"]'


def test_a_resource_without_a_tf_file_is_at_its_plan(work):
    (work / "plan.json").write_text(json.dumps(made("kafka_acl.new")), encoding="utf-8")
    (result,) = sarif("plan.json")["results"]
    assert places(result) == [("plan.json", None)]


def test_a_removed_acl_has_no_file_and_a_logical_location(work):
    (work / "users.yaml").write_text(
        USERS.replace("name: orders", "name: others"), encoding="utf-8"
    )
    found = {each["ruleId"]: each for each in sarif("users.yaml")["results"]}
    assert "orders" in found["removed"]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]


def test_a_broken_condition_is_an_error(work):
    (work / "users.yaml").write_text(USERS, encoding="utf-8")
    first, second = sarif("users.yaml", "--fail-on", "any", code=1)["results"]
    assert (first["ruleId"], first["level"]) == ("verdict", "error")
    assert (second["ruleId"], second["level"]) == ("added", "error")


def test_what_passes_has_no_warning(work):
    user = USERS.replace("invoices", "orders2").split("      - res")[0]
    granted = "      - resource: {type: topic, name: orders}\n        operations: [Read]\n"
    (work / "users.yaml").write_text(user + granted, encoding="utf-8")
    assert [each["level"] for each in sarif("users.yaml")["results"]] == []


def test_each_effect_of_a_plan_has_a_rule(work):
    gap = plan(resource("kafka_acl.a", "delete,create", tf(), tf()))
    (work / "plan.json").write_text(json.dumps(gap), encoding="utf-8")
    (result,) = sarif("plan.json")["results"]
    assert result["ruleId"] == "gap"


def test_a_file_name_is_a_uri(work):
    (work / "the users#1.yaml").write_text(USERS, encoding="utf-8")
    (result,) = sarif("the users#1.yaml")["results"]
    assert places(result)[0][0] == "the%20users%231.yaml"


def test_a_result_keeps_its_fingerprint_when_its_line_moves(work):
    (work / "users.yaml").write_text(USERS, encoding="utf-8")
    first = sarif("users.yaml")["results"]
    (work / "users.yaml").write_text(f"# a comment\n\n{USERS}", encoding="utf-8")
    second = sarif("users.yaml")["results"]
    assert [each["partialFingerprints"] for each in first] == [
        each["partialFingerprints"] for each in second
    ]
    assert first != second
