"""What programs read is what docs/schemas say: every key, in its order, and nothing else."""

from __future__ import annotations

import csv
import io
import json
import shlex
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from aclkit.audit.alerts.alert import alert_of, alert_of_failure, render_alert
from aclkit.audit.findings.baseline import BaselineEntry, Judged, Mute
from aclkit.audit.reports.as_json import render_json
from aclkit.cli import cli
from aclkit.errors import DataError
from aclkit.kafka.acls.text import render_list
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.usage.clock import to_micros
from aclkit.warehouse.schemas import TABLES
from tests.audit.reports.made import WHEN, finding, hostile, report
from tests.cli import test_diff, test_tidy
from tests.cli.running import run
from tests.cli.test_audit import FOUND, rows_of
from tests.cli.without_spark import stand_in
from tests.factories import acl
from tests.questions.assertions.test_of_files import POLICIES
from tests.questions.query import changed_warehouse
from tests.questions.query import small_warehouse as small

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
SUPER = BrokerSettings(super_users=frozenset({small.SUPER_USER}))
NEW = small.acl(50, principal="User:carol", resource_name="orders", host="10.0.0.1")
HARD = acl("*a????????", pattern_type="GLOB"), acl("*b*a????????", pattern_type="GLOB")
UNKNOWN = "prove same {hard} {harder} --budget 150"
"""Its rows would be counterexamples, and it ends before there is one."""
QUESTIONS = {
    "who-can": ["who-can ANY topic:payments --all", "who-can READ topic:paymets"],
    "who-can-prefix": [
        "who-can READ topic --prefix pay --all",
        "who-can ANY --prefix pay --denied",
    ],
    "what-can": ["what-can User:bob --all", "what-can User:bbo topic:nowhere --all"],
    "show": ["show User:bob", "show topic:payments", "show User:new", "show topic:paymets"],
    "why": [
        "why User:bob READ topic:payments --host 10.0.0.1",
        "why User:admin READ topic:payments",
        "why User:new READ topic:paymets",
        "why User:carol CREATE_TOKENS user:User:new",
    ],
    "can": [
        "can User:bob READ,WRITE topic:payments --host 10.0.0.1",
        "can User:new consume topic:paymets --group g",
        "can User:bob streams group:pay --exactly-once",
        "can User:alice CreateTopics topic:new",
    ],
    "history": ["history User:bob READ topic:payments", "history User:new READ topic:new"],
    "audit": ["audit --fail-on never"],
    "acls-list": ["acls list"],
    "changes": ["changes --since 0"],
    "changes-cells": ["changes --cells"],
    "preview": [
        "preview add-acl --allow-principal User:carol --operation Read --topic orders",
        "preview remove-acl --topic payments",
        "preview upgrade --from kip-1042 --to kafka",
        "diff 5 100",
        "diff 5 100 --fail-on any",
    ],
    "preview-apply": ["preview apply {after}"],
    "clusters": ["diff --with c1 --with-warehouse {warehouse}"],
    "denials": ["denials --all"],
    "desired-show": ["desired show {before} {after}"],
    "preview-add-topic": ["preview add-topic pay-new payments"],
    "doctor": ["doctor"],
    "sql": ["sql 'SELECT principal, host FROM explain LIMIT 3'"],
    "assert": ["assert {policies}"],
    "narrow": ["narrow", "narrow User:bob User:alice --unused-days 0 --old-log"],
    "tidy": ["tidy", "tidy --idle-denies"],
    "remedy": ["remedy", "remedy --severity low"],
    "tidy-proposals": ["tidy --to-prefixes", "tidy --to-globs"],
    "prove": [
        "prove same {before} {after}",
        "prove no-more {before} {after} --cidr-hosts on",
        "prove no-less {before} {after} --fail-on any",
        UNKNOWN,
        "prove same {warehouse} {after}",
        "diff {before} {after}",
        "diff {warehouse} {after} --fail-on lost --strict",
    ],
    "prove-never": ["prove never {policies} {after}", "prove never {policies}"],
    "report": ["report"],
    "replay": ["replay --source records:{before}"],
    "materialize": ["materialize"],
    "maintain": ["maintain"],
    "usage": ["usage --authorizer-log {before}"],
    "verify": ["verify --all"],
    "review-start": ["review start --by ann --reviews {reviews}"],
    "review-list": ["review list --reviews {reviews}"],
    "review-show": ["review show --reviews {reviews} --review q1"],
    "review-status": ["review status --reviews {reviews} --review q1"],
    "review-close": ["review close --reviews {decided} --by ann"],
    "review-verify": ["review verify {evidence}", "review verify {broken} --offline"],
}
REFUSED = {
    **dict.fromkeys(TABLES["access_day"].column_names),
    **{"cluster_id": small.CLUSTER, "file_id": "1", "run_number": 1, "decision": "DENIED"},
    **{"principal": "User:new", "host": "10.0.0.1", "operation": "READ", "verdict": "agree"},
    **{"resource_type": "TOPIC", "resource_name": "orders", "request_name": "Fetch"},
    **{"lines": 3, "log_day": WHEN, "first_at": WHEN, "last_at": WHEN, "is_open": False},
}
USED = {
    **REFUSED,
    **{"decision": "ALLOWED", "principal": "User:bob", "operation": "WRITE"},
    **{"resource_name": "pay-x", "request_name": "Produce"},
}
SPOKE = {
    **dict.fromkeys(TABLES["log_file"].column_names),
    **{"cluster_id": small.CLUSTER, "file_id": "1", "source": "kafka-authorizer.log"},
    **{"spoke_from": [to_micros(WHEN)], "spoke_to": [to_micros(WHEN)]},
}
ASKED = [(name, words) for name, asked in QUESTIONS.items() for words in asked]
KNOWN = BaselineEntry(fingerprint="g", finding="public-access", severity="low", subject="topic:t")
MUTE = Mute(
    fingerprint="f", finding=None, subject=None, until=WHEN.date(), owner="ann", reason="soon"
)
JUDGED = report(
    finding(),
    judged=(
        Judged(state="new", fingerprint=finding().fingerprint, finding=finding(), mute=MUTE),
        Judged(state="fixed", fingerprint=KNOWN.fingerprint, finding=None, known=KNOWN),
    ),
)
SENT = {
    "alert": [render_alert(alert_of(made.summary), "json") for made in (JUDGED, hostile())],
    "alert-slack": [render_alert(alert_of(hostile().summary), "slack")],
    "alert-of-failure": [render_alert(alert_of_failure(None, DataError("no")), "json")],
}
HAVE_NO_ROWS = {"report"}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two nights, some findings, and what the last one changed."""
    path = tmp_path_factory.mktemp("schemas") / "warehouse"
    acls = [*small.ACLS[1:], NEW]
    changed_warehouse.build(path, [(small.ACLS, SUPER), (acls, SUPER)])
    return path


@pytest.fixture(scope="module")
def places(root, tmp_path_factory):
    """Return which warehouse a question is about: one in which there is something to say."""
    audited, past, untidy = (tmp_path_factory.mktemp(name) for name in ("audited", "past", "tidy"))
    versions = small.build(audited)
    versions["finding"] = small.write_table(audited, "finding", rows_of(FOUND))
    small.publish(audited, versions, run_number=2, counts={"decided_in_run": 2})
    test_diff.build(past / "warehouse", (0, 100))
    small.build(untidy / "warehouse", test_tidy.ACLS)
    refused = tmp_path_factory.mktemp("refused")
    versions = small.build(refused)
    versions["access_day"] = small.write_table(refused, "access_day", [REFUSED])
    small.publish(refused, versions, run_number=2, counts={"decided_in_run": 1})
    used = tmp_path_factory.mktemp("used")
    versions = small.build(used)
    versions["access_day"] = small.write_table(used, "access_day", [REFUSED, USED])
    versions["log_file"] = small.write_table(used, "log_file", [SPOKE])
    versions["broker"] = small.write_brokers(used, 27)
    small.publish(used, versions, run_number=2, counts={"decided_in_run": 1})
    found = {"audit": audited, "report": audited, "diff": past / "warehouse", "denials": refused}
    tidied = dict.fromkeys(("tidy", "remedy"), untidy / "warehouse")
    return {**found, **tidied, "narrow": used}


@pytest.fixture(scope="module")
def named(root, tmp_path_factory):
    """The files that questions name."""
    folder = tmp_path_factory.mktemp("named")
    states = {"before": [acl("a")], "after": [acl("b"), acl("t", principal="User:ann")]}
    states |= {"hard": HARD[:1], "harder": HARD}
    paths = {name: folder / f"{name}.txt" for name in states}
    for name, acls in states.items():
        paths[name].write_text("\n".join(render_list(acls)) + "\n", encoding="utf-8")
    paths["policies"] = folder / "policies.toml"
    paths["policies"].write_text(POLICIES, encoding="utf-8")
    return {**paths, "warehouse": root, **_reviews(root, folder)}


def _reviews(root, folder):
    """Make a closed review, and a decided one that each question finds open."""
    shared = ["--warehouse", root, "review"]
    reviews, decided = folder / "reviews", Fresh(folder / "decided")
    for name in ("q1", "q2"):
        where = ["--reviews", reviews]
        run(*shared, "start", "--by", "ann", "--name", name, *where)
        words = ["keep", "--principal", "*", "--reason", "x", "--by", "bob"]
        run(*shared, "decide", *words, "--review", name, *where)
        if name == "q1":
            run(*shared, "close", "--by", "ann", "--review", "q1", *where)
    decided.keep(reviews / "q2")
    shutil.rmtree(reviews / "q2")
    evidence, broken = reviews / "q1" / "evidence.json", folder / "broken.json"
    broken.write_text("{}", encoding="utf-8")
    return {"reviews": reviews, "decided": decided, "evidence": evidence, "broken": broken}


class Fresh:
    """A folder of reviews that is another copy each time it is named."""

    def __init__(self, folder):
        self.folder, self.number = folder, 0

    def keep(self, review):
        shutil.copytree(review, self.folder / review.name)

    def __format__(self, _):
        self.number += 1
        return str(shutil.copytree(self.folder, f"{self.folder}-{self.number}"))


@pytest.fixture
def ask(root, places, named, monkeypatch):
    """Run a question in a format; what takes Spark or Kafka answers with what it is given."""
    stand_in(monkeypatch)

    def asking(words, output_format):
        split = [word.format(**named) for word in shlex.split(words)]
        options = ["--warehouse", str(places.get(split[0], root)), *split]
        result = CliRunner().invoke(cli, [*options, "--format", output_format])
        assert isinstance(result.exception, SystemExit | None), repr(result.exception)
        return result.stdout_bytes.decode()

    return asking


def schema(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


def row_schema(name):
    whole = schema(name)
    return whole["$defs"]["row"] if "$defs" in whole else whole["items"]


def ordered(found, wanted):
    """Whether the keys of objects stand in the order of the schema, wherever they are."""
    if isinstance(found, list):
        return all(ordered(item, wanted.get("items", {})) for item in found)
    if not isinstance(found, dict) or "additionalProperties" not in wanted:
        return not isinstance(found, dict) or "anyOf" in wanted
    known = wanted.get("properties")
    if known is None:
        return True
    keys = [key for key in known if key in found]
    return list(found) == keys and all(ordered(found[key], known[key]) for key in keys)


def must_be(found, wanted):
    assert [error.message for error in Draft202012Validator(wanted).iter_errors(found)] == []
    assert ordered(found, wanted)


@pytest.mark.parametrize(("name", "words"), ASKED)
def test_an_answer_has_the_keys_of_its_schema_in_their_order(ask, name, words):
    found = json.loads(ask(words, "json"))
    assert found
    must_be(found, schema(name))


@pytest.mark.parametrize(
    ("name", "words"), [asked for asked in ASKED if asked[0] not in HAVE_NO_ROWS]
)
def test_lines_and_columns_are_the_rows_of_the_schema(ask, name, words):
    wanted = row_schema(name)
    found = [json.loads(line) for line in ask(words, "jsonl").splitlines()]
    assert found or words == UNKNOWN
    for row in found:
        must_be(row, wanted)
    header = next(csv.reader(io.StringIO(ask(words, "csv"), newline="")))
    assert header == columns_of(wanted.get("properties", header))


def columns_of(keys):
    """Leave out what CSV does not have: the run that a row stands on."""
    stamp = "as_of_time" if "as_of_time" in keys else "as_of"
    return [key for key in keys if key not in (stamp, "as_of_offset")]


@pytest.mark.parametrize(("name", "told"), [(n, told) for n, sent in SENT.items() for told in sent])
def test_an_alert_has_the_keys_of_its_schema_in_their_order(name, told):
    must_be(json.loads(json.dumps(told)), schema(name))


def test_a_report_has_the_keys_of_its_schema_whatever_there_is_to_say():
    for made in (hostile(), JUDGED):
        must_be(json.loads(render_json(made)), schema("report"))


def test_every_schema_is_one_and_belongs_to_an_answer():
    assert {path.stem for path in SCHEMAS.glob("*.json")} == {*QUESTIONS, *SENT}
    for name in (*QUESTIONS, *SENT):
        Draft202012Validator.check_schema(schema(name))


def with_json(group, words=()):
    """Yield the words of each command that has an option with JSON, and the option."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from with_json(command, (*words, name))
            continue
        for option in command.params:
            if {"json", "jsonl"} & {*getattr(option.type, "choices", ())}:
                yield " ".join((*words, name)), option.opts[0]


def test_every_command_with_json_has_a_schema():
    asked = [f"{words} " for _, words in ASKED]
    for command, option in with_json(cli):
        is_known = option == "--alert-style" or any(
            words.startswith(f"{command} ") for words in asked
        )
        assert is_known, f"{command} {option} has no schema"


def test_the_list_of_schemas_names_each_with_what_it_is_of():
    listed = (SCHEMAS / "README.md").read_text(encoding="utf-8").splitlines()
    wanted = [
        f"| [{path.name}]({path.name}) | {schema(path.stem)['title']} |"
        for path in sorted(SCHEMAS.glob("*.json"))
    ]
    assert [line for line in listed if line.startswith("| [")] == wanted
