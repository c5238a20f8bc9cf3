"""Effects of plans against a simulator that plays every order of their operations."""

from __future__ import annotations

import json
import random
from itertools import count

import pytest

from aclkit.kafka.desired.plan_effect import absent_after, plan_effects
from aclkit.kafka.desired.terraform_plan import read_plan
from tests.kafka.desired.terraform_files import (
    acl,
    document,
    handed,
    plan,
    resource,
    row,
    rows,
)
from tests.kafka.desired.terraform_simulator import acl_of, before, judge, play, sequences

PLANS = 200
MOST_RESOURCES = 7


class Generator:
    """Makes plans of the moves that people make; few names, so that moves meet."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.numbers = count()
        self.made_by = {}
        self.config = []

    def plan(self):
        moves = (
            self.rename, self.shift, self.merge, self.replace, self.alias, self.unknown,
            self.keep, self.forget, self.create, self.delete,
        )  # fmt: skip
        made = [each for _ in range(4) for each in self.chance.choice(moves)()][:MOST_RESOURCES]
        accounts = [self.account(source) for source in sorted(set(self.made_by.values()))]
        self.chance.shuffle(made)
        return plan(*accounts, *made, configuration={"root_module": {"resources": self.config}})

    def acl(self):
        return acl(
            self.chance.choice(["x", "y", "z"]),
            permission=self.chance.choice(["Allow", "Allow", "Deny"]),
        )

    def address(self, *, is_gone=False):
        """Return a new address; what is gone often left the configuration too."""
        name = f"r{next(self.numbers)}"
        if not is_gone or self.chance.random() < 0.4:
            self.block(name, "kafka")
        return f"kafka_acl.{name}"

    def block(self, name, key, **expressions):
        self.config.append(
            {
                "type": "kafka_acl",
                "name": name,
                "mode": "managed",
                "provider_config_key": key,
                "expressions": expressions,
            }
        )

    def account(self, address):
        kind = address.partition(".")[0]
        return resource(address, "create", None, {}, kind=kind)

    def create(self):
        return [resource(self.address(), "create", None, self.acl())]

    def delete(self):
        return [resource(self.address(is_gone=True), "delete", self.acl())]

    def keep(self):
        one = self.acl()
        actions = self.chance.choice(["no-op", "update"])
        return [resource(self.address(), actions, one, one)]

    def forget(self):
        one, other = self.acl(), self.acl()
        if self.chance.random() < 0.5:
            return [resource(self.address(is_gone=True), "forget", one)]
        actions = self.chance.choice(["create,forget", "forget,create"])
        return [resource(self.address(), actions, one, other)]

    def rename(self):
        one = self.acl()
        return [
            resource(self.address(is_gone=True), "delete", one),
            resource(self.address(), "create", None, one),
        ]

    def shift(self):
        name = self.address()
        held = [self.acl() for _ in range(self.chance.randrange(2, 4))]
        actions = self.chance.choice(["delete,create", "create,delete"])
        moved = [
            resource(f"{name}[{at}]", actions, held[at], held[at + 1], index=at)
            for at in range(len(held) - 1)
        ]
        return [*moved, resource(f"{name}[{len(held) - 1}]", "delete", held[-1])]

    def merge(self):
        one = self.acl()
        return [
            resource(self.address(is_gone=True), "delete", one),
            resource(self.address(), "no-op", one, one),
        ]

    def replace(self):
        one = self.acl()
        other = self.chance.choice([one, self.acl()])
        actions = self.chance.choice(["delete,create", "create,delete"])
        return [resource(self.address(), actions, one, other)]

    def alias(self):
        name = f"r{next(self.numbers)}"
        self.block(name, "kafka.second")
        one = self.acl()
        actions = self.chance.choice(["create", "delete", "no-op", "delete,create"])
        return [
            resource(
                f"kafka_acl.{name}",
                actions,
                None if actions == "create" else one,
                None if actions == "delete" else one,
            )
        ]

    def unknown(self):
        name = f"r{next(self.numbers)}"
        source = f"account.{self.chance.choice('ab')}"
        self.block(name, "kafka", acl_principal={"references": [f"{source}.id", source]})
        after = {key: value for key, value in self.acl().items() if key != "acl_principal"}
        self.made_by[f"kafka_acl.{name}"] = source
        marks = {"acl_principal": True, "id": True}
        return [resource(f"kafka_acl.{name}", "create", None, after, after_unknown=marks)]


def of_cluster(made, generator, key):
    """Return the part of a plan that is for one cluster, by the generator's own word.

    What left the configuration is for each cluster.
    """
    others = {each["name"] for each in generator.config if each["provider_config_key"] != key}
    kept = [
        each
        for each in made["resource_changes"]
        if each["type"] == "kafka_acl" and each["name"] not in others
    ]
    return {"resource_changes": kept}


def check(changes, steps, initial):
    """Insist that effects are those of the simulator, and the worst moments too."""
    wanted, outcomes = judge(steps, initial)
    effects = plan_effects(changes)
    found = {row(each.acl): each.effect for each in effects}
    assert len(found) == len(effects)
    assert found.keys() == wanted.keys()
    for each, effect in found.items():
        assert effect in wanted[each], each
    lost = {each for each in initial if any(each not in final for final in outcomes.finals)}
    by_binding = {each.acl.binding: row(each.acl) for each in effects}
    after = {by_binding[each] for each in absent_after(effects)}
    assert after == lost
    replaced = {
        by_binding[each.deletes.binding]
        for each in changes
        if each.deletes and each.creates and not each.is_create_first
    }
    assert replaced | after == outcomes.ever_absent & initial


@pytest.mark.parametrize("seed", range(PLANS))
def test_a_random_plan_has_the_effects_of_its_worst_order(seed):
    generator = Generator(seed)
    made = generator.plan()
    part = read_plan(document(made))
    assert part.problems == []
    clusters = {each.cluster for each in part.changes}
    for key in ("kafka", "kafka.second"):
        own = of_cluster(made, generator, key)
        if key not in clusters and (key == "kafka.second" or clusters != {None}):
            continue
        changes = [each for each in part.changes if each.cluster in (key, None)]
        assert len(changes) == len(own["resource_changes"])
        check(changes, sequences(own, generator.made_by), before(own))


def test_random_plans_have_each_effect():
    effects = {
        effect.effect
        for seed in range(PLANS)
        for effect in plan_effects(read_plan(document(Generator(seed).plan())).changes)
    }
    assert len(effects) == 6


# Plans in the shape of 2-plan.json, against the listing of its broker


def listed(name):
    return frozenset(rows(name))


def handed_plan():
    return json.loads(handed("2-plan.json").text)


def test_the_handed_plan_ends_as_the_broker_listed_it():
    made = handed_plan()
    outcomes = play(sequences(made), listed("1-after.tsv"))
    assert outcomes.finals == {listed("2-after.tsv")}


DENY = 'kafka_acl.all["nobody deletes"]'
READS = 'kafka_acl.all["mill reads grain"]'


def changed(made, address, actions):
    """Give a resource of the handed plan other actions, with the same ACL."""
    [one] = [each for each in made["resource_changes"] if each["address"] == address]
    one["change"]["actions"] = actions
    if actions == ["delete"]:
        one["change"]["after"] = None
    return acl_of(one["change"]["before"])


def second(made, address, actions):
    """Add a resource with the ACL of another one."""
    [one] = [each for each in made["resource_changes"] if each["address"] == address]
    values = one["change"]["before"]
    held = None if actions == ["create"] else values
    copy = json.loads(json.dumps(one)) | {"address": "kafka_acl.second", "name": "second"}
    copy.pop("index")
    copy["change"] |= {"actions": actions, "before": held, "after": values}
    made["resource_changes"].append(copy)


@pytest.mark.parametrize("address", [DENY, READS])
@pytest.mark.parametrize(
    ("effect", "actions", "other"),
    [
        ("gap", ["delete", "create"], None),
        ("removed-by-its-own-replacement", ["create", "delete"], None),
        ("removed-though-kept-by-another", ["delete"], ["no-op"]),
        ("undefined-order", ["delete"], ["create"]),
    ],
)
def test_each_way_to_lose_access_is_seen(address, effect, actions, other):
    made = handed_plan()
    if other is not None:
        second(made, address, other)
    lost = changed(made, address, actions)
    part = read_plan(document(made))
    assert part.problems == []
    found = {row(each.acl): each for each in plan_effects(part.changes)}
    assert found[lost].effect == effect
    assert found[lost].advice
    check(part.changes, sequences(made), listed("1-after.tsv"))
    finals = play(sequences(made), listed("1-after.tsv")).finals
    assert any(lost not in final for final in finals) == (effect != "gap")
