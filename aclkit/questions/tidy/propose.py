"""A state → its tidy form, proven; and globs or prefixes that replace several ALLOWs. Pure.

A proposal changes nothing for known names. Other access that it would open is listed exactly: as
regions of names, found by comparing the two states for every name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.rules.decide.agreement import DisagreementError
from aclkit.rules.decide.confirm import Comparison, Decider
from aclkit.rules.names.compare import Difference, compare
from aclkit.rules.names.cover import covers
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.overlap_index import OverlapIndex
from aclkit.rules.names.question import Budget, Question
from aclkit.rules.names.redundancy import covered_names
from aclkit.rules.names.region import RegionChange, openings
from aclkit.rules.names.rows import EVERYTHING, RUN, Row, Rules, is_plain, rows_of, start_of
from aclkit.rules.names.tidy import Reasons, Tidy, no_reasons, tidy
from aclkit.rules.patterns.match import (
    GLOB,
    PREFIXED,
    common_start,
    effective_pattern_type,
    has_wildcard,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A tidy form, and what its proof came to.

    Attributes:
        found: the tidy form.
        proof: what differs: nothing, or it is not known.
        searching: what was spent on finding it,
        proving: and on its proof.
    """

    found: Tidy
    proof: Difference
    searching: Budget
    proving: Budget


