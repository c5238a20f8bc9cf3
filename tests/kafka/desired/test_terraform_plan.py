"""Plans of Terraform and OpenTofu → changes of ACLs, or every reason why not."""

from __future__ import annotations

import json

import pytest

from aclkit.kafka.desired.model import Document
from aclkit.kafka.desired.plan_effect import plan_effects
from aclkit.kafka.desired.terraform_files import holds_plan
from aclkit.kafka.desired.terraform_plan import FORMATS, read_plan
from tests.kafka.desired.terraform_files import (
    acl,
    confluent_acl,
    document,
    handed,
    plan,
    resource,
    row,
    rows,
)

SHOW = "terraform show -json"


def read(*resources, **more):
    return read_plan(document(plan(*resources, **more)))


def problems(*resources, **more):
    return [str(problem) for problem in read(*resources, **more).problems]


def refused(text, name="plan.json"):
    """Return the only problem of a text that the format holds."""
    bad = Document(name, text)
    assert holds_plan(bad)
    [problem] = read_plan(bad).problems
    return str(problem)


@pytest.mark.parametrize("step", ["1", "2"])
def test_handed_plans_leave_the_acls_that_the_broker_listed(step):
    part = read_plan(handed(f"{step}-plan.json"))
    assert (part.problems, part.reach) == ([], "change")
    own = [each for each in rows(f"{step}-after.tsv") if each[3] != "User:neighbour"]
    assert sorted(map(row, part.acls)) == sorted(own)


@pytest.mark.parametrize("step", ["1", "2"])
def test_handed_plans_have_the_handed_effects(step):
    effects = plan_effects(read_plan(handed(f"{step}-plan.json")).changes)
    assert [(each.effect, *row(each.acl), each.by) for each in effects] == rows(
        f"{step}-effect.tsv"
    )


def test_each_resource_is_one_change_in_the_order_of_the_file():
    changes = read_plan(handed("2-plan.json")).changes
    assert [change.place.address for change in changes][:2] == [
        'kafka_acl.all["baker tx"]',
        'kafka_acl.all["baker writes"]',
    ]
    assert len(changes) == 7


def test_data_sources_are_skipped():
    part = read(resource("data.kafka_acl.a", "read", None, acl(), mode="data"))
    assert (part.changes, part.problems) == ([], [])


@pytest.mark.parametrize(
    ("actions", "holds"),
    [
        ("no-op", ("keeps",)),
        ("read", ("keeps",)),
        ("update", ("keeps",)),
        ("create", ("creates",)),
        ("delete", ("deletes",)),
        ("forget", ("forgets",)),
        ("delete,create", ("deletes", "creates")),
        ("create,delete", ("deletes", "creates")),
        ("create,forget", ("creates", "forgets")),
        ("forget,create", ("creates", "forgets")),
    ],
)
def test_each_known_action_is_read(actions, holds):
    before = None if actions == "create" else acl()
    after = None if actions in ("delete", "forget") else acl()
    part = read(resource("kafka_acl.a", actions, before, after))
    assert part.problems == []
    [change] = part.changes
    names = ("deletes", "creates", "keeps", "forgets")
    assert tuple(name for name in names if getattr(change, name)) == holds
    assert change.is_create_first == (actions in ("create,delete", "create,forget"))


def test_an_import_and_a_moved_address_change_nothing():
    part = read(
        resource("kafka_acl.a", "no-op", acl(), acl(), importing={"id": "x"}),
        resource("kafka_acl.b", "no-op", acl("b"), acl("b"), previous_address="kafka_acl.c"),
    )
    assert part.problems == []
    assert plan_effects(part.changes) == []


@pytest.mark.parametrize("actions", [["replace"], [], ["create", "create"], "create", [None], [{}]])
def test_another_action_is_refused_with_its_address(actions):
    bad = resource("kafka_acl.a", "create", None, acl())
    bad["change"]["actions"] = actions
    [problem] = problems(bad)
    assert problem.startswith("plan.json: kafka_acl.a: Unknown actions ")
    assert "update aclkit" in problem


