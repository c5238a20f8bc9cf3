"""The command preview apply: the files of a team, what they change, and the verdict on it."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest

from tests.cli.running import run
from tests.factories import acl
from tests.kafka.desired.holding import DESIRED
from tests.kafka.desired.terraform_files import acl as tf
from tests.kafka.desired.terraform_files import plan, resource, rows
from tests.questions.query import small_warehouse as small

HANDED = DESIRED / "terraform"
SEVEN = ("resource_type", "pattern_type", "resource_name", "principal", "host", "operation",
         "permission_type")  # fmt: skip
ANN = acl("orders", principal="User:ann")
BOB = acl("pay.eu", principal="User:bob")
DENY = acl("pay.", pattern_type="PREFIXED", principal="User:bob", permission_type="DENY",
           operation="ALL")  # fmt: skip
KNOWN = ("--no-super-users", "--no-allow-everyone")
CSV = "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host\n"
ANN_READS = "User:ann,Topic,LITERAL,orders,Read,Allow,*\n"
ANN_READS_MORE = "User:ann,Topic,LITERAL,invoices,Read,Allow,*\n"


@pytest.fixture
def work(tmp_path, monkeypatch, acl_file):
    """A folder to work in, with a listing of the cluster."""
    monkeypatch.chdir(tmp_path)
    acl_file("now.txt", ANN, BOB, DENY)
    return tmp_path


@pytest.fixture
def write(work):
    def write(name, value):
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return name

    return write


def apply(*words, code=0, base="now.txt"):
    return run("preview", "apply", *words, "--base", base, *KNOWN, code=code)


def applied(*words, **more):
    return json.loads(apply(*words, "--format", "json", **more).stdout)


def verdict(*words, **more):
    return applied(*words, **more)["gate"]["verdict"]


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


LOSSES = {
    "gap": [resource("kafka_acl.a", "delete,create", tf(), tf())],
    "removed-by-its-own-replacement": [resource("kafka_acl.a", "create,delete", tf(), tf())],
    "removed-though-kept-by-another": [
        resource("kafka_acl.a", "delete", tf(), None),
        resource("kafka_acl.b", "no-op", tf(), tf()),
    ],
    "undefined-order": [
        resource("kafka_acl.a", "delete", tf(), None),
        resource("kafka_acl.b", "create", None, tf()),
    ],
}


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
    assert found["gate"]["verdict"] == "deny"


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


def test_a_principal_that_the_plan_creates_is_shown_by_its_address(write):
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

USERS = """\
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata: {name: ann, labels: {strimzi.io/cluster: main}}
spec:
  authorization:
    type: simple
    acls:
      - {resource: {type: topic, name: orders}, operations: [Read]}
      - {resource: {type: topic, name: invoices}, operations: [Read]}
"""


def test_users_a_plan_and_a_csv_of_the_same_acls_have_the_same_preview(write):
    forms = [
        (write("users.yaml", USERS),),
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
    assert "User:bob" not in apply(path).stdout
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


# The verdict


def test_no_change_passes(acl_file, work):
    acl_file("same.txt", DENY, BOB, ANN)
    told = apply("same.txt", "--fail-on", "any", "--strict").stdout
    assert told.startswith("Verdict: pass. No access changes.\n")


def test_an_acl_that_changes_no_access_passes(acl_file, work):
    acl_file("more.txt", ANN, BOB, DENY, acl("orders", principal="User:ann", operation="DESCRIBE"))
    assert verdict("more.txt") == "pass"


def test_a_change_of_access_wants_a_review_and_ends_with_1_if_strict(write):
    words = (write("acls.csv", f"{CSV}{ANN_READS_MORE}"), "--scope", "add")
    assert apply(*words).stdout.startswith("Verdict: review. Access changes.\n")
    assert apply(*words, "--strict", code=1).stdout.startswith("Verdict: review.")


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
    assert told.startswith("Verdict: deny." if code else "Verdict: review.")


WATCH = '[[watch]]\nname = "pay"\nresources = "topic:pay.*"\n'


def test_a_watched_topic_that_opens_denies(write, acl_file):
    acl_file("new.txt", ANN, BOB)
    found = applied("new.txt", "--watch", write("watch.toml", WATCH), code=1)
    assert found["gate"]["reasons"][0].startswith("Access that 'pay' watches changes: User:bob")


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
    assert "the rest was cut" in told or " more; `--format csv` prints all" in told
    assert told.count("```") % 2 == 0


def test_a_summary_is_read_by_a_shell(write):
    path = write("plan.json", plan(*LOSSES["undefined-order"]))
    apply(path, "--summary-env", "it's here.env", "--fail-on", "lost", code=1)
    words = ". ./" + shlex.quote("it's here.env") + '; echo "$ACLKIT_VERDICT|$ACLKIT_REASON"'
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout == "deny|Access is lost (--fail-on lost).\n"


def test_a_summary_counts(acl_file, work):
    acl_file("new.txt", ANN, acl("invoices", principal="User:ann"))
    apply("new.txt", "--summary-env", "s.env")
    values = dict(line.split("=", 1) for line in (work / "s.env").read_text().splitlines())
    assert values["ACLKIT_VERDICT"] == "review"
    assert values["ACLKIT_ADDED_ACLS"] == "1"
    assert values["ACLKIT_REMOVED_ACLS"] == "2"
    assert values["ACLKIT_GAPS"] == "0"


def test_a_hostile_name_in_a_reason_runs_no_command(write, acl_file, work):
    hostile = acl("pay.$(touch pwned)`touch pwned`'\"", principal="User:x", resource_type="GROUP")
    acl_file("new.txt", ANN, BOB, DENY, hostile)
    watch = WATCH.replace("topic:", "group:")
    apply("new.txt", "--watch", write("w.toml", watch), "--summary-env", "s.env", code=1)
    subprocess.run(["sh", "-c", ". ./s.env"], check=True)
    assert "touch" in (work / "s.env").read_text()
    assert not (work / "pwned").exists()
