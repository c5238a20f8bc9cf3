"""A night that compares the cluster with the files of the team. Small clusters take no Spark."""

from __future__ import annotations

import json
import os

import pytest
from deltalake import DeltaTable

from aclkit.warehouse.published import open_warehouse
from tests.nightly.both_ways import refuse_spark, takes_work
from tests.nightly.test_nightly import Nights, add, remove
from tests.questions.query import small_warehouse as small

HEAD = "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host\n"
ANN = "User:ann,Topic,LITERAL,pay.in,Read,Allow,*\n"
BOB = "User:bob,Topic,LITERAL,pay.out,Read,Deny,*\n"
FIRST = [add(0, "User:ann", "pay.in"), add(1, "User:bob", "pay.in")]
NEVER = ("--fail-on", "never")


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch):
    refuse_spark(monkeypatch)


@pytest.fixture
def nights(tmp_path):
    made = Nights(tmp_path)
    made.lines += FIRST
    return made


@pytest.fixture
def files(tmp_path):
    """Write the file of the team; return the options that name it."""

    def write(*rows, scope="all"):
        path = tmp_path / "acls.csv"
        path.write_text(HEAD + "".join(rows), encoding="utf-8")
        return ("--desired", str(path), "--scope", scope, *NEVER)

    return write


def run(nights, *options, code=0, lines=()):
    result = nights.run(*lines, options=options)
    assert result.exit_code == code, result.output
    return result


def drift(nights):
    """Return kind, severity and day of the findings about files that are in force."""
    return nights.sql(
        "SELECT finding, severity, message, fix, first_seen::VARCHAR AS since "
        "FROM finding_current WHERE finding IN ('unmanaged-acl', 'missing-acl', "
        "'desired-unreadable') ORDER BY finding"
    )


def kinds(nights):
    return [(each["finding"], each["severity"]) for each in drift(nights)]


BOTH = [("missing-acl", "high"), ("unmanaged-acl", "medium")]


def test_a_run_finds_what_is_missing_and_what_no_file_holds(nights, files):
    run(nights, *files(ANN, BOB))
    assert kinds(nights) == BOTH
    missing, unmanaged = drift(nights)
    assert "acls.csv:3 holds DENY READ on topic pay.out for User:bob" in missing["message"]
    assert "No file holds ALLOW READ on topic pay.in for User:bob" in unmanaged["message"]
    assert "acls.csv, or remove it from the cluster." in unmanaged["fix"]


def test_the_summary_tells_how_files_and_cluster_compare(nights, files):
    told = run(nights, *files(ANN, BOB)).output
    assert "Desired state: 2 ACLs in 1 file; 1 exist, 1 are missing, 1 exist" in told


def test_a_run_without_differences_says_so(nights, files):
    told = run(nights, *files("User:bob,Topic,LITERAL,pay.in,Read,Allow,*\n", ANN)).output
    assert "2 exist, 0 are missing, 0 exist that the files do not hold." in told
    assert kinds(nights) == []


def test_a_difference_fails_a_night(nights, files):
    options = files(ANN, BOB)[:-2]
    run(nights, *options, "--fail-on", "high", code=1)


def test_a_quiet_run_without_files_ends_the_findings(nights, files):
    options = files(ANN, BOB)
    run(nights, *options)
    words = ("run", "--source", f"records:{nights.folder / 'records.jsonl'}", *NEVER)
    assert not takes_work(nights.folder / "warehouse", words)
    assert kinds(nights) == []


def test_a_quiet_run_with_corrected_files_ends_the_findings(nights, files):
    run(nights, *files(ANN, BOB))
    told = run(nights, *files(ANN, "User:bob,Topic,LITERAL,pay.in,Read,Allow,*\n")).output
    assert "Nothing new since the previous run" in told
    assert kinds(nights) == []


def test_a_quiet_run_with_other_files_finds_what_differs_now(nights, files):
    run(nights, *files(ANN, "User:bob,Topic,LITERAL,pay.in,Read,Allow,*\n"))
    assert "Nothing new" in run(nights, *files(ANN, BOB)).output
    assert kinds(nights) == BOTH


