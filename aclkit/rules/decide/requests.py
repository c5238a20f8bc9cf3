"""A decided access → which of Kafka's requests pass all the same, and which need more.

An authorizer answers single checks; the handler of a request decides what to make of them. Most
handlers take an answer as it is. A *way* is what suffices for a request, and a request passes by
any of its ways: ``decide.handlers`` has them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from aclkit.model.acl import ANY_OTHER, Request, TypeRequest
from aclkit.model.resource import CLUSTER_NAME, Resource
from aclkit.model.values import dataclass
from aclkit.rules.decide.rules import DENIED, Ruling


class Result(StrEnum):
    """What becomes of a request; equal to the text of the same name.

    ``DEPENDS`` on what neither the ACLs nor the question tell, such as a group's topics.
    """

    PASSES = "PASSES"
    DEPENDS = "DEPENDS"
    REFUSED = "REFUSED"


class Fact(StrEnum):
    """What lets a request pass that is no matter of ACLs."""

    NOTHING = "the request asks for no authorization"
    ONESELF = "the principal asks for itself"
    OWNER = "the principal owns the token or is its renewer"


@dataclass(frozen=True, slots=True)
class Check:
    """One question of a handler to the authorizer.

    Attributes:
        operation: Kafka's AclOperation.
        resource_type: Kafka's ResourceType.
        of_any: about any resource of the type (authorizeByResourceType), not about one by name.
        aside: who asks about this access hardly means the request; it is checked all the same.
    """

    operation: str
    resource_type: str
    of_any: bool
    aside: bool

    @property
    def access(self) -> tuple[str, str]:
        """Operation and resource type."""
        return self.operation, self.resource_type


@dataclass(frozen=True, slots=True)
class Way:
    """What suffices for a request: all of the checks, or a fact.

    Attributes:
        checks: what the authorizer is asked.
        fact: what is enough in place of checks.
        when: of which requests that is true, where not of all.
    """

    checks: tuple[Check, ...] = ()
    fact: Fact | None = None
    when: str = ""


@dataclass(frozen=True, slots=True)
class KafkaRequest:
    """A kind of request.

    Attributes:
        name: Kafka's ApiKeys, as it stands in the authorizer's log.
        variant: which of these requests, where their checks differ.
        ways: what lets it pass.
        handler: the class of Kafka that makes these checks.
        about: an access that it does not check, but with which it is thought of.
    """

    name: str
    variant: str
    ways: tuple[Way, ...]
    handler: str
    about: tuple[str, str] | None = None

    @property
    def title(self) -> str:
        """Name and variant."""
        return f"{self.name} {self.variant}".rstrip()

    def concerns(self, operation: str, resource_type: str) -> bool:
        """Whether who asks about an access may mean this request."""
        meant = {check.access for way in self.ways for check in way.checks if not check.aside}
        return (operation, resource_type) in meant | {self.about}


@dataclass(frozen=True, slots=True)
class Tried:
    """A way, its result, and what its checks gave: None where the resource is not known."""

    way: Way
    result: Result
    rulings: tuple[Ruling | None, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """What becomes of a request.

    Attributes:
        request: the request.
        result: the best result of its ways.
        tried: all its ways.
    """

    request: KafkaRequest
    result: Result
    tried: tuple[Tried, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who sends requests, about what, and how a single check is decided.

    Attributes:
        principal: who asks.
        host: from where.
        names: the resources that are known, by type; the cluster's is known always.
        decide: decides an access to a resource.
        decide_any: decides whether some resource of a type is open; None where that is unknown.
    """

    principal: str
    host: str
    names: Mapping[str, str]
    decide: Callable[[Request], Ruling]
    decide_any: Callable[[TypeRequest], Ruling | None]

    def judge(self, request: KafkaRequest) -> Passage:
        """Return what becomes of a request."""
        tried = tuple(map(self._try, request.ways))
        results = {each.result for each in tried}
        return Passage(request, next(one for one in Result if one in results), tried)

    def _try(self, way: Way) -> Tried:
        rulings = tuple(map(self._ruling, way.checks))
        decisions = [ruling.decision if ruling else None for ruling in rulings]
        return Tried(way, _result([*decisions, *self._facts(way)]), rulings)

    def _ruling(self, check: Check) -> Ruling | None:
        if check.of_any:
            return self.decide_any(TypeRequest(self.principal, self.host, *check.access))
        name = {"CLUSTER": CLUSTER_NAME, **self.names}.get(check.resource_type)
        if name is None:
            return None
        resource = Resource(check.resource_type, name)
        return self.decide(Request.of(self.principal, self.host, check.operation, resource))

    def _facts(self, way: Way) -> Iterator[str | None]:
        """Yield what speaks against a way's fact. A renewer need not be the owner."""
        user = self.names.get("USER")
        if way.fact in (Fact.ONESELF, Fact.OWNER) and user != self.principal:
            is_told = user is not None and ANY_OTHER not in user + self.principal
            yield DENIED if is_told and way.fact == Fact.ONESELF else None


def _result(decisions: Iterable[str | None]) -> Result:
    found = set(decisions)
    if DENIED in found:
        return Result.REFUSED
    return Result.DEPENDS if None in found else Result.PASSES


BY_RESOURCE_TYPE: Final = "authorizeByResourceType"
"""The rule of a ruling about any resource of a type."""
