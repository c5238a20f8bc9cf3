"""What prove prints: in every format, of hostile names, of assertions, and from a cold shell."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys

import pytest
from jsonschema import Draft7Validator

from aclkit.questions.assertions import check as checking
from aclkit.questions.assertions.proof import Proof
from tests.audit.reports.made import HOSTILE
from tests.audit.reports.sarif_schema import SCHEMA
from tests.cli.proving import OPENS, found
from tests.cli.running import KRAFT_TEXT, run
from tests.factories import acl
from tests.questions.assertions.test_of_files import POLICIES, reading
from tests.questions.query import small_warehouse as small

SARIF = Draft7Validator(SCHEMA)
EVERY_FORMAT = ("table", "json", "jsonl", "csv", "markdown", "sarif")


@pytest.mark.parametrize("output_format", EVERY_FORMAT)
def test_the_exit_code_is_the_same_in_every_format(two_files, output_format):
    assert run("prove", "no-more", *two_files, "--format", output_format, code=1).stdout
    run("prove", "no-less", *two_files, "--format", output_format)


@pytest.mark.parametrize(
    ("output_format", "ending"), [("table", "txt"), ("markdown", "md"), ("json", "json")]
)
def test_what_is_printed_is_as_it_was(two_files, golden, output_format, ending):
    result = run("prove", "same", *two_files, "--format", output_format, code=1)
    golden(f"prove-same.{ending}", result.stdout)


def test_no_line_is_longer_than_the_columns_of_a_screen(two_files, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("prove", "same", *two_files, code=1).stdout.splitlines()
    assert max(map(len, lines)) <= 80


def test_rows_are_the_counterexamples_and_the_rest_goes_to_stderr(two_files):
    result = run("prove", "same", *two_files, "--format", "csv", code=1)
    (row,) = csv.DictReader(io.StringIO(result.stdout_bytes.decode(), newline=""))
    assert (row["change"], row["resource_name"], row["acl_after"]) == (
        "gained", "team-", str(OPENS),
    )  # fmt: skip
    said = result.stderr.splitlines()[:3]
    assert said[0].startswith("Verdict: fail. Access is gained (--fail-on any). User:dan gains")
    assert said[1:] == [
        "A: before.txt (listing, 1 ACL)",
        "B: after.txt (listing, 2 ACLs)",
    ]
    (line,) = run("prove", "same", *two_files, "--format", "jsonl", code=1).stdout.splitlines()
    assert json.loads(line)["acl_after"] == str(OPENS)


def sarif(*words, code):
    written = json.loads(run("prove", *words, "--format", "sarif", code=code).stdout)
    SARIF.validate(written)
    return written["runs"][0]


def test_sarif_is_valid_and_has_a_result_for_each_counterexample(two_files, acl_file):
    (result,) = sarif("no-more", *two_files, code=1)["results"]
    assert (result["ruleId"], result["level"]) == ("prove-no-more", "error")
    place = result["locations"][0]["logicalLocations"][0]
    assert place["fullyQualifiedName"] == "topic:team-"
    opens = "ALLOW READ on topic team-* (prefix) for User:dan from any host"
    assert f"; B allows it ({opens})" in result["message"]["text"]
    again = sarif("no-more", *two_files, code=1)["results"][0]
    assert again["partialFingerprints"] == result["partialFingerprints"]
    assert sarif("no-less", *two_files, code=0)["results"] == []


def test_sarif_says_what_is_unknown_as_a_result(acl_file):
    hard, more = "*a????????", "*b*a????????"
    sides = (
        acl_file("a", acl(hard, pattern_type="GLOB")),
        acl_file("b", acl(hard, pattern_type="GLOB"), acl(more, pattern_type="GLOB")),
    )
    made = sarif("same", *sides, "--budget", 150, code=1)
    assert [(each["level"], each["kind"]) for each in made["results"]] == [("warning", "fail")]
    assert made["invocations"][0]["executionSuccessful"] is False


def test_a_limit_bounds_every_format_and_all_lifts_it(acl_file):
    after = acl_file("b", *(acl(f"t{n}", principal=f"User:u{n}") for n in range(30)))
    sides = acl_file("a"), after, "--allow-empty"
    answer = found("no-more", *sides, code=1)
    assert (answer["limit"], len(answer["counterexamples"])) == (20, 20)
    assert answer["found"] == {"gained": {"cells": 60, "shown": 40}}
    assert len(found("no-more", *sides, "--all", code=1)["counterexamples"]) == 30
    assert len(sarif("no-more", *sides, "--limit", 2, code=1)["results"]) == 2
    for output_format in ("table", "markdown"):
        shown = run("prove", "no-more", *sides, "--format", output_format, code=1).stdout
        assert re.search(r"\n… and 20 more gained: (\\?-){2}all\n", shown)


def test_hostile_names_act_on_nothing(acl_file):
    bad = acl(f"{HOSTILE}|`x`", resource_type="GROUP", principal=f"User:{HOSTILE}", host="10.0.0.1")
    bad = acl(**{
        **{name: getattr(bad, name) for name in ("resource_type", "host", "principal")},
        "resource_name": bad.resource_name.replace("\u2028", ""),
    })  # fmt: skip
    sides = acl_file("a"), acl_file("b", bad), "--allow-empty"
    (example,) = found("no-more", *sides, code=1)["counterexamples"]
    assert example["resource_name"] == bad.resource_name
    sarif("no-more", *sides, code=1)
    table = run("prove", "no-more", *sides, code=1).stdout
    assert not {"\x1b", "\u202e", "\u2028"} & set(table)
    markdown = run("prove", "no-more", *sides, "--format", "markdown", code=1).stdout
    # In a fence all is text, and no line but its last one ends it.
    before, fenced, after = markdown.split("```")
    assert fenced.startswith("diff\n+ User:<img src=x ")
    assert "<" not in before + after
    assert not {"\x1b", "\u202e", "\u2028"} & set(markdown)


# Assertions


@pytest.fixture
def policies(two_files, tmp_path, monkeypatch):
    """A file of two assertions, and what becomes of them."""
    (tmp_path / "policies.toml").write_text(POLICIES, encoding="utf-8")

    def come_out(*proofs):
        waiting = list(proofs)
        monkeypatch.setattr(checking, "prove", lambda *_: waiting.pop(0))
        return "never", "policies.toml", "after.txt"

    return come_out


FAILED = Proof("fail", reading("User:ann", "b"))


@pytest.mark.parametrize("output_format", EVERY_FORMAT)
def test_each_assertion_has_to_be_proven(policies, output_format):
    words = ("--format", output_format)
    run("prove", *policies(Proof("pass"), Proof("pass")), *words)
    assert "ann reads" in run("prove", *policies(Proof("pass"), FAILED), *words, code=1).stdout
    assert run("prove", *policies(Proof("unknown"), Proof("pass")), *words, code=1).stdout


def test_an_assertion_that_fails_shows_what_decides(policies):
    answer = found(*policies(Proof("pass"), FAILED), code=1)
    assert (answer["outcome"], answer["proven"], answer["a"]["form"]) == ("fails", False, "listing")
    held, failed = answer["assertions"]
    assert (held["proven"], failed["proven"]) == (True, False)
    (example,) = failed["examples"]
    assert (example["resource_name"], example["rule"]) == ("b", "DefaultDeny")
    result = sarif(*policies(Proof("pass"), FAILED), code=1)["results"]
    assert [each["ruleId"] for each in result] == ["prove-never"]


def test_assertions_are_proven_of_the_warehouse_that_is_named(tmp_path, policies):
    root = tmp_path / "warehouse"
    small.build(root)
    policies(Proof("pass"), Proof("pass"))
    shown = run("--warehouse", root, "prove", "never", "policies.toml").stdout
    acls = f"{len(small.ACLS)} ACLs"
    assert f"warehouse (warehouse, cluster {small.CLUSTER} at offset 100, {acls})\n" in shown


@pytest.mark.parametrize(
    ("output_format", "ending"), [("table", "txt"), ("markdown", "md"), ("json", "json")]
)
def test_what_is_printed_of_assertions_is_as_it_was(policies, golden, output_format, ending):
    words = policies(Proof("unknown", detail="the budget ended"), FAILED)
    result = run("prove", *words, "--format", output_format, code=1)
    golden(f"prove-never.{ending}", result.stdout)


# From a cold shell

WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {"pyspark", "py4j", "delta", "pyarrow", "duckdb", "deltalake"}:
            raise AssertionError(f"{name} was imported")
        return super().find_spec(name, path, target)

sys.meta_path.insert(0, Without)
from aclkit.cli import cli
cli(prog_name="aclkit")
"""


def test_two_files_need_no_engine(tmp_path):
    """The packaged sample as a listing, and the same with some operations changed."""
    text = (KRAFT_TEXT / "kafka-acls-list.txt").read_text(encoding="utf-8")
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    changed = text.replace("operation=READ,", "operation=WRITE,")
    (tmp_path / "b.txt").write_text(changed, encoding="utf-8")
    for output_format in EVERY_FORMAT:
        ended = subprocess.run(
            [sys.executable, "-c", WITHOUT, "prove", "same", "a.txt", "b.txt", "--format",
             output_format],
            cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert ended.returncode == 1, ended.stderr
        assert ended.stdout
