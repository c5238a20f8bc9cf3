"""Plans, states and files of Terraform with one thing changed: reading always ends well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclkit.kafka.desired import hcl, terraform_files, terraform_plan
from aclkit.kafka.desired.formats import format_of
from aclkit.kafka.desired.model import Document
from aclkit.kafka.desired.plan_effect import absent_after, plan_effects
from aclkit.model.acl import is_storable
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from tests.fuzz.mutating import ends_well, rounds
from tests.kafka.desired.terraform_files import HANDED, acl, plan, resource

FORMATS = (*terraform_plan.FORMATS, *terraform_files.FORMATS, *hcl.FORMATS)
SECRET = "hunter2-hunter2"
PLANS = ("1-plan.json", "2-plan.json")
STATES = ("1-state.json", "2-state.json")
TEXTS = (*PLANS, *STATES, "2-plan.text.txt", "main.tf", "../hcl/kafka.tf")


def handed(name):
    return (HANDED / name).read_text(encoding="utf-8")


def with_secret(value):
    """Put a secret where plans have them."""
    value["variables"] = {"password": {"value": SECRET}}
    for each in value["resource_changes"]:
        for side in ("before", "after"):
            if each["change"][side]:
                each["change"][side]["sasl_password"] = SECRET
    return value


def check(document):
    """Read a document by each format, and insist on a result that makes sense."""
    format_of(document, FORMATS)
    for form in FORMATS:
        part = form.read(document)
        messages = [str(problem) for problem in part.problems]
        assert SECRET not in "".join((*messages, *part.notes, *part.unread))
        assert all(len(problem.text) < 600 for problem in part.problems)
        for each in part.acls:
            acl = each.acl
            assert all(map(is_storable, (acl.resource_name, acl.principal, acl.host)))
            assert ResourceType.is_known(acl.resource_type)
            assert PatternType.is_known(acl.pattern_type)
            assert AclOperation.is_known(acl.operation)
            assert AclPermissionType.is_known(acl.permission_type)
        effects = plan_effects(part.changes)
        assert absent_after(effects) <= {each.acl.binding for each in effects}
        assert all(each.by and each.addresses for each in effects)


def text_of(data):
    return data.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_with_changed_bytes_ends_well(name):
    data = handed(name).encode()
    for mutants in rounds(f"bytes of {name}", 60):
        made = Document("f", text_of(mutants.bytes_of(data)))
        ends_well(lambda made=made: check(made), made.text)


@pytest.mark.parametrize("name", [*PLANS, *STATES])
def test_a_file_with_changed_values_ends_well(name):
    value = json.loads(handed(name))
    value = with_secret(value) if name in PLANS else value
    for mutants in rounds(f"values of {name}", 150):
        mutant = value
        for _ in range(mutants.chance.choice((1, 1, 2, 4))):
            mutant = mutants.value_of(mutant)
        made = Document("f", json.dumps(mutant))
        ends_well(lambda made=made: check(made), made.text, SECRET)


def test_a_change_with_changed_values_ends_well():
    value = with_secret(json.loads(handed("2-plan.json")))
    for mutants in rounds("values of changes", 300):
        changes = [
            mutants.value_of(each) if mutants.chance.random() < 0.3 else each
            for each in value["resource_changes"]
        ]
        made = Document("f", json.dumps({**value, "resource_changes": changes}))
        ends_well(lambda made=made: check(made), made.text, SECRET)


def unknown_plan():
    """Return a plan whose principals are known after apply, through modules and keys."""
    out = {"id": {"expression": {"references": ["sa.app.id", "sa.app"]}}}
    blocks = [
        {"type": "kafka_acl", "name": "a", "provider_config_key": "kafka.second",
         "expressions": {"acl_principal": {"references": ["var.who"]}}},
    ]  # fmt: skip
    calls = {
        "sa": {"module": {"outputs": out}},
        "team": {
            "expressions": {"who": {"references": ["module.sa", "each.key", "each.value"]}},
            "for_each_expression": {"references": ["sa.app"]},
            "module": {"resources": blocks},
        },
    }
    after = {key: value for key, value in acl().items() if key != "acl_principal"}
    marks = {"after_unknown": {"acl_principal": True}}
    changes = [
        resource("module.sa.sa.app", "create", None, {}, kind="sa", module_address="module.sa"),
        *(
            resource(f'module.team["{key}"].kafka_acl.a', "create", None, after,
                     module_address=f'module.team["{key}"]', **marks)
            for key in "xy"
        ),
    ]  # fmt: skip
    return plan(*changes, configuration={"root_module": {"module_calls": calls}})


def test_unknown_principals_with_changed_values_end_well():
    value = unknown_plan()
    assert terraform_plan.read_plan(Document("f", json.dumps(value))).problems == []
    for mutants in rounds("unknown principals", 300):
        made = Document("f", json.dumps(mutants.value_of(mutants.value_of(value))))
        ends_well(lambda made=made: check(made), made.text)


def test_the_handed_files_are_where_this_test_looks():
    assert all(Path(HANDED / name).is_file() for name in TEXTS)