@pytest.mark.parametrize("actions", ["no-op", "update"])
def test_a_kept_acl_that_changes_is_refused(actions):
    [problem] = problems(resource("kafka_acl.a", actions, acl(), acl("other")))
    assert "but the ACL changes" in problem
    assert SHOW in problem


def test_a_deposed_object_is_a_change_of_its_own():
    part = read(
        resource("kafka_acl.a", "no-op", acl("b"), acl("b")),
        resource("kafka_acl.a", "delete", acl(), deposed="1a2b"),
    )
    assert [change.place.address for change in part.changes] == [
        "kafka_acl.a",
        "kafka_acl.a (deposed object 1a2b)",
    ]


# Several plans, other forms


def test_several_plans_in_one_file_are_read():
    one, two = (plan(resource(f"kafka_acl.{n}", "create", None, acl(n))) for n in "ab")
    for text in (
        f"{json.dumps(one)}\n{json.dumps(two)}\n",
        json.dumps(one) + json.dumps(two),
        json.dumps([one, two]),
        f"{json.dumps(one, indent=2)}\n{json.dumps(two, indent=2)}",
    ):
        several = Document("plans.json", text)
        assert holds_plan(several)
        assert [each.acl.resource_name for each in read_plan(several).acls] == ["a", "b"]


def test_an_errored_plan_is_refused():
    [problem] = problems(resource("kafka_acl.a", "create", None, acl()), errored=True)
    assert "ended with an error" in problem
    assert "plan again" in problem


@pytest.mark.parametrize("version", ["2.0", "0.2", "", "one", 1, [], None])
def test_another_major_version_is_refused(version):
    [problem] = problems(format_version=version)
    assert "format_version" in problem
    assert "Terraform 1.1 or later" in problem


@pytest.mark.parametrize("version", ["1.0", "1.2", "1.99"])
def test_each_minor_version_is_read(version):
    assert problems(resource("kafka_acl.a", "no-op", acl(), acl()), format_version=version) == []


@pytest.mark.parametrize("name", ["1-plan.text.txt", "2-plan.text.txt", "1-apply.log"])
def test_a_plan_printed_as_text_is_refused_with_its_line(name):
    problem = refused(handed(name).text)
    assert "plan printed as text" in problem
    assert SHOW in problem
    assert problem.startswith("plan.json:")


def test_a_plan_printed_in_colors_is_refused():
    text = "\x1b[0m\x1b[1mTerraform will perform the following actions:\x1b[0m\n"
    assert "plan.json:1: This is a plan printed as text" in refused(text)


def test_a_binary_plan_is_refused():
    assert SHOW in refused("PK\x03\x04\x14\x00\x08\udc80")


def test_the_stream_of_a_plan_is_refused():
    lines = ({"@level": "info", "@message": "Terraform 1.9"}, {"@level": "info"})
    assert SHOW in refused("\n".join(map(json.dumps, lines)))


def test_lines_of_a_wrapper_are_refused():
    text = "[command]/opt/terraform show -json plan\n" + json.dumps(plan())
    assert "terraform_wrapper: false" in refused(text)


