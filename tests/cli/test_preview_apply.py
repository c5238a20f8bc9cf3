"""The command preview apply: the files of a team, what they change, and the verdict on it."""

from __future__ import annotations

import json

import pytest

from tests.cli.gating import (
    ANN,
    ANN_READS,
    ANN_READS_MORE,
    CSV,
    KNOWN,
    LOSSES,
    USERS,
    applied,
    apply,
    verdict,
)
from tests.cli.running import run
from tests.kafka.desired.holding import DESIRED
from tests.kafka.desired.terraform_files import acl as tf
from tests.kafka.desired.terraform_files import plan, resource, rows
from tests.questions.query import small_warehouse as small

HANDED = DESIRED / "terraform"
SEVEN = ("resource_type", "pattern_type", "resource_name", "principal", "host", "operation",
         "permission_type")  # fmt: skip
# What a plan does


def test_the_effects_of_the_handed_plan_equal_their_table():
    found = applied(HANDED / "2-plan.json", base=HANDED / "1-after.kafka-acls-list.txt")
    told = {
        (each["effect"], *(each[name] for name in SEVEN), each["by"])
        for each in found["plan_effects"]
    }
    assert told == set(rows("2-effect.tsv"))


def test_the_first_plan_adds_what_its_table_has():
    found = applied(HANDED / "1-plan.json", base=HANDED / "0-before.kafka-acls-list.txt")
    assert {each["effect"] for each in found["plan_effects"]} == {"added"}
    assert len(found["plan_effects"]) == len(rows("1-effect.tsv"))


@pytest.mark.parametrize("effect", LOSSES)
def test_each_way_to_lose_access_is_told_with_addresses_and_advice(write, effect):
    found = applied(write("plan.json", plan(*LOSSES[effect])))
    (told,) = found["plan_effects"]
    assert told["effect"] == effect
    assert "kafka_acl.a" in told["by"]
    assert told["advice"] or effect == "gap"
    lost = {row["principal"] for row in found["lost"]}
    assert lost == (set() if effect == "gap" else {"User:ann"})
    assert found["gate"]["verdict"] == "review"


def test_what_is_off_for_a_time_is_told_apart_from_the_end(write):
    words = (write("plan.json", plan(*LOSSES["gap"])),)
    assert [each["kind"] for each in applied(*words)["for_a_time"]] == ["lost"]
    told = apply(*words).stdout
    assert "While it is applied" in told
    assert "- for a time: User:ann: READ, DESCRIBE on topic orders" in told


def test_a_deny_that_is_off_for_a_time_opens_access_for_a_time(write):
    deny = tf("pay.", "User:bob", "Deny", acl_operation="All",
              resource_pattern_type_filter="Prefixed")  # fmt: skip
    path = write("plan.json", plan(resource("kafka_acl.d", "delete,create", deny, deny)))
    found = applied(path, "--fail-on", "gap", code=1)
    assert [each["kind"] for each in found["for_a_time"]] == ["gained"]
    assert found["gate"]["reasons"] == ["Access is open for a time (--fail-on gap)."]


def test_where_plan_and_cluster_disagree_it_is_said(write):
    path = write(
        "plan.json",
        plan(
            resource("kafka_acl.there", "create", None, tf()),
            resource("kafka_acl.gone", "delete", tf("none"), None),
            resource("kafka_acl.kept", "no-op", tf("lost"), tf("lost")),
        ),
    )
    told = apply(path).output
    assert "kafka_acl.there creates an ACL that already exists" in told
    assert "kafka_acl.gone deletes an ACL that does not exist" in told
    assert "kafka_acl.kept keeps an ACL that does not exist" in told


def test_an_unknown_principal_that_no_resource_makes_ends_with_3(write):
    known = tf()
    del known["acl_principal"]
    path = write(
        "plan.json",
        plan(
            resource("kafka_acl.a", "create", None, known, after_unknown={"acl_principal": True}),
        ),
    )
    told = run("preview", "apply", path, "--base", "now.txt", *KNOWN, code=3).stderr
    assert "kafka_acl.a" in told
    assert "acl_principal" in told


# The same ACLs in three forms

PLANS_ONLY = {"plan_effects": [], "cost": None}


