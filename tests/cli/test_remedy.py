"""The command remedy: steps in order, what stays and why, each step alone, and the script."""

from __future__ import annotations

import csv
import io
import json
import shlex
from dataclasses import replace
from datetime import timedelta

import pytest

from aclkit.model.acl import BINDING, Request
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.remedy import prove
from aclkit.questions.usage import whole_log
from aclkit.rules.names.question import Budget
from tests.cli.running import Warehouse, run, without_run
from tests.kafka.acls.test_script import changed_by, run_script
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl
from tests.questions.usage.pasts import LOG, SECURE

PUBLIC = acl(1, principal="User:*", resource_name="orders", operation="READ")
DENY = acl(2, principal="User:*", resource_name="orders", permission_type="DENY", host="10.0.0.1")
WIDER_DENY = acl(
    3, principal="User:*", resource_name="ord", pattern_type="PREFIXED", operation="ALL",
    permission_type="DENY", host="10.0.0.1",
)  # fmt: skip
ADMIN = acl(
    4, resource_type="CLUSTER", resource_name="kafka-cluster", principal="User:eve",
    operation="ALTER", host="10.0.0.1",
)  # fmt: skip
READ = acl(5, principal="User:eve", resource_name="eve.1", host="10.0.0.1")
WIDE = acl(
    6, principal="User:eve", resource_name="eve.", pattern_type="PREFIXED", operation="ALL",
    host="10.0.0.1",
)  # fmt: skip
GROUP = acl(7, principal="User:eve", resource_type="GROUP", resource_name="g1", host="10.0.0.1")
HOSTILE = acl(8, principal="User:it's\x1b[31m\n$(x)", resource_name="a*", pattern_type="LITERAL")
ACLS = [PUBLIC, DENY, WIDER_DENY, ADMIN, READ, WIDE, GROUP, HOSTILE]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("remedy") / "warehouse"
    small.build_with_log(path, ACLS, BrokerSettings(super_users=frozenset({small.SUPER_USER})))
    return path


@pytest.fixture
def remedy(root):
    def call(*arguments, code=0, where=root):
        return run("--warehouse", where, "remedy", *arguments, code=code)

    return call


@pytest.fixture
def answer(remedy):
    def call(*arguments, **more):
        return json.loads(remedy(*arguments, "--format", "json", **more).stdout)

    return call


def changes(found):
    return [
        (step["kind"], [acl["operation"] for acl in step["add"]],
         [acl["acl_id"] for acl in step["remove"]])
        for step in found["steps"]
    ]  # fmt: skip


def id_of(found, kind):
    (step,) = (each["step"] for each in found["steps"] if each["kind"] == kind)
    return step


def test_steps_come_in_an_order_in_which_nothing_opens(answer):
    found = answer()
    assert changes(found) == [
        ("public-access", [], [PUBLIC.acl_id]),
        ("escalation", ["DESCRIBE"], [ADMIN.acl_id]),
        ("allow-shadowed", [], [READ.acl_id]),
        ("never-matches", [], [HOSTILE.acl_id]),
        ("deny-shadowed", [], [DENY.acl_id]),
    ]
    assert (found["verdict"], found["proven_for_every_name"]) == ("less", True)
    assert (found["acls_before"], found["acls_after"]) == (8, 4)
    assert {row["resource_name"] for row in found["lost"]} == {"orders", "kafka-cluster"}
    assert {row["after"] for row in found["lost"]} == {"DENIED"}


def test_people_read_the_steps_the_proof_and_the_loss(remedy):
    lines = remedy().stdout.splitlines()
    assert lines[:2] == [
        "5 steps remove 5 ACLs and add 1: 8 ACLs become 4.",
        "No step grants access, and only access that no client used is lost. "
        "Proven for every name.",
    ]
    assert "  + ALLOW DESCRIBE on the cluster for User:eve from 10.0.0.1" in lines
    assert "- User:eve: ALTER on the cluster from 10.0.0.1" in lines
    assert "\x1b" not in "".join(lines)


