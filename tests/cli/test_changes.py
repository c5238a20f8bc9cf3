"""The command changes: who gained and lost what, through which ACL, at which offset and time."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial

import pytest

from aclkit.model.semantics import BrokerSettings
from aclkit.warehouse.published import open_warehouse
from tests.cli.running import run
from tests.questions.query import changed_warehouse
from tests.questions.query.small_warehouse import (
    ACLS,
    CLUSTER,
    SUPER_USER,
    WHEN,
    acl,
    publish,
    write_table,
)

SUPER = BrokerSettings(super_users=frozenset({SUPER_USER}))
NEW = acl(50, principal="User:carol", resource_name="orders", host="10.0.0.1")
GONE = ACLS[0]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("changes") / "warehouse"
    changed_warehouse.build(path, [(ACLS, SUPER), ([*ACLS[1:], NEW], SUPER)])
    return path


@pytest.fixture
def changes(root):
    return partial(run, "--warehouse", root, "changes")


def listed(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_each_change_names_the_acl_the_offset_and_the_time(changes):
    rows = {row["who"]: row for row in listed(changes("--format", "jsonl"))}
    assert rows.keys() == {"User:carol", "User:alice"}
    carol, alice = rows["User:carol"], rows["User:alice"]
    assert (carol["resource"], carol["gained"], carol["lost"]) == ("topic:orders", 2, 0)
    assert (carol["acl_change"], carol["offset"], carol["acl_id"]) == ("added", 15, NEW.acl_id)
    assert carol["acl"] == str(NEW)
    assert (alice["acl_change"], alice["acl_id"]) == ("removed", GONE.acl_id)
    assert alice["at"] == WHEN.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert alice["lost"] > 0


def test_each_change_is_shown_with_who_made_it_as_far_as_that_is_known(tmp_path):
    path = tmp_path / "warehouse"
    changed_warehouse.build(path, [(ACLS, SUPER), ([*ACLS[1:], NEW], SUPER)])
    before = open_warehouse(str(path)).run
    by = {
        "cluster_id": CLUSTER, "acl_id": NEW.acl_id, "acl_change": "added", "log_offset": 15,
        "log_time": WHEN, "certainty": "one", "principals": ["User:ops"], "hosts": ["10.0.0.9"],
        "sources": ["controller.log"],
    }  # fmt: skip
    versions = {**before.table_versions, "acl_change_by": write_table(path, "acl_change_by", [by])}
    publish(
        path, versions, run_number=3, run_id="night-3", counts=dict(before.counts),
        settings=before.settings_text, head_offset=20, notes=[],
    )  # fmt: skip
    rows = {row["who"]: row for row in listed(run("--warehouse", path, "changes", "-o", "jsonl"))}
    known = [(row["changed_by"], row["changed_by_certainty"]) for row in rows.values()]
    assert sorted(known, key=str) == [("User:ops from 10.0.0.9", "one"), (None, None)]
    assert rows["User:carol"]["changed_by_certainty"] == "one"
    text = run("--warehouse", path, "changes").stdout
    assert "added at offset 15 by User:ops from 10.0.0.9 (only candidate)" in " ".join(text.split())


def test_cells_name_host_and_operation(changes):
    rows = listed(changes("--cells", "--format", "jsonl"))
    gained = [(r["principal"], r["host"], r["operation"], r["resource"]) for r in rows
              if r["change"] == "gained"]  # fmt: skip
    assert (
        gained
        == [
            ("User:carol", "10.0.0.1", "DESCRIBE", "topic:orders"),
            ("User:carol", "10.0.0.1", "READ", "topic:orders"),
        ][-len(gained) :]
    )
    assert {row["acl_after"] for row in rows if row["change"] == "gained"} == {str(NEW)}
    assert {row["acl_before"] for row in rows if row["change"] == "lost"} == {str(GONE)}


def test_cells_name_the_acl_that_an_id_stood_for_before_and_the_one_that_it_stands_for(tmp_path):
    was, now = acl(1), acl(1, operation="WRITE")
    path = tmp_path / "warehouse"
    changed_warehouse.build(path, [([was], SUPER), ([now], SUPER)])
    rows = listed(run("--warehouse", path, "changes", "--cells", "--format", "jsonl"))
    told = {(row["change"], row["operation"]): (row["acl_before"], row["acl_after"])
            for row in rows}  # fmt: skip
    assert told["lost", "READ"] == (str(was), None)
    assert told["gained", "WRITE"] == (None, str(now))


@pytest.mark.parametrize(
    ("since", "is_told"),
    [
        ("1", True),
        ("0", True),
        ("2", False),
        ((WHEN - timedelta(hours=1)).isoformat(), True),
        ((WHEN + timedelta(hours=1)).isoformat(), False),
    ],
)
def test_since_takes_the_number_of_a_run_or_a_time(changes, since, is_told):
    result = changes("--since", since, "--format", "jsonl")
    assert bool(listed(result)) is is_told
    assert ("No run has made decisions since then." in result.stderr) is not is_told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--since", "9"], "Run 9 does not exist. The newest is 2."),
        (["--since", "yesterday"], "Invalid --since 'yesterday'. Pass the number of a run"),
        (["--since", "1", "--cells"], "Leave out --since."),
    ],
)
def test_a_since_that_makes_no_sense_ends_with_exit_code_2(changes, arguments, message):
    assert message in changes(*arguments, code=2).stderr


def test_since_says_where_runs_behind_it_are_not_kept(tmp_path, changes):
    assert "not all kept" not in changes("--since", "1").stderr
    path = tmp_path / "warehouse"
    changed_warehouse.build(path, [(ACLS, SUPER), ([*ACLS[1:], NEW], SUPER)])
    newest = open_warehouse(str(path)).run
    # The runs 3 and 4 went with maintenance.
    publish(path, newest.table_versions, run_number=5, run_id="night-5", counts=dict(newest.counts))
    for since, is_told in ((2, True), (4, False)):
        result = run("--warehouse", path, "changes", "--since", since)
        assert ("Runs up to 4 are not all kept any more" in result.stderr) is is_told


def test_a_run_whose_clock_was_ahead_is_no_newer_than_the_one_behind_it(tmp_path):
    path = tmp_path / "warehouse"
    changed_warehouse.build(path, [(ACLS, SUPER), ([*ACLS[1:], NEW], SUPER)])
    newest = open_warehouse(str(path)).run
    for number, days in ((3, 9_000), (4, 1)):
        counts = dict(newest.counts) | {"decided_in_run": number}
        ended = {"finished_at": WHEN + timedelta(days=days), "run_id": f"night-{number}"}
        publish(path, newest.table_versions, run_number=number, counts=counts, **ended)
    for days, is_told in ((0.5, False), (2, True)):
        result = run("--warehouse", path, "changes", "--since", WHEN + timedelta(days=days))
        assert ("No run has made decisions since then." in result.stderr) is is_told


def test_names_that_came_or_went_have_lines_of_their_own_and_give_and_take_nothing(tmp_path):
    path = tmp_path / "warehouse"
    changed_warehouse.build(path, [(ACLS, SUPER), ([*ACLS[1:], NEW], SUPER)])
    said = {
        "cluster_id": CLUSTER,
        "run_id": "night-3",
        "cause": "inventory",
        "gained": 0,
        "lost": 0,
    }
    rows = [
        {**said, "principal": "User:new", "ruleset_after": "asked"},
        {**said, "resource_type": "HOST", "resource_name": "10.0.0.7", "ruleset_after": "asked"},
        {**said, "resource_type": "GROUP", "resource_name": "", "ruleset_before": "asked"},
    ]
    versions = dict(open_warehouse(str(path)).run.table_versions)
    versions["access_change"] = write_table(path, "access_change", rows, mode="append")
    publish(path, versions, run_number=3, run_id="night-3", counts={"decided_in_run": 3})
    told = listed(run("--warehouse", path, "changes", "--format", "jsonl"))
    assert [(t["who"], t["resource"], t["cause"], t["gained"], t["lost"]) for t in told] == [
        ("User:new", "", "came", 0, 0), ("host 10.0.0.7", "", "came", 0, 0),
        ("", "group:", "gone", 0, 0),
    ]  # fmt: skip
    table = run("--warehouse", path, "changes").stdout
    assert "new; see: aclkit what-can User:new" in table
