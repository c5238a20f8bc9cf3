"""What programs read is what docs/schemas say: every key, in its order, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from aclkit.cli import cli
from aclkit.model.semantics import BrokerSettings
from tests.cli.test_audit import FOUND, rows_of
from tests.questions.query import changed_warehouse
from tests.questions.query import small_warehouse as small

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
SUPER = BrokerSettings(super_users=frozenset({small.SUPER_USER}))
NEW = small.acl(50, principal="User:carol", resource_name="orders", host="10.0.0.1")
QUESTIONS = {
    "who-can": ["who-can ANY topic:payments --all", "who-can READ topic:paymets"],
    "what-can": ["what-can User:bob --all", "what-can User:bbo topic:nowhere --all"],
    "why": [
        "why User:bob READ topic:payments --host 10.0.0.1",
        "why User:admin READ topic:payments",
        "why User:new READ topic:paymets",
        "why User:carol CREATE_TOKENS user:User:new",
    ],
    "history": ["history User:bob READ topic:payments", "history User:new READ topic:new"],
    "audit": ["audit --fail-on never"],
    "acls-list": ["acls list"],
    "changes": ["changes --since 0"],
    "changes-cells": ["changes --cells"],
    "preview": [
        "preview add-acl --allow-principal User:carol --operation Read --topic orders",
        "preview remove-acl --topic payments",
        "preview upgrade --from kip-1042 --to kafka",
    ],
    "preview-add-topic": ["preview add-topic pay-new payments"],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two nights, some findings, and what the last one changed."""
    path = tmp_path_factory.mktemp("schemas") / "warehouse"
    acls = [*small.ACLS[1:], NEW]
    changed_warehouse.build(path, [(small.ACLS, SUPER), (acls, SUPER)])
    return path


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    path = tmp_path_factory.mktemp("audited")
    versions = small.build(path)
    versions["finding"] = small.write_table(path, "finding", rows_of(FOUND))
    small.publish(path, versions, run_number=2, counts={"decided_in_run": 2})
    return path


def schema(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


def ordered(found, wanted):
    """Whether the keys of objects stand in the order of the schema, wherever they are."""
    if isinstance(found, list):
        return all(ordered(item, wanted.get("items", {})) for item in found)
    if not isinstance(found, dict) or "additionalProperties" not in wanted:
        return not isinstance(found, dict) or "anyOf" in wanted
    known = wanted.get("properties")
    if known is None:
        return True
    return list(found) == list(known) and all(ordered(found[key], known[key]) for key in known)


@pytest.mark.parametrize(
    ("name", "words"), [(name, words) for name, asked in QUESTIONS.items() for words in asked]
)
def test_an_answer_has_the_keys_of_its_schema_in_their_order(root, audited, name, words):
    place = audited if name == "audit" else root
    options = ["--warehouse", str(place), *words.split(), "--format", "json"]
    result = CliRunner().invoke(cli, options)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    errors = [error.message for error in Draft202012Validator(schema(name)).iter_errors(found)]
    assert errors == []
    assert found
    assert ordered(found, schema(name))


def test_every_schema_is_one_and_belongs_to_a_question():
    assert {path.stem for path in SCHEMAS.glob("*.json")} == set(QUESTIONS)
    for name in QUESTIONS:
        Draft202012Validator.check_schema(schema(name))