def test_rows_are_the_changes_in_order(remedy, answer):
    rows = list(csv.DictReader(io.StringIO(remedy("--format", "csv").stdout)))
    assert [int(row["position"]) for row in rows] == [1, 2, 2, 3, 4, 5]
    assert [row["change"] for row in rows[1:3]] == ["add", "remove"]
    lines = remedy("--format", "jsonl").stdout.splitlines()
    steps = [without_run(json.loads(line))["step"] for line in lines]
    assert list(dict.fromkeys(steps)) == [step["step"] for step in answer()["steps"]]


def test_kinds_and_severities_choose(answer):
    assert [step["kind"] for step in answer("--only", "escalation")["steps"]] == ["escalation"]
    found = answer("--severity", "high")
    assert {step["severity"] for step in found["steps"]} == {"high"}
    assert {each["severity"] for each in found["for_a_person"]} <= {"high"}
    found = answer("--only", "tidy")
    assert {step["kind"] for step in found["steps"]} == {"tidy"}
    assert {acl["acl_id"] for step in found["steps"] for acl in step["remove"]} >= {READ.acl_id}
    assert found["verdict"] == "equivalent"


def test_a_step_that_is_left_out_keeps_its_acls(answer):
    first = answer()
    escalation = id_of(first, "escalation")
    then = answer("--without", escalation[:8])
    assert "escalation" not in {step["kind"] for step in then["steps"]}
    assert [each["why"] for each in then["left_out"] if each["step"] == escalation] == [
        "You left it out with --without."
    ]
    assert then["left_out_with_others"] == []
    assert len(then["steps"]) == len(first["steps"]) - 1


def request_of(acl, principal):
    return Request(
        principal=principal, host="10.0.0.7", operation=acl.operation,
        resource_type=acl.resource_type, resource_name=acl.resource_name,
    )  # fmt: skip


def test_what_is_in_use_needs_a_decision_with_who_uses_it_and_what_these_need_first(
    answer, remedy, tmp_path
):
    used = [request_of(PUBLIC, "User:bob"), request_of(PUBLIC, "User:eve")]
    small.build_with_log(tmp_path / "w", [PUBLIC, GROUP], used=used)
    found = answer("--only", "public-access", where=tmp_path / "w")
    assert found["steps"] == []
    (person,) = found["for_a_person"]
    assert person["why"] == "It is in use."
    assert [each.partition(":")[2].partition(",")[0] for each in person["used_by"]] == [
        "bob: READ", "eve: READ",
    ]  # fmt: skip
    assert [(a["principal"], a["operation"]) for a in person["add_first"]] == [
        ("User:bob", "READ"), ("User:eve", "READ"),
    ]  # fmt: skip
    lines = remedy("--only", "public-access", where=tmp_path / "w").stdout.splitlines()
    assert "Needs a decision (1)" in lines
    assert "  first add ALLOW READ on topic orders for User:eve from any host" in lines


def test_an_operation_that_was_not_used_goes_and_the_used_rest_stays(answer, tmp_path):
    used = [replace(request_of(ADMIN, "User:eve"), operation="DESCRIBE", host="10.0.0.1")]
    small.build_with_log(tmp_path / "w", [ADMIN], used=used)
    found = answer("--only", "escalation", where=tmp_path / "w")
    assert changes(found) == [("escalation", ["DESCRIBE"], [ADMIN.acl_id])]


def test_without_a_whole_log_no_step_takes_access(answer, remedy, tmp_path, root):
    small.build(tmp_path / "w", ACLS, BrokerSettings())
    found = answer(where=tmp_path / "w")
    assert {step["kind"] for step in found["steps"]} == {
        "allow-shadowed", "never-matches", "deny-shadowed",
    }  # fmt: skip
    asked = {each["kind"]: each for each in found["for_a_person"]}
    assert asked["public-access"]["why"] == "Whether it is in use is not known."
    assert asked["escalation"]["missing"][0]["kind"] == "no-log"
    out = remedy("--brokers", 2, where=root).stdout
    assert "Use is not known. The cluster has 2 brokers" in out


