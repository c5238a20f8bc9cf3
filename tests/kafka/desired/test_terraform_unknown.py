"""What a plan does not tell in clear: values known after apply, secrets, and clusters."""

from __future__ import annotations

import json

import pytest

from aclkit.kafka.desired.plan_effect import plan_effects
from aclkit.kafka.desired.terraform_plan import read_plan
from tests.kafka.desired.terraform_files import acl, confluent_acl, document, plan, resource


def read(*resources, **more):
    return read_plan(document(plan(*resources, **more)))


def problems(*resources, **more):
    return [str(problem) for problem in read(*resources, **more).problems]


# Unknown after apply


def account(name="app", actions="create", index=None, module=""):
    key = "" if index is None else f"[{json.dumps(index)}]"
    prefix = f"{module}." if module else ""
    return resource(
        f"{prefix}confluent_service_account.{name}{key}",
        actions,
        None if actions == "create" else {},
        {},
        kind="confluent_service_account",
        index=index,
        module_address=module or None,
    )


def unknown(address="confluent_kafka_acl.a", field="principal", index=None, module=""):
    after = {name: value for name, value in confluent_acl().items() if name != field}
    return resource(
        address,
        "create",
        None,
        after,
        kind="confluent_kafka_acl",
        after_unknown={field: True, "id": True, "kafka_cluster": [{}]},
        index=index,
        module_address=module or None,
    )


def block(*references, name="a", field="principal", **more):
    """Return the block of a resource in a configuration."""
    return {
        "address": f"confluent_kafka_acl.{name}",
        "mode": "managed",
        "type": "confluent_kafka_acl",
        "name": name,
        "provider_config_key": "confluent",
        "expressions": {field: {"references": list(references)}},
        **more,
    }


def configured(*blocks, **more):
    return {"root_module": {"resources": list(blocks), **more}}


APP = ("confluent_service_account.app.id", "confluent_service_account.app")


def test_a_principal_that_the_plan_creates_is_fresh():
    part = read(account(), unknown(), configuration=configured(block(*APP)))
    [found] = part.acls
    assert part.problems == []
    assert found.is_fresh
    assert found.acl.principal == "User:<known after apply: confluent_service_account.app>"


def test_a_principal_that_the_plan_replaces_is_fresh():
    part = read(account(actions="delete,create"), unknown(), configuration=configured(block(*APP)))
    assert [each.is_fresh for each in part.acls] == [True]


def test_a_principal_of_mongeys_is_fresh_too():
    after = {name: value for name, value in acl().items() if name != "acl_principal"}
    made = resource("kafka_acl.a", "create", None, after, after_unknown={"acl_principal": True})
    config = {
        "root_module": {
            "resources": [
                {
                    "type": "kafka_acl",
                    "name": "a",
                    "mode": "managed",
                    "expressions": {"acl_principal": {"references": list(APP)}},
                }
            ]
        }
    }
    [found] = read(account(), made, configuration=config).acls
    assert found.is_fresh


@pytest.mark.parametrize("actions", ["no-op", "update", "delete", "forget"])
def test_a_principal_of_what_the_plan_does_not_create_is_refused(actions):
    [problem] = problems(account(actions=actions), unknown(), configuration=configured(block(*APP)))
    assert problem.startswith("plan.json: confluent_kafka_acl.a: principal is known after apply ")
    assert "-target" in problem


@pytest.mark.parametrize(
    "references", [(), ("local.names",), ("data.x.app.id", "data.x.app"), ("var.name",)]
)
def test_a_principal_that_nothing_created_makes_is_refused(references):
    found = problems(account(), unknown(), configuration=configured(block(*references)))
    assert len(found) == 1
    assert "principal is known after apply only" in found[0]


@pytest.mark.parametrize("field", ["host", "resource_name", "operation", "permission"])
def test_another_unknown_field_is_refused_with_address_and_field(field):
    found = problems(
        account(), unknown(field=field), configuration=configured(block(*APP, field=field))
    )
    assert len(found) == 1
    assert found[0].startswith(f"plan.json: confluent_kafka_acl.a: {field} is known after apply")


def test_unknown_attributes_that_are_no_fields_do_not_matter():
    made = resource("kafka_acl.a", "create", None, acl(), after_unknown={"id": True, "x": [{}]})
    assert problems(made) == []


def test_a_resource_that_is_wholly_unknown_is_refused():
    assert len(problems(resource("kafka_acl.a", "create", None, {}, after_unknown=True))) == 7


def test_the_key_of_the_acl_names_the_principal():
    part = read(
        *(account(index=key) for key in "xy"),
        *(unknown(f'confluent_kafka_acl.a["{key}"]', index=key) for key in "xy"),
        configuration=configured(block("confluent_service_account.app", "each.key")),
    )
    assert [each.acl.principal for each in part.acls] == [
        f'User:<known after apply: confluent_service_account.app["{key}"]>' for key in "xy"
    ]


