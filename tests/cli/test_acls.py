"""acls list, show, add and remove: Kafka's own texts, and records where nothing is followed."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from collections import Counter

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.cli.main import _shared_first
from tests.cli.acl_warehouse import warehouse_of
from tests.cli.running import Warehouse
from tests.factories import acl
from tests.kafka.acls.test_text import LISTED, LOG, alive, lines, render_list, sorted_list

ADD = ("acls", "add", "--allow-principal", "User:alice", "--operation", "Read")


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> Warehouse:
    """The ACLs that the real cluster's log leaves."""
    return warehouse_of(tmp_path_factory.mktemp("acls") / "warehouse", alive(LOG))


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Warehouse:
    acls = [
        acl("payments", acl_id="1"),
        acl("pay", pattern_type="PREFIXED", principal="User:b", acl_id="2"),
        acl("*", principal="User:*", acl_id="3"),
        acl("p*s", pattern_type="GLOB", acl_id="4"),
        acl("orders", acl_id="5"),
        acl("payments", resource_type="GROUP", acl_id="6"),
        acl("kafka-cluster", resource_type="CLUSTER", operation="CREATE", acl_id="7"),
    ]
    return warehouse_of(tmp_path_factory.mktemp("acls") / "warehouse", acls)


def listed(warehouse: Warehouse, *options: str) -> set[str]:
    """List as CSV and return the ids."""
    out = warehouse.run("acls", "list", *options, "--format", "csv").stdout_bytes.decode()
    return {row["acl_id"] for row in csv.DictReader(io.StringIO(out, newline=""))}


def test_list_equals_what_kafka_acls_printed_byte_by_byte_once_sorted(real):
    out = real.run("acls", "list").stdout_bytes.decode()
    wanted = LISTED.read_bytes().decode()
    assert sorted_list(out) == sorted_list(wanted)
    assert len(out) == len(wanted)


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ((), "1234567"),
        (("--topic", "payments"), "1"),
        (("--topic", "payments", "--resource-pattern-type", "match"), "1234"),
        (("--topic", "pay", "--resource-pattern-type", "any"), "2"),
        (("--topic", "pay", "--resource-pattern-type", "prefixed"), "2"),
        (("--topic", "p*s", "--resource-pattern-type", "GLOB"), "4"),
        (("--topic", "payments", "--group", "payments"), "16"),
        (("--topic", "payments", "--topic", "orders"), "15"),
        (("--cluster",), "7"),
        (("--cluster-resource",), "7"),
        (("--cluster", "--resource-pattern-type", "any"), "1234567"),
        (("--cluster", "--topic", "pay", "--resource-pattern-type", "match"), "23"),
        (("--force", "--operation", "Nonsense", "--command-config", "nowhere"), "1234567"),
        (("--topic", "orders", "--bootstrap-server", "h:1"), "5"),
        (("--topic", "pay*"), ""),
        (("--principal", "User:b"), "2"),
        (("--principal", "User:b", "--principal", "User:*"), "23"),
        (
            ("--topic", "payments", "--resource-pattern-type", "match", "--principal", "User:a"),
            "14",
        ),
    ],
)
def test_list_selects_as_kafka_acls_does(small, options, ids):
    assert listed(small, *options) == set(ids)


def test_list_of_principals_has_a_section_for_each(small):
    out = small.run("acls", "list", "--principal", "User:b", "--principal", "User:z").stdout
    assert out.startswith("ACLs for principal `User:b`\nCurrent ACLs for resource")
    assert out.endswith("ACLs for principal `User:z`\n")


