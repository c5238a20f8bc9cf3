"""The command diff between two clusters: the verdict, a line a difference, and what it refuses."""

from __future__ import annotations

import csv
import io
import json

import pytest

from aclkit.model.semantics import BrokerSettings
from tests.cli.running import run
from tests.cli.two_clusters import build, roles, topics
from tests.factories import acl

MAPS = ("--map", "stage.=prod.", "--map-principal", "User:stage-=User:prod-")
SAME = "prod allows the same as stage. Proven for every name that has a counterpart."
DIFFERS = "Verdict: needs approval."
LOST = "Verdict: fail. Access is lost (--fail-on any)."
HOLE = "prod-orders-3"
HOSTILE = "x\x1b[31m'; DROP TABLE resource; --<script>"


def both(path, prod=None):
    return build(
        path,
        {
            "stage": (roles("stage"), topics("stage")),
            "prod": (roles("prod") if prod is None else prod, topics("prod")),
        },
    )


@pytest.fixture(scope="module")
def same(tmp_path_factory):
    return both(tmp_path_factory.mktemp("same") / "warehouse")


@pytest.fixture(scope="module")
def holed(tmp_path_factory):
    path = tmp_path_factory.mktemp("holed") / "warehouse"
    return both(path, prod=[each for each in roles("prod") if each.acl_id != HOLE])


def compare(path, *more, maps=MAPS, code=0):
    return run("--warehouse", path, "--cluster", "stage", "diff", "--with", "prod", *maps, *more,
               code=code)  # fmt: skip


def test_two_clusters_with_the_same_roles_are_the_same_for_every_name(same):
    assert compare(same).stdout == f"Verdict: pass. {SAME}\n"


def test_one_hole_in_two_clusters_with_the_same_roles_is_one_line(holed):
    assert compare(holed).stdout.splitlines() == [
        f"{DIFFERS} 1 principal can do less in prod than in stage.",
        "",
        "- User:prod-orders: READ, DESCRIBE on topic prod.inventory.events from any host",
        "    stage: ALLOW READ on topic stage.inventory.events for User:stage-orders from any host",
        "    prod: no ACL allows it",
    ]


def test_both_clusters_have_a_line_with_their_age(holed):
    stage, prod = compare(holed).stderr.splitlines()[-2:]
    assert "stage as of 2026-11-21 12:00 UTC, offset 100" in stage
    assert "prod as of 2026-11-21 12:00 UTC, offset 100" in prod


def test_without_rules_names_are_compared_as_they_are(same):
    first = compare(same, maps=()).stdout.splitlines()[0]
    assert first == f"{DIFFERS} 12 principals can do more in prod than in stage, 12 less."


@pytest.mark.parametrize(("fail_on", "code"), [("any", 1), ("lost", 1), ("gained", 0)])
def test_fail_on_makes_the_exit_code(holed, fail_on, code):
    compare(holed, "--fail-on", fail_on, code=code)


def test_fail_on_is_calm_where_nothing_differs(same):
    compare(same, "--fail-on", "any")


def test_rows_have_a_line_for_each_operation(holed):
    rows = list(csv.DictReader(io.StringIO(compare(holed, "--format", "csv").stdout)))
    assert [
        (row["change"], row["principal"], row["operation"], row["example"]) for row in rows
    ] == [
        ("less", "User:prod-orders", "READ", "topic:prod.inventory.events"),
        ("less", "User:prod-orders", "DESCRIBE", "topic:prod.inventory.events"),
    ]


def test_json_has_the_verdict_and_both_states(holed):
    found = json.loads(compare(holed, "--format", "json").stdout)
    assert found["verdict"] == "1 principal can do less in prod than in stage."
    assert found["clusters"] == ["stage", "prod"]
    assert found["proven_for_every_name"] is True
    assert len(found["states"]) == 2


def test_two_warehouses_are_compared_by_with_warehouse(same, holed):
    found = run("--warehouse", same, "--cluster", "prod", "diff", "--with", "prod",
                "--with-warehouse", holed)  # fmt: skip
    first = found.stdout.splitlines()[0]
    assert first == f"{DIFFERS} 1 principal can do less in prod of {holed} than in prod of {same}."


def test_settings_that_differ_come_before_the_access(tmp_path):
    path = build(
        tmp_path / "warehouse",
        {"stage": (roles("stage"), topics("stage")),
         "prod": ([e for e in roles("prod") if e.acl_id != HOLE], topics("prod"))},
        prod=BrokerSettings(super_users=frozenset({"User:root"})),
    )  # fmt: skip
    lines = compare(path).stdout.splitlines()
    assert lines[0] == f"{DIFFERS} 1 principal can do more in prod than in stage, 1 less."
    assert lines[2:5] == [
        "Settings differ",
        "~ User:root is a super user in prod only, not in stage.",
        "",
    ]
    assert any(line.startswith("- User:prod-orders: READ, DESCRIBE") for line in lines)


