"""The commands of preview: what would change, in every format, and exit codes."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.model.semantics import KIP_1042
from aclkit.warehouse.published import open_warehouse
from tests.cli.running import run, without_run
from tests.questions.query import small_warehouse as small

ROW = ["principal", "host", "operation", "resource_type", "resource_name", "before", "after",
       "acl_before", "acl_after"]  # fmt: skip
CAROL_READS = ("add-acl", "--allow-principal", "User:carol", "--operation", "Read")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("preview") / "warehouse"
    # Without the ACLs that reach every name: otherwise nothing is left to the default.
    small.build(path, [acl for acl in small.ACLS if acl.resource_name != "*"])
    return path


@pytest.fixture
def preview(root):
    return partial(run, "--warehouse", root, "preview")


def test_json_has_verdict_example_and_the_three_lists(preview):
    result = preview(*CAROL_READS, "--topic", "orders", "--format", "json")
    found = json.loads(result.stdout)
    assert list(found)[:5] == ["verdict", "example", "gained", "lost", "redecided"]
    assert found["verdict"] == "more"
    assert found["lost"] == []
    assert list(found["gained"][0]) == ROW
    assert {row["operation"] for row in found["gained"]} == {"READ", "DESCRIBE"}
    assert {row["host"] for row in found["gained"]} == set(small.HOSTS)
    assert found["example"] in found["gained"]
    first = found["gained"][0]
    assert (first["before"], first["after"], first["acl_before"]) == ("DENIED", "ALLOWED", None)
    assert first["acl_after"].startswith("(pattern=ResourcePattern(resourceType=TOPIC, name=orders")
    assert found["by_principal"] == [
        {"principal": "User:carol", "gained": 8, "lost": 0, "redecided": 0}
    ]
    assert found["by_resource"][0]["resource"] == "topic:orders"
    assert "looked at: 6 principals, 4 hosts and 8 resources" in found["looked_at"]
    assert found["is_known"] is True
    assert found["unknown"] == []
    assert found["cost"]["states"] > 0
    (coming,) = found["to_come"]
    assert (coming["gained"], coming["lost"], coming["tried_with"]) == (2, 0, "orders")
    assert coming["access"][0]["operations"] == ["READ", "DESCRIBE"]
    assert coming["regions"][0] == {
        "resource_type": "TOPIC",
        "pattern": "orders",
        "within": [],
        "but_not": [],
        "shortest": "orders",
        "is_exact": True,
    }


def test_jsonl_and_csv_hold_the_same_rows_as_json(preview):
    arguments = (*CAROL_READS, "--topic", "free", "--format")
    found = json.loads(preview(*arguments, "json").stdout)
    wanted = [{"change": kind} | row for kind in ("gained", "lost", "redecided")
              for row in found[kind]]  # fmt: skip
    lines = preview(*arguments, "jsonl").stdout.splitlines()
    assert [without_run(json.loads(line)) for line in lines] == wanted
    text = preview(*arguments, "csv").stdout_bytes.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert rows == [{k: v or "" for k, v in row.items()} for row in wanted]
    assert found["verdict"] == "less"


def test_a_first_acl_is_said_to_take_the_default_away(preview):
    result = preview(*CAROL_READS, "--topic", "free")
    assert result.stdout.splitlines() == [
        "Verdict: needs approval. Access changes. User:carol loses WRITE, CREATE, DELETE, ALTER, "
        "DESCRIBE_CONFIGS, ALTER_CONFIGS on topic free from any host. Any other principal (such "
        "as User:z) loses every operation on topic free from any host.",
        "",
        "- User:carol: WRITE, CREATE, DELETE, ALTER, DESCRIBE_CONFIGS, ALTER_CONFIGS on topic free "
        "from any host",
        "- any other principal (such as User:z): every operation on topic free from any host",
        "~ 8 accesses still allowed: ALLOW READ on topic free for User:carol from any host "
        "(before: no ACL applies to it)",
        "",
        "0 to gain, 2 to lose. Accesses of known names: 152 lost (5 principals, 1 resource).",
    ]


def test_an_acl_that_is_there_changes_nothing_and_that_is_said(preview):
    arguments = ("--allow-principal", "User:alice", "--operation", "Read", "--topic", "payments")
    result = preview("add-acl", *arguments)
    acl = "ALLOW READ on topic payments for User:alice from any host"
    assert f"{acl} already exists and changes nothing.\n" in result.stderr
    assert result.stdout == "Verdict: pass. No access changes. Proven for every name.\n"


def test_removal_selects_by_kafkas_filters(preview):
    result = preview("remove-acl", "--topic", "orders", "--format", "json")
    assert "ACLs selected: 2" in result.stderr
    found = json.loads(result.stdout)
    assert found["verdict"] == "more"
    match = ("--topic", "payments", "--resource-pattern-type", "match")
    assert "ACLs selected: 5" in preview("remove-acl", *match).stderr


def test_a_prefix_opens_names_to_come(preview):
    arguments = ("--topic", "new.", "--resource-pattern-type", "prefixed")
    result = preview(*CAROL_READS, *arguments, "--format", "csv")
    assert "every operation on topics that start with new. (0 today) from any host" in result.stderr
    assert "0 to gain, 2 to lose. Today this concerns no known name." in result.stderr
    found = json.loads(preview(*CAROL_READS, *arguments, "--format", "json").stdout)
    assert found["gained"] == found["lost"] == []
    assert found["to_come"][0]["names"] == "topics that start with new."
    assert found["to_come"][0]["tried_with"] == "new."


@pytest.mark.parametrize(
    ("fail_on", "topic", "code"),
    [
        ("gained", "orders", 1), ("lost", "orders", 0), ("any", "orders", 1),
        ("gained", "free", 0), ("lost", "free", 1), ("any", "free", 1),
    ],
)  # fmt: skip
def test_fail_on_ends_with_exit_code_1(preview, fail_on, topic, code):
    preview(*CAROL_READS, "--topic", topic, "--fail-on", fail_on, code=code)


@pytest.mark.parametrize("output_format", ["table", "json", "jsonl", "csv", "markdown"])
def test_fail_on_holds_for_every_format(preview, output_format):
    arguments = ("--topic", "orders", "--fail-on", "any", "--format", output_format)
    assert preview(*CAROL_READS, *arguments, code=1).stdout


def test_fail_on_counts_names_to_come(preview):
    arguments = ("--topic", "new.", "--resource-pattern-type", "prefixed", "--fail-on", "any")
    preview(*CAROL_READS, *arguments, code=1)


def test_markdown_keeps_names_text(preview):
    words = ("add-acl", "--allow-principal", "User:<b>|_x_```", "--topic", "orders")
    result = preview(*words, "--format", "markdown")
    assert result.stdout.splitlines() == [
        "## ACLs to add, cluster c1",
        "",
        "**Verdict: needs approval. Access changes. User:&lt;b&gt;\\|\\_x\\_\\`\\`\\` gains every "
        "operation on topic orders from any host.**",
        "",
        "````diff",  # All is text in a fence that is longer than what stands in it.
        "+ User:<b>|_x_```: every operation on topic orders from any host",
        "      denied before: no ACL allows it; allowed after: ALLOW ALL on topic orders for "
        "User:<b>|_x_``` from any host",
        "````",
        "",
        "**1 to gain, 0 to lose. Accesses of known names: 32 gained (1 principal, 1 resource).**",
    ]


def test_add_topic_shows_what_governs_it_and_who_gets_what(preview):
    result = preview("add-topic", "pay-new", "--format", "json")
    found = json.loads(result.stdout)
    (topic,) = found["topics"]
    assert (topic["topic"], topic["is_there"]) == ("pay-new", False)
    assert {one["acl_id"] for one in topic["governed_by"]} == {"acl-02"}
    cells = 6 * 4 * 8
    assert len(found["decisions"]) == topic["allowed"] + topic["denied"] == cells
    table = preview("add-topic", "pay-new", "payments").stdout
    assert table.splitlines()[:4] == [
        "topic:pay-new (does not exist yet; 1 ACL applies)",
        "principal   operations       because",
        "User:admin  every operation  super user",
        "User:bob    every operation  ALLOW ALL on pay* (prefix)",
    ]
    assert "topic:payments (exists already; 5 ACLs apply)" in table
    markdown = preview("add-topic", "pay-new", "--format", "markdown").stdout
    assert (topic["allowed"], topic["denied"]) == (64, 128)
    assert "### topic:pay-new (does not exist yet; 1 ACL applies)" in markdown
    assert "| User:bob | every operation | ALLOW ALL on pay\\* (prefix) |" in markdown
    lines = preview("add-topic", "pay-new", "--format", "csv").stdout.splitlines()
    assert len(lines) == cells + 1


def test_apply_reads_records_and_listings(preview, tmp_path):
    records = tmp_path / "records.jsonl"
    data = {"id": "Tm1nLPTKSaCPIAJlEST_Kw", "resourceType": 2, "resourceName": "orders",
            "patternType": 3, "principal": "User:carol", "host": "*", "operation": 3,
            "permissionType": 3}  # fmt: skip
    records.write_text(
        json.dumps({"type": "ACCESS_CONTROL_ENTRY_RECORD", "data": data}) + "\n", encoding="utf-8"
    )
    found = json.loads(preview("apply", str(records), "--format", "json").stdout)
    assert {row["principal"] for row in found["gained"]} == {"User:carol"}
    listing = tmp_path / "listing.txt"
    listing.write_text("", encoding="utf-8")
    assert "it is empty" in preview("apply", str(listing), code=3).stderr
    result = preview("apply", str(listing), "--allow-empty", "--format", "json")
    found = json.loads(result.stdout)
    assert "read as a listing of a cluster without ACLs" in found["file_notes"][0]
    assert {row["acl_after"] for row in found["gained"]} == {None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add-acl", "--allow-principal", "alice", "--topic", "t"), "has no principal type"),
        (("add-acl", "--allow-principal", "User:a", "--operation", "Reed", "--topic", "t"), "Reed"),
        (
            ("add-acl", "--allow-principal", "User:a", "--topic", "t*"),
            "a LITERAL name has no wildcards",
        ),
        (("add-acl", "--allow-principal", "User:a", "--allow-host", "me", "--topic", "t"), "host"),
        (("add-acl", "--topic", "t"), "--allow-principal"),
        (("remove-acl",), "at least one resource"),
        (("add-topic", "no spaces"), "Invalid topic name"),
        (("add-topic",), "NAME"),
        (("apply", "nowhere.txt"), "the file does not exist"),
    ],
)
def test_what_makes_no_sense_ends_with_exit_code_2(preview, arguments, message):
    assert message in preview(*arguments, code=2).stderr


@pytest.mark.parametrize(
    ("level", "cidr_hosts", "said"),
    [
        (29, True, "(29 (4.2-IV1) is in force)"),
        (None, False, "(the version in force is unknown, and ranges are compared as text here)"),
        (32, True, None),
        (None, True, None),
    ],
)
def test_a_range_is_previewed_where_a_controller_takes_it(tmp_path, level, cidr_hosts, said):
    path = tmp_path / "warehouse"
    versions = small.build(path, semantics=replace(KIP_1042, cidr_hosts=cidr_hosts))
    if level is not None:
        versions["broker"] = small.write_brokers(path, level)
        settings = open_warehouse(str(path)).run.settings_text
        small.publish(path, versions, run_number=2, settings=settings)
    words = (*CAROL_READS, "--topic", "orders", "--allow-host", "10.0.0.0/16", "--format", "json")
    result = CliRunner().invoke(cli, ["--warehouse", str(path), "preview", *words])
    if said is not None:
        assert (result.exit_code, said in result.stderr) == (2, True)
        return
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    atom = "<any-other in 10.0.0.0/16>"
    assert {row["host"] for row in found["gained"]} == {"10.0.0.1", "10.0.0.2", "10.0.1.1", atom}
    bad = CliRunner().invoke(cli, ["--warehouse", str(path), "preview", *words[:-3], "10.0.0.0/33"])
    assert (bad.exit_code, "Invalid CIDR notation" in bad.stderr) == (2, True)


def test_a_change_set_that_cannot_be_read_ends_with_exit_code_3(preview, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("not a listing\n", encoding="utf-8")
    assert "it holds no known format of ACLs" in preview("apply", str(path), code=3).stderr


def test_nothing_is_written(root, preview):
    before = sorted((p, p.stat().st_mtime_ns) for p in root.rglob("*"))
    preview("remove-acl", "--topic", "orders")
    assert sorted((p, p.stat().st_mtime_ns) for p in root.rglob("*")) == before


def test_a_terminal_shows_the_first_changes_and_a_pipe_all(preview, tmp_path, monkeypatch):
    monkeypatch.setattr("aclkit.answer.text.MOST_LINES", 3)
    path = tmp_path / "nothing.txt"
    path.write_text("", encoding="utf-8")
    assert "--no-limit" not in preview("apply", str(path), "--allow-empty").stdout
    monkeypatch.setattr("aclkit.cli.output.is_terminal", lambda: True)
    assert "more: --no-limit" in preview("apply", str(path), "--allow-empty").stdout
    everything = preview("apply", str(path), "--allow-empty", "--no-limit").stdout
    assert "--no-limit" not in everything


def test_a_preview_imports_no_spark(root):
    program = (
        "import sys; from click.testing import CliRunner; from aclkit.cli import cli; "
        f"CliRunner().invoke(cli, ['--warehouse', {str(root)!r}, 'preview', 'add-acl', "
        "'--allow-principal', 'User:a', '--topic', 't'], catch_exceptions=False); "
        "print([name for name in ('pyspark', 'py4j', 'delta') if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True
    )
    assert run.stdout.strip() == "[]"
