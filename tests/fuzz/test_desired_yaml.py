"""Files of teams in YAML and JSON: whatever stands there, reading ends with ACLs or problems."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aclkit.kafka.desired import gitops, jikkou, kafka_user
from aclkit.kafka.desired.model import Document
from aclkit.kafka.desired.user_operator import operator_removes
from aclkit.kafka.desired.yaml_fields import Fields
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from tests.fuzz.mutating import ends_well, rounds

DATA = Path(__file__).parents[1] / "data" / "desired"
FILES = (
    "strimzi/users.yaml",
    "field-18/kafkauser.yaml",
    "by-hand/jikkou.yaml",
    "by-hand/kafka-gitops-state.yaml",
    "by-hand/kafka-gitops-plan.json",
)
FORMATS = (*gitops.FORMATS, *jikkou.FORMATS, *kafka_user.FORMATS)
LONGEST_PROBLEM = 500
ENUMS = {
    "resource_type": ResourceType,
    "pattern_type": PatternType,
    "operation": AclOperation,
    "permission_type": AclPermissionType,
}


def check(text):
    """Read a text in each format, held or not; what is read is sound."""
    document, last = Document("mutant", text), text.count("\n") + 1
    for form in FORMATS:
        assert form.holds(document) in (True, False)
        part = form.read(Document("mutant", text))
        assert part.form == form.name
        for problem in part.problems:
            assert problem.place.file == "mutant"
            assert 0 <= problem.place.line <= last
            assert 0 < len(problem.text) < LONGEST_PROBLEM
        for each in part.acls:
            for name, enum in ENUMS.items():
                assert enum.is_known(getattr(each.acl, name))
                assert getattr(each.acl, name) not in ("ANY", "MATCH", "GLOB")
            assert all(each.binding)
            assert ":" in each.acl.principal
        operator_removes([*part.owners, *part.untouched], [each.acl for each in part.acls])


@pytest.mark.parametrize("name", FILES)
def test_changed_bytes_end_well(name):
    sound = (DATA / name).read_bytes()
    for mutants in rounds(f"desired {name}", 60):
        text = mutants.bytes_of(sound).decode("utf-8", "surrogateescape")
        ends_well(lambda text=text: check(text), text)


@pytest.mark.parametrize("name", FILES)
def test_changed_values_end_well(name):
    text = (DATA / name).read_text(encoding="utf-8").replace("\n  *:", '\n  "*":')
    sound = list(yaml.safe_load_all(text))
    for mutants in rounds(f"desired values {name}", 60):
        values = [mutants.value_of(value) for value in sound]
        written = yaml.safe_dump_all(values, allow_unicode=True)
        ends_well(lambda text=written: check(text), written)
        written = json.dumps(values[0])
        ends_well(lambda text=written: check(text), written)


@given(st.text(max_size=200))
def test_any_text_ends_well(text):
    check(text)


@given(
    st.lists(
        st.sampled_from([
            "a", ": ", "\n", "- ", "{", "}", "[", "]", "*", "&a ", "*a", "*: ", "!!str ", "'", '"',
            "|", ">", "\n  ", "? ", "<<: ", "# ", "---\n", "kind: KafkaUser", "\t", ",", "{{", "~",
            "\u2028", "é", "%YAML 1.1\n", "...\n", "\\x", "no", "007",
        ]),
        max_size=40,
    )
)  # fmt: skip
def test_any_marks_of_yaml_end_well(pieces):
    check("".join(pieces))


HEAD = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaUser\nmetadata: {name: a}\nspec: "


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{a: " * 100_000,
        "- " * 100_000,
        "? " * 50_000,
        '"' * 200_000,
        "a: &a " * 50_000,
        "a:\n" + "".join(" " * depth + "a:\n" for depth in range(1, 1_200)),
        f"{HEAD}{{{', '.join(f'k{number}: 1' for number in range(50_000))}}}\n",
        f"{HEAD}{{authorization: {{type: simple, acls: [{', '.join(['{tpye: x}'] * 30_000)}]}}}}\n",
        HEAD
        + "{authorization: {type: simple, acls: [{resource: {type: cluster}, operations: ["
        + ", ".join(f"Raed{number}" for number in range(50_000))
        + "]}]}}\n",
        "apiVersion: " + "kafka" * 60_000,
        "kind: KafkaUser\n" + "x: " + "a" * 1_000_000,
        "customUserAcls:\n" + "".join(f"  u{number}: {{}}\n" for number in range(50_000)),
        '{"aclPlans": [' + ", ".join(['{"name": "x", "action": "ADD"}'] * 20_000) + "]}",
        "*:\n" * 10_000,
        "kind: List\nitems:\n" + "- kind: List\n  items: []\n" * 20_000,
    ],
    ids=range(16),
)
def test_no_text_costs_too_much(text):
    before = time.process_time()
    check(text)
    assert time.process_time() - before < 60


def test_problems_hold_nothing_of_other_attributes():
    secret = "s3cret-" + "x" * 20
    text = (
        f"{HEAD}{{authentication: {{type: TLS, password: {secret}}}, quotas: {secret},\n"
        f"  template: {{{secret}: 1}}}}\nstatus: {secret}\n---\nkind: Secret\n"
        f"data: {{a: {secret}}}\nstringData: [{secret}\n"
    )
    for form in FORMATS:
        part = form.read(Document("f", text))
        assert part.problems
        assert not any(secret in problem.text for problem in part.problems)
        assert not any(secret in note for note in part.notes)


def test_reading_stops_where_its_reader_does():
    document = Document("f", "---\na: 1\n" * 100_000)
    before = time.process_time()
    next(Fields(document).nodes())
    assert time.process_time() - before < 2
