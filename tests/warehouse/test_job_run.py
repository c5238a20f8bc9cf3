"""A row of ``job_run`` and what it says; a warehouse that a newer aclkit wrote."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from aclkit.errors import SurroundingsError
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, BrokerConfig
from aclkit.model.semantics import KAFKA
from aclkit.warehouse.formats import FORMAT
from aclkit.warehouse.job_run import PublishedRun, RunSettings, Told, read_settings
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store
from tests.cli.running import run
from tests.questions.query import small_warehouse as small

BROKERS = (BrokerConfig(1, {"super.users": None}), BrokerConfig(2, {"super.users": "User:a"}))
SAID = RunSettings(
    told=Told(brokers=BROKERS),
    semantics=KAFKA,
    super_users=frozenset({"User:ü", "User:a"}),
    allow_everyone=False,
    unknown=(ALLOW_EVERYONE,),
    dense="auto",
    inventory_digest="i",
    inventory_rows="r",
    rules_digest="d",
    broad_share=0.5,
    rewritten={"acl_log": (1, 2)},
    keep_days=30.0,
    keep_runs=14,
)
TEXT = {
    "brokers": {"1": {"super.users": None}, "2": {"super.users": "User:a"}},
    "metadata_version": None,
    "semantics": {
        "glob_patterns": False,
        "identity_globs": False,
        "deciding_acl": "broker",
        "wildcard_defect": True,
    },
    "super_users": ["User:a", "User:ü"],
    "allow_everyone": False,
    "unknown": ["allow.everyone.if.no.acl.found"],
    "dense": "auto",
    "inventory_digest": "i",
    "inventory_rows": "r",
    "rules_digest": "d",
    "broad_share": 0.5,
    "rewritten": {"acl_log": [1, 2]},
    "keep_days": 30.0,
    "keep_runs": 14,
}


def test_the_settings_of_a_run_are_json_with_sorted_keys():
    assert SAID.write() == json.dumps(TEXT, sort_keys=True)


def test_what_was_written_is_read_back():
    assert read_settings(SAID.write()) == SAID


def test_a_run_without_settings_leaves_the_column_null():
    assert RunSettings().write() is None
    assert read_settings(None) == RunSettings()


@pytest.mark.parametrize(
    ("said", "unknown"),
    [
        ({"super_users": [], "allow_everyone": False, "unknown": []}, set()),
        ({"super_users": [], "unknown": [SUPER_USERS]}, {SUPER_USERS}),
        ({"super_users": ["User:a"], "unknown": [SUPER_USERS]}, {SUPER_USERS}),
        # Of an older aclkit, which wrote down the defaults where nobody had said anything.
        ({"super_users": [], "allow_everyone": False}, {SUPER_USERS, ALLOW_EVERYONE}),
        ({"super_users": ["User:a"], "allow_everyone": False}, {ALLOW_EVERYONE}),
        ({"super_users": ["User:a"], "allow_everyone": True}, set()),
        ({}, {SUPER_USERS, ALLOW_EVERYONE}),
    ],
)
def test_known_to_be_none_is_told_from_unknown(said, unknown):
    assert read_settings(json.dumps(said)).broker.unknown == unknown


def test_what_becomes_known_is_another_setting_although_it_decides_alike():
    then = RunSettings(super_users=frozenset(), unknown=(SUPER_USERS,))
    now = RunSettings(super_users=frozenset(), unknown=())
    assert then.updated(now) != then
    assert then.broker == now.broker


def test_what_brokers_told_last_takes_the_place_of_all_that_they_told():
    now = RunSettings(told=Told(metadata_version=27))
    assert SAID.updated(now) == replace(SAID, told=now.told)


@pytest.fixture
def _zone_again():
    yield
    time.tzset()


@pytest.mark.usefixtures("_zone_again")
def test_times_of_a_row_are_utc_whatever_the_zone_of_the_machine(monkeypatch):
    when = datetime(2026, 11, 21, 12, tzinfo=UTC)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    published = PublishedRun(
        run_number=1, run_id="r", cluster_id="c", job="run", counts={}, table_versions={},
        started_at=when.replace(tzinfo=None), finished_at=when.replace(tzinfo=None),
    )  # fmt: skip
    row = dict(zip(TABLES["job_run"].column_names, published.row(), strict=True))
    assert (row["started_at"], row["finished_at"]) == (when, when)


@pytest.fixture
def newer(tmp_path):
    small.build(tmp_path)
    small.publish(tmp_path, {}, run_number=2, format_number=FORMAT + 1, aclkit_version="9.9")
    return tmp_path


REFUSED = rf"have format {FORMAT + 1}, written by aclkit 9\.9\. .* to {FORMAT}\. Install a newer"


@pytest.mark.parametrize("open_it", [open_warehouse, lambda where: Store(None, where)])
def test_the_tables_of_a_newer_aclkit_are_refused(newer, open_it):
    with pytest.raises(SurroundingsError, match=REFUSED):
        open_it(str(newer))


def test_the_refusal_is_one_line_and_exit_code_4(newer):
    result = run("--warehouse", newer, "who-can", "READ", "topic:payments", code=4)
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_a_run_of_an_older_aclkit_does_not_hide_a_newer_one_before_it(newer):
    small.publish(newer, {}, run_number=3, job="replay")
    with pytest.raises(SurroundingsError, match="Install a newer aclkit"):
        open_warehouse(str(newer))


def test_that_ranges_decide_is_said_only_where_they_do():
    with_ranges = replace(SAID, semantics=replace(KAFKA, cidr_hosts=True))
    told = json.loads(with_ranges.write())["semantics"]
    assert told == {**TEXT["semantics"], "cidr_hosts": True}
    assert read_settings(with_ranges.write()) == with_ranges
    assert "cidr_hosts" not in SAID.write()
