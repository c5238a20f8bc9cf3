"""The commands who-can, what-can and sql: data on stdout, notes on stderr."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from aclkit.cli.context import Context
from aclkit.cli.sql import sql
from aclkit.cli.what_can import what_can
from aclkit.cli.who_can import who_can
from aclkit.errors import UsageError
from aclkit.questions.query.access import WHO_CAN_COLUMNS
from tests.questions.query import small_warehouse as small


@pytest.fixture
def root(tmp_path):
    return tmp_path / "warehouse"


def invoke(root, command, *arguments):
    place = Context(warehouse=str(root))
    result = CliRunner().invoke(command, arguments, obj=place, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result


def test_who_can_prints_lines(root):
    small.build(root)
    result = invoke(root, who_can, "READ", "topic:payments", "--format", "jsonl")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert list(rows[0]) == [
        "principal", "host", "operation", "decision", "rule", "deciding_acl", "acl_id",
        "as_of", "as_of_offset",
    ]  # fmt: skip
    assert {row["decision"] for row in rows} == {"ALLOWED"}
    assert "inventory" not in result.stderr


def test_denied_and_all_choose_the_lines(root):
    small.build(root)
    for option, decisions in {"--denied": {"DENIED"}, "--all": {"ALLOWED", "DENIED"}}.items():
        result = invoke(root, who_can, "ANY", "topic:payments", option, "--format", "json")
        assert {row["decision"] for row in json.loads(result.stdout)} == decisions


@pytest.mark.parametrize(
    ("text", "resources"),
    [
        ("group", {"group:g1", "group:<any-other>"}),
        ("topic:orders", {"topic:orders"}),
        ("cluster", {"cluster"}),
    ],
)
def test_what_can_takes_a_type_or_a_resource(root, text, resources):
    small.build(root)
    result = invoke(root, what_can, "User:alice", text, "--all", "--format", "json")
    assert {row["resource"] for row in json.loads(result.stdout)} == resources


def test_what_can_refuses_an_unknown_type(root):
    small.build(root)
    with pytest.raises(UsageError, match="'topics' is no resource type"):
        invoke(root, what_can, "User:alice", "topics")


def test_unknown_name_and_stale_state_are_said_on_stderr(root):
    versions = small.build(root)
    small.publish(root, versions, run_number=2, job="replay", head_offset=120)
    result = invoke(root, who_can, "READ", "topic:brand-new", "--format", "csv")
    assert "warning: topic:brand-new is not known. This is what the ACLs decide" in result.stderr
    assert "The log is at offset 120, this answer is from offset 100" in result.stderr
    assert result.stdout.startswith("principal,host,")


def test_incomplete_run_is_said_on_stderr(root):
    versions = small.build(root)
    small.publish(root, versions, run_number=2, status="incomplete", notes=["a hole"])
    result = invoke(root, what_can, "User:alice")
    assert "Run 2 is incomplete: a hole" in result.stderr


def test_sql_prints_rows(root):
    small.build(root)
    result = invoke(root, sql, "SELECT count(*) AS hosts FROM host", "--format", "csv")
    assert result.stdout_bytes == b"hosts\r\n4\r\n"


@pytest.mark.parametrize("command", [who_can, what_can, sql])
def test_help_shows_an_example(command):
    assert f"aclkit {command.name}" in CliRunner().invoke(command, ["--help"]).output


def with_hosts(root, number):
    """Build the warehouse with more hosts; User:bob is refused at one of them only."""
    versions = small.build(root)
    names = [*small.HOSTS, *(f"10.9.0.{n}" for n in range(number))]
    rows = [{"cluster_id": small.CLUSTER, "host": name} for name in names]
    small.publish(root, versions | {"host": small.write_table(root, "host", rows)}, run_number=2)
    return sorted({*names} - {"10.0.0.1"})


def reason_of_bob(result):
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("User:bob"))
    return line.partition("  ")[2].strip()


@pytest.mark.parametrize("number", [1, 12])
def test_of_most_hosts_a_table_names_those_that_fare_otherwise(root, number):
    with_hosts(root, number)
    reason = reason_of_bob(invoke(root, who_can, "READ", "topic:payments"))
    assert reason == "ALLOW ALL on pay* (prefix) from any host but 10.0.0.1"


def test_wide_has_every_row_and_host(root):
    hosts = with_hosts(root, 12)
    lines = invoke(root, who_can, "READ", "topic:payments", "--wide").stdout.splitlines()
    assert lines[:2] == ["3 principals can READ topic:payments.", ""]
    assert lines[2].split() == list(WHO_CAN_COLUMNS)
    assert any(",".join(hosts) in line for line in lines)


@pytest.mark.parametrize("output_format", ["json", "jsonl", "csv"])
def test_data_formats_hold_every_host(root, output_format):
    hosts = with_hosts(root, 12)
    result = invoke(root, who_can, "READ", "topic:payments", "--format", output_format)
    assert ",".join(hosts) in result.stdout
    assert "more" not in result.stdout