def test_users_a_plan_and_a_csv_of_the_same_acls_have_the_same_preview(write):
    forms = [
        (write("users.yaml", USERS), "--no-operator"),
        (
            write(
                "plan.json",
                plan(
                    resource("kafka_acl.a", "no-op", tf("orders"), tf("orders")),
                    resource("kafka_acl.b", "create", None, tf("invoices")),
                ),
            ),
        ),
        (write("acls.csv", f"{CSV}{ANN_READS}{ANN_READS_MORE}"), "--scope", "principals"),
        (write("add.csv", f"{CSV}{ANN_READS_MORE}"), "--scope", "add"),
    ]
    for form in ("json", "csv", "jsonl", "table", "markdown"):
        told = [apply(*words, "--format", form).stdout for words in forms]
        if form == "json":
            told = [json.dumps({**json.loads(each), **PLANS_ONLY}) for each in told]
        told = [line.replace(words[0], "FILE") for line, words in zip(told, forms, strict=True)]
        assert len(set(told)) == 1, form


# Scope


def test_a_csv_without_scope_ends_with_2_and_says_what_each_choice_removes(write):
    told = apply(write("acls.csv", f"{CSV}{ANN_READS_MORE}"), code=2).stderr
    assert "add         removes 0 ACLs" in told
    assert "principals  removes 1 ACL: ALLOW READ on topic orders for User:ann" in told
    assert "all         removes 3 ACLs" in told


@pytest.mark.parametrize(("scope", "lost"), [("add", set()), ("principals", {"User:ann"})])
def test_scope_says_which_acls_go(write, scope, lost):
    found = applied(write("acls.csv", f"{CSV}{ANN_READS_MORE}"), "--scope", scope)
    assert {row["principal"] for row in found["lost"]} == lost


def test_a_listing_is_the_whole_state(acl_file, work):
    acl_file("new.txt", ANN)
    told = apply("new.txt", "--format", "markdown").stdout
    assert "User:bob" in told


def test_users_replace_the_acls_of_their_users_only(write):
    found = applied(write("users.yaml", USERS))
    assert found["lost"] == []
    assert {row["resource_name"] for row in found["gained"]} <= {"invoices"}


def test_operator_removes_users_without_a_file(write):
    path = write("users.yaml", USERS)
    assert "User:bob" not in apply(path, "--no-operator").stdout
    assert "User:bob" in apply(path, "--operator").stdout


def test_a_folder_of_users_with_a_csv_beside_needs_a_scope(write):
    write("team/users.yaml", USERS)
    write("team/more.csv", f"{CSV}{ANN_READS_MORE}")
    assert "team/more.csv" in apply("team", code=2).stderr
    assert verdict("team", "--scope", "add") == "review"


def test_an_empty_listing_is_refused_without_allow_empty(write):
    path = write("none.txt", "")
    apply(path, code=3)
    assert verdict(path, "--allow-empty") == "review"


# Several clusters


def test_files_of_several_clusters_need_a_choice(write):
    other = USERS.replace("name: ann", "name: bob").replace("main", "spare")
    path = write("users.yaml", f"{USERS}---\n{other}")
    assert "main and spare" in apply(path, code=2).stderr
    found = applied(path, "--of-cluster", "main")
    assert {row["principal"] for row in found["gained"]} == {"User:ann"}


# A warehouse


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("gate") / "warehouse"
    small.build(path, [each for each in small.ACLS if each.resource_name != "*"])
    return path


def test_a_change_of_a_published_warehouse(warehouse, write):
    line = "User:carol,Topic,LITERAL,orders,Read,Allow,*\n"
    words = ("--warehouse", warehouse, "preview", "apply", write("a.csv", CSV + line))
    found = json.loads(run(*words, "--scope", "add", "--format", "json").stdout)
    assert {row["principal"] for row in found["gained"]} == {"User:carol"}
    assert found["gate"]["verdict"] == "review"


def test_policies_choose_by_the_attributes_of_the_inventory(warehouse, write):
    line = "User:carol,Topic,LITERAL,orders,Read,Allow,*\n"
    rule = ('[[never]]\nname = "team a stays out"\nprincipals = {attributes = {team = "a"}}\n'
            'operations = "READ"\nresources = "topic:orders"\n')  # fmt: skip
    rule = rule.replace('{attributes = {team = "a"}}', '"*"\nprincipal_attributes = {team = "a"}')
    words = ("--warehouse", warehouse, "preview", "apply", write("a.csv", CSV + line))
    words = (*words, "--scope", "add", "--assertions", write("r.toml", rule), "--format", "json")
    assert json.loads(run(*words, code=1).stdout)["gate"]["verdict"] == "deny"
