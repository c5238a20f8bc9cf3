"""A first GLOB: what is published now, against what the next run will publish."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from aclkit.model.acl import Request
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.questions.difference.compared import preview
from aclkit.questions.difference.globs import to_next_run
from aclkit.questions.state import Inventory, State
from aclkit.rules.decide.rules import decide
from aclkit.rules.names.domain import TOPICS
from aclkit.rules.names.question import Question
from tests.factories import acl

GLOB = acl("a?", pattern_type="GLOB", principal="User:x", acl_id="glob")
PRINCIPALS = ("User:x", "User:xy", "User:x*", "User:z")
HOSTS = ("10.0.0.1", "10.0.0.9")
NAMES = ("a", "ab", "abc", "a?", "b")
INVENTORY = Inventory(
    principals=PRINCIPALS,
    hosts=HOSTS,
    resources=tuple(Resource("TOPIC", name) for name in NAMES[:3]),
)


def state(acls, semantics=KAFKA, after_glob=None, **settings):
    numbered = {one.acl_id or f"id-{at}": one for at, one in enumerate(acls)}
    return State(
        acls={name: replace(one, acl_id=name) for name, one in numbered.items()},
        settings=BrokerSettings(super_users=frozenset(), **settings),
        semantics=semantics,
        after_glob=after_glob,
    )


def drawn(chance):
    return acl(
        chance.choice(["a", "ab", "a?", "*"]),
        pattern_type=chance.choice(["LITERAL", "PREFIXED"]),
        principal=chance.choice(["User:x", "User:x*", "User:*", "User:z"]),
        host=chance.choice(["*", "10.0.0.1", "10.0.*"]),
        operation=chance.choice(["READ", "ALL"]),
        permission_type=chance.choice(["ALLOW", "ALLOW", "DENY"]),
    )


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("own", [{}, {"cidr_hosts": True}])
def test_the_preview_is_the_difference_of_both_readings_for_names_known_and_future(is_open, own):
    first, second = replace(KAFKA, **own), replace(KIP_1042, **own)
    for seed in range(25):
        chance = random.Random(seed)
        some = [drawn(chance) for _ in range(chance.randint(0, 4))]
        before = state(some, first, second, allow_everyone=is_open)
        after = state([*some, GLOB], allow_everyone=is_open)
        found = preview(to_next_run(before, after), INVENTORY)

        def at(request, then, how):
            return decide(then.acls.values(), request, then.settings, how).decision

        def kind_of(request, before=before, after=after, at=at):
            then, now = at(request, before, first), at(request, after, second)
            return None if then == now else "gained" if now == "ALLOWED" else "lost"

        told = {
            (kind, cell.principal, cell.host, cell.operation, cell.resource_name)
            for kind in ("gained", "lost")
            for cell in found.effect.cells(kind)
        }
        for principal in PRINCIPALS:
            for name in NAMES[:3]:
                for host in HOSTS:
                    request = Request.of(principal, host, "READ", Resource("TOPIC", name))
                    wanted = kind_of(request)
                    said = {k for k, *cell in told if cell == [principal, host, "READ", name]}
                    assert said == ({wanted} if wanted else set()), (seed, request)
        for change in found.comparison.difference.changes:
            if change.cell.resource_type == "TOPIC":
                question = Question(change.asked.groups[: change.aim.size], TOPICS)
                for name in filter(TOPICS.holds, NAMES):
                    is_told = change.aim.class_of(question.flags_of(name)) == change.kind
                    assert is_told == (kind_of(change.cell.about(name)) == change.kind), seed


def test_what_comes_of_the_reading_and_what_of_the_acl_are_told_apart():
    wide = acl("a", principal="User:x*")
    before, after = state([wide], KAFKA, KIP_1042), state([wide, GLOB])
    reading, acls = preview(to_next_run(before, after), INVENTORY).parts
    assert reading.change.affected == []
    assert {cell.principal for cell in reading.effect.cells("gained")} == {"User:x", "User:xy"}
    assert [one.acl_id for one in acls.change.affected] == ["glob"]
    assert {cell.resource_name for cell in acls.effect.cells("gained")} == {"ab"}


def test_a_preset_that_was_asked_for_stays():
    change = to_next_run(state([], KAFKA, KAFKA), state([GLOB]))
    assert change.readings == (KAFKA, KAFKA)
    assert preview(change, INVENTORY).parts is None
