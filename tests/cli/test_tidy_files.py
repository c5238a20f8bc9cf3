"""The command tidy with the files of a team: what can go of the state that they lead to."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import run
from tests.questions.query import small_warehouse as small

HEAD = "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host\n"
WIDE = "User:new,Topic,PREFIXED,pay,Read,Allow,*\n"
NARROW = "User:new,Topic,LITERAL,payments,Read,Allow,*\n"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("tidy") / "warehouse"
    small.build(path)
    return path


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return to


def tidy(warehouse, *words, code=0):
    return run("--warehouse", warehouse, "tidy", *words, code=code)


def removed(warehouse, *words):
    found = json.loads(tidy(warehouse, *words, "--format", "json").stdout)
    return {(each["principal"], each["resource_name"]) for each in found["changes"]}


def test_an_acl_of_a_file_that_another_covers_can_go(warehouse, write):
    path = write("acls.csv", HEAD + WIDE + NARROW)
    assert removed(warehouse, path, "--scope", "all") == {("User:new", "payments")}


def test_people_see_the_line_of_each_acl_that_can_go(warehouse, write):
    path = write("acls.csv", HEAD + WIDE + NARROW)
    assert "(acls.csv:3)" in tidy(warehouse, path, "--scope", "all").stdout


def test_files_are_read_on_top_of_the_cluster(warehouse, write):
    assert ("User:new", "payments") not in removed(warehouse)
    path = write("acls.csv", HEAD + NARROW + WIDE)
    assert ("User:new", "payments") in removed(warehouse, path, "--scope", "add")


def test_a_csv_needs_a_scope(warehouse, write):
    told = tidy(warehouse, write("acls.csv", HEAD + WIDE), code=2).stderr
    assert "--scope" in told
    assert "all         removes" in told


def test_what_has_an_effect_stays(warehouse, write):
    path = write("acls.csv", HEAD + WIDE)
    assert "No ACL can be removed" in tidy(warehouse, path, "--scope", "all").stdout


def test_unreadable_files_end_with_3(warehouse, write):
    assert "acls.csv:2" in tidy(warehouse, write("acls.csv", HEAD + "x,y\n"), code=3).stderr
