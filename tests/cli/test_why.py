"""The commands why and history: a sentence and rows on stdout, what is unsure on stderr."""

from __future__ import annotations

import csv
import io
import json

import pytest

from aclkit.questions.query.history_answer import HISTORY_COLUMNS
from aclkit.questions.query.why_answer import WHY_COLUMNS
from tests.cli.running import run
from tests.questions.query import small_warehouse as small


def invoke(root, *arguments, code=0):
    return run("--warehouse", root, *arguments, code=code)


BOB = ("User:bob", "READ", "topic:payments", "--host", "10.0.0.1")


def test_why_prints_a_sentence_then_the_ranked_acls(root):
    lines = invoke(root, "why", *BOB).stdout.splitlines()
    assert lines == [
        "User:bob cannot READ topic:payments from 10.0.0.1: DENY READ on topic payments for "
        "User:bob from 10.0.0.1.",
        "Without the DENYs it would be allowed by ALLOW ALL on topic pay* (prefix) for User:bob "
        "from any host.",
        "",
        "Matching ACLs; the first decides",
        "rank  acl                                       because                   without it",
        "   1  DENY READ on payments from 10.0.0.1       decides                   ALLOWED",
        "   2  ALLOW ALL on pay* (prefix) from any host  a DENY beats every ALLOW  no change",
    ]
    wide = invoke(root, "why", *BOB, "--wide").stdout.splitlines()
    assert wide[:4] == lines[:4]
    header, *rows = wide[4:7]
    assert header.split() == list(WHY_COLUMNS)
    assert [row.split()[6:9] for row in rows] == [
        ["LITERAL", "literal", "0"], ["PREFIXED", "prefix", "5"],
    ]  # fmt: skip


def test_why_prints_the_least_acl_and_its_command(root):
    lines = invoke(root, "why", "User:new", "READ", "topic:payments").stdout.splitlines()
    assert lines[1] == "To allow it, add ALLOW READ on topic payments for User:new from any host:"
    assert lines[2] == (
        "  kafka-acls --bootstrap-server HOST:PORT --add --topic payments "
        "--allow-principal User:new --operation Read"
    )


def test_why_as_json_is_one_object(root):
    answer = json.loads(invoke(root, "why", *BOB, "--format", "json").stdout)
    assert (answer["decision"], answer["rule"], answer["acl_id"]) == (
        "DENIED", "MatchingAcl", "acl-04",
    )  # fmt: skip
    first, second = answer["acls"]
    assert list(first) == list(WHY_COLUMNS[2:])
    assert (first["rank"], first["beaten_by"], first["changes_without"]) == (1, None, True)
    assert (second["rank"], second["beaten_by"], second["changes_without"]) == (2, 1, False)
    assert second["pattern_match"] == "prefix"
    assert second["letters_skipped"] == len("ments")
    assert first["added_at"] == "2026-11-21T12:00:00Z"
    assert answer["without_denies"]["decision"] == "ALLOWED"
    assert answer["least_acl"] is None


def test_why_as_json_has_the_least_acl_and_the_other_hosts(root):
    answer = json.loads(
        invoke(root, "why", "User:carol", "WRITE", "topic:payments", "--format", "json").stdout
    )
    assert answer["host"] == "<any-other>"
    assert answer["least_acl"]["resource_name"] == "payments"
    assert answer["least_acl"]["host"] == "*"
    assert answer["other_hosts"][0]["hosts"] == ["10.0.0.*", "10.0.0.1", "10.0.0.2"]
    assert answer["other_hosts"][0]["acl_id"] == "acl-05"
    assert answer["others"] == {"count": 4, "principals": ["User:alice", "User:bob"]}


@pytest.mark.parametrize("output_format", ["jsonl", "csv"])
def test_why_as_rows_has_the_decision_in_every_row(root, output_format):
    out = invoke(root, "why", *BOB, "--format", output_format).stdout
    if output_format == "csv":
        rows = list(csv.DictReader(io.StringIO(out, newline="")))
    else:
        rows = [json.loads(line) for line in out.splitlines()]
    assert [str(row["rank"] or "") for row in rows] in (["1", "2", ""], ["1", "2", "None"])
    assert {row["decision"] for row in rows} == {"DENIED"}
    stands_on = () if output_format == "csv" else ("as_of", "as_of_offset")
    assert {tuple(row) for row in rows} == {(*WHY_COLUMNS, *stands_on)}


def test_why_as_rows_without_any_acl_is_the_decision_alone(root):
    out = invoke(root, "why", "User:new", "WRITE", "transactional-id:x", "--format", "jsonl").stdout
    row = json.loads(out)
    assert (row["decision"], row["rule"], row["rank"]) == ("ALLOWED", "DefaultAllow", None)


