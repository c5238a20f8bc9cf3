"""What is said of two states where a plan leaves open which ACLs there are at the end.

Each case was found by a search of random plans against a simulator that plays every order.
"""

from __future__ import annotations

import json

import pytest

from tests.cli.running import run
from tests.factories import acl
from tests.kafka.desired.terraform_files import acl as planned
from tests.kafka.desired.terraform_files import plan, resource

OPEN = ("--no-super-users", "--allow-everyone")
CLOSED = ("--no-super-users", "--no-allow-everyone")
ANN = acl("orders", principal="User:ann", operation="READ")
NOT_CALLED = "proven for every name"


@pytest.fixture
def before(work, acl_file):
    acl_file("A", ANN)
    return "A"


def taken_over(write, **more):
    """An ACL is destroyed by one resource and created by another, in any order."""
    ann = planned()
    gone = resource("kafka_acl.a", "delete", before=ann)
    return write("B", plan(gone, resource("kafka_acl.b", "create", after=ann, **more)))


def test_an_end_that_a_default_opens_is_no_proof_that_nothing_is_gained(before, write):
    sides = before, taken_over(write)
    told = run("prove", "no-more", *sides, *OPEN, code=1).stdout
    assert told.startswith("Verdict: fail. Access is gained")
    assert NOT_CALLED not in told
    found = json.loads(run("prove", "no-more", *sides, *OPEN, "--format", "json", code=1).stdout)
    assert (found["outcome"], found["proven"]) == ("fails", False)


def test_what_no_end_loses_is_not_lost(before, write):
    sides = before, taken_over(write)
    run("prove", "no-less", *sides, *OPEN, code=0)
    run("diff", *sides, *OPEN, "--fail-on", "lost", code=0)
    run("preview", "apply", sides[1], "--base", before, *OPEN, "--fail-on", "lost", code=0)


@pytest.mark.parametrize("more", [(), ("--fail-on", "lost")])
def test_a_gap_needs_approval_whatever_is_asked(before, write, more):
    ann = planned()
    change = write("B", plan(resource("kafka_acl.a", "delete,create", before=ann, after=ann)))
    told = run("diff", before, change, *CLOSED, *more, code=0).stdout
    assert told.startswith("Verdict: needs approval. Access changes for a time")


def test_nothing_is_proven_beside_a_change_that_is_put_off(before, write):
    deferred = {"reason": "resource_config_unknown", "resource_change": resource(
        "kafka_acl.c", "create", after={}, after_unknown={"acl_principal": True})}  # fmt: skip
    change = write("B", plan(
        resource("kafka_acl.a", "no-op", before=planned(), after=planned()),
        deferred_changes=[deferred], complete=False))  # fmt: skip
    told = run("prove", "same", before, change, *CLOSED, code=1).stdout
    assert "It depends on" in told
    assert NOT_CALLED not in told.lower()


def test_a_name_that_no_topic_can_have_changes_nothing(before, acl_file):
    acl_file("B", ANN, acl("x\ty", principal="User:ann"))
    run("prove", "same", before, "B", *CLOSED, code=0)
    run("diff", before, "B", *CLOSED, "--fail-on", "any", code=0)


@pytest.mark.parametrize("form", ["table", "markdown", "sarif", "csv"])
def test_people_see_no_sensitive_value_of_the_base(work, acl_file, write, form):
    hidden = {"acl_principal": True}
    secret = resource("kafka_acl.a", "create", after=planned(principal="User:s3cr3tvalue"),
                      after_sensitive=hidden)  # fmt: skip
    base = write("A", plan(secret))
    acl_file("B", ANN)
    told = run("preview", "apply", "B", "--base", base, *CLOSED, "--format", form,
               "--summary-env", "env")  # fmt: skip
    seen = told.stderr if form == "csv" else told.stdout + told.stderr
    assert "s3cr3tvalue" not in seen + (work / "env").read_text(encoding="utf-8")


def test_a_scanner_sees_that_a_gate_fails_where_nothing_differs_at_the_end(before, write):
    ann = planned()
    change = write("B", plan(resource("kafka_acl.a", "delete,create", before=ann, after=ann)))
    words = ("--fail-on", "gap", "--format", "sarif")
    (one,) = json.loads(run("diff", before, change, *CLOSED, *words, code=1).stdout)["runs"]
    assert [each["level"] for each in one["results"]] == ["error"]


def test_strict_alone_stops_what_needs_approval(before, acl_file):
    acl_file("B", ANN, acl("pay", principal="User:ann"))
    run("diff", before, "B", *CLOSED, code=0)
    run("diff", before, "B", *CLOSED, "--strict", code=1)


def test_what_is_proven_under_settings_that_are_unknown_is_called_so(before, acl_file):
    acl_file("B", ANN, acl("other", principal="User:bob", permission_type="DENY"))
    told = run("diff", before, "B", "--no-super-users", "--fail-on", "any", code=0).stdout
    assert "Proven for every name, under the settings that are assumed." in told
