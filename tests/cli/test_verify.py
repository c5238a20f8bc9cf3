"""The command verify on small warehouses: what it prints, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import Result

from aclkit.kafka.verify.jars import NEWEST, VERSIONS
from aclkit.model.acl import ANY_OTHER
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.rules import decide
from tests.cli.running import run
from tests.kafka.verify.witnessed import build
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

SETTINGS = BrokerSettings(super_users=frozenset({small.SUPER_USER}), allow_everyone=True)
CELLS = len(list(small.requests()))
WITH_COLON = [a for a in small.ACLS if ":" in a.principal]
pytestmark = pytest.mark.usefixtures("kept_jvms")
NO_WITNESS = "no name is known that this row of <any-other> represents"


def verify(root: Path, *arguments: str, code: int = 0) -> Result:
    return run("--warehouse", root, "verify", *arguments, code=code)


@pytest.mark.kafka
def test_published_decisions_are_kafkas(tmp_path):
    build(tmp_path, WITH_COLON, SETTINGS, KAFKA)
    result = verify(tmp_path, "--all", "--format", "json")
    report = json.loads(result.stdout)
    left_out = report["left_out"]
    assert report["mismatches"] == []
    assert report["asked"] == report["agree"] == CELLS - len(left_out)
    assert {row["reason"] for row in left_out} == {NO_WITNESS}
    assert {row["resource"] for row in left_out} == {"group:<any-other>"}
    assert report["kafka"] == NEWEST
    assert "made anew" not in result.stderr


@pytest.mark.kafka
def test_of_other_decisions_it_is_said_first_that_those_compared_are_made_anew(tmp_path):
    build(tmp_path, small.ACLS, SETTINGS, KIP_1042)
    result = verify(tmp_path, "--all")
    first, *_ = result.stderr.splitlines()
    assert "They are computed again with it, and these are compared." in first
    kafka, asked, agree, mismatches, left_out, otherwise = result.stdout.splitlines()[1].split()
    assert (kafka, asked, mismatches) == (NEWEST, agree, "0")
    assert int(asked) + int(left_out) == CELLS
    assert int(otherwise) == read_otherwise()
    assert "Kafka throws IllegalStateException: the principal" in result.stdout


def read_otherwise() -> int:
    """Count the requests that are asked of Kafka and that KIP-1042 decides otherwise."""
    orders, nowhere = ("TOPIC", "orders"), ("GROUP", ANY_OTHER)
    return sum(
        decide(small.ACLS, request, SETTINGS, KAFKA).decision
        != decide(small.ACLS, request, SETTINGS, KIP_1042).decision
        for request in small.requests()
        if (request.resource_type, request.resource_name) not in (orders, nowhere)
    )


FALSE = {
    "decision": {"decision": "DENIED"},
    "rule": {"rule": "DefaultAllow", "deciding_acl_id": None},
    "acl": {"deciding_acl_id": "acl-02"},
}


@pytest.mark.kafka
@pytest.mark.parametrize("what", FALSE)
def test_a_row_that_is_wrong_is_found(tmp_path, what):
    build(tmp_path, WITH_COLON, SETTINGS, KAFKA, {"acl-01+acl-06 READ": FALSE[what]})
    result = verify(tmp_path, "--all", "--format", "csv", code=1)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert {(row["principal"], row["operation"], row["resource"]) for row in rows} == {
        ("User:alice", "READ", "topic:payments")
    }
    assert {row["host"] for row in rows} == set(small.HOSTS)
    ours, kafkas = (
        {(row[f"{who}decision"], row[f"{who}rule"], row[f"{acl}acl"]) for row in rows}
        for who, acl in (("", "deciding_"), ("kafka_", "kafka_"))
    )
    assert kafkas == {("ALLOWED", "MatchingAcl", str(small.ACLS[0]))}
    assert len(ours) == 1
    assert ours != kafkas
    by_witness = [row["asked_as"] for row in rows if row["asked_as"]]
    assert by_witness == ["User:alice 192.0.2.1 READ topic:payments"]
    counts = f"Kafka {NEWEST} agrees with 1,244 of 1,368 decisions; 4 differ, 120 were left out."
    assert counts in result.stderr


@pytest.mark.kafka
def test_a_wrong_row_is_found_in_a_sample_too_and_shown_to_people(tmp_path):
    build(tmp_path, WITH_COLON, SETTINGS, KAFKA, {"acl-01+acl-06 READ": FALSE["decision"]})
    result = verify(tmp_path, "--sample", str(CELLS), "--seed", "1", code=1)
    summary, _, _, *rest = result.stdout.partition("\n\n")
    assert summary.split()[:5] == ["kafka", "asked", "agree", "mismatches", "left_out"]
    assert summary.split()[-6::5] == [NEWEST, "-"]
    assert "kafka_decision" in result.stdout
    assert rest == []


@pytest.mark.kafka
def test_a_sample_says_how_to_take_it_again(tmp_path):
    build(tmp_path, WITH_COLON, SETTINGS, KAFKA)
    result = verify(tmp_path, "--sample", "50", "--format", "json")
    report = json.loads(result.stdout)
    assert report["asked"] + len(report["left_out"]) == 50
    assert "Comparing 50 random decisions. For the same ones again: --seed " in result.stderr


@pytest.mark.kafka
def test_where_kafka_hangs_unforeseen_it_is_ended_and_the_request_named(tmp_path, monkeypatch):
    monkeypatch.setattr("aclkit.kafka.verify.compare.Refusals.reason", lambda *_: None)
    monkeypatch.setattr(small, "RESOURCES", (("GROUP", "#x"),))
    monkeypatch.setattr(small, "PRINCIPALS", ("User:alice",))
    monkeypatch.setattr(small, "HOSTS", ("10.0.0.1",))
    build(tmp_path, [acl(1, resource_type="GROUP", resource_name="#y")], SETTINGS, KAFKA)
    arguments = "--sample", "1", "--seed", "1", "--timeout", "1", "--format", "jsonl"
    (row,) = map(json.loads, verify(tmp_path, *arguments, code=1).stdout.splitlines())
    assert (row["principal"], row["resource"]) == ("User:alice", "group:#x")
    assert (row["kafka_decision"], row["kafka_rule"]) == (None, "hangs: no answer within 1 s")


@pytest.mark.kafka
def test_a_comparison_of_nothing_is_no_success(tmp_path, monkeypatch):
    monkeypatch.setattr(small, "RESOURCES", (("TOPIC", "orders"),))
    monkeypatch.setattr(small, "PRINCIPALS", ("User:alice",))
    build(tmp_path, small.ACLS, SETTINGS, KAFKA)
    result = verify(tmp_path, "--all", code=3)
    assert "Kafka could answer none of 32 decisions" in result.stderr
    assert "the principal of ACL acl-09, " in result.stdout
    assert ", has no colon  " in result.stdout


def test_a_sample_of_all_makes_no_sense(tmp_path):
    assert "Pass --all or --sample" in verify(tmp_path, "--all", "--sample", "9", code=2).stderr


def test_an_unknown_version_is_told_with_the_known_ones(tmp_path):
    stderr = verify(tmp_path, "--kafka", "4.0.0", code=2).stderr
    known = ", ".join(f"'{version}'" for version in VERSIONS)
    assert f"'--kafka': '4.0.0' is not one of {known}." in stderr


RANGE = acl(90, resource_name="orders", principal="User:bob", host="10.0.0.0/8")


@pytest.mark.kafka
@pytest.mark.slow
def test_where_hosts_hold_a_slash_the_kafka_is_asked_that_reads_them_as_the_run_does(tmp_path):
    build(tmp_path, [*WITH_COLON, RANGE], SETTINGS, KAFKA)
    result = verify(tmp_path, "--all", "--format", "json")
    report = json.loads(result.stdout)
    assert (report["kafka"], report["mismatches"]) == ("4.3.1", [])
    assert (
        "Kafka 4.3.1 is compared, because 4.4.0 reads hosts such as 10.0.0.0/8 as ranges"
        in result.stderr
    )


@pytest.mark.kafka
def test_a_kafka_that_reads_hosts_otherwise_differs_and_says_why(tmp_path):
    build(tmp_path, [*WITH_COLON, RANGE], SETTINGS, KAFKA)
    result = verify(tmp_path, "--all", "--kafka", "4.4.0", "--format", "jsonl", code=1)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert {(row["principal"], row["resource"]) for row in rows} == {("User:bob", "topic:orders")}
    assert {row["kafka_acl"] for row in rows} == {str(RANGE)}
    assert (
        "Kafka 4.4.0 reads hosts such as 10.0.0.0/8 as ranges, but the run as text" in result.stderr
    )


def test_a_warehouse_without_decisions_is_told_the_next_step(tmp_path):
    assert "has no data yet" in verify(tmp_path, code=2).stderr
    versions = {"acl_history": small.write_table(tmp_path, "acl_history", [])}
    small.publish(tmp_path, versions, job="replay")
    assert "Next: aclkit --warehouse" in verify(tmp_path, code=2).stderr


def test_without_kafkas_jars_the_surroundings_are_at_fault(tmp_path, monkeypatch):
    build(tmp_path, WITH_COLON, SETTINGS, KAFKA)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("ACLKIT_KAFKA_JARS", str(tmp_path / "jars"))
    result = verify(tmp_path, "--seed", "1", code=4)
    assert "Error: Cannot start Spark's resolver" in result.stderr
    assert result.stdout == ""