def test_show_prints_what_the_metadata_shell_prints(small):
    tree = small.run("acls", "show").stdout.splitlines()
    assert tree[:2] == ["byId:", "  1:"]
    (one,) = small.run("acls", "show", "2").stdout.splitlines()
    assert f"    {one}" == tree[4]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "--principal", "alice"), "'alice' has no principal type"),
        (("list", "--resource-pattern-type", "globs"), "'globs' is not one of"),
        (("list", "--cluster", "c1"), "unexpected extra argument (c1)"),
        (("list", "--producer"), "No such option"),
        (("show", "nobody"), "No ACL in force has the id 'nobody'"),
        (("add", "--topic", "t"), "--allow-principal, --deny-principal"),
        (("add", "--allow-principal", "alice", "--topic", "t"), "'alice' has no principal type"),
        (("add", "--allow-principal", "User:a", "--topic", "t*"), "Invalid name 't*' of a TOPIC"),
        (
            ("add", "--allow-principal", "User:a", "--topic", "t", "--allow-host", "localhost"),
            "Invalid host 'localhost'",
        ),
        (
            ("add", "--allow-principal", "User:a", "--group", "g", "--operation", "Write"),
            "ResourceType GROUP only supports operations [READ, DELETE, DESCRIBE,",
        ),
        (("remove", "--force"), "You must provide at least one resource"),
        (("remove", "--topic", "t", "--operation", "Read"), "removes all ACLs of the resources"),
    ],
)
def test_bad_input_ends_with_2_and_changes_nothing(small, words, said):
    before = {path: path.stat().st_mtime_ns for path in small.path.rglob("*")}
    assert said in small.run("acls", *words, code=2).stderr
    assert {path: path.stat().st_mtime_ns for path in small.path.rglob("*")} == before


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (
            ("add", "--allow-principal", "User:two words", "--topic", "it's", "--producer"),
            "--add --topic 'it'\"'\"'s' --allow-principal 'User:two words' --producer",
        ),
        (("add", "--deny-principal", "User:a", "--cluster"), "--add --cluster --deny-principal "),
        (("remove", "--topic", "payments", "--force"), "--remove --topic payments --force"),
        (("remove", "--topic", "nothing"), "--remove --topic nothing"),
    ],
)
def test_a_warehouse_that_follows_a_log_refuses_and_prints_the_command(small, words, command):
    result = small.run("acls", *words, code=2)
    assert result.stdout.startswith(f"kafka-acls --bootstrap-server HOST:PORT {command}")
    assert "was replayed from a source" in result.stderr


def test_a_principal_builder_makes_the_principals(small):
    words = ("--allow-principal", "CN=alice,OU=ops", "--topic", "t")
    builder = ("--principal-builder", "aclkit.api:X500Builder")
    result = small.run("acls", "add", *words, *builder, code=2)
    assert "--allow-principal User:CN=alice,OU=ops" in result.stdout


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("acls list --cluster --cluster c", "acls list --cluster --cluster c"),
        ("acls --cluster c list --cluster", "--cluster c acls list --cluster"),
        ("--cluster=c acls list --cluster", "--cluster=c acls list --cluster"),
        ("acls list --warehouse W --topic t", "--warehouse W acls list --topic t"),
        ("acls show --cluster c", "--cluster c acls show"),
        ("sql --cluster c x", "--cluster c sql x"),
        ("acls nonsense --cluster c", "--cluster c acls nonsense"),
    ],
)
def test_cluster_is_kafkas_flag_behind_a_command_that_has_it(given, wanted):
    context = cli.make_context("aclkit", [], resilient_parsing=True)
    assert _shared_first(cli, context, given.split()) == wanted.split()


def test_a_file_gives_options_to_a_group_and_to_its_commands(small, tmp_path):
    file = tmp_path / "aclkit.toml"
    file.write_text(
        f'warehouse = "{small.path}"\nformat = "csv"\n'
        '[acls]\nprincipal = ["User:b"]\n[acls.list]\nresource_pattern_type = "match"\n'
    )
    result = CliRunner().invoke(cli, ["--config", str(file), "acls", "list", "--topic", "payments"])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[1:] == ["TOPIC,pay,PREFIXED,User:b,*,READ,ALLOW,2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[acls.list]\nforce = true", "unknown key force"),
        ("[acls]\nlist = 1", "[list] must be a table"),
        ("[acls.lists]\ntopic = 1", "unknown key lists"),
        ("export_format = 1", "unknown key export_format"),
    ],
)
def test_a_file_with_a_key_that_no_command_of_the_group_knows_is_refused(tmp_path, text, said):
    file = tmp_path / "aclkit.toml"
    file.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(cli, ["--config", str(file), "acls", "list"])
    assert (result.exit_code, said in result.stderr) == (2, True)


def test_several_names_in_the_environment_are_lines(small):
    env = {"ACLKIT_PRINCIPAL": "User:b\nUser:two words", "ACLKIT_FORMAT": "kafka-acls"}
    result = CliRunner().invoke(cli, ["--warehouse", str(small.path), "acls", "list"], env=env)
    assert "ACLs for principal `User:two words`\n" in result.stdout


