"""Access on the way, against every order of a plan's operations, played one by one.

The oracle has a rule of its own, knows nothing of cells or patterns as letters, and asks about a
few names from a few hosts. ``ACLKIT_FUZZ=N`` has it look at N times as many plans.
"""

from __future__ import annotations

import itertools
import os
import random
from dataclasses import replace
from typing import NamedTuple

import pytest

from aclkit.kafka.desired.model import DesiredAcl, Part, Place, ResourceChange
from aclkit.kafka.desired.read import Desired
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import preview
from aclkit.questions.difference.verdict import FAIL_ON, Demands, judge, kinds_of
from aclkit.questions.preview.desired import apply_desired
from aclkit.questions.state import State, names_in
from aclkit.rules.names import moments, orders
from aclkit.rules.names.domain import TOPICS
from aclkit.rules.names.moments import Doing, find_moments, nearest_end
from aclkit.rules.names.question import Budget, Question
from aclkit.rules.names.rows import Rules
from tests.factories import acl

pytestmark = pytest.mark.timeout(0 if os.environ.get("ACLKIT_FUZZ") else 300)

PLANS = 8 * int(os.environ.get("ACLKIT_FUZZ", "1"))
NAMES = [
    *("".join(each) for k in (1, 2, 3) for each in itertools.product("ab", repeat=k)),
    # What begins as an ACL's name does and goes on with a letter that none has.
    *("".join((*each, "c")) for k in (0, 1, 2) for each in itertools.product("ab", repeat=k)),
]
PRINCIPALS = ("User:x", "User:y", "User:z")
HOSTS = ("10.0.0.1", "10.0.0.2", "10.0.0.9")
OPERATIONS = ("READ", "WRITE", "DESCRIBE", "DELETE")
REQUESTS = [*itertools.product(PRINCIPALS, HOSTS, OPERATIONS, NAMES)]


def allows(acls, request, *, is_open):
    principal, host, operation, name = request
    reaching = [
        one
        for one in acls
        if (name.startswith(one.resource_name) and one.pattern_type == "PREFIXED")
        or (one.pattern_type == "LITERAL" and one.resource_name in ("*", name))
    ]
    mine = [
        one
        for one in reaching
        if one.principal in ("User:*", principal) and one.host in ("*", host)
    ]
    denied = any(one.permission_type == "DENY" and one.operation in ("ALL", operation)
                 for one in mine)  # fmt: skip
    implied = ("READ", "WRITE") if operation == "DESCRIBE" else ()
    given = any(one.permission_type == "ALLOW" and one.operation in ("ALL", operation, *implied)
                for one in mine)  # fmt: skip
    return not denied and (given or (is_open and not reaching))


class Becomes(NamedTuple):
    """What becomes of a request: before, at the end that is shown, at all ends, and on the way."""

    before: bool
    meant: bool
    ends: set
    is_passing: bool


