"""The commands of prove: what is proven of files and warehouses, and exit codes."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta

import pytest

from aclkit.kafka.acls.text import render_list
from tests.cli.gating import BOB, LOSSES
from tests.cli.proving import DENY, OPENS, found
from tests.cli.running import run
from tests.cli.test_diff import build
from tests.factories import acl
from tests.kafka.desired.terraform_files import plan
from tests.questions.assertions.test_of_files import POLICIES
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import WHEN

ID = "Tm1nLPTKSaCPIAJlEST_Kw"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A warehouse with a past: ACLs that come and go, and settings that change at 80."""
    return build(tmp_path_factory.mktemp("prove") / "warehouse", (0, 100))


# What is proven


@pytest.mark.parametrize(
    ("claim", "way", "code", "verdict"),
    [
        ("same", 1, 1, "more"), ("no-more", 1, 1, "more"), ("no-less", 1, 0, "more"),
        ("same", -1, 1, "less"), ("no-more", -1, 0, "less"), ("no-less", -1, 1, "less"),
    ],
)  # fmt: skip
def test_swapping_a_and_b_turns_no_more_into_no_less(two_files, claim, way, code, verdict):
    answer = found(claim, *two_files[::way], code=code)
    assert (answer["proven"], answer["verdict"]) == (code == 0, verdict)
    assert answer["outcome"] == ("fails" if code else "holds")
    assert bool(answer["counterexamples"]) is bool(code)


@pytest.mark.parametrize("claim", ["same", "no-more", "no-less"])
def test_a_file_is_the_same_as_itself(two_files, claim):
    answer = found(claim, two_files[1], two_files[1])
    assert (answer["verdict"], answer["counterexamples"]) == ("equivalent", [])


def test_the_shortest_name_shows_it_with_what_decides_on_both_sides(two_files):
    (example,) = found("no-more", *two_files, code=1)["counterexamples"]
    assert (example["principal"], example["resource_name"]) == ("User:dan", "team-")
    assert (example["before"], example["rule_before"], example["acl_before"]) == (
        "DENIED", "DefaultDeny", None,
    )  # fmt: skip
    assert (example["after"], example["rule_after"]) == ("ALLOWED", "MatchingAcl")
    assert example["acl_after"] == str(OPENS)
    assert example["names"] == "topics that start with team-, but not those that team-??* matches"
    (block,) = example["holds_for"]
    assert block["operations"] == ["READ", "DESCRIBE"]
    assert block["principals"] == [{"name": "User:dan", "is_one": True, "matched_by": ["User:dan"]}]


def test_an_empty_listing_is_a_cluster_without_acls_and_that_is_said(two_files, acl_file):
    empty = acl_file("empty.txt")
    assert "it is empty" in run("prove", "no-less", two_files[1], empty, code=3).stderr
    result = run("prove", "no-less", two_files[1], empty, "--allow-empty", code=1)
    note = "is empty. It is read as a listing of a cluster without ACLs."
    assert note in result.stdout
    answer = found("no-less", two_files[1], empty, "--allow-empty", code=1)
    assert note in answer["notes"][0]
    assert (answer["a"]["acls"], answer["b"]["acls"]) == (2, 0)
    assert found("same", empty, empty, "--allow-empty")["proven"]


def test_records_are_replayed_from_an_empty_cluster(two_files, tmp_path):
    records = tmp_path / "records.jsonl"
    lines = [
        record("ACCESS_CONTROL_ENTRY_RECORD", id=ID, resourceType=2, resourceName="team-",
               patternType=4, principal="User:dan", host="*", operation=3, permissionType=3),
        record("REMOVE_ACCESS_CONTROL_ENTRY_RECORD", id="eLv9uS0WQB-2oX75QlEi6Q"),
    ]  # fmt: skip
    records.write_text("".join(lines), encoding="utf-8")
    answer = found("no-less", two_files[1], records)
    assert (answer["b"]["form"], answer["b"]["acls"]) == ("records", 1)
    assert "removes an ACL that does not exist" in answer["notes"][0]
    packed = tmp_path / "records.jsonl.gz"
    packed.write_bytes(gzip.compress("".join(lines).encode()))
    assert found("same", records, packed)["proven"]


