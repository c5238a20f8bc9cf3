"""States of Terraform and OpenTofu → the ACLs that their resources hold."""

from __future__ import annotations

import json

import pytest

from aclkit.kafka.desired.model import Document
from aclkit.kafka.desired.terraform_files import FORMATS, holds_plan, holds_state, read_state
from tests.kafka.desired.terraform_files import acl, confluent_acl, document, handed, row, rows


def held(address, values=None, kind="kafka_acl", provider="h/Mongey/kafka", **more):
    return {
        "address": address,
        "mode": "managed",
        "type": kind,
        "provider_name": provider,
        "values": acl() if values is None else values,
        "sensitive_values": {},
        **more,
    }


def state(*resources, children=(), **more):
    root = {"resources": list(resources), "child_modules": list(children)}
    return {"format_version": "1.0", "values": {"root_module": root}, **more}


def read(*resources, **more):
    return read_state(document(state(*resources, **more), name="state.json"))


@pytest.mark.parametrize("step", ["1", "2"])
def test_handed_states_hold_the_acls_that_the_broker_listed(step):
    made = handed(f"{step}-state.json")
    assert holds_state(made)
    assert not holds_plan(made)
    part = read_state(made)
    own = [each for each in rows(f"{step}-after.tsv") if each[3] != "User:neighbour"]
    assert sorted(map(row, part.acls)) == sorted(own)
    assert (part.problems, part.reach) == ([], "asked")


def test_modules_in_modules_are_read():
    inner = {"resources": [held("module.a.module.b.kafka_acl.c")]}
    part = read(children=[{"child_modules": [inner]}])
    assert [each.place.address for each in part.acls] == ["module.a.module.b.kafka_acl.c"]


def test_data_sources_are_skipped():
    assert read(held("data.kafka_acl.a", mode="data")).acls == []


def test_confluent_names_its_cluster():
    one = held(
        "confluent_kafka_acl.a",
        confluent_acl(cluster="lkc-9"),
        "confluent_kafka_acl",
        "h/confluentinc/confluent",
    )
    assert [each.cluster for each in read(one).acls] == ["lkc-9"]


def test_sensitive_fields_are_marked():
    part = read(held("kafka_acl.a", sensitive_values={"acl_host": True}))
    assert [each.sensitive for each in part.acls] == [{"host"}]


def test_other_kinds_are_counted():
    assert read(held("redpanda_acl.a", kind="redpanda_acl")).unread == {"redpanda_acl": 1}


def test_an_object_that_waits_for_deletion_is_a_note():
    part = read(held("kafka_acl.a", deposed_key="1a2b"))
    assert part.acls == []
    assert "1 ACL of state.json wait" in part.notes[0]


def test_an_empty_state_is_read():
    empty = Document("state.json", '{"format_version": "1.0"}\n')
    assert holds_state(empty)
    assert read_state(empty).problems == []


def test_the_raw_state_file_is_refused():
    raw = Document("s", json.dumps({"version": 4, "serial": 1, "lineage": "x", "resources": []}))
    assert holds_state(raw)
    assert not holds_plan(raw)
    [problem] = read_state(raw).problems
    assert "raw state file" in str(problem)
    assert "terraform show -json > state.json" in str(problem)


@pytest.mark.parametrize("version", ["2.0", "0.1", 1, None])
def test_another_major_version_is_refused(version):
    assert "format_version" in str(read(format_version=version).problems[0])


def test_a_cut_state_is_refused():
    text = json.dumps(state(held("kafka_acl.a")))[:-20]
    assert holds_state(Document("s", text))
    assert "is cut" in str(read_state(Document("s", text)).problems[0])


def test_all_problems_name_their_address():
    part = read(
        held("kafka_acl.a", acl(acl_operation="Any")),
        held("kafka_acl.b", {}),
        held(None),
    )
    found = list(map(str, part.problems))
    assert found[0].startswith("state.json: kafka_acl.a: acl_operation 'Any'")
    assert len([each for each in found if ": kafka_acl.b: " in each]) == 7
    assert "has no address" in found[-1]


def test_the_format_is_in_the_registry_entry():
    [form] = FORMATS
    assert (form.name, form.read) == ("terraform-state", read_state)
