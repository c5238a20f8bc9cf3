"""conf/ci/gate.sh is run as CI runs it, on the sample and on a plan: exit code and files."""

from __future__ import annotations

import json

import pytest

from tests.ci.gate_place import BEFORE, MARKER, Gate, plan, program

WATCH = """
[[watch]]
name = "payments"
resources = ["topic:payments.*"]
"""


def user(topic):
    """A KafkaUser that no ACL of the sample names, with READ on one topic."""
    return f"""\
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata:
  name: newcomer
  labels: {{strimzi.io/cluster: sample}}
spec:
  authorization:
    type: simple
    acls:
      - resource: {{type: topic, name: {topic}}}
        operations: [Read]
"""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    """The warehouse of the demo, made without Java."""
    place = Gate(tmp_path_factory.mktemp("demo"))
    done = place.shell(place.aclkit, "--warehouse", "w", "demo")
    assert (done.returncode, place.calls.exists()) == (0, False), done.stderr
    return place.folder / "w"


def test_a_change_that_opens_a_watched_topic_is_denied(gate, warehouse):
    paths = gate.write("users.yaml", user("payments.v1.events"))
    watch = gate.write("watch.toml", WATCH)
    code, _ = gate.run(
        paths=paths, warehouse=warehouse, watch=watch, comment="out/c.md", summary_env="out.env"
    )
    marker, _, verdict = [line for line in gate.read("out/c.md").splitlines() if line][:3]
    assert (code, marker) == (1, MARKER)
    assert verdict.startswith("**Verdict: fail. ")
    assert "payments" in verdict
    assert gate.summary()["ACLKIT_VERDICT"] == "deny"


def test_a_harmless_change_goes_ahead_and_its_comment_has_no_word_fail(gate, warehouse):
    paths = gate.write("users.yaml", user("failover.events"))
    watch = gate.write("watch.toml", WATCH)
    code, _ = gate.run(paths=paths, warehouse=warehouse, watch=watch, operator="false")
    comment = gate.read("aclkit-comment.md")
    assert (code, comment.startswith(MARKER)) == (0, True)
    assert "over.events" in comment
    assert "fail" not in comment.lower()


def test_what_only_the_user_operator_would_open_is_denied_until_the_gate_knows_of_it(
    gate, warehouse
):
    paths = gate.write("users.yaml", user("failover.events"))
    watch = gate.write("watch.toml", WATCH)
    code, _ = gate.run(paths=paths, warehouse=warehouse, watch=watch)
    assert code == 1
    assert "pass --operator or --no-operator" in gate.read("aclkit-comment.md")


def test_a_change_that_needs_review_stops_a_strict_gate(gate, warehouse):
    paths = gate.write("users.yaml", user("orders.events"))
    code, _ = gate.run(paths=paths, warehouse=warehouse, strict="true", operator="false")
    assert code == 1
    assert "Verdict: needs approval" in gate.read("aclkit-comment.md")


def test_a_plan_that_takes_an_acl_off_for_a_time_is_denied(gate):
    paths = gate.write("plan.json", plan(replaces=True))
    code, _ = gate.run(paths=paths, base=BEFORE, summary_env="out.env")
    assert code == 1
    assert gate.summary()["ACLKIT_VERDICT"] == "deny"
    assert int(gate.summary()["ACLKIT_GAPS"]) == 1
    assert "off for a time" in gate.read("aclkit-comment.md")


def test_a_gap_goes_ahead_where_the_team_allows_it(gate):
    paths = gate.write("plan.json", plan(replaces=True))
    code, _ = gate.run(paths=paths, base=BEFORE, fail_on="none")
    assert code == 0


def test_sarif_is_written_on_demand_and_ends_as_the_comment_does(gate):
    paths = gate.write("plan.json", plan(replaces=True))
    code, _ = gate.run(paths=paths, base=BEFORE, sarif="out/a.sarif")
    assert code == 1
    assert json.loads(gate.read("out/a.sarif"))["version"] == "2.1.0"


def test_several_paths_stand_one_a_line_and_may_have_blanks(gate, warehouse):
    first = gate.write("my users.yaml", user("orders.events"))
    second = gate.write("-x.yaml", user("orders.raw").replace("newcomer", "another"))
    code, told = gate.run(paths=f"{first}\n{second}", warehouse=warehouse, operator="false")
    assert code == 0, told
    assert "User:newcomer" in gate.read("aclkit-comment.md")
    assert "User:another" in gate.read("aclkit-comment.md")


def test_values_are_no_code(gate, warehouse):
    paths = gate.write("users.yaml", user("orders.events"))
    code, _ = gate.run(paths=paths, warehouse=warehouse, scope="$(touch hit); touch hit")
    assert code == 2
    assert not (gate.folder / "hit").exists()


