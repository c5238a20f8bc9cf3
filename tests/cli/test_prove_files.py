"""Proofs about the files of a team: a file as B changes A, and fresh principals have any name."""

from __future__ import annotations

import json

import pytest

from tests.cli.proving import found
from tests.cli.running import run
from tests.factories import acl
from tests.kafka.desired.terraform_files import acl as tf
from tests.kafka.desired.terraform_files import plan, resource

ANN = acl("orders", principal="User:ann")
BOB = acl("pay", principal="User:bob")
KNOWN = ("--no-super-users", "--no-allow-everyone")
CSV = "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host\n"
MORE = f"{CSV}User:ann,Topic,LITERAL,invoices,Read,Allow,*\n"


@pytest.fixture
def write(tmp_path, monkeypatch, acl_file):
    monkeypatch.chdir(tmp_path)
    acl_file("now.txt", ANN, BOB)

    def to(name, value):
        text = value if isinstance(value, str) else json.dumps(value)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return to


def prove(claim, *words, code=0):
    return found(claim, *words, *KNOWN, code=code)


def removing(*addresses):
    return plan(*(resource(address, "delete", tf(), None) for address in addresses))


# A and B


def test_a_plan_as_b_makes_its_change_on_a(write):
    path = write("plan.json", removing("kafka_acl.a"))
    answer = prove("no-less", "now.txt", path, code=1)
    (example,) = answer["counterexamples"]
    assert (example["principal"], example["resource_name"]) == ("User:ann", "orders")
    prove("no-more", "now.txt", path)


def test_a_plan_as_a_is_its_own_acls(write, acl_file):
    path = write("plan.json", plan(resource("kafka_acl.a", "no-op", tf(), tf())))
    acl_file("ann.txt", ANN)
    prove("same", path, "ann.txt")


def test_a_csv_as_b_needs_a_scope(write):
    path = write("more.csv", MORE)
    told = run("prove", "no-less", "now.txt", path, *KNOWN, code=2).stderr
    assert "principals  removes 1 ACL" in told
    prove("no-less", "now.txt", path, "--scope", "add")
    prove("no-less", "now.txt", path, "--scope", "principals", code=1)


def test_a_csv_as_a_is_the_whole_state(write):
    prove("no-less", write("more.csv", MORE), "now.txt", code=1)


def test_a_listing_as_b_replaces_all(write, acl_file):
    acl_file("new.txt", ANN)
    prove("no-less", "now.txt", "new.txt", code=1)


def test_a_listing_as_a_is_of_the_cluster_that_is_chosen(write):
    user = (
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaUser\n"
        "metadata: {name: ann, labels: {strimzi.io/cluster: CLUSTER}}\n"
        "spec: {authorization: {type: simple, acls: []}}\n"
    )
    path = write("u.yaml", f"{user}---\n{user.replace('ann', 'bob')}".replace("CLUSTER", "main"))
    prove("no-less", "now.txt", path, "--of-cluster", "main", code=1)


# Fresh principals

REFERENCES = ["kafka_user.new.name", "kafka_user.new"]
SOURCE = {
    "root_module": {
        "resources": [
            {"address": "kafka_acl.f", "type": "kafka_acl", "name": "f", "mode": "managed",
             "expressions": {"acl_principal": {"references": REFERENCES}}},
            {"address": "kafka_user.new", "type": "kafka_user", "name": "new", "mode": "managed"},
        ]
    }
}  # fmt: skip


def fresh(permission="Allow", name="pay", *more):
    """Return a plan with an ACL of a principal that it creates."""
    after = tf(name, permission=permission, acl_operation="Read")
    del after["acl_principal"]
    user = resource("kafka_user.new", "create", None, {}, kind="kafka_user",
                    after_unknown={"name": True})  # fmt: skip
    made = resource("kafka_acl.f", "create", None, after, after_unknown={"acl_principal": True})
    return plan(user, made, *more, configuration=SOURCE)


def test_an_allow_of_a_fresh_principal_may_be_more(write):
    path = write("plan.json", fresh())
    answer = prove("no-more", "now.txt", path, code=1)
    assert answer["outcome"] != "holds"
    prove("no-less", "now.txt", path)


def test_a_deny_of_a_fresh_principal_may_be_less(write):
    path = write("plan.json", fresh("Deny"))
    prove("no-less", "now.txt", path, code=1)
    prove("no-more", "now.txt", path)


