"""Names that nobody knows yet: what-can tells patterns, who-can takes a prefix, why tells more."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.cli.running import DATA, Warehouse

IDS = DATA / "grants" / "transactional-ids.txt"
STAR = DATA / "grants" / "literal-star.txt"


@pytest.fixture(scope="module")
def ids(_session, tmp_path_factory):
    return ran(tmp_path_factory.mktemp("ids") / "warehouse", IDS)


@pytest.fixture(scope="module")
def star(_session, tmp_path_factory):
    return ran(tmp_path_factory.mktemp("star") / "warehouse", STAR)


def ran(path, listing):
    warehouse = Warehouse(path)
    told = ("--super-users", "", "--no-allow-everyone")
    warehouse.run("run", "--source", f"acls-list:{listing}", *told)
    return warehouse


def test_what_can_tells_a_prefix_that_no_known_name_has(ids):
    table = ids.run("what-can", "User:lake").stdout
    assert [line.split("  ")[0] for line in table.splitlines()] == [
        "User:lake can access 1 topic.", "", "resource", "topic:control-lake",
        "transactional-id:lake-* (0 transactional ids)",
        "transactional-id:lake-* (0 transactional ids)",
    ]  # fmt: skip
    assert [line.split()[-4:] for line in table.splitlines()[3:]] == [
        ["WRITE,", "DESCRIBE", "ALLOW", "WRITE"],
        ["ids)", "WRITE", "ALLOW", "WRITE"],
        ["ids)", "DESCRIBE", "ALLOW", "DESCRIBE"],
    ]
    rows = json.loads(ids.run("what-can", "User:lake", "--format", "json").stdout)
    told = [row for row in rows if row["pattern_type"] is not None]
    assert [(row["resource"], row["operation"], row["extent"]) for row in told] == [
        ("transactional-id:lake-", "WRITE", "all"), ("transactional-id:lake-", "DESCRIBE", "all"),
    ]  # fmt: skip
    assert [(row["reaches"], row["reached_names"]) for row in told] == [(0, []), (0, [])]
    assert told[0]["deciding_acl"].count("name=lake-, patternType=PREFIXED")
    text = ids.run("what-can", "User:lake", "--format", "csv").stdout
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["pattern_type"] for line in lines] == ["", "", "PREFIXED", "PREFIXED"]


def test_without_a_known_resource_that_is_said_and_no_empty_table_printed(ids):
    table = ids.run("what-can", "User:lake", "transactional-id").stdout
    nothing, _, rest = table.partition("\n\n")
    assert nothing == "User:lake can access no known transactional id."
    assert rest.splitlines()[1].startswith("transactional-id:lake-* (0 transactional ids)  WRITE")
    none = ids.run("what-can", "User:no").stdout
    assert none == "User:no has no access to any known resource.\n"
    none = ids.run("what-can", "User:no", "transactional-id").stdout
    assert none == "User:no has no access to any known transactional id.\n"


def test_a_name_that_no_topic_can_have_is_refused_with_the_prefix_that_is_meant(ids):
    ended = ids.run("who-can", "READ", "topic:payments.*", code=2)
    assert ended.stdout == ""
    assert "No topic can have the name 'payments.*'" in ended.stderr
    assert "aclkit who-can READ topic --prefix payments." in ended.stderr
    assert "--prefix ''" in ids.run("who-can", "READ", "topic:*", code=2).stderr
    for words in (["why", "User:lake", "READ"], ["history", "User:lake", "READ"]):
        assert "No topic" in ids.run(*words, "topic:a b", code=2).stderr
    assert "No topic" in ids.run("what-can", "User:lake", "topic:a*", code=2).stderr


def test_a_star_in_a_name_that_can_be_is_said_to_be_no_wildcard(ids):
    told = ids.run("who-can", "READ", "group:a*").stderr
    assert "note: * is part of this name. For every group that begins with 'a'" in told
    assert "note:" not in ids.run("who-can", "READ", "group:a").stderr


def test_who_can_takes_a_prefix(ids):
    table = ids.run("who-can", "WRITE", "transactional-id", "--prefix", "lake-").stdout
    assert table.splitlines()[0] == (
        "1 principal can WRITE transactional ids that start with lake- (0 exist today)."
    )
    assert "User:lake  WRITE       any   -      all" in table
    wider = ids.run(
        "who-can", "WRITE", "transactional-id", "--prefix", "la", "--format", "json"
    ).stdout
    (row,) = json.loads(wider)
    assert (row["principal"], row["extent"], row["to_come"]) == ("User:lake", "some", "some")
    assert row["allowed_name"] == "lake-"
    none = ids.run("who-can", "WRITE", "--prefix", "payments.").stdout
    assert none.splitlines() == [
        "No principal can WRITE topics that start with payments., existing or future "
        "(0 exist today)."
    ]


@pytest.mark.parametrize("resource", ["topic:payments", "cluster", "topics"])
def test_beside_a_prefix_stands_a_type(ids, resource):
    ended = ids.run("who-can", "READ", resource, "--prefix", "a", code=2)
    assert f"With --prefix the resource is a type, not '{resource}'" in ended.stderr


def test_why_tells_the_acls_of_the_principal_on_other_names(ids):
    lake = ids.run("why", "User:lake", "WRITE", "transactional-id:coordinator-8f3").stdout
    assert (
        "User:lake has WRITE, DESCRIBE on transactional-id lake- (prefix), which does not match "
        "coordinator-8f3." in lake
    )
    connect = ids.run("why", "User:connect", "WRITE", "transactional-id:connect-cluster-etl")
    assert connect.stdout.startswith(
        "User:connect cannot WRITE transactional-id:connect-cluster-etl from any host: "
    )
    assert (
        "on transactional-id connect-cluster (literal), which does not match connect-cluster-etl. "
        "LITERAL is this very name; PREFIXED would match it." in connect.stdout
    )
    said = ids.run(
        "why", "User:lake", "WRITE", "transactional-id:coordinator-8f3", "--format", "json"
    )
    others = json.loads(said.stdout)["own_acls_elsewhere"]
    assert {acl["resource_name"] for acl in others} == {"lake-"}


def test_why_says_that_a_star_in_a_literal_name_is_no_wildcard(star):
    table = star.run("why", "User:relation-81", "READ", "group:relation-81-1").stdout
    assert table.startswith("User:relation-81 cannot READ group:relation-81-1 from any host: ")
    assert "on group relation-81-* (literal), which does not match relation-81-1." in table
    assert "In a LITERAL name * is a plain character, no wildcard." in table


def test_why_names_the_group_that_a_consumer_needs(star, ids):
    table = star.run("why", "User:relation-81", "READ", "topic:parcels").stdout
    assert (
        "A consumer also needs READ on its group. ACLs allow User:relation-81 that on group "
        "relation-81-* (literal)." in table
    )
    without = ids.run("why", "User:lake", "READ", "topic:control-lake").stdout
    assert "no ACL allows User:lake that on any group" in without
    assert "consumer" not in ids.run("why", "User:lake", "WRITE", "topic:control-lake").stdout
