"""The command diff: two offsets or times of the log, each under the settings of then."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial

import pytest

from aclkit.model.acl import acl_words
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.questions.difference.change import Change
from aclkit.questions.state import Inventory, State
from tests.cli.running import run
from tests.questions.difference.world import differences
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import WHEN, acl

ADDED = acl(20, principal="User:carol", resource_name="orders")
REMOVED = acl(21, principal="User:x'y", resource_name="pay", pattern_type="PREFIXED")
LIFETIMES = {ADDED: (50, None), REMOVED: (2, 60)}


def lifetime(one, effective, removed):
    return {**small._history(one), "added_offset": effective, "effective_offset": effective,
            "removed_offset": removed}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return build(tmp_path_factory.mktemp("diff") / "warehouse", (0, 100))


def build(path, *read):
    """ACLs that come and go, log times one minute apart, and settings that change at 80."""
    versions = small.build(path)
    rows = [lifetime(a, 2, None) for a in small.ACLS]
    rows += [lifetime(one, *offsets) for one, offsets in LIFETIMES.items()]
    facts = [
        {"cluster_id": small.CLUSTER, "fact": "record", "log_offset": offset,
         "record_type": "ACCESS_CONTROL_ENTRY_RECORD", "log_time": WHEN + timedelta(minutes=offset)}
        for offset in (2, 50, 60, 90)
    ]  # fmt: skip
    settings = [
        {"cluster_id": small.CLUSTER, "since_time": WHEN - timedelta(days=1),
         "super_users": [small.SUPER_USER], "allow_everyone": True},
        {"cluster_id": small.CLUSTER, "since_time": WHEN + timedelta(minutes=80),
         "super_users": [], "allow_everyone": True},
    ]  # fmt: skip
    ranges = [{"cluster_id": small.CLUSTER, "from_offset": start, "to_offset": end, "epoch": 1,
               "fact": "record"} for start, end in read]  # fmt: skip
    versions |= {
        "acl_history": small.write_table(path, "acl_history", rows),
        "acl_log": small.write_table(path, "acl_log", facts),
        "setting": small.write_table(path, "setting", settings),
        "log_range": small.write_table(path, "log_range", ranges),
    }
    said = {"semantics": {}, "super_users": [], "allow_everyone": True}
    small.publish(path, versions, run_number=2, settings=json.dumps(said))
    return path


@pytest.fixture
def diff(root):
    return partial(run, "--warehouse", root, "diff")


def cells(found):
    kinds = ("gained", "lost", "redecided")
    return {
        (row["principal"], row["host"], row["operation"], row["resource_name"], row["before"],
         row["after"])
        for kind in kinds for row in found[kind]
    }  # fmt: skip


def expected(before, after):
    """Decide the published inventory twice."""
    asked = Inventory(
        principals=small.PRINCIPALS,
        hosts=small.HOSTS,
        resources=tuple(Resource(*row) for row in small.RESOURCES),
    )
    states = [
        State(acls={a.acl_id: a for a in acls},
              settings=BrokerSettings(super_users=frozenset(supers), allow_everyone=True),
              semantics=KIP_1042)
        for acls, supers in (before, after)
    ]  # fmt: skip
    of = Change(before=states[0], after=states[1])
    return {
        (*cell[:3], cell[3].resource_name, then[0], now[0])
        for cell, (then, now) in differences(of, asked).items()
    }


SUPER = [small.SUPER_USER]


@pytest.mark.parametrize(
    ("start", "end", "before", "after"),
    [
        ("50", "51", ([REMOVED], SUPER), ([REMOVED, ADDED], SUPER)),
        ("51", "50", ([REMOVED, ADDED], SUPER), ([REMOVED], SUPER)),
        ("60", "61", ([REMOVED, ADDED], SUPER), ([ADDED], SUPER)),
        ("2", "3", None, ([REMOVED], SUPER)),
        ("61", "100", ([ADDED], SUPER), ([ADDED], [])),
    ],
)
def test_diff_is_the_difference_of_deciding_both_states(diff, start, end, before, after):
    found = json.loads(diff(start, end, "--format", "json").stdout)
    states = [
        ([], SUPER) if side is None else ([*small.ACLS, *side[0]], side[1])
        for side in (before, after)
    ]
    assert cells(found) == expected(*states)
    assert cells(found)


def test_a_time_is_the_first_offset_with_a_later_timestamp(diff):
    at = [(WHEN + timedelta(minutes=minute)).isoformat() for minute in (49, 50)]
    by_time = diff(*at, "--format", "json")
    assert json.loads(by_time.stdout) == json.loads(diff("50", "60", "--format", "json").stdout)


def test_an_empty_diff_is_equivalent(diff):
    found = json.loads(diff("70", "75", "--format", "json").stdout)
    assert (found["verdict"], found["example"], found["gained"]) == ("equivalent", None, [])


def test_other_settings_are_said_and_decided(diff):
    result = diff("61", "100")
    assert "The settings of the brokers differ too." in result.stderr
    assert "\n\n0 gained, 4 lost. Accesses of known names: 208 lost " in result.stdout


def test_a_hole_that_history_passes_over_is_said(tmp_path):
    root = build(tmp_path / "warehouse", (0, 53), (57, 100))
    said = "Offsets 53 to 56 could not be read. Changes there are missing."
    assert said in run("--warehouse", root, "diff", "50", "61").stderr
    assert said in run("--warehouse", root, "diff", "61", "50").stderr
    assert said not in run("--warehouse", root, "diff", "50", "53").stderr


def test_fail_on_ends_with_exit_code_1(diff):
    diff("50", "51", "--fail-on", "gained", code=1)
    diff("50", "51", "--fail-on", "lost", code=0)


def test_markdown_names_both_offsets(diff):
    assert diff("50", "51", "--format", "markdown").stdout.startswith("## Offset 50 to 51, ")


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ("50", "101", "Offset 101 is beyond the log"),
        ("101", "50", "Offset 101 is beyond the log"),
        ("50", "yesterday", "Invalid time 'yesterday'"),
        ("9" * 30, "50", "Invalid time"),
        ("9999-12-31T23:59:59-14:00", "50", "Invalid time"),
    ],
)
def test_an_offset_or_time_that_makes_no_sense_ends_with_exit_code_2(diff, start, end, message):
    assert message in diff(start, end, code=2).stderr


def test_the_first_glob_between_two_states_is_told(tmp_path, monkeypatch):
    glob = acl(22, principal="User:bob", resource_name="pay.?n", pattern_type="GLOB")
    plain = tuple(each for each in small.ACLS if each.pattern_type != "GLOB")
    monkeypatch.setattr(small, "ACLS", plain)
    monkeypatch.setitem(globals(), "LIFETIMES", {glob: (50, None)})
    root = build(tmp_path / "warehouse", (0, 100))
    told = run("--warehouse", root, "diff", "40", "55").stderr
    assert f"brings the first GLOB ACL: {acl_words(glob)}" in told
    for same in (("30", "40"), ("52", "55")):
        assert "first GLOB" not in run("--warehouse", root, "diff", *same).stderr


# Two sides


@pytest.mark.parametrize("option", [("--scope", "all"), ("--no-super-users",), ("--limit", 3)])
def test_two_moments_refuse_what_only_files_have(diff, option):
    assert f"{option[0]} goes with two sides" in diff(50, 51, *option, code=2).stderr


def test_a_moment_beside_a_file_is_one_of_the_warehouse(diff, acl_file):
    now = acl_file("now.txt", ADDED)
    found = json.loads(diff(100, now, "--format", "json").stdout)
    assert (found["a"]["offset"], found["b"]["form"], found["claim"]) == (100, "listing", "same")
    assert found["judged"]["verdict"] == "needs approval"
    lost = diff(100, now, "--fail-on", "lost", code=1).stdout
    assert lost.startswith("Verdict: fail. Access is lost (--fail-on lost). ")


def test_the_headline_of_the_past_is_in_the_past(diff):
    first, second = (diff(*moments).stdout for moments in ((55, 65), (10, 20)))
    assert first.startswith("Verdict: needs approval. Access changed. User:x'y lost READ")
    assert second.startswith("Verdict: pass. No access changed. Proven for every name.")


def test_two_moments_are_written_as_sarif_too(diff):
    written = json.loads(diff(55, 65, "--format", "sarif", "--fail-on", "lost", code=1).stdout)
    results = written["runs"][0]["results"]
    assert {(each["ruleId"], each["level"]) for each in results} == {("prove-same", "error")}


def test_policies_are_not_about_two_clusters(diff):
    words = ("--with", "other", "--watch", "watch.toml")
    assert "policies are about one cluster" in diff(*words, code=2).stderr