def test_a_topic_that_only_one_cluster_has_is_told_apart(tmp_path):
    new = acl("prod.new", principal="User:prod-mail", acl_id="new")
    path = build(
        tmp_path / "warehouse",
        {"stage": (roles("stage"), topics("stage")),
         "prod": ([*roles("prod"), new], [*topics("prod"), "prod.new"])},
    )  # fmt: skip
    found = compare(path, "--fail-on", "any")
    lines = found.stdout.splitlines()
    assert lines[0] == f"Verdict: pass. {SAME}"
    assert "Topics that only one cluster has" in lines
    assert "+ User:prod-mail: READ, DESCRIBE on topic prod.new from any host" in lines
    assert "Only prod has 1 topic: prod.new." in found.output


def test_what_the_rules_leave_out_is_named(tmp_path):
    extra = acl("prod.copy", principal="User:prod-x", acl_id="extra")
    path = build(tmp_path / "warehouse", {
        "stage": ([*roles("stage"), extra], topics("stage")),
        "prod": (roles("prod"), topics("prod")),
    })  # fmt: skip
    assert "The rules leave out 1 name of stage: User:prod-x." in compare(path).output


def test_an_acl_that_the_rules_split_limits_the_answer(tmp_path):
    wide = acl("pro", pattern_type="PREFIXED", principal="User:stage-mail", acl_id="wide")
    path = build(tmp_path / "warehouse", {
        "stage": ([*roles("stage"), wide], topics("stage")),
        "prod": (roles("prod"), topics("prod")),
    })  # fmt: skip
    out = compare(path).output
    assert "allows the same as stage. Only known names were compared." in out
    assert "because the rules split ALLOW READ on topic pro* (prefix)" in out


def test_hostile_names_stay_names(tmp_path):
    bad = acl(HOSTILE, resource_type="GROUP", principal=f"User:{HOSTILE}", acl_id="bad")
    path = build(tmp_path / "warehouse", {
        "stage": ([*roles("stage"), bad], topics("stage")),
        "prod": (roles("prod"), topics("prod")),
    })  # fmt: skip
    out = compare(path, "--fail-on", "any", code=1).output
    assert "\x1b" not in out
    assert out.startswith(f"{LOST} 1 principal can do less in prod than in stage.")
    compare(path, maps=("--map", f"{HOSTILE}=prod."))
    found = json.loads(compare(path, "--format", "json").stdout)
    assert {row["principal"] for row in found["differences"]} == {f"User:{HOSTILE}"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--with", "prod", "--map", "a=b", "--map", "c=b"), "collide"),
        (("--with", "prod", "--map", "stage."), "Expected one ="),
        (("--with", "prod", "--map-principal", "stage-=prod-"), "TYPE:PREFIX"),
        (
            (
                "--with",
                "none",
            ),
            "is not in",
        ),
        (("--with", "stage"), "compared with itself"),
        (("--with", "prod", "7"), "each has its own log"),
        (("--map", "a=b"), "--with CLUSTER"),
        (("7",), "Pass FROM and TO"),
        ((), "Pass FROM and TO"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(same, arguments, reason):
    out = run("--warehouse", same, "--cluster", "stage", "diff", *arguments, code=2).output
    assert reason in out


def test_two_states_of_one_cluster_can_be_compared_by_the_same_way(same):
    found = run("--warehouse", same, "--cluster", "stage", "diff", "--with", "stage", "50", "100")
    first = found.stdout.splitlines()[0]
    assert first.startswith(
        "Verdict: pass. stage at offset 100 allows the same as stage at offset 50. Proven for "
        "every name."
    )


def test_a_principal_that_the_other_cluster_does_not_know_is_marked(tmp_path):
    new = acl("stage.x", principal="User:stage-new", acl_id="new")
    path = build(tmp_path / "warehouse", {
        "stage": ([*roles("stage"), new], topics("stage")),
        "prod": (roles("prod"), topics("prod")),
    })  # fmt: skip
    assert "    prod does not know this principal" in compare(path).stdout.splitlines()


def test_one_time_is_meant_for_both_clusters(same):
    found = compare(same, "2026-11-21T13:00:00Z", code=2)
    assert "The log has no times" in found.output


def test_of_several_clusters_of_the_other_warehouse_one_is_to_be_named(same, holed):
    out = run("--warehouse", same, "--cluster", "stage", "diff", "--with-warehouse", holed,
              code=2).output  # fmt: skip
    assert "Pass one: --with prod, stage" in out
