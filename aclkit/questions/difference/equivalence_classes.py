"""ACLs of two states, principals and hosts → groups of those that are decided alike. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.questions.difference.change import Change, Text
from aclkit.rules.patterns.identity import index_hosts, index_principals
from aclkit.rules.patterns.match import names_one


@dataclass(frozen=True, slots=True, eq=False)
class AclGroup:
    """ACLs with one pattern and one principal, before and after."""

    number: int
    before: tuple[Acl, ...]
    after: tuple[Acl, ...]

    @property
    def resource_type(self) -> str:
        """The type that its pattern is of."""
        return (self.before or self.after)[0].resource_type


@dataclass(frozen=True, slots=True)
class PatternGroups:
    """One pattern's groups.

    Attributes:
        exact: of principals named exactly, by principal.
        shared: of other ACL principals, by text.
        changed: ACL principals whose group differs.
        is_there: whether some ACL has the pattern, before and after.
    """

    exact: dict[str, AclGroup] = field(default_factory=dict)
    shared: dict[Text, AclGroup] = field(default_factory=dict)
    changed: list[Text] = field(default_factory=list)
    is_there: list[bool] = field(default_factory=lambda: [False, False])


class PeopleClass(NamedTuple):
    """What principals share that differ in their own ACLs only.

    ``texts`` are the non-exact ACL principals that match them; ``is_super`` is whether they are
    super users before and after.
    """

    texts: frozenset[Text]
    is_super: tuple[bool, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The principals asked about, but for super users of both states: nothing changes for them.

    Attributes:
        who: ACL principal → the principals that it matches.
        class_of: principal → its class.
        affected: what was asked before: ACL principals → classes and their principals, and these.
    """

    who: Mapping[Text, Sequence[str]]
    class_of: Mapping[str, PeopleClass]
    affected: dict[frozenset[Text] | None, _Affected] = field(default_factory=dict)

    @classmethod
    def of(cls, change: Change, names: Iterable[str]) -> People:
        """Match the principals asked about with those of the ACLs."""
        indexes = [
            (index_principals({acl.principal for acl in acls}, semantics), semantics, tag)
            for acls, semantics, tag in change.ways
        ]
        states = change.before.settings, change.after.settings
        who: dict[Text, list[str]] = {}
        class_of: dict[str, PeopleClass] = {}
        for name in names:
            before, after = (settings.makes_super(name) for settings in states)
            if before and after:
                continue
            shared: list[Text] = []
            for index, semantics, tag in indexes:
                texts = index.matching(name)
                for text in texts:
                    who.setdefault(tag(text), []).append(name)
                shared += (tag(text) for text in texts if not names_one(text, semantics))
            class_of[name] = PeopleClass(frozenset(shared), (before, after))
        return cls(who=who, class_of=class_of)

    def alike(
        self, patterns: Sequence[PatternGroups], texts: frozenset[Text] | None
    ) -> Iterator[tuple[tuple[str, ...], tuple[int, ...], tuple[bool, bool]]]:
        """Put the principals of some ACL principals, or all, together by their groups.

        Yields principals, the numbers of the groups that apply to them, and whether they are
        super users.
        """
        classes, wanted = self._affected(texts)
        exact = ((name, of) for of in patterns for name in of.exact.keys() & wanted)
        own = grouped((name, of.exact[name].number) for name, of in exact)
        shared = [item for pattern in patterns for item in pattern.shared.items()]
        for people, names in classes.items():
            theirs = tuple(group.number for text, group in shared if text in people.texts)
            found = grouped(((*own[name], *theirs), name) for name in names if name in own)
            if rest := [name for name in names if name not in own]:
                found.setdefault(theirs, []).extend(rest)
            for numbers, alike in found.items():
                yield tuple(alike), numbers, people.is_super

    def _affected(self, texts: frozenset[Text] | None) -> _Affected:
        """Put the principals of some ACL principals, or all, together by their classes."""
        if texts not in self.affected:
            names = frozenset(self.class_of)
            if texts is not None:
                names = frozenset(name for text in texts for name in self.who.get(text, ()))
            classes = grouped((self.class_of[name], name) for name in sorted(names))
            self.affected[texts] = classes, names
        return self.affected[texts]


_Affected = tuple[dict[PeopleClass, list[str]], frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """The hosts asked about, and which of them each ACL host matches."""

    names: tuple[str, ...]
    matched: Mapping[Text, Sequence[str]]
    classes: dict[frozenset[Text], list[tuple[tuple[str, ...], frozenset[Text]]]] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, change: Change, names: tuple[str, ...]) -> Hosts:
        """Match the hosts asked about with those of the ACLs."""
        matched: dict[Text, list[str]] = {}
        for acls, semantics, tag in change.ways:
            index = index_hosts({acl.host for acl in acls}, semantics)
            for name in names:
                for text in index.matching(name):
                    matched.setdefault(tag(text), []).append(name)
        return cls(names=names, matched=matched)

    def alike(self, texts: Set[Text]) -> list[tuple[tuple[str, ...], frozenset[Text]]]:
        """Put hosts together that the same ones of some ACL hosts match, with these."""
        key = frozenset(texts)
        if key not in self.classes:
            everywhere = {t for t in texts if len(self.matched.get(t, ())) == len(self.names)}
            named: dict[str, set[Text]] = {}
            for text in texts - everywhere:
                for host in self.matched.get(text, ()):
                    named.setdefault(host, set()).add(text)
            found = grouped(
                (frozenset(named.get(host, ())) | everywhere, host) for host in self.names
            )
            self.classes[key] = [(tuple(hosts), matching) for matching, hosts in found.items()]
        return self.classes[key]


ReadPattern = tuple[int, tuple[str, str, str]]
"""By which of a change's readings a pattern counts, and the pattern."""


def group_acls(change: Change) -> tuple[dict[ReadPattern, PatternGroups], list[AclGroup]]:
    """Put the ACLs of both states into groups; patterns and groups are numbered in one order.

    An ACL that the two readings take otherwise is in a group before, and in another one after.
    """
    members: dict[tuple[ReadPattern, str], tuple[list[Acl], list[Acl]]] = {}
    for at, acls in enumerate((change.before.acls, change.after.acls)):
        for _, acl in sorted(acls.items()):
            key = change.way_of(acl, at), acl.pattern
            members.setdefault((key, acl.principal), ([], []))[at].append(acl)
    patterns: dict[ReadPattern, PatternGroups] = {}
    groups: list[AclGroup] = []
    tags = [way.tag for way in change.ways]
    for ((way, pattern_of), principal), (then, now) in members.items():
        group = AclGroup(len(groups), tuple(then), tuple(now))
        groups.append(group)
        pattern = patterns.setdefault((way, pattern_of), PatternGroups())
        if names_one(principal, change.readings[way]):
            pattern.exact[principal] = group
        else:
            pattern.shared[tags[way](principal)] = group
        pattern.is_there[0] |= bool(then)
        pattern.is_there[1] |= bool(now)
        if then != now:
            pattern.changed.append(tags[way](principal))
    return patterns, groups