def test_a_deny_of_a_fresh_principal_that_denies_no_principal_is_not_less(write):
    path = write("plan.json", fresh("Deny", "elsewhere"))
    prove("no-less", "now.txt", path)


def test_an_allow_of_a_fresh_principal_hides_no_loss(write):
    gone = resource("kafka_acl.a", "delete", tf("pay", "User:bob"), None)
    path = write("plan.json", fresh("Allow", "pay", gone))
    answer = prove("no-less", "now.txt", path, code=1)
    assert {each["principal"] for each in answer["counterexamples"]} == {"User:bob"}


def test_a_fresh_principal_is_shown_by_the_address_that_makes_it(write):
    path = write("plan.json", fresh())
    told = run("preview", "apply", path, "--base", "now.txt", *KNOWN).stdout
    assert "User:<known after apply: kafka_user.new" in told


@pytest.mark.parametrize("principals", ["User:admin", "User:svc-*"])
def test_a_fresh_principal_may_be_any_that_is_watched(write, principals):
    path = write("plan.json", fresh())
    watch = write("w.toml", f'[[watch]]\nname = "w"\nprincipals = "{principals}"\n')
    told = run("preview", "apply", path, "--base", "now.txt", *KNOWN, "--watch", watch, code=1)
    assert "Watched access changes ('w'): User:<known after apply" in told.stdout


NEVER = """\
[[never]]
name = "interns"
principals = "User:intern-*"
operations = "READ"
resources = "topic:%s"
"""


@pytest.mark.parametrize(("topic", "code"), [("pay", 1), ("elsewhere", 0)])
def test_a_policy_on_names_is_unknown_where_a_fresh_principal_may_break_it(write, topic, code):
    path, rules = write("plan.json", fresh()), write("r.toml", NEVER % topic)
    words = ("preview", "apply", path, "--base", "now.txt", *KNOWN, "--assertions", rules)
    told = run(*words, code=code).stdout
    is_told = (
        "The policy 'interns' is unknown: a principal that the plan creates may break it." in told
    )
    assert is_told == bool(code)


# The gate


@pytest.mark.parametrize(("fail_on", "name"), [("lost", "deny"), ("gained", "review")])
def test_gate_options_put_a_verdict_before_the_proof(write, fail_on, name):
    path = write("plan.json", removing("kafka_acl.a"))
    words = ("no-more", "now.txt", path, "--fail-on", fail_on)
    assert prove(*words, code=int(name == "deny"))["gate"]["verdict"] == name
    told = run("prove", *words, *KNOWN, code=int(name == "deny")).stdout
    assert told.startswith("Verdict: fail." if name == "deny" else "Verdict: needs approval.")


def test_a_watch_denies_what_is_proven(write):
    path = write("plan.json", removing("kafka_acl.a"))
    watch = write("w.toml", '[[watch]]\nname = "o"\nresources = "topic:orders"\n')
    prove("no-more", "now.txt", path, "--watch", watch, code=1)


def test_policies_deny_what_is_proven(write):
    path = write("plan.json", removing("kafka_acl.a"))
    rules = write(
        "r.toml",
        '[[always]]\nname = "ann"\nprincipals = "User:ann"\noperations = "READ"\n'
        'resources = "topic:orders"\n',
    )
    answer = prove("no-more", "now.txt", path, "--assertions", rules, code=1)
    assert answer["gate"]["reasons"] == ["The policy 'ann' is broken."]


def test_strict_ends_with_1_where_a_review_is_wanted(write):
    path = write("plan.json", removing("kafka_acl.a"))
    prove("no-more", "now.txt", path, "--fail-on", "gained", "--strict", code=1)


def test_a_gap_is_denied_though_both_states_are_the_same(write):
    path = write("plan.json", plan(resource("kafka_acl.a", "delete,create", tf(), tf())))
    prove("same", "now.txt", path)
    prove("same", "now.txt", path, "--fail-on", "gap", code=1)


def test_a_summary_is_written(write, tmp_path):
    path = write("plan.json", removing("kafka_acl.a"))
    prove("no-more", "now.txt", path, "--summary-env", "s.env")
    assert (tmp_path / "s.env").read_text(encoding="utf-8").startswith("ACLKIT_VERDICT=review\n")


def test_a_file_as_a_with_policies_is_proven(write):
    path = write("more.csv", MORE)
    rules = write(
        "r.toml",
        '[[never]]\nname = "no writes"\nprincipals = "User:*"\noperations = "WRITE"\n'
        'resources = "topic:*"\n',
    )
    found("never", rules, path, *KNOWN)
