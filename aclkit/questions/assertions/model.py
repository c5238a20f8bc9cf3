"""Assertions as values: whom they are about, what must hold, and what came out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from aclkit.model.acl import Request
from aclkit.model.values import dataclass

Kind = Literal["never", "always", "only", "at_most", "separate"]
Verdict = Literal["holds", "fails", "unknown"]
State = Literal["passed", "failed", "unknown"]
HOLDS: Final = "holds"
FAILS: Final = "fails"
UNKNOWN: Final = "unknown"
KINDS: Final[tuple[Kind, ...]] = ("never", "always", "only", "at_most", "separate")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A name, the beginning of names, or a glob: LITERAL, PREFIXED or GLOB with its text."""

    pattern_type: str
    text: str


@dataclass(frozen=True, slots=True)
class ResourcePattern:
    """A pattern for the names of one resource type."""

    resource_type: str
    name: Pattern


Attributes = Mapping[str, tuple[Pattern, ...]]
"""Attribute → patterns, one of which its value must match; a missing attribute matches none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Which principals an assertion is about.

    Attributes:
        names: patterns of names; None is every principal.
        but: patterns of those who are left out.
        attributes: the attributes that they must have in the inventory.
        is_inverted: every principal except those is selected, as ``only`` requires.
        super_users: super users count too.
    """

    names: tuple[Pattern, ...] | None = None
    but: tuple[Pattern, ...] = ()
    attributes: Attributes = field(default_factory=dict)
    is_inverted: bool = False
    super_users: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class What:
    """Which operations on which resources an assertion is about, and from which hosts.

    Attributes:
        operations: Kafka's names of them; None is all operations of the resource's type.
        names: patterns of resources; None is every resource.
        but: patterns of those that are left out.
        attributes: the attributes that they must have in the inventory.
        hosts: patterns of hosts; None is every host.
    """

    operations: frozenset[str] | None = None
    names: tuple[ResourcePattern, ...] | None = None
    but: tuple[ResourcePattern, ...] = ()
    attributes: Attributes = field(default_factory=dict)
    hosts: tuple[Pattern, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One policy of a team.

    Attributes:
        kind: what must hold.
        name: what people call it; no two of a file have the same.
        why: the reason for the policy.
        who: the principals.
        duties: what they do: one duty, for ``separate`` two or more.
        limit: of ``at_most``.
        inventory_only: leave out future names, and names that only an ACL has.
    """

    kind: Kind
    name: str
    who: Who
    duties: tuple[What, ...]
    why: str | None = None
    limit: int = 0
    inventory_only: bool = False

    @property
    def bad_decision(self) -> str:
        """The decision that speaks against it."""
        return "DENIED" if self.kind == "always" else "ALLOWED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Request):
    """A request whose decision speaks against an assertion.

    Attributes:
        in_inventory: principal, host and resource are in the published inventory.
    """

    decision: str
    rule: str
    acl_id: str | None
    in_inventory: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one assertion.

    Attributes:
        checked: how many (principal, operation, resource) were checked.
        violations: how many of them violate it; for ``at_most`` how many resources have too
            many principals, for ``separate`` how many principals hold several duties. Future
            names are not counted.
        proof: whether it ``holds`` or ``fails`` for every name, or that is ``unknown``; None for
            an assertion about the inventory only.
        examples: one, for ``separate`` one for each of two duties, and after them those that only
            future names show; none where it holds.
        detail: what the examples do not show, in words.
    """

    assertion: Assertion
    checked: int
    violations: int
    proof: Verdict | None = None
    examples: tuple[Example, ...] = ()
    detail: str | None = None

    @property
    def state(self) -> State:
        """Whether it holds; unknown where the proof is unknown and nothing violates it."""
        if self.violations or self.proof == FAILS:
            return "failed"
        return "unknown" if self.proof == UNKNOWN else "passed"

    @property
    def has_passed(self) -> bool:
        """Whether nothing speaks against it, for every name."""
        return self.state == "passed"
