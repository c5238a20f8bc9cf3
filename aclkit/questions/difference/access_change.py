"""The kinds of change of a decision: gained, lost, redecided; and for whom it changes where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from aclkit.model.resource import Resource
from aclkit.questions.query.decide_unlisted import Verdict
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.names.compare import GAINED, LOST

REDECIDED: Final = "redecided"
KINDS: Final = (GAINED, LOST, REDECIDED)
"""``redecided`` is the same decision by another ACL or rule."""


class DecisionChange(NamedTuple):
    """An operation that is decided differently, from hosts with the same decisions."""

    operation: str
    hosts: tuple[str, ...]
    before: Verdict
    after: Verdict

    @property
    def kind(self) -> str:
        """What becomes of the decision: one of ``KINDS``."""
        if self.before.decision == self.after.decision:
            return REDECIDED
        return GAINED if self.after.decision == ALLOWED else LOST


class PrincipalChanges(NamedTuple):
    """All that is decided differently for a principal on a resource.

    One outcome stands for many principals and resources and is counted once, by ``KINDS``:
    ``weights`` counts the (operation, host) pairs, ``lines`` the changes.
    """

    changes: tuple[DecisionChange, ...]
    weights: tuple[int, int, int]
    lines: tuple[int, int, int]

    @classmethod
    def of(cls, changes: Iterable[DecisionChange]) -> PrincipalChanges:
        """Count what is decided otherwise."""
        kept = tuple(changes)
        weights, lines = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
        for change in kept:
            kind = change.kind
            weights[kind] += len(change.hosts)
            lines[kind] += 1
        return cls(kept, _by_kind(weights), _by_kind(lines))


def _by_kind(counts: Mapping[str, int]) -> tuple[int, int, int]:
    return counts[GAINED], counts[LOST], counts[REDECIDED]


ChangesByPrincipals = Sequence[tuple[tuple[str, ...], PrincipalChanges]]
"""Principals with the same changes on a resource, and these changes."""


class ResourceChanges(NamedTuple):
    """What is decided otherwise on a resource."""

    resource: Resource
    outcomes: ChangesByPrincipals