def test_the_value_of_for_each_names_the_principal():
    part = read(
        *(account(index=key) for key in "xy"),
        *(unknown(f'confluent_kafka_acl.a["{key}"]', index=key) for key in "xy"),
        configuration=configured(
            block(
                "each.value.id",
                "each.value",
                for_each_expression={"references": ["confluent_service_account.app"]},
            )
        ),
    )
    assert [each.acl.principal for each in part.acls] == [
        f'User:<known after apply: confluent_service_account.app["{key}"]>' for key in "xy"
    ]


def test_a_count_names_the_principal():
    part = read(
        *(account(index=key) for key in (0, 1)),
        unknown("confluent_kafka_acl.a[1]", index=1),
        configuration=configured(block("confluent_service_account.app", "count.index")),
    )
    [found] = part.acls
    assert found.acl.principal == "User:<known after apply: confluent_service_account.app[1]>"


def test_a_written_key_names_the_principal():
    text = 'confluent_service_account.app["y"]'
    part = read(
        *(account(index=key) for key in "xy"),
        unknown(),
        configuration=configured(block(f"{text}.id", text, "confluent_service_account.app")),
    )
    assert part.acls[0].acl.principal == f"User:<known after apply: {text}>"


def test_two_principals_that_can_be_several_are_not_taken_for_one():
    part = read(
        *(account(index=key) for key in "xy"),
        *(unknown(f"confluent_kafka_acl.{name}") for name in "ab"),
        configuration=configured(
            *(block("confluent_service_account.app", "local.which", name=name) for name in "ab")
        ),
    )
    assert [each.acl.principal for each in part.acls] == [
        f"User:<known after apply: confluent_kafka_acl.{name}>" for name in "ab"
    ]


def test_a_variable_of_a_module_is_followed():
    module = {
        "expressions": {"who": {"references": list(APP)}},
        "module": {"resources": [block("var.who")]},
    }
    part = read(
        account(),
        unknown("module.team.confluent_kafka_acl.a", module="module.team"),
        configuration=configured(module_calls={"team": module}),
    )
    assert part.problems == []
    assert part.acls[0].acl.principal == "User:<known after apply: confluent_service_account.app>"


def test_the_key_of_a_module_names_the_principal():
    module = {
        "expressions": {"who": {"references": ["confluent_service_account.app", "each.key"]}},
        "module": {"resources": [block("var.who")]},
    }
    part = read(
        *(account(index=key) for key in "xy"),
        unknown('module.team["y"].confluent_kafka_acl.a', module='module.team["y"]'),
        configuration=configured(module_calls={"team": module}),
    )
    assert part.acls[0].acl.principal.endswith('confluent_service_account.app["y"]>')


def test_an_output_of_a_module_is_followed():
    output = {"id": {"expression": {"references": list(APP)}}}
    part = read(
        account(module='module.sa["x"]'),
        account(module='module.sa["y"]'),
        unknown(),
        configuration=configured(
            block('module.sa["y"].id', 'module.sa["y"]', "module.sa"),
            module_calls={"sa": {"module": {"outputs": output}}},
        ),
    )
    assert part.problems == []
    assert part.acls[0].acl.principal.endswith('module.sa["y"].confluent_service_account.app>')


def test_references_in_a_circle_end():
    output = {"id": {"expression": {"references": ["var.x"]}}}
    module = {
        "expressions": {"x": {"references": ["module.sa.id"]}},
        "module": {"outputs": output},
    }
    found = problems(
        account(module="module.sa"),
        unknown(),
        configuration=configured(block("module.sa.id"), module_calls={"sa": module}),
    )
    assert len(found) == 1


# Secrets


def test_a_sensitive_field_is_marked():
    made = resource("kafka_acl.a", "create", None, acl(), after_sensitive={"acl_principal": True})
    [found] = read(made).acls
    assert found.sensitive == {"principal"}
    assert found.acl.principal == "User:ann"


def test_a_field_that_was_sensitive_is_marked_in_what_is_deleted():
    made = resource("kafka_acl.a", "delete", acl(), before_sensitive={"acl_host": True})
    [change] = read(made).changes
    assert change.deletes is not None
    assert change.deletes.sensitive == {"host"}


def test_a_wholly_sensitive_resource_has_only_sensitive_fields():
    [found] = read(resource("kafka_acl.a", "create", None, acl(), after_sensitive=True)).acls
    assert len(found.sensitive) == 7


@pytest.mark.parametrize(
    "changed", [{"acl_principal": "hunter2"}, {"acl_operation": "hunter2"}, {"acl_host": ""}]
)
def test_a_problem_quotes_no_sensitive_value(changed):
    marked = dict.fromkeys(changed, True)
    found = problems(
        resource("kafka_acl.a", "create", None, acl() | changed, after_sensitive=marked)
    )
    assert len(found) == 1
    assert "hunter2" not in found[0]
    assert "sensitive" in found[0]


