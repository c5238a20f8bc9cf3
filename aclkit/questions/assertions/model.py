"""Assertions as values: whom they are about, what must hold, and what came out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final, Literal, NamedTuple

from aclkit.model.acl import Request
from aclkit.model.values import dataclass
from aclkit.rules.decide.rules import Ruling
from aclkit.rules.names.rows import Symbols

Kind = Literal["never", "always", "only", "at_most", "separate"]
Verdict = Literal["pass", "fail", "unknown"]
PASSED: Final = "pass"
FAILED: Final = "fail"
UNKNOWN: Final = "unknown"
WORST_FIRST: Final[tuple[Verdict, ...]] = (FAILED, UNKNOWN, PASSED)
EVERY_NAME: Final = "for all possible names"
"""With these words begins the detail of an outcome on what the inventory does not show."""

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


class Example(NamedTuple):
    """A request whose decision speaks against an assertion.

    Attributes:
        request: what is asked.
        ruling: how it is decided.
        in_inventory: principal, host and resource are known names; None where none are known.
    """

    request: Request
    ruling: Ruling
    in_inventory: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one assertion.

    Attributes:
        checked: how many (principal, operation, resource) were checked.
        violations: how many of them violate it; for ``at_most`` how many resources have too
            many principals, for ``separate`` how many principals hold several duties. Future
            names are not counted, and where no name is known nothing is.
        proof: the verdict on every name; None for an assertion about the inventory only.
        examples: one, for ``separate`` one for each of two duties, and after them those that only
            future names show; none where it holds.
        detail: what the examples do not show, in words.
        hard: the patterns that made it unknown.
    """

    assertion: Assertion
    checked: int = 0
    violations: int = 0
    proof: Verdict | None = None
    examples: tuple[Example, ...] = ()
    detail: str | None = None
    hard: tuple[Symbols, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether it holds; unknown where the proof is unknown and nothing violates it."""
        if self.violations or self.proof == FAILED:
            return FAILED
        return UNKNOWN if self.proof == UNKNOWN else PASSED

    @property
    def state(self) -> str:
        """The verdict as tables and reports call it."""
        return {PASSED: "passed", FAILED: "failed"}.get(self.verdict, UNKNOWN)

    @property
    def has_passed(self) -> bool:
        """Whether nothing speaks against it, for every name."""
        return self.verdict == PASSED


def verdict_of(outcomes: Iterable[Outcome]) -> Verdict:
    """Return the worst verdict: all pass, one fails, or it is unknown."""
    found = {outcome.verdict for outcome in outcomes}
    return next((verdict for verdict in WORST_FIRST if verdict in found), PASSED)
