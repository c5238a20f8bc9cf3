"""Random systems and assertions, and the rule asked about every short name."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice, product

from aclkit.model.acl import Acl, Request
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.questions.assertions.match import (
    matches,
    means_host,
    means_principal,
    means_resource,
    operations_on,
)
from aclkit.questions.assertions.model import (
    KINDS,
    Assertion,
    Pattern,
    ResourcePattern,
    What,
    Who,
)
from aclkit.questions.assertions.proof import Proof
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.names.rows import Rules
from tests.rules.names.world import names_up_to, told_apart

PEOPLE = ["User:x", "User:zz", "User:svc-a", "User:a-x", "User:svc-x", "Group:x", "User:q",
          "User:", "User:s", "Role:svc-x"]  # fmt: skip
KINDS_OF_PEOPLE = ["User", "Group", "Role", "Team", "z", "Groups", "Group1", "Group2"]
CROWD = sorted({
    *PEOPLE,
    *(f"{kind}:{start}{name}" for kind in KINDS_OF_PEOPLE for start in ("", "svc-", "s")
      for name in ["", *names_up_to(2, "aqsxz"), *(f"{n}-x" for n in names_up_to(2, "aqsz"))]),
})  # fmt: skip
HOSTS = ["10.0.0.1", "10.0.0.2", "9.9.9.9", "10.9.9.9"]
NAMES = tuple(names_up_to(6))


class World:
    """One state, and the rule about it."""

    def __init__(self, acls: Sequence[Acl], settings: BrokerSettings, semantics=KIP_1042) -> None:
        self.rules = Rules(acls=acls, settings=settings, semantics=semantics)
        self.index = AclIndex.of(acls, semantics)

    def decides(self, request: Request) -> str:
        return self.index.decide(request, self.rules.settings).decision

    def speaks_against(self, assertion: Assertion, what: What, request: Request) -> bool:
        """Whether a request is meant, and is decided as it must not be."""
        is_super = request.principal in self.rules.settings.super_users
        return (
            means_principal(assertion.who, request.principal, is_super_user=is_super)
            and means_host(what, request.host)
            and means_resource(what, request.resource)
            and request.operation in operations_on(what, request.resource_type)
            and self.decides(request) == assertion.bad_decision
        )

    def names(self, what: What) -> list[str]:
        """Return the shortest names that neither an ACL nor a duty tells apart."""
        said = [pattern.name for pattern in (*(what.names or ()), *what.but)]
        return told_apart(NAMES, self.rules, by=lambda name: [matches(p, name) for p in said])

    def users(
        self, assertion: Assertion, what: What, people, names: Sequence[str] | None = None
    ) -> Iterator[Request]:
        """Yield, of short names, one request of everybody who breaks an assertion."""
        names = self.names(what) if names is None else names
        for principal in people:
            is_super = principal in self.rules.settings.super_users
            if not means_principal(assertion.who, principal, is_super_user=is_super):
                continue
            for resource in (Resource(kind, n) for kind in ("TOPIC", "GROUP") for n in names):
                if not means_resource(what, resource):
                    continue
                asked = product(HOSTS, operations_on(what, resource.resource_type))
                requests = (Request.of(principal, *each, resource) for each in asked)
                bad = (r for r in requests if self.speaks_against(assertion, what, r))
                yield from islice(bad, 1)


def shortest_of_brute_force(world: World, assertion: Assertion) -> int | None:
    """Return the fewest letters with which an assertion breaks; of separate, of both duties."""
    found = [list(world.users(assertion, what, PEOPLE)) for what in assertion.duties]
    if assertion.kind == "separate":
        least = [
            sorted(
                min(lengths)
                for duty in found
                if (lengths := [len(r.resource_name) for r in duty if r.principal == principal])
            )
            for principal in PEOPLE
        ]
        return min((sum(two[:2]) for two in least if len(two) > 1), default=None)
    (requests,) = found
    if assertion.kind == "at_most":
        by_name: dict[Resource, int] = {}
        for request in requests:
            by_name[request.resource] = by_name.get(request.resource, 0) + 1
        lengths = [len(name) for (_, name), n in by_name.items() if n > assertion.limit]
        return min(lengths, default=None)
    return min((len(request.resource_name) for request in requests), default=None)


def check_example(world: World, assertion: Assertion, proof: Proof) -> int:
    """Hold a counterexample against the rule; return its letters."""
    members = proof.members or (proof.request,)
    assert proof.request in members
    if assertion.kind == "separate":
        assert len({member.principal for member in members}) == 1
        of = [
            {n for n, what in enumerate(assertion.duties)
             if world.speaks_against(assertion, what, member)}
            for member in members
        ]  # fmt: skip
        assert len(members) == 2
        assert all(of)
        assert len(of[0] | of[1]) > 1
        return sum(len(member.resource_name) for member in members)
    (what,) = assertion.duties
    assert all(world.speaks_against(assertion, what, member) for member in members)
    if assertion.kind == "at_most":
        name = proof.request.resource_name
        if "any number" in proof.detail:
            alike = [
                r for r in world.users(assertion, what, CROWD, [name])
                if r.resource == proof.request.resource
            ]  # fmt: skip
            assert len({request.principal for request in alike}) > assertion.limit
        else:
            assert len({member.principal for member in members}) > assertion.limit
            assert {member.resource for member in members} == {proof.request.resource}
    return len(proof.request.resource_name)


def random_pattern(chance: random.Random) -> Pattern:
    kind = chance.choice(["GLOB", "GLOB", "PREFIXED", "LITERAL"])
    letters = "ab**?" if kind == "GLOB" else "ab"
    return Pattern(kind, "".join(chance.choice(letters) for _ in range(chance.randint(1, 3))))


WHO = [Pattern("GLOB", "*"), Pattern("GLOB", "User:*"), Pattern("GLOB", "User:svc-*"),
       Pattern("GLOB", "*-x"), Pattern("GLOB", "*:x"), Pattern("LITERAL", "User:x"),
       Pattern("LITERAL", "User:nobody"), Pattern("PREFIXED", "User:s"), Pattern("GLOB", "User:?*"),
       Pattern("PREFIXED", "Group")]  # fmt: skip
FROM = [Pattern("GLOB", "10.0.*"), Pattern("LITERAL", "9.9.9.9"), Pattern("GLOB", "*.9")]


def random_what(chance: random.Random) -> What:
    def some(least: int) -> tuple[ResourcePattern, ...]:
        kinds = ["TOPIC", "TOPIC", "GROUP"]
        return tuple(
            ResourcePattern(chance.choice(kinds), random_pattern(chance))
            for _ in range(chance.randint(least, 2))
        )

    return What(
        operations=chance.choice([None, frozenset({"READ"}), frozenset({"READ", "DESCRIBE"})]),
        names=some(1) if chance.random() < 0.7 else None,
        but=some(0),
        hosts=tuple(chance.sample(FROM, chance.randint(1, 2))) if chance.random() < 0.3 else None,
    )


def random_assertion(chance: random.Random) -> Assertion:
    kind = chance.choice(KINDS)
    who = Who(
        names=tuple(chance.sample(WHO, chance.randint(1, 2))) if chance.random() < 0.7 else None,
        but=tuple(chance.sample(WHO, chance.randint(0, 1))),
        is_inverted=kind == "only",
        super_users=chance.random() < 0.5,
    )
    return Assertion(
        kind=kind,
        name="n",
        who=who,
        duties=tuple(random_what(chance) for _ in range(2 if kind == "separate" else 1)),
        limit=chance.randint(0, 3),
    )
