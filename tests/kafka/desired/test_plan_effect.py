"""What changes of resources do to ACLs, in the worst order of their operations."""

from __future__ import annotations

import shlex

import pytest

from aclkit.kafka.desired.plan_effect import absent_after, plan_effects
from aclkit.kafka.desired.terraform_plan import read_plan
from tests.kafka.desired.terraform_files import acl, document, plan, resource


def changes(*resources):
    part = read_plan(document(plan(*resources)))
    assert part.problems == []
    return part.changes


def effects(*resources):
    return [
        (each.effect, each.acl.acl.resource_name, each.by)
        for each in plan_effects(changes(*resources))
    ]


def advice(*resources):
    [effect] = plan_effects(changes(*resources))
    return effect.advice


def made(address, name="x"):
    return resource(address, "create", None, acl(name))


def gone(address, name="x"):
    return resource(address, "delete", acl(name))


def kept(address, name="x"):
    return resource(address, "no-op", acl(name), acl(name))


def replaced(address, old="x", new="x", actions="delete,create"):
    return resource(address, actions, acl(old), acl(new))


def test_what_is_only_created_is_added():
    assert effects(made("kafka_acl.a")) == [("added", "x", "kafka_acl.a:create")]


def test_what_two_resources_create_is_added_once():
    assert effects(made("kafka_acl.a"), made("kafka_acl.b")) == [
        ("added", "x", "kafka_acl.a:create; kafka_acl.b:create")
    ]
    assert "Merge kafka_acl.a, kafka_acl.b" in advice(made("kafka_acl.a"), made("kafka_acl.b"))


def test_what_is_only_deleted_is_removed():
    assert effects(gone("kafka_acl.a")) == [("removed", "x", "kafka_acl.a:delete")]


def test_what_is_kept_has_no_effect():
    assert effects(kept("kafka_acl.a")) == []


def test_a_forgotten_acl_stays():
    assert effects(resource("kafka_acl.a", "forget", acl("x"))) == []


@pytest.mark.parametrize("actions", ["create,forget", "forget,create"])
def test_a_forgotten_acl_that_is_created_again_stays(actions):
    assert effects(replaced("kafka_acl.a", actions=actions)) == []


def test_a_replacement_with_equal_fields_is_a_gap():
    assert effects(replaced("kafka_acl.a")) == [
        ("gap", "x", "kafka_acl.a:delete; kafka_acl.a:create")
    ]
    assert "Remove what forces the replacement" in advice(replaced("kafka_acl.a"))


def test_a_gap_stays_one_where_another_resource_holds_the_acl():
    found = effects(replaced("kafka_acl.a"), kept("kafka_acl.b"))
    assert [effect for effect, *_ in found] == ["gap"]


def test_a_replacement_with_other_fields_removes_one_and_adds_one():
    assert effects(replaced("kafka_acl.a", "x", "y")) == [
        ("added", "y", "kafka_acl.a:create"),
        ("removed", "x", "kafka_acl.a:delete"),
    ]


def test_create_before_destroy_with_equal_fields_removes_the_acl():
    one = replaced("kafka_acl.a", actions="create,delete")
    assert effects(one) == [
        ("removed-by-its-own-replacement", "x", "kafka_acl.a:create; kafka_acl.a:delete")
    ]
    assert "Remove create_before_destroy from kafka_acl.a" in advice(one)


def test_an_acl_that_another_resource_keeps_is_removed():
    both = gone("kafka_acl.a"), kept("kafka_acl.b")
    assert effects(*both) == [
        ("removed-though-kept-by-another", "x", "kafka_acl.a:delete; kafka_acl.b:no-op")
    ]
    assert advice(*both).endswith(": terraform state rm kafka_acl.a")


def test_a_command_in_an_advice_is_one_for_a_shell():
    both = gone('kafka_acl.a["it\'s; id"]'), kept("kafka_acl.b")
    command = advice(*both).partition("destroying it: ")[2]
    assert shlex.split(command) == ["terraform", "state", "rm", 'kafka_acl.a["it\'s; id"]']


def test_a_deposed_object_takes_the_acl_of_its_successor():
    old = resource("kafka_acl.a", "delete", acl("x"), deposed="1a2b")
    assert [effect for effect, *_ in effects(old, kept("kafka_acl.a"))] == [
        "removed-though-kept-by-another"
    ]
    assert "apply once more" in advice(old, kept("kafka_acl.a"))


def test_an_acl_that_another_resource_creates_has_no_order():
    both = gone('kafka_acl.a["old"]'), made('kafka_acl.a["new"]')
    assert effects(*both) == [
        ("undefined-order", "x", 'kafka_acl.a["old"]:delete; kafka_acl.a["new"]:create')
    ]
    assert 'a moved block from kafka_acl.a["old"] to kafka_acl.a["new"].' in advice(*both)


def test_a_shifted_count_has_no_order():
    shifted = (
        replaced("kafka_acl.a[0]", "x", "y"),
        replaced("kafka_acl.a[1]", "y", "z"),
        gone("kafka_acl.a[2]", "z"),
    )
    assert [(effect, name) for effect, name, _ in effects(*shifted)] == [
        ("removed", "x"),
        ("undefined-order", "y"),
        ("undefined-order", "z"),
    ]
    for effect in plan_effects(changes(*shifted))[1:]:
        assert "Use for_each" in effect.advice
        assert "moved block from" not in effect.advice


def test_two_resources_of_other_types_cannot_be_moved():
    found = changes(gone("kafka_acl.a"))
    other = changes(made("module.m.kafka_acl.a"))
    assert (
        "moved block from kafka_acl.a to module.m.kafka_acl.a"
        in plan_effects([*found, *other])[0].advice
    )


def test_a_third_resource_does_not_make_an_order():
    found = effects(gone("kafka_acl.a"), made("kafka_acl.b"), kept("kafka_acl.c"))
    assert [effect for effect, *_ in found] == ["undefined-order"]


def test_a_created_acl_that_another_keeps_has_no_effect():
    assert effects(made("kafka_acl.a"), kept("kafka_acl.b")) == []


def test_effects_name_each_address_once():
    [effect] = plan_effects(changes(replaced("kafka_acl.a")))
    assert effect.addresses == ("kafka_acl.a",)


def test_a_field_that_one_resource_marks_as_sensitive_is():
    hidden = resource(
        "kafka_acl.b", "create", None, acl("x"), after_sensitive={"acl_principal": True}
    )
    [effect] = plan_effects(changes(gone("kafka_acl.a"), hidden))
    assert effect.acl.sensitive == {"principal"}


def names(bindings):
    return sorted(binding[1] for binding in bindings)


def test_what_a_plan_can_lose_is_absent_after_it():
    found = changes(
        replaced("kafka_acl.a", "a", "a"),
        replaced("kafka_acl.b", "b", "b2"),
        replaced("kafka_acl.c", "c", "c", actions="create,delete"),
        replaced("kafka_acl.d", "d", "d2", actions="create,delete"),
        gone("kafka_acl.e", "e"),
        made("kafka_acl.f", "e"),
        gone("kafka_acl.g", "g"),
    )
    assert names(absent_after(plan_effects(found))) == ["b", "c", "d", "e", "g"]
