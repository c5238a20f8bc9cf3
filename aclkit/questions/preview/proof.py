"""A change of ACLs → proofs that hold for every name, by containment of single ACLs. Pure.

Sound and not complete: no proof does not mean that something is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from aclkit.model.acl import Acl
from aclkit.model.semantics import Semantics
from aclkit.questions.preview.overlap import fill
from aclkit.questions.preview.state import Change, State
from aclkit.rules.patterns.contain import (
    acl_contains,
    operation_contains,
    pattern_contains,
    pattern_symbols,
)
from aclkit.rules.patterns.trie import PatternIndex


def prove(change: Change) -> tuple[bool, bool]:
    """Whether it is proven that nothing is gained, and that nothing is lost.

    Nothing is gained where nothing is lost on the way back.
    """
    then, now = (_Covers.of(state, change.semantics) for state in (change.before, change.after))
    return _loses_nothing(change.reversed(), now, then), _loses_nothing(change, then, now)


def _loses_nothing(change: Change, then: _Covers, now: _Covers) -> bool:
    """Whether it is proven that nothing allowed before is denied after, under any name.

    It is when every super user stays one; every ALLOW that goes lies within one that is there
    after, or within a DENY that was there before; every DENY that comes lies within one that was
    there before; and no name can lose the default: ``allow.everyone`` was off, or stays on and the
    pattern of every ACL that comes lies within a pattern that was there before.
    """
    before, after = change.before, change.after
    if not before.settings.super_users <= after.settings.super_users:
        return False
    for acl in change.removed:
        if acl.is_allow and not (now.has_same(acl) or then.has_deny(acl)):
            return False
    for acl in change.added:
        if not acl.is_allow and not then.has_same(acl):
            return False
        if before.settings.allow_everyone and not then.has_pattern(acl):
            return False
    return after.settings.allow_everyone or not before.settings.allow_everyone


@dataclass(frozen=True, slots=True)
class _Covers:
    """The ACLs of a state, found by a name that their pattern must match to contain another."""

    acls: Sequence[Acl]
    index: PatternIndex
    semantics: Semantics

    @classmethod
    def of(cls, state: State, semantics: Semantics) -> _Covers:
        acls = list(state.acls.values())
        rows = ((number, *acl.pattern) for number, acl in enumerate(acls))
        return cls(acls, PatternIndex.build(rows, semantics), semantics)

    def has_same(self, narrow: Acl) -> bool:
        """Whether one ACL answers all that ``narrow`` answers, in the same way."""
        return any(acl_contains(acl, narrow, self.semantics) for acl in self._near(narrow))

    def has_deny(self, narrow: Acl) -> bool:
        """Whether one DENY answers all that the ALLOW ``narrow`` answers."""
        return any(
            not acl.is_allow and _denies_all_of(acl, narrow, self.semantics)
            for acl in self._near(narrow)
        )

    def has_pattern(self, narrow: Acl) -> bool:
        """Whether one pattern reaches all that ``narrow`` reaches."""
        return any(
            pattern_contains(
                acl.pattern_type,
                acl.resource_name,
                narrow.pattern_type,
                narrow.resource_name,
                self.semantics,
            )
            for acl in self._near(narrow)
        )

    def _near(self, narrow: Acl) -> Iterable[Acl]:
        """Return the ACLs that reach one name of ``narrow``: what contains it is among them."""
        symbols = pattern_symbols(narrow.pattern_type, narrow.resource_name, self.semantics)
        name = fill(symbols, run="", one="a")
        return [self.acls[n] for n in self.index.matches(narrow.resource_type, name)]


def _denies_all_of(deny: Acl, allow: Acl, semantics: Semantics) -> bool:
    """Whether a DENY answers every request that an ALLOW answers, implied ones too."""
    alike = replace(allow, operation=deny.operation, permission_type=deny.permission_type)
    return operation_contains(deny, allow) and acl_contains(deny, alike, semantics)