def tidy_proven(
    rules: Rules,
    budget: Budget,
    *,
    reasons: Reasons = no_reasons,
    idle_denies: bool = False,
    keep_operations: bool = False,
) -> Proven:
    """Find the tidy form of a state, and compare the two for every name; see ``tidy``.

    At most half of the budget is for the search: what that leaves is worth nothing without proof.

    Raises:
        DisagreementError: they do not decide alike, which is a defect of aclkit.
    """
    searching = replace(budget, total=budget.total // 2)
    found = tidy(
        rules,
        searching,
        reasons=reasons,
        idle_denies=idle_denies,
        keep_operations=keep_operations,
    )
    proving = replace(budget, total=budget.total - searching.states)
    proof = compare(replace(rules, acls=found.before), replace(rules, acls=found.after), proving)
    for change in proof.changes:
        cell = change.cell
        raise DisagreementError(
            f"The tidied ACLs should decide the same, but in the proof {cell.principal.name} "
            f"{change.kind} {cell.operation} on {cell.resource_type} {change.name!r} from "
            f"{cell.host.name}. Nothing is printed. Please report this."
        )
    return Proven(found=found, proof=proof, searching=searching, proving=proving)


MOST_NAMES: Final = 60
MOST_OF_A_CELL: Final = 40
"""So many names are paired, and so many of what that gives are looked at: the most frequent."""

_SEPARATOR: Final = re.compile(r"([._-])")
_MOST_STARS: Final = 3


def candidates(texts: Iterable[str], pattern_type: str) -> list[str]:
    """Return the names of patterns of a type that some texts have in common, at most so many.

    A text is a name, or a glob that stands for a prefix.
    """
    some = sorted(set(texts))[:MOST_NAMES]
    found: Counter[str] = Counter()
    for one, other in combinations(some, 2):
        found.update(_of_pair(one, other) if pattern_type == GLOB else _starts(one, other))
    wanted = (name for name in found if pattern_type == PREFIXED or _is_glob(name))
    return sorted(wanted, key=lambda name: (-found[name], name))[:MOST_OF_A_CELL]


def _of_pair(one: str, other: str) -> set[str]:
    """Return what two names have in common part by part, and at both ends.

    >>> sorted(_of_pair("pay.a1.log", "pay.a2.log"))
    ['pay.*.log', 'pay.a*.log']
    """
    start = common_start(one, other).rstrip("*")
    rest = [one[len(start) :][::-1], other[len(start) :][::-1]]
    found = {f"{start}*{common_start(*rest)[::-1].lstrip('*')}"}
    parts, others = _SEPARATOR.split(one), _SEPARATOR.split(other)
    if len(parts) == len(others) and parts[1::2] == others[1::2]:
        alike = (p if p == q else "*" for p, q in zip(parts, others, strict=True))
        found.add("".join(alike))
    return found


def _starts(one: str, other: str) -> set[str]:
    """Return the letters with which two names begin, whole parts of them, and all of them."""
    start = common_start(one, other).rstrip("*")
    ends = {0, len(start), *(found.end() for found in _SEPARATOR.finditer(start))}
    return {start[:end] for end in ends} - {""}


def _is_glob(name: str) -> bool:
    """Whether a name has stars, not too many, and something else."""
    return 0 < name.count("*") <= _MOST_STARS and any(letter not in "*._-" for letter in name)


LEAST: Final = 3
"""ACLs that a proposal has to make needless."""

MOST_CANDIDATES: Final = 20_000
MOST_PROPOSALS: Final = 50
"""Patterns that are looked at, and proposals that are compared for every name, in one command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One ALLOW that replaces several.

    Attributes:
        acl: the ACL to add.
        replaces: the ACLs to remove.
        opens: what would change for other names; nothing where both decide alike.
        is_known: ``opens`` is complete for every name; the search limit was not reached.
    """

    acl: Acl
    replaces: tuple[Acl, ...]
    opens: tuple[RegionChange, ...]
    is_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """What could be proposed.

    Attributes:
        found: what replaces most first.
        more: further ones that were not compared.
        left: groups of ALLOWs that were not looked at.
    """

    found: tuple[Proposal, ...]
    more: int
    left: int


def propose(
    rules: Rules,
    inventory: Mapping[str, Sequence[str]],
    pattern_type: str,
    budget: Budget,
    reasons: Reasons = no_reasons,
) -> Proposals:
    """Propose patterns of a type.

    Args:
        rules: what decides.
        inventory: resource type → names.
        pattern_type: ``GLOB`` or ``PREFIXED``.
        budget: what may be spent.
        reasons: why an ACL should go itself, see ``tidy``.
    """
    found: list[tuple[Acl, tuple[Acl, ...]]] = []
    left = tidy(rules, budget, reasons=reasons, keep_operations=True).after
    needed = {acl.binding for acl in left}
    looked_at = groups_left = 0
    for resource_type in OPERATIONS_OF_TYPE:
        finder = _Finder(resource_type, rules, inventory.get(resource_type, ()), budget)
        for group in finder.groups(needed):
            names = candidates(map(_text, group), pattern_type)
            looked_at += len(names)
            if looked_at > MOST_CANDIDATES:
                groups_left += 1
            else:
                found += finder.proposals(group, names, pattern_type)
    found.sort(key=lambda each: (-len(each[1]), each[0].binding))
    decider = Decider.of(rules)
    told = tuple(_tell(*each, rules, decider, budget) for each in found[:MOST_PROPOSALS])
    return Proposals(found=told, more=len(found) - len(told), left=groups_left)


class _Finder:
    """Finds patterns for one resource type."""

    def __init__(
        self, resource_type: str, rules: Rules, names: Iterable[str], budget: Budget
    ) -> None:
        acls = [acl for acl in rules.acls if acl.resource_type == resource_type]
        self._rules, self._budget = rules, budget
        self._rows = list(rows_of(acls, rules.semantics))
        self._others = OverlapIndex(self._rows, rules.semantics, budget)
        self._domain = domain_of(resource_type)
        self._names = sorted(filter(self._domain.holds, names))

    def groups(self, needed: Collection[tuple[str, ...]]) -> list[list[Row]]:
        """Return the ALLOWs that differ in their names only, the largest groups first.

        Those that others make needless are left out: they can go without a proposal.
        """
        allows = (row for row in self._rows if row.acl.is_allow and row.acl.binding in needed)
        narrow = ((row.acl, row) for row in allows if _is_narrow(row, self._rules))
        found = grouped(((acl.principal, acl.host, acl.operation), row) for acl, row in narrow)
        groups = (group for _, group in sorted(found.items()) if len(group) >= LEAST)
        return sorted(groups, key=len, reverse=True)

    def proposals(
        self, group: Sequence[Row], names: Iterable[str], pattern_type: str
    ) -> Iterator[tuple[Acl, tuple[Acl, ...]]]:
        """Yield which pattern could replace which of a group, none of these twice."""
        is_decided = covered_names(group[0], self._others)
        good: list[tuple[Row, list[Row]]] = []
        for name in names:
            row = self._row_of(group[0].acl, pattern_type, name)
            question = Question([row.patterns], self._domain)
            if all(map(is_decided, self._matched(row, question))):
                good.append((row, [e for e in group if self._is_within(e, row, question)]))
        left = {row.acl.binding for row in group}
        # What matches least among those that replace as many: more letters, fewer stars.
        good.sort(key=lambda each: (-len(each[1]), -len(each[0].patterns[0]), each[0].acl.binding))
        for row, replaced in good:
            goes = [each.acl for each in replaced if each.acl.binding in left]
            if len(goes) >= LEAST:
                left -= {acl.binding for acl in goes}
                yield row.acl, tuple(sorted(goes, key=lambda acl: acl.binding))

    def _row_of(self, like: Acl, pattern_type: str, name: str) -> Row:
        acl = replace(like, acl_id="proposed", pattern_type=pattern_type, resource_name=name)
        (row,) = rows_of([acl], self._rules.semantics)
        return row

    def _is_within(self, narrow: Row, wide: Row, matching: Question) -> bool:
        if is_plain(narrow.patterns[0]):
            return bool(matching.flags_of(narrow.acl.resource_name))
        is_other = narrow.acl.binding != wide.acl.binding
        return is_other and bool(covers(wide.patterns, narrow.patterns, self._domain, self._budget))

    def _matched(self, row: Row, question: Question) -> Iterator[str]:
        """Yield the names of the inventory that a pattern matches."""
        start = start_of(row.patterns[0])
        for at in range(bisect_left(self._names, start), len(self._names)):
            name = self._names[at]
            if not name.startswith(start):
                return
            if question.flags_of(name):
                yield name


def _tell(
    acl: Acl, replaces: tuple[Acl, ...], before: Rules, decider: Decider, budget: Budget
) -> Proposal:
    """Compare both states for every name; the rule decides each that shows a difference."""
    gone = {each.binding for each in replaces}
    kept = (each for each in before.acls if each.binding not in gone)
    after = replace(before, acls=(*kept, acl))
    found = Comparison.of(before, after, budget, decider).difference
    return Proposal(
        acl=acl,
        replaces=replaces,
        opens=tuple(openings(found, budget, len(found.changes))),
        is_known=found.is_known,
    )


def _is_narrow(row: Row, rules: Rules) -> bool:
    """Whether a pattern has a name that a glob could be made of."""
    acl = row.acl
    kind = effective_pattern_type(acl.pattern_type, rules.semantics)
    if kind == GLOB:
        return row.patterns != (EVERYTHING,)
    return bool(acl.resource_name) and not has_wildcard(acl.resource_name)


def _text(row: Row) -> str:
    """Write a pattern as a glob."""
    acl = row.acl
    is_prefix = row.patterns == ((*acl.resource_name, RUN),)
    return f"{acl.resource_name}*" if is_prefix else acl.resource_name