def test_what_a_file_wants_to_keep_stays(answer, root, tmp_path):
    keep = tmp_path / "keep.toml"
    keep.write_text(
        '[[keep]]\nprincipal = "User:late"\noperation = "READ"\nresource = "topic:orders"\n'
        'why = "closing of the year"\n'
    )
    found = answer("--keep", keep)
    assert "public-access" not in {step["kind"] for step in found["steps"]}
    (person,) = (each for each in found["for_a_person"] if each["kind"] == "public-access")
    assert person["why"] == "It is to be kept: closing of the year."


def test_an_acl_that_changes_nothing_goes_whatever_its_use(answer, tmp_path):
    wider = acl(20, principal="User:*", resource_name="ord", pattern_type="PREFIXED")
    small.build_with_log(tmp_path / "w", [PUBLIC, wider], used=[request_of(PUBLIC, "User:bob")])
    found = answer("--only", "public-access", where=tmp_path / "w")
    assert [each["acl_id"] for step in found["steps"] for each in step["remove"]] == [PUBLIC.acl_id]
    assert found["lost"] == []


@pytest.fixture
def orphans(tmp_path):
    """A deleted topic with a DENY, which restrains an ALLOW for every client."""
    path = tmp_path / "orphans"
    acls = [acl(12, principal="User:left", resource_name="a.b", permission_type="DENY"),
            acl(13, principal="User:*", resource_name="a.b")]  # fmt: skip
    versions = small.build(path, acls, BrokerSettings()) | small.write_whole_log(path)
    lives = [
        {"cluster_id": small.CLUSTER, "resource_type": "TOPIC", "resource_name": "a.b",
         "topic_id": "t", "first_offset": 0, "last_offset": 5}
    ]  # fmt: skip

    def publish(number, **settings):
        said = {"resource_lifetime": small.write_table(path, "resource_lifetime", lives)}
        text = json.dumps({"super_users": [], "allow_everyone": False, **settings})
        small.publish(path, {**versions, **said}, run_number=number, settings=text)
        return path

    return publish


def test_what_needs_a_step_is_left_out_with_it(answer, remedy, orphans):
    path = orphans(2, unknown=[])
    public, deny = answer(where=path)["steps"]
    assert [public["remove"][0]["acl_id"], deny["remove"][0]["acl_id"]] == ["acl-13", "acl-12"]
    assert deny["needs"] == [public["step"]]
    then = answer("--without", public["step"], where=path)
    assert then["steps"] == []
    (dropped,) = then["left_out_with_others"]
    assert dropped["step"] == deny["step"]
    assert dropped["why"] == "It would grant READ on topic a.b to User:left, from 1.1.1.1."
    text = remedy("--without", public["step"], where=path).stdout
    assert "Left out because of --without (1)" in text
    out = remedy("--step", deny["step"], "--format", "kafka-acls", where=path).stdout
    assert f"only after {public['step'][:8]}: " in out


def test_an_acl_stays_that_may_be_the_last_one_while_the_default_is_unknown(answer, orphans):
    (step,) = answer(where=orphans(2, unknown=["allow.everyone.if.no.acl.found"]))["steps"]
    assert step["remove"][0]["acl_id"] == "acl-13"


def test_a_step_alone_has_its_own_preview(answer, remedy):
    escalation = id_of(answer(), "escalation")
    result = remedy("--step", escalation[:6])
    assert "- User:eve: ALTER on the cluster from 10.0.0.1" in result.stdout
    assert "0 to gain, 1 to lose." in result.stdout
    assert "orders" not in result.stdout
    assert "Step 2 of 5, escalation: " in result.stderr
    found = json.loads(remedy("--step", escalation, "--format", "json").stdout)
    assert (found["verdict"], found["gained"]) == ("less", [])