def test_a_change_that_cannot_be_read_has_no_verdict_but_a_comment(gate, warehouse):
    paths = gate.write("users.yaml", user("a").replace("operations:", "operation:"))
    gate.write("out.env", "ACLKIT_VERDICT=pass\n")
    code, told = gate.run(paths=paths, warehouse=warehouse, summary_env="out.env", sarif="a.sarif")
    comment = gate.read("aclkit-comment.md")
    assert code == 3
    assert comment.startswith(f"{MARKER}\n## No verdict\n")
    assert told.splitlines()[-1] in comment
    assert gate.summary() == {"ACLKIT_VERDICT": "none"}
    assert not (gate.folder / "a.sarif").exists()


@pytest.mark.parametrize(("ends", "wanted"), [(0, 4), (1, 1), (137, 137)])
def test_a_program_that_prints_no_verdict_never_lets_a_change_pass(gate, ends, wanted):
    program(gate.aclkit, f"#!/bin/sh\necho 'Traceback of a crash' >&2\nexit {ends}\n")
    code, _ = gate.run(paths="x", base="y")
    assert code == wanted
    assert "## No verdict" in gate.read("aclkit-comment.md")


def test_no_secret_of_a_plan_is_printed(gate):
    secret = json.loads(plan())
    secret["variables"]["password"] = {"value": "hunter2"}
    paths = gate.write("plan.json", json.dumps(secret))
    code, told = gate.run(paths=paths, base=BEFORE)
    assert code == 0, told
    assert "hunter2" not in told + gate.read("aclkit-comment.md")


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"base": "b"}, "GATE_PATHS is empty"),
        ({"paths": "p"}, "Neither GATE_BASE nor GATE_WAREHOUSE is set"),
        ({"paths": "p", "base": "b", "warehouse": "w"}, "Both GATE_BASE and GATE_WAREHOUSE"),
        ({"paths": "p", "base": "b", "strict": "yes"}, "GATE_STRICT is 'yes'"),
        ({"paths": "-", "base": "b"}, "GATE_PATHS has '-'"),
        ({"paths": "p", "warehouse": "w", "super_users": "User:a"}, "has the brokers' settings"),
    ],
)
def test_a_gate_that_is_set_up_wrongly_says_what_is_wrong(gate, variables, told):
    code, error = gate.run(**variables)
    assert (code, told in error) == (2, True), error


def test_a_settings_file_of_the_branch_is_not_read(gate, warehouse):
    gate.write("aclkit.toml", "this is no TOML")
    paths = gate.write("users.yaml", user("orders.events"))
    code, told = gate.run(paths=paths, warehouse=warehouse, fail_on="none")
    assert code == 0, told


HOSTILE = "::stop-commands::x.yaml"


def test_file_names_of_a_branch_are_no_commands_in_the_log(gate):
    gate.write(HOSTILE, "kind: KafkaUser\napiVersion: kafka.strimzi.io/v1\nspec: 1\n")
    gate.write("##[add-mask]a.yaml", gate.read(HOSTILE))
    code, log = gate.run(paths=".", base=BEFORE)
    assert code not in {0, 1}
    for text in (log, gate.read("aclkit-comment.md")):
        assert "stop-commands::x.yaml" in text
        assert not [line for line in text.splitlines() if line.strip().startswith("::")]
        assert "##[" not in text


@pytest.mark.parametrize("link", ["out", "out/deep"])
@pytest.mark.parametrize("before", ["", "./", "{}/"])
def test_a_link_of_the_branch_does_not_lead_what_the_gate_writes_elsewhere(gate, link, before):
    (gate.folder / "elsewhere" / "deep").mkdir(parents=True)
    (gate.folder / link).parent.mkdir(exist_ok=True)
    (gate.folder / link).symlink_to(gate.folder / "elsewhere")
    gate.write("plan.json", plan())
    code, log = gate.run(
        paths="plan.json", base=BEFORE, comment=f"{before}out/deep/comment.md".format(gate.folder)
    )
    assert (code, f"{link} is a symbolic link" in log) == (2, True)
    assert not [*(gate.folder / "elsewhere").rglob("*.md")]


def test_a_link_in_the_place_of_the_comment_is_replaced(gate):
    gate.write("precious", "precious")
    gate.write("plan.json", plan())
    (gate.folder / "aclkit-comment.md").symlink_to("precious")
    gate.run(paths="plan.json", base=BEFORE)
    assert gate.read("precious") == "precious"
    assert gate.read("aclkit-comment.md").startswith(MARKER)