class World:
    """A few ACLs, and workers that change some: each a list of (is a creation, the ACL)."""

    def __init__(self, seed, *, has_doubt, is_joined=False):
        self.chance = random.Random(seed)
        self.is_open = self.chance.random() < 0.5
        some = [self.acl() for _ in range(self.chance.randint(0, 5))]
        self.before = {one.binding: one for one in some}
        self.workers = [self.worker() for _ in range(self.chance.randint(1, 3))]
        self.sure = [not (has_doubt and self.chance.random() < 0.4) for _ in self.workers]
        self.is_joined = is_joined
        self.known = {}
        self.ways = [*self.play()]
        self.meant = self.chance.choice(self.ways)[-1]

    def acl(self):
        kind = self.chance.choice(["LITERAL", "PREFIXED"])
        names = ["a", "b", "ab", "aa", *(["*"] if kind == "LITERAL" else [])]
        return acl(
            self.chance.choice(names),
            pattern_type=kind,
            principal=self.chance.choice(["User:x", "User:x", "User:y", "User:*"]),
            host=self.chance.choice(["*", "*", *HOSTS[:2]]),
            operation=self.chance.choice(["READ", "WRITE", "ALL", "DESCRIBE"]),
            permission_type=self.chance.choice(["ALLOW", "ALLOW", "ALLOW", "DENY"]),
        )

    def worker(self):
        held = [*self.before.values()]
        old = self.chance.choice(held) if held and self.chance.random() < 0.9 else self.acl()
        new = self.chance.choice([old, self.acl(), self.acl()])
        steps = [(False, old), (True, new)]
        return self.chance.choice([steps, steps, steps[::-1], steps[:1], steps[1:]])

    def play(self):
        """Yield each way: the ACLs that are there at its moments; the last one is its end."""
        for done in itertools.product(*((True,) if sure else (True, False) for sure in self.sure)):
            doubtful = {is_done for is_done, sure in zip(done, self.sure, strict=True) if not sure}
            if self.is_joined and len(doubtful) > 1:
                continue
            turns = [n for n, steps in enumerate(self.workers) if done[n] for _ in steps]
            for order in set(itertools.permutations(turns)):
                there, moments = dict(self.before), [frozenset(self.before.values())]
                left = [iter(steps) for steps in self.workers]
                for number in order:
                    is_creation, one = next(left[number])
                    if is_creation:
                        there.setdefault(one.binding, one)
                    else:
                        there.pop(one.binding, None)
                    moments.append(frozenset(there.values()))
                yield moments

    def becomes(self, request):
        """Return what becomes of a request: before, at the ends, and whether it passes."""

        def at(there):
            key = there, request
            if key not in self.known:
                self.known[key] = allows(there, request, is_open=self.is_open)
            return self.known[key]

        before = at(frozenset(self.before.values()))
        ends = {at(moments[-1]) for moments in self.ways}
        is_passing = any(
            at(moments[-1]) is before and any(at(each) is not before for each in moments)
            for moments in self.ways
        )
        return Becomes(before, at(self.meant), ends | {before}, is_passing)

    @property
    def settings(self):
        return BrokerSettings(super_users=frozenset(), allow_everyone=self.is_open)

    def numbered(self, acls):
        return [replace(one, acl_id=f"id-{number}") for number, one in enumerate(acls)]


KINDS = {True: "lost", False: "gained"}


def agree(difference, world, is_so):
    """Insist that a difference has the requests of which something is so, and no others."""
    found = {"lost": set(), "gained": set()}
    for change in difference.changes:
        question, cell = Question(change.asked.groups, TOPICS), change.cell
        for name in NAMES:
            request = (cell.principal.name, cell.host.name, cell.operation, name)
            is_told = change.aim.class_of(question.flags_of(name)) == change.kind
            becomes = world.becomes(request)
            assert is_told == (KINDS[becomes.before] == change.kind and is_so(becomes)), request
            if is_told:
                found[change.kind].add((cell, name))
    for request in REQUESTS:
        becomes = world.becomes(request)
        if is_so(becomes):
            assert any(holds(cell, name, request) for cell, name in found[KINDS[becomes.before]]), (
                request
            )


def holds(cell, name, request):
    principal, host, operation, asked = request
    return (
        (name, cell.operation) == (asked, operation)
        and (not cell.principal.is_single or cell.principal.name == principal)
        and (not cell.host.is_single or cell.host.name == host)
    )


@pytest.mark.parametrize(("has_doubt", "is_joined"), [(False, False), (True, False), (True, True)])
def test_what_is_otherwise_on_the_way_is_what_some_order_has(has_doubt, is_joined):
    for seed in range(PLANS):
        world = World(seed, has_doubt=has_doubt, is_joined=is_joined)
        before, after = (
            Rules(acls=world.numbered(acls), settings=world.settings, semantics=KAFKA)
            for acls in (world.before.values(), world.meant)
        )
        doings = [
            Doing(tuple(steps), sure, "x" if is_joined and not sure else "")
            for steps, sure in zip(world.workers, world.sure, strict=True)
        ]
        found = find_moments(before, after, doings, Budget())
        assert found.passing.is_known
        assert found.ends.is_known
        agree(found.passing, world, lambda it: it.is_passing)
        agree(found.ends, world, lambda it: it.meant is it.before and len(it.ends) == 2)


# Plans, from the change of their resources to the verdict


def resource(number, steps):
    place = Place("plan.json", address=f"kafka_acl.r{number}")
    old, new = (
        next((DesiredAcl(one, place) for is_new, one in steps if is_new is kind), None)
        for kind in (False, True)
    )
    return ResourceChange(
        place=place,
        actions=("x",),
        deletes=old,
        creates=new,
        is_create_first=len(steps) == 2 and steps[0][0],
    )


