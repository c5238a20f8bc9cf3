"""The verdict of preview apply: fail, needs approval or pass; and the forms in which it is told."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from tests.cli.gating import (
    ANN,
    ANN_READS_MORE,
    BOB,
    CSV,
    DENY,
    LOSSES,
    USERS,
    WATCH,
    applied,
    apply,
    verdict,
)
from tests.factories import acl
from tests.kafka.desired.terraform_files import acl as tf
from tests.kafka.desired.terraform_files import plan, resource


def test_no_change_passes(acl_file, work):
    acl_file("same.txt", DENY, BOB, ANN)
    told = apply("same.txt", "--fail-on", "any", "--strict").stdout
    assert told.startswith("Verdict: pass. No access changes. Proven for every name.\n")


def test_an_acl_that_changes_no_access_passes(acl_file, work):
    acl_file("more.txt", ANN, BOB, DENY, acl("orders", principal="User:ann", operation="DESCRIBE"))
    assert verdict("more.txt") == "pass"


def test_a_change_of_access_wants_a_review_and_ends_with_1_if_strict(write):
    words = (write("acls.csv", f"{CSV}{ANN_READS_MORE}"), "--scope", "add")
    assert apply(*words).stdout.startswith(
        "Verdict: needs approval. Access changes. User:ann gains READ"
    )
    assert apply(*words, "--strict", code=1).stdout.startswith("Verdict: needs approval.")


@pytest.mark.parametrize(
    ("fail_on", "what", "code"),
    [
        ("gained", "gained", 1), ("lost", "gained", 0), ("gap", "gained", 0), ("any", "gained", 1),
        ("gained", "lost", 0), ("lost", "lost", 1), ("gap", "lost", 0), ("any", "lost", 1),
        ("gained", "gap", 0), ("lost", "gap", 0), ("gap", "gap", 1), ("any", "gap", 1),
    ],
)  # fmt: skip
def test_fail_on_denies_what_it_names(write, acl_file, fail_on, what, code):
    if what == "gap":
        path = write("plan.json", plan(*LOSSES["gap"]))
    else:
        acls = [ANN, acl("invoices", principal="User:ann")] if what == "gained" else []
        path = acl_file("new.txt", BOB, DENY, *acls)
    told = apply(path, "--fail-on", fail_on, code=code).stdout
    assert told.startswith("Verdict: fail." if code else "Verdict: needs approval.")


SVC = acl("pay", principal="User:svc-*")
GLOB = acl("ord?rs", principal="User:ann", pattern_type="GLOB")


def test_the_first_glob_beside_a_file_is_read_as_the_next_run_will(acl_file, work):
    acl_file("now.txt", SVC)
    acl_file("new.txt", SVC, GLOB)
    told = apply("new.txt", "--fail-on", "gained", code=1).stdout
    assert "User:ann gains READ, DESCRIBE on topics like ord?rs from any host." in told
    assert "User:svc-* matches (such as User:svc-) gain READ, DESCRIBE on topic pay" in told
    assert "grants nothing" not in told
    assert "Proven" not in told


def test_under_a_preset_the_first_glob_is_read_by_it(acl_file, work):
    acl_file("now.txt", SVC)
    acl_file("new.txt", SVC, GLOB)
    assert verdict("new.txt", "--fail-on", "any", "--semantics", "kafka") == "pass"


def test_a_watched_topic_that_opens_denies(write, acl_file):
    acl_file("new.txt", ANN, BOB)
    found = applied("new.txt", "--watch", write("watch.toml", WATCH), code=1)
    assert found["gate"]["reasons"][0].startswith("Watched access changes ('pay'): User:bob")


def test_a_change_beside_what_is_watched_wants_a_review(write):
    words = (write("acls.csv", f"{CSV}{ANN_READS_MORE}"), "--scope", "add")
    assert verdict(*words, "--watch", write("watch.toml", WATCH)) == "review"


def test_a_watched_deny_that_is_off_for_a_time_denies(write):
    deny = tf("pay.", "User:bob", "Deny", acl_operation="All",
              resource_pattern_type_filter="Prefixed")  # fmt: skip
    path = write("plan.json", plan(resource("kafka_acl.d", "delete,create", deny, deny)))
    found = applied(path, "--watch", write("watch.toml", WATCH), code=1)
    assert "for a time" in found["gate"]["reasons"][0]


ALWAYS = ('[[always]]\nname = "ann reads orders"\nprincipals = "User:ann"\noperations = "READ"\n'
          'resources = "topic:orders"\n')  # fmt: skip
NEVER = ('[[never]]\nname = "bob stays out"\nprincipals = "User:bob"\noperations = "READ"\n'
         'resources = "topic:pay.*"\n')  # fmt: skip


def test_policies_that_hold_are_no_reason(write):
    words = (write("acls.csv", f"{CSV}{ANN_READS_MORE}"), "--scope", "add")
    found = applied(*words, "--assertions", write("rules.toml", ALWAYS + NEVER))
    assert found["gate"]["verdict"] == "review"
    assert {each["outcome"] for each in found["policies"]} == {"passed"}


def test_an_always_that_breaks_denies(write, acl_file):
    acl_file("new.txt", BOB, DENY)
    found = applied("new.txt", "--assertions", write("rules.toml", ALWAYS), code=1)
    assert found["gate"]["reasons"] == ["The policy 'ann reads orders' is broken."]


def test_a_never_that_breaks_denies_and_shows_an_example(write, acl_file):
    acl_file("new.txt", ANN, BOB)
    told = apply("new.txt", "--assertions", write("rules.toml", NEVER), code=1).stdout
    assert "The policy 'bob stays out' is broken." in told
    assert "User:bob can READ topic:pay.eu" in told


def test_a_policy_that_is_about_known_names_only_is_decided(write, acl_file):
    acl_file("new.txt", BOB, DENY)
    kept = f"{ALWAYS}inventory_only = true\n"
    assert verdict("new.txt", "--assertions", write("rules.toml", kept), code=1) == "deny"


def test_a_file_of_policies_that_does_not_exist_is_a_usage_error(work, acl_file):
    acl_file("new.txt", ANN)
    for option in ("--assertions", "--watch", "--reference"):
        assert "none.toml" in apply("new.txt", option, "none.toml", code=2).stderr


def test_access_beyond_the_reference_denies(write, acl_file):
    acl_file("less.txt", BOB, DENY)
    words = (write("acls.csv", f"{CSV}{ANN_READS_MORE}"), "--scope", "add")
    found = applied(*words, "--reference", "now.txt", code=1)
    assert found["gate"]["reasons"] == ["There is access beyond the reference."]
    assert verdict("less.txt", "--reference", "now.txt") == "review"


def test_a_reference_of_any_form_is_read(write, acl_file):
    acl_file("less.txt", acl("invoices", principal="User:ann"))
    assert verdict("less.txt", "--reference", write("users.yaml", USERS)) == "review"


def test_what_exceeds_the_search_limit_denies(write, acl_file):
    acl_file("new.txt", ANN, acl("p*y-?", pattern_type="GLOB", principal="User:bob"), DENY)
    words = ("new.txt", "--semantics", "kip-1042", "--budget", "1")
    found = applied(*words, code=1)
    assert found["gate"]["verdict"] == "deny"


def test_findings_that_a_change_brings_and_ends_are_told(acl_file, work):
    acl_file("new.txt", ANN, BOB, DENY, acl("orders", principal="User:*", operation="WRITE"))
    found = applied("new.txt")
    assert any("User:*" in each or "Every" in each for each in found["findings"]["brought"])
    back = applied("now.txt", base="new.txt")
    assert back["findings"]["ended"] == found["findings"]["brought"]


# Formats


def test_a_comment_begins_with_its_marker(write):
    told = apply(write("plan.json", plan(*LOSSES["gap"])), "--format", "markdown").stdout
    assert told.startswith("<!-- aclkit preview -->\n## Change by plan.json, on top of now.txt\n")


@pytest.fixture
def failover(acl_file, work):
    acl_file("base.txt", acl("failover", principal="User:FAIL-x"))
    acl_file("new.txt", acl("failover", principal="User:FAIL-x"),
             acl("Failures", principal="User:FAIL-x"))  # fmt: skip
    return "new.txt"


@pytest.mark.parametrize("form", ["markdown"])
def test_what_does_not_deny_has_no_fail_in_it(failover, form):
    told = apply(failover, "--format", form, base="base.txt").stdout
    assert "fail" not in told.lower()
    assert "fa\u200bilures" in told.lower()


def test_a_comment_of_a_denied_change_keeps_its_names(failover):
    words = (failover, "--fail-on", "any", "--format", "markdown")
    assert "Failures" in apply(*words, base="base.txt", code=1).stdout


def test_a_long_comment_is_cut_after_a_whole_line_and_says_so(acl_file, work):
    long = "x" * 240
    acl_file("new.txt", *(acl(f"{long}{n}", principal=f"User:{long}") for n in range(150)))
    told = apply("new.txt", "--format", "markdown").stdout
    assert len(told) <= 65_000
    assert "the rest was cut" in told or " more; `--format json` prints all" in told
    assert told.count("```") % 2 == 0


def test_a_summary_is_read_by_a_shell(write):
    path = write("plan.json", plan(*LOSSES["undefined-order"]))
    apply(path, "--summary-env", "it's here.env", "--fail-on", "lost", code=1)
    words = ". ./" + shlex.quote("it's here.env") + '; echo "$ACLKIT_VERDICT|$ACLKIT_REASON"'
    done = subprocess.run(["sh", "-c", words], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "deny|Access is lost (--fail-on lost).\n"


def test_how_many_acls_come_and_go_is_said_after_the_verdict(acl_file, work):
    acl_file("new.txt", ANN, acl("invoices", principal="User:ann"))
    assert apply("new.txt").stdout.splitlines()[1] == "Adds 1 ACL, removes 2."


def test_a_summary_counts(acl_file, work):
    acl_file("new.txt", ANN, acl("invoices", principal="User:ann"))
    apply("new.txt", "--summary-env", "s.env")
    values = dict(
        line.split("=", 1) for line in (work / "s.env").read_text(encoding="utf-8").splitlines()
    )
    assert values["ACLKIT_VERDICT"] == "review"
    assert values["ACLKIT_ADDED_ACLS"] == "1"
    assert values["ACLKIT_REMOVED_ACLS"] == "2"
    assert values["ACLKIT_GAPS"] == "0"


def test_a_summary_counts_what_no_known_name_gains(acl_file, work):
    acl_file("new.txt", ANN, BOB, DENY, acl("q", pattern_type="PREFIXED", principal="User:ann"))
    told = apply("new.txt", "--summary-env", "s.env").stdout
    assert "1 to gain" in told
    assert "ACLKIT_GAINED=1\n" in (work / "s.env").read_text(encoding="utf-8")


def test_no_summary_of_an_earlier_change_is_left_by_a_failure(write, work):
    (work / "s.env").write_text("ACLKIT_VERDICT=pass\n", encoding="utf-8")
    apply(write("broken.json", "{"), "--summary-env", "s.env", code=3)
    assert not (work / "s.env").exists()


def test_a_hostile_name_in_a_reason_runs_no_command(write, acl_file, work):
    hostile = acl("pay.$(touch pwned)`touch pwned`'\"", principal="User:x", resource_type="GROUP")
    acl_file("new.txt", ANN, BOB, DENY, hostile)
    watch = WATCH.replace("topic:", "group:")
    apply("new.txt", "--watch", write("w.toml", watch), "--summary-env", "s.env", code=1)
    subprocess.run(["sh", "-c", ". ./s.env"], check=True)
    assert "touch" in (work / "s.env").read_text(encoding="utf-8")
    assert not (work / "pwned").exists()


# What the end depends on


def test_a_user_without_a_file_may_lose_its_denies_first(write):
    path = write("users.yaml", USERS)
    kept = ("--scope", "add")
    told = apply(path, *kept).stdout
    assert "Proven" not in told
    assert "For a time: User:bob gains" in told  # without its DENY, and still with its ALLOW
    assert "User:bob may gain" not in told
    assert "whether Strimzi's User Operator removes 2 ACLs of User:bob" in told


def test_a_deleted_user_passes_only_where_no_operator_runs(write, acl_file):
    acl_file(
        "base.txt", ANN, acl("invoices", principal="User:ann"), acl("logs", principal="User:gone")
    )
    path = write("users.yaml", USERS)
    told = apply(path, base="base.txt").stdout
    assert told.startswith("Verdict: needs approval. Access may change. User:gone may lose READ")
    assert "Proven" not in told
    found = applied(path, "--fail-on", "lost", base="base.txt", code=1)
    assert found["gate"]["reasons"] == ["Access may be lost (--fail-on lost)."]
    assert found["proven_for_every_name"] is None
    assert verdict(path, "--operator", base="base.txt") == "review"
    sure = apply(path, "--no-operator", base="base.txt").stdout
    assert sure.startswith("Verdict: pass. No access changes.")
    assert "Proven for every name." in sure


def test_a_holder_that_the_cluster_does_not_have_makes_no_creation_needless(write):
    both = [
        resource("kafka_acl.a", "no-op", tf("payroll"), tf("payroll")),
        resource("kafka_acl.b", "create", None, tf("payroll")),
    ]
    found = applied(write("plan.json", plan(*both)), "--fail-on", "gained", code=1)
    assert found["gate"]["effect"] == [
        "User:ann gains READ, DESCRIBE on topic payroll from any host."
    ]
    there = [
        resource("kafka_acl.a", "no-op", tf(), tf()),
        resource("kafka_acl.b", "create", None, tf()),
    ]
    assert verdict(write("plan.json", plan(*there)), "--fail-on", "any") == "pass"


def deferring(*resources):
    changes = [{"reason": "resource_config_unknown", "resource_change": each} for each in resources]
    return {**plan(), "complete": False, "deferred_changes": changes}


def test_a_deferred_change_is_judged_with_and_without(write):
    path = write("plan.json", deferring(resource("kafka_acl.b", "create", None, tf("payroll"))))
    found = applied(path, "--fail-on", "any", "--strict", code=1)
    assert found["gate"]["reasons"] == ["Access may be gained (--fail-on any)."]
    (effect,) = found["gate"]["effect"]
    assert effect.startswith(
        "User:ann may gain READ, DESCRIBE on topic payroll from any host; this"
    )
    assert "kafka_acl.b" in effect
    assert verdict(path) == "review"


def test_a_deferred_change_with_unknown_fields_is_denied(write):
    known = tf()
    del known["resource_name"]
    unknown = resource("kafka_acl.b", "create", None, known, after_unknown={"resource_name": True})
    found = applied(write("plan.json", deferring(unknown)), code=1)
    assert found["gate"]["reasons"] == [
        "More access may change. It depends on 1 deferred change with unknown fields (kafka_acl.b)."
    ]


@pytest.mark.parametrize(("actions", "name"), [("create", "review"), ("no-op", "pass")])
def test_a_resource_that_changes_and_is_not_read_wants_a_review(write, actions, name):
    other = resource("aiven_kafka_acl.a", actions, {}, {}, kind="aiven_kafka_acl")
    kept = resource("kafka_acl.a", "no-op", tf(), tf())
    found = applied(write("plan.json", plan(other, kept)))
    assert found["gate"]["verdict"] == name
    assert (found["proven_for_every_name"] is None) == (name == "review")


def test_the_headline_names_who_loses_how_much_before_who_gains(acl_file, work):
    some = [acl(f"t{n}", principal=f"User:{who}") for n in range(3) for who in ("etl", "app")]
    acl_file("base.txt", *some)
    acl_file("new.txt", some[0], acl("x", principal="User:new"))
    told = apply("new.txt", base="base.txt").stdout
    assert told.startswith(
        "Verdict: needs approval. Access changes. 2 principals lose 10 accesses: User:app 6, "
        "User:etl 4. User:new gains READ, DESCRIBE on topic x from any host."
    )