@pytest.fixture
def own(spark, tmp_path) -> Warehouse:
    """A folder in which nothing is yet."""
    return Warehouse(tmp_path / "own")


def facts(warehouse: Warehouse) -> list[dict[str, str]]:
    return warehouse.sql("SELECT log_offset, record_type, acl_id FROM acl_log ORDER BY log_offset")


@pytest.mark.slow
def test_what_is_added_and_removed_is_records_at_the_head(own):
    own.run(*ADD, "--topic", "payments", "--topic", "orders")
    own.run("acls", "add", "--deny-principal", "User:bob", "--topic", "payments")
    again = own.run(*ADD, "--topic", "payments", "--group", "g").stdout
    assert again.startswith("Acl (pattern=ResourcePattern(resourceType=TOPIC, name=payments,")
    assert "already exists." in again
    assert [row["log_offset"] for row in facts(own)] == ["0", "1", "2", "3"]
    assert own.published().run.head_offset == 4
    told = own.run("acls", "remove", "--topic", "payments", code=2)
    assert "would be removed" in told.stderr
    assert "--force" in told.stderr
    assert len(facts(own)) == 4
    removed = own.run("acls", "remove", "--topic", "payments", "--force").stdout
    assert removed.startswith("Removed ACLs for resource")
    assert len(facts(own)) == 6
    wanted = [acl("orders", principal="User:alice"), acl("g", resource_type="GROUP")]
    assert own.acls() == Counter(
        [wanted[0].binding, (*wanted[1].binding[:3], "User:alice", *wanted[1].binding[4:])]
    )
    nothing = own.run("acls", "remove", "--topic", "payments", "--force")
    assert nothing.stdout == ""
    assert "No ACL matches, so nothing was removed.\n" in nothing.stderr


@pytest.mark.slow
def test_what_was_written_here_and_what_is_followed_never_mix(own, tmp_path):
    record = tmp_path / "one.jsonl"
    own.run(*ADD, "--topic", "a", cluster="mine")
    out = own.run("export", "acls", "--format", "records", cluster="mine").stdout
    record.write_text(out, encoding="utf-8")
    told = own.replay(f"records:{record}", code=3, cluster="mine")
    assert "was written with acls add" in told.stderr
    own.replay(f"records:{record}", cluster="followed")
    assert own.acls("followed") == own.acls("mine")
    assert (
        "was replayed from a source"
        in own.run(*ADD, "--topic", "b", cluster="followed", code=2).stderr
    )
    own.run(*ADD, "--topic", "b", cluster="mine")
    assert len(own.acls("mine")) == 2


@pytest.mark.slow
def test_exported_records_are_read_back_to_the_same_acls(own, real, tmp_path):
    records = tmp_path / "acls.jsonl"
    real.run("export", "acls", "--format", "records", "--output", records)
    own.replay(f"records:{records}", cluster="c1")
    assert own.run("acls", "show").stdout == real.run("acls", "show").stdout


WRITER = """
import sys, time
from pathlib import Path
from aclkit.pipeline.replay.changes import add_to
from aclkit.kafka.acls.creation import new_acls
from aclkit.kafka.acls.options import AclOptions
from aclkit.warehouse.run import begin_run, publish
from aclkit.pipeline.replay.write import write_change
from aclkit.runtime.spark import build_session

warehouse, me, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
# Tiny tables: one task each.
spark = build_session("writer", master="local[1]", extra_conf={
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.databricks.delta.snapshotPartitions": "1",
})
for number in range(rounds):
    # Both begin each round together.
    Path(warehouse + f".{number}.{me}").touch()
    while len(list(Path(warehouse).parent.glob(f"own.{number}.*"))) < 2:
        time.sleep(0.01)
    wanted = new_acls(AclOptions(topic=(f"{me}-{number}-a", f"{me}-{number}-b"),
                                 allow_principal=(f"User:{me}",)))
    with begin_run(spark, warehouse, "acls add", lock_timeout=600) as run:
        write_change(run, "c", lambda alive: add_to(alive, wanted))
        publish(run)
"""


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(3_000)
def test_fifty_rounds_of_two_writers_leave_both_batches_in_and_no_offset_twice(tmp_path):
    own = Warehouse(tmp_path / "own")
    rounds = int(os.environ.get("ACLKIT_WRITER_ROUNDS", "50"))
    env = {**os.environ, "ACLKIT_DRIVER_MEMORY": "1g"}
    command = [sys.executable, "-c", WRITER, str(own.path)]
    writers = [
        subprocess.Popen([*command, name, str(rounds)], env=env, stderr=subprocess.PIPE)
        for name in ("one", "two")
    ]
    ended = [(writer.communicate()[1], writer.returncode) for writer in writers]
    assert [code for _, code in ended] == [0, 0], ended
    assert [int(row["log_offset"]) for row in facts(own)] == list(range(rounds * 2 * 2))
    assert {binding[1] for binding in own.acls()} == {
        f"{name}-{number}-{topic}"
        for name in ("one", "two")
        for number in range(rounds)
        for topic in "ab"
    }