def test_problems_hold_nothing_of_other_attributes():
    bad = resource(
        "kafka_acl.a", "create", None, acl(acl_operation="Any") | {"password": "hunter2"}
    )
    found = problems(bad, variables={"secret": {"value": "hunter2"}})
    assert "hunter2" not in "".join(found)


# Clusters


def aliased(**keys):
    """Return a configuration whose resources use these providers."""
    return {
        "root_module": {
            "resources": [
                {"type": "kafka_acl", "name": name, "mode": "managed", "provider_config_key": key}
                for name, key in keys.items()
            ]
        }
    }


def test_an_alias_of_the_provider_names_the_cluster():
    part = read(
        resource("kafka_acl.a", "create", None, acl()),
        resource("kafka_acl.b", "create", None, acl()),
        configuration=aliased(a="kafka", b="kafka.second"),
    )
    assert [each.cluster for each in part.acls] == ["kafka", "kafka.second"]
    assert [each.cluster for each in part.changes] == ["kafka", "kafka.second"]
    assert [each.effect for each in plan_effects(part.changes)] == ["added", "added"]


def test_a_provider_without_alias_names_no_cluster():
    part = read(resource("kafka_acl.a", "create", None, acl()), configuration=aliased(a="kafka"))
    assert [each.cluster for each in part.acls] == [None]


def test_the_inherited_provider_of_a_module_is_the_one_of_the_root():
    inner = aliased(a="module.m:kafka")["root_module"]
    config = aliased(b="kafka")
    config["provider_config"] = {"kafka": {"name": "kafka"}}
    config["root_module"]["module_calls"] = {"m": {"module": inner}}
    part = read(
        resource("kafka_acl.b", "create", None, acl()),
        resource("module.m.kafka_acl.a", "create", None, acl(), module_address="module.m"),
        configuration=config,
    )
    assert {each.cluster for each in part.acls} == {None}


def test_an_acl_that_moves_to_another_cluster_is_two_changes():
    made = resource(
        "confluent_kafka_acl.a",
        "create,delete",
        confluent_acl(cluster="lkc-1"),
        confluent_acl(cluster="lkc-2"),
        kind="confluent_kafka_acl",
    )
    part = read(made)
    assert [each.cluster for each in part.changes] == ["lkc-1", "lkc-2"]
    assert [(each.effect, each.acl.cluster) for each in plan_effects(part.changes)] == [
        ("added", "lkc-2"),
        ("removed", "lkc-1"),
    ]


def test_a_cluster_that_the_plan_creates_is_named_by_its_address():
    made = resource(
        "confluent_kafka_acl.a",
        "create",
        None,
        confluent_acl() | {"kafka_cluster": [{}]},
        kind="confluent_kafka_acl",
        after_unknown={"kafka_cluster": [{"id": True}]},
    )
    cluster = resource(
        "confluent_kafka_cluster.c", "create", None, {}, kind="confluent_kafka_cluster"
    )
    config = configured(
        block() | {"expressions": {"kafka_cluster": [{"id": {"references": [
            "confluent_kafka_cluster.c.id", "confluent_kafka_cluster.c"]}}]}}
    )  # fmt: skip
    [found] = read(cluster, made, configuration=config).acls
    assert found.cluster == "<known after apply: confluent_kafka_cluster.c>"


def test_a_resource_that_left_the_configuration_is_of_the_only_cluster():
    part = read(
        resource("kafka_acl.old", "delete", acl()),
        resource("kafka_acl.a", "create", None, acl()),
        configuration=aliased(a="kafka"),
    )
    assert {each.cluster for each in part.changes} == {None}
    assert [each.effect for each in plan_effects(part.changes)] == ["undefined-order"]


def test_a_resource_that_left_the_configuration_counts_for_each_of_several_clusters():
    part = read(
        resource("kafka_acl.old", "delete", acl()),
        resource("kafka_acl.a", "create", None, acl()),
        resource("kafka_acl.b", "no-op", acl(), acl()),
        configuration=aliased(a="kafka", b="kafka.second"),
    )
    assert [(each.effect, each.acl.cluster) for each in plan_effects(part.changes)] == [
        ("removed-though-kept-by-another", "kafka.second"),
        ("undefined-order", "kafka"),
    ]
    assert "kafka_acl.old" in part.notes[0]
    assert "each cluster counts" in part.notes[0]


def test_two_providers_in_one_plan_are_two_clusters():
    config = aliased(a="kafka")
    config["root_module"]["resources"].append(block(name="b"))
    part = read(
        resource("kafka_acl.a", "create", None, acl()),
        resource(
            "confluent_kafka_acl.b", "create", None, confluent_acl(), kind="confluent_kafka_acl"
        ),
        configuration=config,
    )
    assert [each.cluster for each in part.acls] == ["kafka", "lkc-1"]