def judged(world):
    """Return under which ``--fail-on`` the plan of a world fails, and the verdict without one."""
    acls = {one.acl_id: one for one in world.numbered(world.before.values())}
    before = State(acls=acls, settings=world.settings)
    changes = [resource(number, steps) for number, steps in enumerate(world.workers)]
    plan = Part(document="plan.json", form="terraform-plan", reach="change", changes=changes)
    applied = apply_desired(Desired([plan], []), before)
    change = Change(before=before, after=replace(applied.after, applied=applied))
    names = names_in([*acls.values(), *applied.after.acls.values()], KAFKA)
    compared = preview(change, names, Budget())
    assert compared.is_all_known
    failed = {
        each for each in FAIL_ON if judge(compared, Demands(kinds=kinds_of(each))).name == "fail"
    }
    return failed, judge(compared).name


def test_the_verdict_on_a_plan_is_that_of_all_its_orders():
    for seed in range(PLANS):
        world = World(seed, has_doubt=False)
        found = [world.becomes(request) for request in REQUESTS]
        wanted = {
            "lost": any(it.before and False in it.ends for it in found),
            "gap": any(it.is_passing for it in found),
            "gained": any(not it.before and True in it.ends for it in found),
        }
        wanted["any"] = any(wanted.values())
        denied, verdict = judged(world)
        assert denied == {kind for kind, is_so in wanted.items() if is_so}, seed
        assert verdict == ("needs approval" if wanted["any"] else "pass"), seed


# Single rules


def test_the_shown_end_of_an_undefined_order_is_one_that_an_order_has():
    one, other = acl("a", principal="User:x"), acl("a", principal="User:x", operation="ALL")
    swap = [Doing(((False, one), (True, other))), Doing(((False, other), (True, one)))]
    gone = dict.fromkeys((one.binding, other.binding), False)
    assert sorted(nearest_end(swap, gone).values()) == [False, True]
    assert nearest_end([*swap, Doing(((False, one),))], gone) == gone


def state(*acls, **settings):
    return Rules(
        acls=[replace(one, acl_id=str(number)) for number, one in enumerate(acls)],
        settings=BrokerSettings(super_users=frozenset(), **settings),
        semantics=KAFKA,
    )


def passing(before, after, *workers, is_open=False):
    settings = {"allow_everyone": is_open}
    found = find_moments(
        state(*before, **settings), state(*after, **settings), [*map(Doing, workers)], Budget()
    )
    return {(change.kind, change.cell.principal.name) for change in found.passing.changes}


X, NARROW = acl("a", principal="User:x"), acl("a", principal="User:x", host="10.0.0.1")
Y = acl("a", principal="User:y")


def test_an_acl_that_is_created_before_the_other_one_is_deleted_leaves_no_gap():
    create, delete = (True, NARROW), (False, X)
    assert passing([X], [NARROW], (create, delete)) == set()
    assert passing([X], [NARROW], (delete, create)) == {("lost", "User:x")}


def test_the_first_acls_of_an_open_topic_close_it_for_a_time():
    everyone = acl("a", principal="User:*")
    found = passing([], [Y, everyone], ((True, Y),), ((True, everyone),), is_open=True)
    assert found == {("lost", "User:z")}


def test_a_topic_whose_only_acl_is_replaced_is_open_for_a_time():
    assert {kind for kind, _ in passing([X], [Y], ((False, X), (True, Y)), is_open=True)} == {
        "gained"
    }
    assert passing([X], [Y], ((True, Y), (False, X)), is_open=True) == set()


def test_too_many_ways_are_unknown_and_never_wrong(monkeypatch):
    monkeypatch.setattr(orders, "MOST_MOMENTS", 1)
    monkeypatch.setattr(orders, "_outlook", orders._outlook.__wrapped__)
    moments._aim.cache_clear()
    again = [((False, one), (True, one)) for one in (X, acl("a", principal="User:*"))]
    found = find_moments(state(X), state(X), [*map(Doing, again)], Budget())
    moments._aim.cache_clear()
    assert not found.passing.is_known
