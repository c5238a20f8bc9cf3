"""The command assert: lines, formats and exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from aclkit.kafka.acls.text import render_list
from tests.audit.reports.sarif_schema import SCHEMA
from tests.cli.running import run
from tests.questions.query import small_warehouse as small

EXAMPLE = Path(__file__).parents[3] / "conf" / "assertions.toml"
HOLDS = '[[never]]\nname="fine"\nprincipals="User:carol"\noperations="ALTER"\nresources="cluster"\n'
FAILS = HOLDS.replace("fine", "bad").replace("User:carol", "User:alice")
FAILS = FAILS.replace("ALTER", "READ").replace("cluster", "topic:payments")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("assert") / "warehouse"
    small.build(path)
    return path


@pytest.fixture
def check(root, tmp_path):
    def call(text, *arguments, code):
        file = tmp_path / "a.toml"
        file.write_text(text, encoding="utf-8")
        return run("--warehouse", root, "assert", file, *arguments, code=code)

    return call


def test_a_file_that_holds_ends_with_exit_code_0(check):
    (row,) = json.loads(check(HOLDS, "--format", "json", code=0).stdout)
    assert (row["state"], row["violations"], row["principal"]) == ("passed", 0, None)


def test_a_failed_one_shows_the_decision_rule_and_deciding_acl_and_ends_with_1(check):
    rows = [
        json.loads(line)
        for line in check(HOLDS + FAILS, "--format", "jsonl", code=1).stdout.splitlines()
    ]
    assert [row["state"] for row in rows] == ["passed", "failed"]
    bad = rows[1]
    assert (bad["principal"], bad["host"], bad["operation"], bad["resource"]) == (
        "User:alice", "10.0.0.1", "READ", "topic:payments",
    )  # fmt: skip
    assert (bad["decision"], bad["rule"], bad["acl_id"]) == ("ALLOWED", "MatchingAcl", "acl-01")
    assert bad["deciding_acl"] == str(small.ACLS[0])


def test_what_is_about_nothing_is_said(check):
    result = check('[[never]]\nname="empty"\nresources="topic:x.*"\ninventory_only=true', code=0)
    assert "The policy 'empty' matches nothing that exists." in result.stdout


def test_a_malformed_file_ends_with_2_and_its_line_and_key(check):
    assert (
        "a.toml:3: [[never]] 'n' operations: expected"
        in check('[[never]]\nname="n"\noperations="RAED"', code=2).stderr
    )


def test_a_missing_file_ends_with_2(root):
    result = run("--warehouse", root, "assert", "nowhere.toml", code=2)
    assert "nowhere.toml: the file does not exist" in result.stderr


def test_what_is_proven_for_every_name_is_said(check):
    rows = json.loads(check(HOLDS + FAILS, "--format", "json", code=1).stdout)
    assert [row["proof"] for row in rows] == ["holds", "fails"]


def test_what_the_budget_leaves_open_ends_with_1_and_names_the_option(check):
    result = check(HOLDS, "--budget", "2", "--format", "json", code=1)
    (row,) = json.loads(result.stdout)
    assert (row["state"], row["proof"], row["violations"]) == ("unknown", "unknown", 0)
    assert row["detail"].endswith("one question took 2 states; to raise the search limit: --budget")
    verdict, _, policy, *_ = check(HOLDS, "--budget", "2", code=1).stdout.splitlines()
    assert verdict == "Verdict: unknown, which counts as failed (1 unknown)."
    assert policy == "unknown  fine"
    total = check(HOLDS, "--budget-total", "2", "--format", "json", code=1)
    assert "to raise the search limit: --budget-total" in json.loads(total.stdout)[0]["detail"]


# Other ACLs than the published ones


@pytest.fixture
def listing(tmp_path):
    """A listing of the warehouse's ACLs."""
    path = tmp_path / "acls.txt"
    path.write_text("\n".join(render_list(small.ACLS)) + "\n", encoding="utf-8")
    return path


def test_files_are_checked_without_a_warehouse(listing, tmp_path):
    file = tmp_path / "a.toml"
    file.write_text(HOLDS + FAILS, encoding="utf-8")
    shown = run("assert", file, "--acls", listing, "--no-super-users", code=1).stdout
    assert shown.startswith(
        "Verdict: fail (1 fail, 1 pass).\n\nfail     bad\n  User:alice can READ "
    )
    assert "acls.txt (listing, " in shown
    words = ("--acls", listing, "--super-users", "User:carol", "--format", "json")
    rows = json.loads(run("assert", file, *words, code=1).stdout)
    assert [(row["state"], row["checked"], row["in_inventory"]) for row in rows] == [
        ("failed", 0, None), ("failed", 0, None),
    ]  # fmt: skip
    assert rows[0]["rule"] == "SuperUser"
    assert rows[0]["unknown_settings"] == ["allow.everyone.if.no.acl.found"]


def test_a_moment_of_the_warehouse_has_its_known_names(check, root):
    """Without ACLs a default allows what an ACL of the published state allows."""
    known = FAILS + "inventory_only=true\n"
    for moment, rule in (("@100", "MatchingAcl"), (f"{root}@0", "DefaultAllow")):
        (row,) = json.loads(check(known, "--acls", moment, "--format", "json", code=1).stdout)
        assert (row["state"], row["checked"], row["violations"]) == ("failed", 1, 1)
        assert row["rule"] == rule


def test_prove_never_is_the_same_with_its_own_keys(check, root, tmp_path):
    check(HOLDS + FAILS, code=1)
    words = ("--warehouse", root, "prove", "never", tmp_path / "a.toml")
    found = json.loads(run(*words, "--format", "json", code=1).stdout)
    assert [each["outcome"] for each in found["assertions"]] == ["holds", "fails"]
    rows = csv.DictReader(io.StringIO(run(*words, "--format", "csv", code=1).stdout))
    assert [(row["verdict"], row["assertion"]) for row in rows] == [
        ("holds", "fine"),
        ("fails", "bad"),
    ]
    known = tmp_path / "known.toml"
    known.write_text(HOLDS + "inventory_only=true\n", encoding="utf-8")
    assert "unknown  fine" in run(*words[:-1], known, code=1).stdout


def test_a_code_scanner_reads_what_fails(check):
    written = json.loads(check(HOLDS + FAILS, "--format", "sarif", code=1).stdout)
    Draft7Validator(SCHEMA).validate(written)
    (result,) = written["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("prove-never", "error")
    assert "User:alice can READ topic:payments" in result["message"]["text"]


def test_settings_are_those_of_the_runs_where_no_acls_are_named(check):
    assert "--super-users goes with --acls only" in check(HOLDS, "--super-users", "", code=2).stderr
    assert (
        "super.users: A has 'User:admin', but 'none' was passed"
        in check(HOLDS, "--acls", "@100", "--no-super-users", code=2).stderr
    )


@pytest.mark.slow
@pytest.mark.timeout(1_200)  # it may be the first that asks for the warehouse
@pytest.mark.usefixtures("spark")
def test_the_shipped_example_runs_on_the_demo(demo_warehouse):
    result = run("--warehouse", demo_warehouse, "assert", EXAMPLE, "--format", "json", code=1)
    rows = {row["assertion"]: row for row in json.loads(result.stdout)}
    failed = [name for name, row in rows.items() if row["state"] == "failed"]
    assert failed == ["no wildcard for people on payments"]
    assert rows[failed[0]]["principal"] == "User:CN=app1,OU=Payments,O=Acme,C=US"
