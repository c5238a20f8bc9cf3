"""Rules such as ``stage.=prod.`` → which name of one cluster is which of the other. Pure.

A rule replaces the beginning of a name. The longest rule that fits decides, in both directions: a
name has a counterpart only if the way back leads to it again. So two names never become one. What
no rule is about keeps its name, unless a rule has an empty side, which is about every name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from aclkit.errors import UsageError
from aclkit.model.acl import ANY_OTHER

_MARKS: Final = frozenset("*?")


class Rule(NamedTuple):
    """Names that begin with ``ours`` begin with ``theirs`` in the other cluster."""

    ours: str
    theirs: str

    @property
    def has_one_side(self) -> bool:
        """Whether a bare rest is a name on one side.

        Such a rest is not empty. It does not begin with a star: there brokers decide otherwise.
        """
        return bool(self.ours) != bool(self.theirs)

    def __str__(self) -> str:
        """Write the rule as an option has it."""
        return f"{self.ours}={self.theirs}"


SAME: Final = Rule("", "")
"""The rule of names that no other rule is about."""


@dataclass(frozen=True, slots=True)
class NameMap:
    """Rules, and what follows from all of them together.

    Attributes:
        rules: the given ones, and ``SAME`` where it holds for the rest; the longest first.
    """

    rules: tuple[Rule, ...] = (SAME,)

    @classmethod
    def of(cls, given: Iterable[Rule]) -> NameMap:
        """Take rules.

        Raises:
            UsageError: two of them contradict each other, or would make two names one.
        """
        rules = list(dict.fromkeys(given))
        for rule in rules:
            if _MARKS & {*rule.ours, *rule.theirs}:
                raise UsageError(f"Invalid rule {str(rule)!r}: a prefix has no * and no ?.")
            if ANY_OTHER in rule.ours + rule.theirs:
                raise UsageError(f"Invalid rule {str(rule)!r}: {ANY_OTHER} is no real name.")
        for one in rules:
            for other in rules:
                if one is not other:
                    _require_apart(one, other, rules)
        if all(rule.ours and rule.theirs for rule in rules):
            rules.append(SAME)
        return cls(tuple(sorted(rules, key=lambda rule: (-len(rule.ours), rule))))

    @property
    def is_same(self) -> bool:
        """Whether every name is its own counterpart."""
        return all(rule.ours == rule.theirs for rule in self.rules)

    def there(self, name: str) -> str | None:
        """Return the counterpart of a name of the first cluster; None if it has none.

        >>> stage = NameMap.of([Rule("stage.", "prod.")])
        >>> stage.there("stage.orders"), stage.there("shared"), stage.there("prod.orders")
        ('prod.orders', 'shared', None)
        """
        return self._other(name, 0)

    def back(self, name: str) -> str | None:
        """Return the counterpart of a name of the second cluster; None if it has none."""
        return self._other(name, 1)

    def _other(self, name: str, side: int) -> str | None:
        rule = self._longest(name, side)
        if rule is None:
            return None
        rest = name[len(rule[side]) :]
        if rule.has_one_side and (not rest or rest.startswith("*")):
            return None
        other = rule[1 - side] + rest
        return other if self._longest(other, 1 - side) is rule else None

    def _longest(self, name: str, side: int) -> Rule | None:
        found: Rule | None = None
        for rule in self.rules:
            if name.startswith(rule[side]) and (
                found is None or len(rule[side]) > len(found[side])
            ):
                found = rule
        return found

    def is_of(self, rule: Rule, rest: str) -> bool:
        """Whether no longer rule decides about what begins with a rule's sides and a rest."""
        return all(self._longest(rule[side] + rest, side) is rule for side in (0, 1))

    def below(self, rule: Rule) -> list[Rule]:
        """Return the rules about a part of the names that another one makes."""
        return [r for r in self.rules if r is not rule and r.theirs.startswith(rule.theirs)]

    def left_out(self) -> Iterator[str]:
        """Yield prefixes of the second cluster's names that have no counterpart.

        They are those that a longer rule takes away in the first cluster.
        """
        for rule in self.rules:
            for longer in self.rules:
                if longer is not rule and longer.ours.startswith(rule.ours):
                    prefix = rule.theirs + longer.ours[len(rule.ours) :]
                    if self._longest(prefix, 1) is rule:
                        yield prefix

    def splits(self) -> Iterator[str]:
        """Yield the prefixes without a counterpart that have names with one below them."""
        for prefix in self.left_out():
            if any(rule.theirs.startswith(prefix) for rule in self.rules):
                yield prefix


EVERY_NAME_STAYS: Final = NameMap()


def _require_apart(one: Rule, other: Rule, rules: Iterable[Rule]) -> None:
    """Insist that two rules leave every name one counterpart, and no name two origins."""
    if one.ours == other.ours:
        raise UsageError(
            f"Rules {str(one)!r} and {str(other)!r} contradict each other: names that begin with "
            f"{one.ours!r} would have two counterparts. Pass one of them."
        )
    if not other.theirs.startswith(one.theirs):
        return
    origin = one.ours + other.theirs[len(one.theirs) :]
    longer = (rule for rule in rules if len(rule.ours) > len(one.ours))
    if not any(origin.startswith(rule.ours) for rule in longer):
        raise UsageError(
            f"Rules {str(one)!r} and {str(other)!r} collide: {origin + 'x'!r} and "
            f"{other.ours + 'x'!r} would both become {other.theirs + 'x'!r}. Use other rules."
        )


def parse_rule(text: str) -> Rule:
    """Read a rule for names of resources.

    Raises:
        UsageError: it does not have exactly one ``=``.

    >>> parse_rule("stage.=prod.")
    Rule(ours='stage.', theirs='prod.')
    """
    if text.count("=") != 1:
        raise UsageError(f"Invalid rule {text!r}. Expected one =, such as stage.=prod.")
    ours, theirs = text.split("=")
    return Rule(ours, theirs)


def parse_principal_rule(text: str) -> Rule:
    """Read a rule for principals: both sides begin with the same type; names may have a ``=``.

    Raises:
        UsageError: the two sides cannot be told.

    >>> parse_principal_rule("User:CN=stage-=User:CN=prod-")
    Rule(ours='User:CN=stage-', theirs='User:CN=prod-')
    """
    kind, colon, _ = text.partition(":")
    marks = [at for at in range(len(text)) if text.startswith(f"={kind}:", at)]
    if not colon or not kind or len(marks) != 1:
        raise UsageError(
            f"Invalid rule {text!r}. Expected TYPE:PREFIX=TYPE:PREFIX with one type, such as "
            "User:stage-=User:prod-."
        )
    return Rule(text[: marks[0]], text[marks[0] + 1 :])