def test_the_script_applies_the_steps_in_order(answer, remedy, tmp_path):
    result = remedy("--format", "kafka-acls")
    bindings = {one.binding for one in ACLS}
    sizes = [len(bindings)]
    for _, *words in run_script(result.stdout.splitlines(), tmp_path):
        bindings = changed_by(words, bindings)
        sizes.append(len(bindings))
    assert sizes == [8, 7, 8, 7, 6, 5, 4]
    found = answer()
    gone = {acl["acl_id"] for step in found["steps"] for acl in step["remove"]}
    come = {tuple(acl.values()) for step in found["steps"] for acl in step["add"]}
    assert bindings == {one.binding for one in ACLS if one.acl_id not in gone} | come
    titles = [shlex.split(line)[1] for line in result.stdout.splitlines() if line[:2] == ": "]
    assert [title.split(",")[0] for title in titles[1:]] == [
        f"step {step['step'][:8]}" for step in found["steps"]
    ]
    assert "Proven for every name." in result.stderr


def test_the_script_of_one_step_has_that_step_alone(answer, remedy):
    step = id_of(answer(), "deny-shadowed")
    out = remedy("--step", step, "--format", "kafka-acls").stdout
    (command,) = (line for line in out.splitlines() if line.startswith(("add -", "remove -")))
    assert "--deny-principal" in command


def test_what_kafka_acls_cannot_express_is_a_comment_and_the_exit_code_1(remedy, tmp_path):
    small.build_with_log(
        tmp_path / "w", [acl(2, principal="User:*", pattern_type="GLOB"), PUBLIC], BrokerSettings()
    )
    result = remedy("--format", "kafka-acls", where=tmp_path / "w", code=1)
    assert [line for line in result.stdout.splitlines() if line.startswith("# not removed: ")]
    assert "1 of 2 changes are comments in the script" in result.stderr


def test_accepted_findings_are_left_alone_and_their_acls_stay(answer, remedy, tmp_path):
    escalation = id_of(answer(), "escalation")
    mutes = tmp_path / "mutes.toml"
    mutes.write_text(
        f'[[mute]]\nfingerprint = "{escalation}"\nuntil = 2999-12-31\nowner = "ops"\n'
        'reason = "legacy"\n'
    )
    found = answer("--mutes", mutes)
    assert found["accepted"] == 1
    gone = {acl["acl_id"] for step in found["steps"] for acl in step["remove"]}
    assert ADMIN.acl_id not in gone
    assert PUBLIC.acl_id in gone
    assert "1 accepted finding left alone" in remedy("--mutes", mutes).stdout
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps({
        "aclkit_baseline": 1, "cluster_id": small.CLUSTER, "findings": [
            {"fingerprint": escalation, "finding": "escalation", "severity": "high",
             "subject": "s"}
        ],
    }), encoding="utf-8")  # fmt: skip
    found = answer("--baseline", baseline)
    assert found["accepted"] == 1


def test_an_acl_of_an_accepted_finding_stays_though_another_finding_asks_for_it(answer, tmp_path):
    small.build_with_log(tmp_path / "w", [PUBLIC, acl(2, principal="User:*", operation="ALL",
                                             resource_name="*")], BrokerSettings())  # fmt: skip
    first = answer(where=tmp_path / "w")
    public = next(s for s in first["steps"] if s["remove"][0]["acl_id"] == PUBLIC.acl_id)
    mutes = tmp_path / "mutes.toml"
    mutes.write_text(
        f'[[mute]]\nfingerprint = "{public["step"]}"\nuntil = 2999-12-31\nowner = "ops"\n'
        'reason = "legacy"\n'
    )
    then = answer("--mutes", mutes, where=tmp_path / "w")
    gone = {acl["acl_id"] for step in then["steps"] for acl in step["remove"]}
    assert gone == {"acl-02"}


def test_without_a_proof_nothing_is_printed(remedy, monkeypatch):
    def with_little_left(start, proposals, redundant, held, budget):
        plan = make_plan(start, proposals, redundant, held, Budget())
        budget.states = 10_000_000
        return plan

    make_plan = prove.make_plan
    monkeypatch.setattr(prove, "make_plan", with_little_left)
    result = remedy(code=1)
    assert result.stdout == ""
    assert "Nothing is printed. Raise the limit with --budget-total." in result.stderr