RANGE = ("--topic", "t", "--allow-host", "10.0.0.0/8")


@pytest.mark.parametrize(
    ("level", "said"),
    [
        (29, "metadata version 4.4-IV1 or higher. (29 (4.2-IV1) is in force)"),
        (None, "(the version in force is unknown, and ranges are compared as text here)"),
    ],
)
def test_a_range_is_refused_below_the_metadata_version_that_knows_it(tmp_path, level, said):
    followed = warehouse_of(tmp_path / "warehouse", [acl()], level=level)
    result = followed.run(*ADD, *RANGE, code=2)
    assert (result.stdout, said in result.stderr) == ("", True)


def test_a_range_is_taken_from_that_metadata_version_on_where_it_parses(tmp_path):
    followed = warehouse_of(tmp_path / "warehouse", [acl()], level=32)
    result = followed.run(*ADD, *RANGE, code=2)
    assert "--allow-host 10.0.0.0/8" in result.stdout
    assert "was replayed from a source" in result.stderr
    bad = followed.run(*ADD, "--topic", "t", "--allow-host", "10.0.0.0/33", code=2)
    assert "Invalid CIDR notation '10.0.0.0/33': Value [33] not in range [0,32]" in bad.stderr


def test_the_list_of_nothing_is_nothing(tmp_path):
    assert warehouse_of(tmp_path / "warehouse", []).run("acls", "list").stdout == ""


def test_a_list_after_holes_says_so(tmp_path):
    warehouse = warehouse_of(tmp_path / "warehouse", [acl()], status="incomplete")
    assert "Run 1 is incomplete" in warehouse.run("acls", "list").stderr


def test_names_are_printed_unescaped_as_kafka_acls_does(tmp_path):
    odd = acl("group with `ticks` and é", resource_type="GROUP")
    warehouse = warehouse_of(tmp_path / "warehouse", [odd])
    assert warehouse.run("acls", "list").stdout == lines(render_list([odd]))


EVIL = "x\n\t(principal=User:forged, host=*, operation=ALL, permissionType=ALLOW)\x1b[2J\u202e"


@pytest.fixture(scope="module")
def evil(tmp_path_factory) -> Warehouse:
    acls = [acl(EVIL, principal=f"User:{EVIL}", acl_id="1"), acl("plain", acl_id="2")]
    return warehouse_of(tmp_path_factory.mktemp("acls") / "warehouse", acls)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (("list",), 6),
        (("list", "--principal", f"User:{EVIL}"), 4),
        (("list", "--topic", EVIL), 3),
        (("list", "--format", "table"), 3),
        (("show",), 5),
        (("show", "1"), 1),
    ],
)
def test_a_name_acts_on_no_terminal_and_forges_no_line(evil, words, number):
    told = evil.run("acls", *words).stdout.split("\n")
    assert len(told) == number + 1
    assert all(line.removeprefix("\t").isprintable() for line in told)
    assert "\\u{1b}[2J\\u{202e}" in "".join(told)


def test_what_is_not_exact_is_said_and_raw_is_exact(evil):
    assert "written as code points: 1. --raw" in evil.run("acls", "list").stderr
    raw = evil.run("acls", "list", "--raw", "--principal", f"User:{EVIL}")
    assert raw.stdout.count(EVIL) == 3
    assert "code points" not in raw.stderr
    assert evil.run("acls", "show", "--raw", "1").stdout.count(EVIL) == 2
    assert "code points" not in evil.run("acls", "list", "--principal", "User:a").stderr


def test_a_cluster_that_is_passed_over_is_said(small):
    words = ("acls", "list", "--cluster", "--resource-pattern-type", "prefixed")
    assert "--cluster has no effect with" in small.run(*words).stderr
    assert "passes over" not in small.run("acls", "list", "--cluster").stderr