def record(kind, **data):
    return json.dumps({"type": kind, "version": 0, "data": data}) + "\n"


def test_what_the_budget_leaves_open_counts_as_failed_and_names_the_option(acl_file):
    hard = acl("*a????????", pattern_type="GLOB")
    more = acl("*b*a????????", pattern_type="GLOB")
    sides = acl_file("a", hard), acl_file("b", hard, more)
    assert found("same", *sides)["proven"]
    answer = found("same", *sides, "--budget", 150, code=1)
    assert (answer["outcome"], answer["verdict"], answer["proven"]) == ("unknown", "unknown", False)
    assert {cell["operation"] for cell in answer["unknown"]} == {"READ", "DESCRIBE"}
    assert answer["unknown"][0]["hard"] == ["*b*a????????", "*a????????"]
    assert answer["cost"]["states"] > 150
    shown = run("prove", "same", *sides, "--budget-total", 150, code=1).stdout
    assert shown.startswith(
        "Verdict: fail. More access may change: the search limit was reached.\n"
    )
    assert "\nREAD for User:a from any host on topics\n" in shown
    assert "to raise the search limit: --budget-total" in shown
    assert "patterns that make it hard: *b*a????????, *a????????" in shown


# Settings


def test_settings_of_two_files_come_from_options_and_are_printed(two_files):
    answer = found("no-more", *two_files, "--super-users", "User:dan;User:ops")
    assert answer["settings"]["a"]["super_users"] == ["User:dan", "User:ops"]
    assert answer["settings"]["b"]["source"] == "the options"
    shown = run("prove", "no-more", *two_files, "--allow-everyone", "--semantics", "kafka").stdout
    said = (
        "super.users unknown, taken as none; allow.everyone.if.no.acl.found true; semantics kafka"
    )
    assert said in " ".join(shown.split())


def test_settings_come_from_a_file_only_where_it_is_named(two_files, tmp_path):
    (tmp_path / "aclkit.toml").write_text('super_users = "User:dan"\n', encoding="utf-8")
    run("prove", "no-more", *two_files, code=1)
    assert run("--config", "aclkit.toml", "prove", "no-more", *two_files).exit_code == 0


def test_two_moments_with_other_settings_are_refused_unless_that_is_asked_for(root):
    words = ("--warehouse", root, "prove", "no-less", "@75", "@100")
    refused = run(*words, code=2).stderr
    assert "super.users: A has 'User:admin', B has 'none'" in refused
    assert "--compare-settings" in refused
    result = run(*words, "--compare-settings", "--format", "json", code=1)
    answer = json.loads(result.stdout)
    assert {example["principal"] for example in answer["counterexamples"]} == {small.SUPER_USER}
    assert answer["settings"]["a"]["super_users"] == [small.SUPER_USER]
    assert answer["settings"]["b"]["super_users"] == []
    shown = run(*words, "--compare-settings", code=1).stdout
    assert "\nsettings of A  super.users User:admin; " in shown
    assert "\nsettings of B  super.users unknown, taken as none; " in shown


def test_a_file_is_read_as_the_warehouse_beside_it(root, acl_file):
    published = found("same", root, f"{root}@100")
    assert published["proven"]
    empty = acl_file("empty.txt")
    answer = found("no-more", root, empty, "--allow-empty", code=1)
    assert answer["settings"]["b"]["allow_everyone"] is True
    refused = run(
        "prove", "no-more", root, empty, "--allow-empty", "--no-allow-everyone", code=2
    ).stderr
    assert "allow.everyone.if.no.acl.found: A has 'true', B has 'false'" in refused


# Sides


@pytest.mark.parametrize(
    ("a", "b", "code"),
    [("@50", "@51", 1), ("@51", "@50", 0), ("@60", "@61", 0), ("@61", "@60", 1)],
)
def test_offsets_and_times_of_a_warehouse_are_states(root, a, b, code):
    answer = json.loads(
        run("--warehouse", root, "prove", "no-more", a, b, "--format", "json", code=code).stdout
    )
    assert (answer["a"]["offset"], answer["b"]["offset"]) == (int(a[1:]), int(b[1:]))
    assert answer["a"]["cluster"] == small.CLUSTER
    times = [
        f"{root}@{(WHEN + timedelta(minutes=int(text[1:]) - 1)).isoformat()}" for text in (a, b)
    ]
    assert found("no-more", *times, code=code)["found"] == answer["found"]


