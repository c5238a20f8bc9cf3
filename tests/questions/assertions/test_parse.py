"""A file of assertions: what it may say, and what is said of one that makes no sense."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclkit.errors import UsageError
from aclkit.questions.assertions.model import Pattern, ResourcePattern
from aclkit.questions.assertions.parse import parse_assertions

EXAMPLE = Path(__file__).parents[3] / "conf" / "assertions.toml"


def only_one(text):
    (found,) = parse_assertions(text, "a.toml")
    return found


def test_a_text_with_a_wildcard_is_a_glob_and_every_other_one_is_a_name():
    found = only_one('[[never]]\nname="n"\nprincipals=["User:a", "User:b*", "User:c?"]')
    assert found.who.names == (
        Pattern("LITERAL", "User:a"), Pattern("GLOB", "User:b*"), Pattern("GLOB", "User:c?"),
    )  # fmt: skip


def test_a_table_says_which_form_a_name_has():
    found = only_one(
        '[[never]]\nname="n"\nresources=[{literal="group:a*"}, {prefixed="topic:p."}, '
        '{glob="topic:x"}, "cluster"]'
    )
    assert found.duties[0].names == (
        ResourcePattern("GROUP", Pattern("LITERAL", "a*")),
        ResourcePattern("TOPIC", Pattern("PREFIXED", "p.")),
        ResourcePattern("TOPIC", Pattern("GLOB", "x")),
        ResourcePattern("CLUSTER", Pattern("LITERAL", "kafka-cluster")),
    )


def test_operations_are_written_in_any_case_and_any_is_all():
    assert only_one('[[never]]\nname="n"\noperations="describe-configs"').duties[0].operations == {
        "DESCRIBE_CONFIGS"
    }
    assert only_one('[[never]]\nname="n"\noperations=["ANY"]').duties[0].operations is None


def test_hosts_are_written_as_java_writes_them():
    found = only_one('[[never]]\nname="n"\nhosts=["::1", "10.*"]')
    assert found.duties[0].hosts == (Pattern("LITERAL", "0:0:0:0:0:0:0:1"), Pattern("GLOB", "10.*"))


def test_only_means_everybody_else():
    assert only_one('[[only]]\nname="n"\nprincipals="User:a"').who.is_inverted


def test_always_is_about_the_inventory_unless_it_says_otherwise():
    assert only_one('[[always]]\nname="n"').inventory_only
    assert not only_one('[[always]]\nname="n"\ninventory_only=false').inventory_only
    assert not only_one('[[never]]\nname="n"').inventory_only
    assert only_one('inventory_only=true\n[[never]]\nname="n"').inventory_only


def test_super_users_count_unless_the_assertion_or_the_file_leaves_them_out():
    assert only_one('[[never]]\nname="n"').who.super_users
    assert not only_one('super_users=false\n[[never]]\nname="n"').who.super_users
    text = 'super_users=false\n[[never]]\nname="n"\nsuper_users=true'
    assert only_one(text).who.super_users


def test_the_shipped_example_shows_every_kind():
    found = parse_assertions(EXAMPLE.read_text(encoding="utf-8"), "conf/assertions.toml")
    assert {a.kind for a in found} == {"never", "always", "only", "at_most", "separate"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[never]\n", "a.toml: not valid TOML: "),
        ("a=" + "[" * 5_000, "a.toml: not valid TOML: nested too deeply"),
        ('[[never]]\nname="n"\nprincipals="svc-*"', "principals: 'svc-*' has no principal type"),
        ('[[never]]\nname="n"\nprincipals={prefixed="svc-"}', "'svc-' has no principal type"),
        ("", "expected assertions such as [[never]], found none"),
        ('\n[[nevr]]\nname="n"', "a.toml:2: nevr: unknown key; expected some of never, always"),
        ('[never]\nname="n"\n', "a.toml:1: never: expected a list of tables (with two brackets)"),
        ('\n\n[[never]]\nwho="n"', "a.toml:4: [[never]] who: unknown key"),
        ('[[never]]\nwhy="n"', "a.toml:1: [[never]] name: expected a name"),
        (
            '[[never]]\nname="a"\n[[never]]\nname="b"\n\noperations=["RAED"]',
            "a.toml:6: [[never]] 'b' operations: expected ANY or some of",
        ),
        (
            '[[never]]\nname="n"\noperations=["READ"]\nresources=["user:*"]',
            "operations: none of them exists for USER, which has CREATE_TOKENS, DESCRIBE_TOKENS",
        ),
        (
            '[[always]]\nname="n"\nprincipals=["bob"]',
            "a.toml:3: [[always]] 'n' principals: 'bob' has no principal type",
        ),
        ('[[always]]\nname="n"\nhosts=["node7"]', "hosts: Invalid host 'node7'"),
        ('[[always]]\nname="n"\nresources=["pay.*"]', "resources: 'pay.*' has no resource type"),
        ('[[always]]\nname="n"\nresources=[]', "resources: expected one name or more"),
        ('[[always]]\nname="n"\nresources=[{regex="topic:a"}]', "expected a text, or one of"),
        ('[[always]]\nname="n"\nsuper_users="no"', "super_users: expected true or false"),
        ('super_users="no"\n[[always]]\nname="n"', "a.toml:1: super_users: expected true or false"),
        ('[[at_most]]\nname="n"', "limit: expected the greatest number of principals"),
        ('[[at_most]]\nname="n"\nlimit=-1', "a.toml:3: [[at_most]] 'n' limit: expected a number"),
        ('[[never]]\nname="n"\nlimit=1', "limit: unknown key"),
        ('[[only]]\nname="n"', "principals: expected principals"),
        ('[[separate]]\nname="n"\nduties=[{}]', "duties: expected two duties or more, found 1"),
        (
            '[[separate]]\nname="n"\nduties=[{}, {operation="READ"}]',
            "a.toml:1: [[separate]] 'n' duties[2].operation: unknown key",
        ),
        ('[[never]]\nname="n"\n[[always]]\nname="n"', "2 assertions have the name 'n'"),
        ('[[never]]\nname="n"\nprincipal_attributes=[]', "expected a table of attributes"),
        ('[[never]]\nname="n"\noperations=["a\\nError: b"]', "found 'A\\nERROR: B'"),
        ('[[never]]\nname="n"\noperations=[]', "found none"),
        ('[[never]]\nname="n"\n"a\\nb"=1', "'a\\nb': unknown key"),
        ('"a\\nb"=1', "a.toml: 'a\\nb': unknown key"),
        ('[[never]]\nname' + ".a" * 2_000 + "=1", "a.toml: not valid TOML: a key has more than 16"),
        ("[[never]]\nname=0x" + "f" * 9_000, "a.toml: not valid TOML: a number does not fit"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_by_line_and_key(text, message):
    with pytest.raises(UsageError) as error:
        parse_assertions(text, "a.toml")
    assert message in str(error.value)