def test_what_is_in_no_inventory_is_said_on_stderr(root):
    result = invoke(root, "why", "User:new", "READ", "topic:brand-new", "--host", "10.9.9.9")
    assert (
        "User:new is not known. 10.9.9.9 is not known. topic:brand-new is not known."
        in result.stderr
    )
    assert "inventory" not in invoke(root, "why", *BOB).stderr


def test_why_says_which_request_passes_all_the_same(root):
    question = ("why", "User:new", "CREATE_TOKENS", "user:User:new")
    lines = invoke(root, *question).stdout.splitlines()
    told = [line for line in lines if line.startswith("The broker lets CreateDelegationToken pass")]
    assert len(told) == 1
    answer = json.loads(invoke(root, *question, "--format", "json").stdout)
    (request,) = answer["requests"]
    assert (request["request"], request["result"]) == ("CreateDelegationToken", "PASSES")
    checked, for_oneself = request["ways"]
    assert checked["checks"][0]["operation"] == "CREATE_TOKENS"
    assert checked["checks"][0]["decision"] == "ALLOWED"  # by the default of this warehouse
    assert (for_oneself["result"], for_oneself["checks"]) == ("PASSES", [])


def test_history_prints_a_sentence_then_the_newest_first(root):
    result = invoke(root, "history", *BOB)
    sentence, _, header, newest, oldest = result.stdout.splitlines()
    assert sentence == (
        "User:bob cannot READ topic:payments from 10.0.0.1, since DENY READ on topic payments for "
        "User:bob from 10.0.0.1 was added (2026-11-21 12:00:00 UTC, offset 2)."
    )
    assert header.split() == ["since", "(UTC)", "offset", "decision", "cause", "because"]
    assert newest.split()[:4] == ["2026-11-21", "12:00:00", "3", "DENIED"]
    assert newest.endswith("  ACL added  DENY READ on payments from 10.0.0.1")
    assert oldest.split()[:3] == ["-", "0", "ALLOWED"]
    assert oldest.endswith("   log start  no ACL applies to it")
    wide = invoke(root, "history", *BOB, "--wide").stdout.splitlines()[2]
    assert wide.split() == list(HISTORY_COLUMNS)


def test_history_as_json_is_one_object(root):
    answer = json.loads(invoke(root, "history", *BOB, "--format", "json").stdout)
    assert (answer["decision"], answer["acl_id"]) == ("DENIED", "acl-04")
    newest, oldest = answer["intervals"]
    assert list(newest) == list(HISTORY_COLUMNS)
    assert (newest["from_offset"], newest["to_offset"]) == (2, None)
    assert (oldest["from_offset"], oldest["to_offset"]) == (None, 2)
    assert newest["from_time"] == oldest["to_time"] == "2026-11-21T12:00:00Z"


def test_history_as_csv_has_a_row_for_each_interval(root):
    out = invoke(root, "history", *BOB, "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    assert [(row["decision"], row["cause"]) for row in rows] == [
        ("DENIED", "ACL added"),
        ("ALLOWED", "log start"),
    ]


def test_both_speak_of_the_state_that_was_decided(tmp_path):
    versions = small.build(tmp_path)
    small.publish(tmp_path, versions, run_number=2, job="replay", head_offset=120)
    for command in ("why", "history"):
        result = invoke(tmp_path, command, *BOB)
        assert "The log is at offset 120, this answer is from offset 100" in result.stderr
    past = invoke(tmp_path, "why", *BOB, "--at-offset", "110")
    assert "this answer is from" not in past.stderr
    assert past.stdout.endswith("\nThis is the state as of offset 110.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("why", "User:bob", "PUBLISH", "topic:a"), "Topics have: READ"),
        (("why", "User:bob", "ANY", "topic:a"), "Pass one operation"),
        (("why", "User:bob", "READ", "topics"), "'topics' has no name"),
        (("why", "User:bob", "READ", "topic:a", "--host", "localhost"), "Invalid host"),
        (("why", "User:bob", "READ", "topic:a", "--at-offset", "101"), "beyond the log"),
        (("why", "User:bob", "READ", "topic:a", "--at-offset", "-1"), "-1"),
        (("why", "User:bob", "READ", "topic:a", "--at", "noon"), "Invalid time 'noon'"),
        (
            ("why", "User:bob", "READ", "topic:a", "--at", "2026-11-21", "--at-offset", "1"),
            "not both",
        ),
        (("history", "", "READ", "topic:a"), "'' has no principal type"),
        (("history", "User:bob", "READ", "group:a", "--host", "x"), "Invalid host"),
    ],
)
def test_a_bad_request_ends_with_2_and_says_what_was_expected(root, arguments, message):
    result = invoke(root, *arguments, code=2)
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("command", ["why", "history"])
def test_help_shows_an_example(command):
    assert f"aclkit {command}" in run(command, "--help").output