def test_a_hole_in_the_log_is_said(tmp_path):
    holed = build(tmp_path / "warehouse", (0, 53), (57, 100))
    said = "Offsets 53 to 56 could not be read. Changes there are missing."
    assert said in found("same", f"{holed}@60", f"{holed}@60")["notes"]


def test_records_beside_a_warehouse_are_said_to_be_all_there_is(root, tmp_path):
    records = tmp_path / "records.jsonl"
    records.write_text(record("ACCESS_CONTROL_ENTRY_RECORD", id=ID, resourceType=2,
                              resourceName="t", patternType=3, principal="User:a", host="*",
                              operation=3, permissionType=3), encoding="utf-8")  # fmt: skip
    shown = run("prove", "same", root, records, code=1).stdout
    note = (
        "records.jsonl: these records are replayed from an empty cluster. To see what they change "
        "in a warehouse, use aclkit preview apply.\n"
    )
    assert note in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("same", "none.txt", "none.txt"), "'none.txt': expected a warehouse, or files"),
        (("same", "W", "none@5"), "there is no such file or folder"),
        (("same", "W", ".@5"), "only a warehouse has offsets and times"),
        (("same", "W", "W@101"), "Offset 101 is beyond the log, which was read up to 100."),
        (("same", "W", "W@yesterday"), "Invalid time 'yesterday'. Pass ISO 8601"),
        (("same", "W", "before.txt@5"), "only a warehouse has offsets and times"),
        (("same", "@5", "W"), "No warehouse given."),
        (("same", "W", ""), "expected a warehouse, or files"),
        (("same", "W"), "Missing argument 'B'"),
        (("never", "policies.toml"), "No warehouse given."),
        (("never", "none.toml", "W"), "none.toml: the file does not exist"),
        (("never", "before.txt", "W"), "before.txt"),
        (("same", "W", "before.txt", "--super-users", "ops"), "ops"),
    ],
)
def test_what_makes_no_sense_ends_with_exit_code_2(two_files, root, tmp_path, words, message):
    (tmp_path / "policies.toml").write_text(POLICIES, encoding="utf-8")
    given = [word.replace("W", str(root), 1) if word[:1] == "W" else word for word in words]
    assert message in run("prove", *given, code=2, env={"ACLKIT_WAREHOUSE": ""}).stderr


def test_what_may_be_meant_in_two_ways_is_refused(root, two_files, tmp_path):
    (tmp_path / "w").symlink_to(root)
    assert found("same", "w@60", "w@60")["proven"]
    (tmp_path / "w@60").write_text("", encoding="utf-8")
    message = run("prove", "same", "w@60", two_files[0], code=2).stderr
    assert "w@60 is there itself, and so is w, of which 60 may be meant" in message
    (tmp_path / "x@60").write_text(
        (tmp_path / two_files[0]).read_text(encoding="utf-8"), encoding="utf-8"
    )
    assert found("same", "x@60", "x@60")["a"]["form"] == "listing"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not a listing\n", "broken: it holds no known format of ACLs"),
        (record("ACCESS_CONTROL_ENTRY_RECORD") + "{nonsense\n", "broken:1: "),
        (
            "\n".join(render_list([DENY])) + "\nrubbish\n",
            "broken:4: Not a line of kafka-acls --list",
        ),
    ],
)
def test_a_broken_file_ends_with_exit_code_3_and_its_line(two_files, tmp_path, content, message):
    (tmp_path / "broken").write_text(content, encoding="utf-8")
    assert message in run("prove", "same", two_files[0], "broken", code=3).stderr


def test_an_acl_that_may_exist_at_the_end_takes_what_a_default_allows(acl_file, tmp_path):
    after = tmp_path / "plan.json"
    after.write_text(json.dumps(plan(*LOSSES["undefined-order"])), encoding="utf-8")
    words = ("prove", "no-less", acl_file("now.txt", BOB), after)
    said = run(*words, "--no-super-users", "--allow-everyone", code=1).stdout
    assert said.startswith("Verdict: fail. Access is lost (--fail-on lost).")