def test_first_seen_is_kept_over_quiet_and_busy_runs(nights, files):
    run(nights, *files(ANN, BOB))
    first = drift(nights)
    run(nights, *files(ANN, BOB))
    assert drift(nights) == first
    run(nights, *files(ANN, BOB), lines=[add(2, "User:ann", "pay.more")])
    since = {each["message"]: each["since"] for each in drift(nights)}
    assert {each["message"]: each["since"] for each in first}.items() <= since.items()
    assert len(since) == 3


def test_a_difference_ends_when_the_cluster_changes(nights, files):
    run(nights, *files(ANN))
    assert kinds(nights) == [("unmanaged-acl", "medium")]
    run(nights, *files(ANN), lines=[remove(2, 1)])
    assert kinds(nights) == []


def test_findings_stay_when_maintain_runs(nights, files):
    run(nights, *files(ANN, BOB))
    assert nights.call("maintain").exit_code == 0
    assert kinds(nights) == BOTH


@pytest.mark.parametrize("job", ["usage", "replay", "audit"])
def test_findings_stay_when_another_job_publishes(nights, files, job):
    run(nights, *files(ANN, BOB))
    place = nights.folder / "warehouse"
    last = open_warehouse(str(place)).run
    small.publish(
        place, dict(last.table_versions), run_number=last.run_number + 1, run_id="later", job=job,
        cluster_id=last.cluster_id, settings=_settings(place),
    )  # fmt: skip
    assert kinds(nights) == BOTH


def _settings(place):
    return DeltaTable(place / "job_run").to_pyarrow_table()["settings"][0].as_py()


def test_an_accepted_difference_is_muted(nights, files):
    mutes = nights.folder / "mutes.toml"
    mutes.write_text(
        '[[mute]]\nfinding="missing-acl"\nowner="ann"\nreason="known"\nuntil=2099-01-01\n'
    )
    options = files(ANN, BOB)[:-2]
    run(nights, *options, "--mutes", str(mutes), "--fail-on", "high")
    run(nights, *options, "--fail-on", "high", code=1)


def test_unreadable_files_do_not_end_a_night(nights, files):
    told = run(nights, *files(ANN, "User:bob,Topic,LITERAL,pay.in,Reed,Allow,*\n")).output
    assert kinds(nights) == [("desired-unreadable", "high")]
    (unreadable,) = drift(nights)
    assert "acls.csv:3" in unreadable["message"]
    assert "desired-unreadable" in told or "acls.csv:3" in told
    (count,) = nights.sql("SELECT count(*) AS n FROM acl_current")
    assert count["n"] == 2


def test_files_that_do_not_exist_do_not_end_a_night(nights, files):
    run(nights, "--desired", "no/checkout", "--scope", "all", "--fail-on", "never")
    assert kinds(nights) == [("desired-unreadable", "high")]


def test_a_file_without_acls_is_unreadable(nights, files):
    run(nights, *files())
    assert kinds(nights) == [("desired-unreadable", "high")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_unreadable(nights, files):
    options = files(ANN)
    (nights.folder / "acls.csv").chmod(0)
    run(nights, *options)
    assert kinds(nights) == [("desired-unreadable", "high")]


def test_a_csv_without_scope_is_a_usage_error(nights, files):
    options = [each for each in files(ANN) if each not in ("--scope", "all")]
    assert "--scope" in run(nights, *options, code=2).output


def test_users_need_no_scope(nights, tmp_path):
    users = tmp_path / "users.yaml"
    users.write_text(
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaUser\nmetadata: {name: bob}\n"
        "spec: {authorization: {type: simple, acls: [{resource: {type: topic, name: a}, "
        "operations: [Read]}]}}\n"
    )
    run(nights, "--desired", str(users), *NEVER)
    assert kinds(nights) == [("missing-acl", "medium"), ("unmanaged-acl", "medium")]
    unmanaged = drift(nights)[1]
    assert "users.yaml:1 has the ACLs of User:bob" in unmanaged["message"]


def test_reports_hold_the_findings_about_files(nights, files):
    folder = nights.folder / "reports"
    run(nights, *files(ANN, BOB), "--report-dir", str(folder), "--report-formats", "all")
    told = {path.suffix: path.read_text(errors="replace") for path in folder.iterdir()}
    assert any("unmanaged-acl" in text for text in told.values())
    found = json.loads(told[".json"])
    assert "missing-acl" in json.dumps(found)