def test_steps_of_which_the_effect_is_not_known_are_left_out_and_nothing_known_fails(
    answer, remedy
):
    found = answer("--budget-total", "2", code=1)
    assert found["steps"] == []
    assert {each["why"] for each in found["left_out"]} == {
        "The search limit was reached before its effect was known."
    }
    lines = remedy("--budget-total", "2", code=1).stdout.splitlines()
    assert lines[0] == "No step is known to be safe."
    assert lines[-1] == "Raise the search limit with --budget-total."


def test_a_disagreement_is_a_defect_and_prints_nothing(remedy, monkeypatch):
    def broken(*arguments):
        plan = make_plan(*arguments)
        last = replace(plan.steps[-1], remove=(WIDE,))
        return replace(plan, steps=(*plan.steps, last))

    make_plan = prove.make_plan
    monkeypatch.setattr(prove, "make_plan", broken)
    result = remedy(code=4)
    assert result.stdout == ""
    assert "Please report this" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "public-acess"), "Did you mean public-access?"),
        (("--step", "12"), "'12' is too short"),
        (("--step", "00000000"), "No step has the id '00000000'. All steps: aclkit remedy"),
        (("--without", "00000000"), "No step has the id"),
    ],
)
def test_what_makes_no_sense_is_refused(remedy, arguments, message):
    assert message in remedy(*arguments, code=2).stderr


def test_a_step_that_is_left_out_cannot_be_previewed(answer, remedy):
    escalation = id_of(answer(), "escalation")
    result = remedy("--without", escalation, "--step", escalation, code=2)
    assert f"Step {escalation} is left out. You left it out with --without." in result.stderr


def test_where_nothing_is_to_be_done_that_is_said(remedy, tmp_path):
    small.build(tmp_path / "w", [GROUP], BrokerSettings())
    out = remedy(where=tmp_path / "w").stdout
    assert out.startswith("No step is left to be done.")


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """A real broker's log of requests; its window begins after all ACLs came."""
    made = Warehouse(tmp_path_factory.mktemp("used") / "warehouse")
    made.replay(f"metadata-log:{SECURE / '__cluster_metadata-0'}")
    made.run(
        "materialize", "--super-users", "User:ANONYMOUS;User:admin", "--dense", "never",
        "--no-allow-everyone",
    )  # fmt: skip
    made.run("usage", "--authorizer-log", LOG)
    return made.path


WINDOW = ("--unused-days", "0.0001")


def bindings(rows):
    return {tuple(row[name] for name in BINDING) for row in rows}


def test_what_no_client_used_goes_step_by_step(answer, used, monkeypatch):
    monkeypatch.setattr(whole_log, "STALE_AFTER", timedelta(days=36_500))
    found = answer("--only", "narrow", *WINDOW, where=used)
    assert {step["kind"] for step in found["steps"]} == {"narrow"}
    out = run("--warehouse", used, "narrow", *WINDOW, "--format", "json").stdout
    rows = [row for row in json.loads(out)["changes"] if row["change"] != "keep"]
    gone = bindings(row for row in rows if row["change"] != "add")
    assert bindings(acl for step in found["steps"] for acl in step["remove"]) == gone
    come = bindings(row for row in rows if row["change"] == "add")
    assert bindings(acl for step in found["steps"] for acl in step["add"]) == come
    assert (found["verdict"], found["proven_for_every_name"]) == ("less", True)
    every = answer(*WINDOW, where=used)
    assert {"narrow", "public-access"} <= {step["kind"] for step in every["steps"]}


def test_without_a_whole_log_nothing_is_narrowed_and_the_reason_is_told(
    answer, remedy, used, tmp_path
):
    assert "narrow" not in {step["kind"] for step in answer(where=used)["steps"]}
    assert "No ACL is narrowed. The log covers " in remedy(where=used).stdout
    small.build(tmp_path / "w", ACLS)
    message = remedy("--only", "narrow", code=2, where=tmp_path / "w").stderr
    assert "No authorizer log has been read yet. Next: aclkit usage" in message
