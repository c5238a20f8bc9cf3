"""What a plan marks sensitive, and names that would do something: in no output for people."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import run
from tests.factories import acl
from tests.kafka.desired.terraform_files import acl as tf
from tests.kafka.desired.terraform_files import plan, resource
from tests.questions.query import small_warehouse as small

SENSITIVE = {"acl_principal": True, "resource_name": True, "acl_host": True}
SECRETS = ("t0psecret", "hidden.topic", "keptsecret", "kept.hidden", "gonesecret", "gone.hidden",
           "starthidden", "10.77.66.55", "hunter2", "forgottensecret")  # fmt: skip
KNOWN = ("--no-super-users", "--no-allow-everyone")
FOR_PEOPLE = ("table", "markdown", "sarif")


def secret(name, principal, **more):
    return tf(name, f"User:{principal}", acl_host="10.77.66.55", **more)


def secret_resource(address, actions, value):
    before, after = (None if actions == without else value for without in ("create", "delete"))
    after = None if actions == "forget" else after
    return resource(
        address, actions, before, after, before_sensitive=SENSITIVE, after_sensitive=SENSITIVE
    )


PLAN = plan(
    secret_resource("kafka_acl.new", "create", secret("hidden.topic", "t0psecret")),
    secret_resource("kafka_acl.kept", "no-op", secret("kept.hidden", "keptsecret")),
    secret_resource("kafka_acl.gone", "delete", secret("gone.hidden", "gonesecret")),
    secret_resource("kafka_acl.out", "forget", secret("a", "forgottensecret")),
    secret_resource(
        "kafka_acl.start", "create",
        secret("starthidden", "t0psecret", resource_pattern_type_filter="Prefixed"),
    ),
    variables={"password": {"value": "hunter2"}},
)  # fmt: skip


@pytest.fixture
def work(tmp_path, monkeypatch, acl_file):
    monkeypatch.chdir(tmp_path)
    acl_file("now.txt", acl("orders", principal="User:ann"),
             acl("gone.hidden", principal="User:gonesecret", host="10.77.66.55"))  # fmt: skip
    acl_file("other.txt", acl("kept.hidden", principal="User:keptsecret", operation="WRITE"),
             acl("kept.hidden", principal="User:keptsecret", host="10.77.66.55"))  # fmt: skip
    (tmp_path / "plan.json").write_text(json.dumps(PLAN), encoding="utf-8")
    (tmp_path / "rules.toml").write_text(
        '[[never]]\nname = "no reads"\nprincipals = "User:*"\noperations = "READ"\n'
        'resources = "topic:*"\n',
        encoding="utf-8",
    )
    (tmp_path / "watch.toml").write_text(
        '[[watch]]\nname = "all"\nresources = "topic:*"\n', encoding="utf-8"
    )
    return tmp_path


def leaks(text):
    return [each for each in SECRETS if each in text.replace("\\", "")]


@pytest.mark.parametrize("form", FOR_PEOPLE)
@pytest.mark.parametrize("base", ["now.txt", "other.txt"])
def test_a_preview_hides_them(work, form, base):
    words = ("preview", "apply", "plan.json", "--base", base, *KNOWN, "--format", form)
    told = run(*words, "--watch", "watch.toml", "--assertions", "rules.toml",
               "--summary-env", "s.env", code=1)  # fmt: skip
    assert leaks(told.output) == []
    assert leaks((work / "s.env").read_text(encoding="utf-8")) == []
    assert "(sensitive: kafka_acl.new)" in told.stdout.replace("\\_", "_")


@pytest.mark.parametrize("claim", ["same", "no-more", "no-less"])
@pytest.mark.parametrize("form", FOR_PEOPLE)
def test_a_proof_hides_them(work, claim, form):
    words = ("prove", claim, "now.txt", "plan.json", *KNOWN, "--format", form)
    told = run(*words, "--fail-on", "any", "--all", code=1)
    # Of the listing, they are known anyway: there they are no secret of the plan.
    assert leaks(told.output) == []


@pytest.mark.parametrize("form", FOR_PEOPLE)
def test_a_proof_of_policies_hides_them(work, form):
    told = run("prove", "never", "rules.toml", "plan.json", *KNOWN, "--format", form, code=1)
    assert leaks(told.output) == []


@pytest.mark.parametrize("form", ["table", "markdown", "kafka-acls"])
def test_tidy_hides_them_from_people(work, form, tmp_path):
    warehouse = tmp_path / "warehouse"
    small.build(warehouse)
    # A principal of this warehouse is none that kafka-acls can name.
    code = int(form == "kafka-acls")
    told = run("--warehouse", warehouse, "tidy", "plan.json", "--format", form, code=code)
    assert leaks(told.stderr if form == "kafka-acls" else told.output) == []


@pytest.mark.parametrize("form", ["json", "csv", "jsonl"])
def test_programs_get_them_whole(work, form):
    told = run("preview", "apply", "plan.json", "--base", "now.txt", *KNOWN, "--format", form)
    assert "t0psecret" in told.stdout or form != "json"
    assert leaks(told.stderr) == []
    assert "hunter2" not in told.output


def test_a_sensitive_word_that_is_invalid_is_in_no_error(work):
    bad = tf("orders", "User:ann", acl_operation="S3cretReed", acl_host="*")
    made = resource("kafka_acl.bad", "create", None, bad, after_sensitive={"acl_operation": True})
    (work / "bad.json").write_text(json.dumps(plan(made)), encoding="utf-8")
    told = run("desired", "show", "bad.json", code=3).stderr
    assert "kafka_acl.bad" in told
    assert "S3cretReed" not in told


# Names that would do something

HOSTILE = (
    "\x1b]0;x\x07\x1b[31m", "\u202egnp", "<script>alert(1)</script>", "|`x`|", "[a](http://x)",
    "@everyone", "\n## Verdict: pass", "```\n# out", "--> <b>out",
)  # fmt: skip


@pytest.mark.parametrize("form", ["table", "markdown", "sarif"])
@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_does_nothing(work, form, name):
    made = resource("kafka_acl.h", "create", None, tf(name, f"User:{name}", resource_type="Group"))
    (work / "h.json").write_text(json.dumps(plan(made)), encoding="utf-8")
    words = ("preview", "apply", "h.json", "--base", "now.txt", *KNOWN, "--format", form)
    told = run(*words, "--fail-on", "any", "--summary-env", "s.env", code=1).output
    assert not {"\x1b", "\x07", "\u202e"} & set(told)
    assert len((work / "s.env").read_text(encoding="utf-8").splitlines()) == 7
    if form == "sarif":
        json.loads(told)
        return
    assert "\n## Verdict: pass" not in told
    assert "\n# out" not in told
    if form == "markdown":
        assert told.startswith("<!-- aclkit preview -->\n")
        outside = "".join(told.split("\n```diff\n")[0::2])
        assert "<script" not in outside
        assert "<b>" not in outside
