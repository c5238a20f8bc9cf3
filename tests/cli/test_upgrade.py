"""What brokers of 4.4 make of the same ACLs: preview upgrade, and why while brokers differ."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.model.semantics import KAFKA, BrokerSettings
from tests.questions.query import small_warehouse as small
from tests.upgrading import ACLS, BAD, DOES, NEW, OLD, ROLLING, broker_table

BROKERS = {"old": OLD, "rolling": ROLLING, "new": NEW}
BOB = ("User:bob", "READ", "topic:payments", "--host", "10.9.9.9")


@pytest.fixture(scope="module")
def warehouses(tmp_path_factory):
    """The published decisions before, while and after brokers are upgraded."""
    folders = {}
    for stage, brokers in BROKERS.items():
        root = tmp_path_factory.mktemp(stage)
        how = replace(KAFKA, cidr_hosts=stage != "old")
        versions = small.build(root, ACLS, BrokerSettings(), how)
        rows = broker_table(brokers, small.CLUSTER)
        versions["broker"] = small.write_table(root, "broker", rows)
        said = {"semantics": how.said(), "super_users": [], "allow_everyone": False}
        small.publish(root, versions, run_number=2, run_id="s", settings=json.dumps(said))
        folders[stage] = root
    return folders


@pytest.fixture
def run(warehouses):
    def invoke(stage, *arguments, code=0):
        words = ["--warehouse", str(warehouses[stage]), *arguments]
        result = CliRunner().invoke(cli, words)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    return invoke


@pytest.fixture
def upgrade(run):
    def invoke(*arguments, stage="old", code=0):
        return run(stage, "preview", "upgrade", *arguments, code=code)

    return invoke


def test_json_has_what_each_acl_does_beside_what_every_preview_has(upgrade):
    result = upgrade("--from", "4.3", "--to", "4.4", "--format", "json")
    found = json.loads(result.stdout)
    assert found["verdict"] == "incomparable"
    assert {
        row["acl_id"]: bool(row["gained"] or row["lost"]) for row in found["read_otherwise"]
    } == {name: does != "info" for name, does in DOES.items()}
    bob = next(row for row in found["read_otherwise"] if row["acl_id"] == "bob-1")
    assert (bob["becomes"], bob["gained"], bob["lost"], bob["is_known"]) == ("wakes", 2, 0, True)
    assert bob["words"].startswith("grants READ, DESCRIBE for User:bob from hosts that")
    assert (bob["example"]["host"], bob["example"]["after"]) == ("10.0.0.1", "ALLOWED")
    assert {row["host"] for row in found["lost"]} == {
        "<any-other in 2001:db8::/32>", "<any-other in 2001:db8::/33>",
    }  # fmt: skip
    assert "Different settings: cidr_hosts: off, now on.\n" in result.stderr


def test_a_table_tells_each_acl_that_wakes_and_none_that_does_not_parse(upgrade):
    text = upgrade("--to", "4.4").stdout
    lines = [line for line in text.splitlines() if " takes effect: " in line]
    assert len(lines) == len(DOES)
    assert lines[0] == (
        "~ ALLOW READ on topic payments for User:bob from 10.0.0.0/8 takes effect: grants READ, "
        "DESCRIBE for User:bob from hosts that 10.0.0.0/8 matches (such as 10.0.0.1), for example "
        "on payments"
    )
    assert not any(acl.host in text for acl in BAD)


def test_csv_and_markdown_hold_the_same_decisions(upgrade):
    found = json.loads(upgrade("--to", "4.4", "--format", "json").stdout)
    rows = list(csv.DictReader(io.StringIO(upgrade("--to", "4.4", "--format", "csv").stdout)))
    assert len(rows) == sum(len(found[kind]) for kind in ("gained", "lost", "redecided"))
    text = upgrade("--to", "4.4", "--format", "markdown").stdout
    assert text.startswith("## From the published reading to 4.4, cluster c1\n")
    deny = "DENY ALL on topic pay* (prefix) for User:* from 2001:db8::/32"
    assert f"\n! {deny} takes effect: revokes READ, DESCRIBE for User:alice " in text


@pytest.mark.parametrize(
    ("stage", "arguments", "code"),
    [
        ("old", ("--to", "4.4", "--fail-on", "gained"), 1),
        ("old", ("--to", "4.4", "--fail-on", "lost"), 1),
        ("old", ("--to", "4.3", "--fail-on", "any"), 0),
        ("new", ("--to", "4.4", "--fail-on", "any"), 0),
        ("new", ("--to", "4.3", "--fail-on", "any"), 1),
        ("new", ("--to", "wildcard-defect", "--fail-on", "any"), 0),
        ("new", ("--from", "4.4", "--to", "no-wildcard-defect", "--fail-on", "lost"), 0),
    ],
)
def test_fail_on_ends_with_exit_code_1(upgrade, stage, arguments, code):
    upgrade(*arguments, stage=stage, code=code)


def test_what_the_published_reading_is_needs_not_be_said(upgrade):
    result = upgrade("--to", "4.4", stage="new")
    assert "Both read all ACLs alike.\n" in result.stderr
    assert result.stdout.startswith("Verdict: pass. No access changes. Proven for every name, ")
    back = upgrade("--to", "4.3", stage="new").stdout
    acl = "ALLOW READ on topic payments for User:bob from 10.0.0.0/8"
    assert f"\n~ {acl} loses its effect: revokes READ, DESCRIBE for User:bob " in back


@pytest.mark.parametrize(
    ("preset", "first"),
    [
        ("kip-1042", "Verdict: pass. No access changes. Proven for every name"),
        (
            "kafka,4.4",
            "Verdict: needs approval. Access changes. User:alice loses READ, DESCRIBE on topics "
            "that start with pay",
        ),
        (
            "no-wildcard-defect,deciding-acl=broker",
            "Verdict: pass. No access changes. Proven for every name",
        ),
    ],
)
def test_presets_and_settings_are_previewed_by_the_same_command(upgrade, preset, first):
    assert upgrade("--to", preset).stdout.startswith(first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--to"),
        (("--to", "four"), "Unknown way of reading ACLs 'four'. Expected a version of Kafka"),
        (
            ("--from", "cidr-hosts=auto", "--to", "4.4"),
            "Unknown way of reading ACLs 'cidr-hosts=auto'",
        ),
    ],
)
def test_what_makes_no_sense_ends_with_exit_code_2(upgrade, arguments, message):
    assert message in upgrade(*arguments, code=2).stderr


@pytest.mark.parametrize("stage", ["old", "new"])
def test_why_says_nothing_of_brokers_that_are_alike(run, stage):
    result = run(stage, "why", *BOB, "--format", "json")
    assert json.loads(result.stdout)["by_broker"] == []
    assert "depends on the broker" not in result.stderr


def test_why_says_that_a_decision_depends_on_the_broker_and_which_decide_how(run):
    found = json.loads(run("rolling", "why", *BOB, "--format", "json").stdout)
    assert found["decision"] == "ALLOWED"
    assert [(side["brokers"], side["hosts"], side["decision"]) for side in found["by_broker"]] == [
        ([2], ["10.9.9.9"], "DENIED"),
        ([1], ["10.9.9.9"], "ALLOWED"),
    ]
    assert found["by_broker"][1]["acl_id"] == "bob-1"
    note = (
        "It depends on the broker: denied (no ACL allows it) on broker 2, allowed by ALLOW READ on "
        "topic payments for User:bob from 10.0.0.0/8 on broker 1."
    )
    assert found["notes"][-1] == note
    assert note in run("rolling", "why", *BOB).stdout


def test_why_from_any_host_names_the_hosts_that_depend_on_the_broker(run):
    result = run("rolling", "why", *BOB[:3])
    assert (
        "\nFrom 10.0.0.1, 10.0.0.2, 10.0.1.1 and 1 more it depends on the broker: denied (no ACL "
        "allows it) on broker 2, allowed by "
    ) in result.stdout