def test_a_cut_plan_is_refused_with_its_line():
    text = json.dumps(plan(resource("kafka_acl.a", "create", None, acl())), indent=1)
    problem = refused(text[: len(text) // 2])
    assert problem.startswith(f"plan.json:{text[: len(text) // 2].count(chr(10)) + 1}: ")
    assert "is cut or is not JSON" in problem
    assert SHOW in problem


def test_what_is_between_plans_is_refused():
    problem = refused(json.dumps(plan()) + ' "more"')
    assert "This is no plan" in problem
    assert SHOW in problem


@pytest.mark.parametrize("value", ["(sensitive value)", "(redacted)", "[REDACTED]", "<sensitive>"])
def test_a_redacted_field_is_refused(value):
    [problem] = problems(resource("kafka_acl.a", "create", None, acl(principal=value)))
    assert problem.startswith("plan.json: kafka_acl.a: acl_principal is redacted. ")
    assert "-json-redacted" in problem


def test_a_sensitive_field_without_value_is_refused_as_redacted():
    after = acl() | {"acl_principal": None}
    bad = resource("kafka_acl.a", "create", None, after, after_sensitive={"acl_principal": True})
    assert "acl_principal is redacted" in problems(bad)[0]


def test_all_problems_are_found_at_once():
    found = problems(
        resource("kafka_acl.a", "create", None, acl(acl_operation="Any", resource_type="topic")),
        resource("kafka_acl.b", "explode", acl(), acl()),
        resource("kafka_acl.c", "delete", acl(acl_permission_type="Unknown")),
    )
    assert [problem.split(": ")[1] for problem in found] == [
        "kafka_acl.a",
        "kafka_acl.a",
        "kafka_acl.b",
        "kafka_acl.c",
    ]


# Words and fields


@pytest.mark.parametrize(
    ("word", "kafka"),
    [
        ("Topic", "TOPIC"),
        ("Group", "GROUP"),
        ("TransactionalID", "TRANSACTIONAL_ID"),
        ("DelegationToken", "DELEGATION_TOKEN"),
    ],
)
def test_mongeys_resource_types_are_read(word, kafka):
    [found] = read(resource("kafka_acl.a", "create", None, acl(resource_type=word))).acls
    assert found.acl.resource_type == kafka


@pytest.mark.parametrize(
    ("field", "word"),
    [
        ("resource_type", "topic"),
        ("resource_type", "TransactionalId"),
        ("resource_type", "Any"),
        ("resource_type", "User"),
        ("resource_pattern_type_filter", "Match"),
        ("resource_pattern_type_filter", "Any"),
        ("resource_pattern_type_filter", "prefixed"),
        ("resource_pattern_type_filter", "Glob"),
        ("acl_operation", "READ"),
        ("acl_operation", "Unknown"),
        ("acl_operation", "CreateTokens"),
        ("acl_permission_type", "allow"),
        ("acl_permission_type", "Any"),
    ],
)
def test_a_word_that_mongey_does_not_know_is_refused(field, word):
    [problem] = problems(resource("kafka_acl.a", "create", None, acl() | {field: word}))
    assert problem.startswith(f"plan.json: kafka_acl.a: {field} '{word}' ")


@pytest.mark.parametrize("word", ["UNKNOWN", "ANY", "MATCH", "Topic"])
def test_a_word_that_confluent_does_not_know_is_refused(word):
    bad = resource(
        "confluent_kafka_acl.a",
        "create",
        None,
        confluent_acl(resource_type=word),
        kind="confluent_kafka_acl",
    )
    [problem] = problems(bad)
    assert f"resource_type '{word}' " in problem


def test_an_acl_of_confluent_is_read():
    part = read(
        resource(
            "confluent_kafka_acl.a", "create", None, confluent_acl(), kind="confluent_kafka_acl"
        )
    )
    [found] = part.acls
    assert row(found) == ("TOPIC", "LITERAL", "orders", "User:sa-1", "*", "READ", "ALLOW")
    assert found.cluster == "lkc-1"


@pytest.mark.parametrize("value", [None, 7, True, [], {}, ["User:a"]])
def test_a_field_that_is_no_text_is_refused(value):
    bad = resource("kafka_acl.a", "create", None, acl() | {"acl_host": value})
    [problem] = problems(bad)
    assert problem.startswith("plan.json: kafka_acl.a: acl_host ")


@pytest.mark.parametrize("host", ["registry.terraform.io", "mirror.example:8443/x", "HOST"])
def test_the_host_of_a_provider_does_not_matter(host):
    made = resource("kafka_acl.a", "create", None, acl(), provider_name=f"{host}/Mongey/kafka")
    assert len(read(made).acls) == 1


def test_another_provider_of_the_same_type_is_counted():
    made = resource("kafka_acl.a", "create", None, acl(), provider_name="h/other/kafka")
    assert read(made).unread == {"kafka_acl of h/other/kafka": 1}


def test_a_prefixed_name_with_an_asterisk_has_a_note():
    made = acl("orders.*", resource_pattern_type_filter="Prefixed")
    part = read(resource("kafka_acl.a", "create", None, made))
    [note] = part.notes
    assert "kafka_acl.a" in note
    assert "as a letter" in note
    assert part.problems == []


# What is not read, and notes


@pytest.mark.parametrize(
    "kind",
    [
        "aiven_kafka_acl",
        "aiven_kafka_native_acl",
        "redpanda_acl",
        "google_managed_kafka_acl",
        "instaclustr_kafka_acl",
        "kubernetes_manifest",
        "kubectl_manifest",
    ],
)
def test_a_kind_that_can_hold_acls_is_counted(kind):
    part = read(*(resource(f"{kind}.{name}", "create", None, {}, kind=kind) for name in "ab"))
    assert part.unread == {kind: 2}
    assert part.problems == []


def test_a_manifest_of_a_kafka_user_is_counted_as_one():
    manifest = {"manifest": {"kind": "KafkaUser"}}
    kind = "kubernetes_manifest"
    part = read(resource(f"{kind}.a", "create", None, manifest, kind=kind))
    assert part.unread == {"kubernetes_manifest (KafkaUser)": 1}


def test_kinds_without_acls_are_not_counted():
    kinds = ("kafka_topic", "kafka_user_scram_credential", "aws_s3_bucket_acl")
    part = read(*(resource(f"{kind}.a", "create", None, {}, kind=kind) for kind in kinds))
    assert part.unread == {}


def test_a_change_outside_terraform_is_a_note():
    drifted = resource("kafka_acl.a", "delete", acl())
    refreshed = plan(resource_drift=[drifted])
    del refreshed["resource_changes"]
    part = read_plan(document(refreshed))
    assert part.problems == []
    assert part.changes == []
    [note] = part.notes
    assert "kafka_acl.a" in note
    assert "outside Terraform" in note


def test_a_partial_plan_is_a_note():
    assert "not complete" in read(complete=False).notes[0]


def test_an_acl_that_another_resource_holds_is_a_note_when_it_is_created():
    part = read(
        resource("kafka_acl.a", "no-op", acl(), acl()),
        resource("kafka_acl.b", "create", None, acl()),
    )
    assert plan_effects(part.changes) == []
    [note] = part.notes
    assert "kafka_acl.b creates an ACL that kafka_acl.a already holds" in note


# Recognition


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "kind: KafkaUser\n# this will be replaced\n",
        '{"format_version": "1.0", "values": {}}',
        '{"timestamp": 1, "acls": []}',
        "Current ACLs for resource\n",
    ],
)
def test_other_files_are_no_plans(text):
    assert not holds_plan(Document("x", text))


def test_the_format_is_in_the_registry_entry():
    [form] = FORMATS
    assert (form.name, form.read) == ("terraform-plan", read_plan)


@pytest.mark.parametrize("value", [None, 7, "x", {"a": 1}])
def test_changes_that_are_no_list_are_refused(value):
    found = problems(resource_changes=value)
    assert found == [] if value is None else "resource_changes is no list" in found[0]


@pytest.mark.parametrize("value", [None, 7, "x", [], {}])
def test_a_change_that_is_no_resource_is_refused(value):
    [problem] = problems(value)
    assert "resource_changes[0]" in problem


def test_a_change_without_address_is_refused():
    bad = resource("kafka_acl.a", "create", None, acl())
    bad["address"] = None
    assert "resource_changes[0]: It has no address" in problems(bad)[0]
