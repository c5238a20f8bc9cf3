"""The ACLs of one of two clusters → the same ACLs with the names of the second. Pure.

An ACL becomes as many ACLs as there are rules about a part of its names: under ``stage.=prod.`` the
prefix ``sta`` stays, and is ``prod.`` too. What no ACL can express is reported: the prefix ``pro``
of the first cluster would have to be all its names without those of ``prod.``. Then only names that
are known can be compared: such an ACL becomes one ACL for each of them that it applies to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.glob import is_universal
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.resource import Resource
from aclkit.model.semantics import Semantics
from aclkit.questions.clusters.name_map import (
    EVERY_NAME_STAYS,
    NameMap,
    Rule,
    parse_principal_rule,
    parse_rule,
)
from aclkit.rules.patterns.match import (
    GLOB,
    LITERAL,
    PREFIXED,
    effective_pattern_type,
    has_wildcard,
    matches_every_name,
    names_exactly,
    principal_matches,
    reaches,
    start_of_names,
)

FIRST, SECOND = 0, 1
"""Which of the two clusters is meant."""

NOBODY: Final = "has no counterpart"
"""A principal that no client has, for it has no colon: the ACL still takes part in the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maps:
    """Rules for names: of resources, and of principals."""

    names: NameMap = EVERY_NAME_STAYS
    principals: NameMap = EVERY_NAME_STAYS

    @property
    def are_same(self) -> bool:
        """Whether every name is its own counterpart."""
        return self.names.is_same and self.principals.is_same

    def of_type(self, resource_type: str) -> NameMap:
        """Return the rules for names of a type; the cluster has one name, users are principals."""
        if resource_type == "CLUSTER":
            return EVERY_NAME_STAYS
        return self.principals if resource_type == "USER" else self.names

    def resource(self, resource: Resource, side: int) -> Resource | None:
        """Return a resource of a cluster as the second calls it; None without a counterpart."""
        kind, name = resource
        image = _image(self.of_type(kind), name, side)
        return None if image is None else Resource(kind, image)

    def principal(self, name: str, side: int) -> str | None:
        """Return a principal of a cluster as the second calls it; None without a counterpart."""
        return _image(self.principals, name, side)


def maps_of(names: Iterable[str] = (), principals: Iterable[str] = ()) -> Maps:
    """Read rules for names such as ``stage.=prod.``, and for principals.

    Raises:
        UsageError: a text is no rule, or rules contradict each other.
    """
    return Maps(
        names=NameMap.of(map(parse_rule, names)),
        principals=NameMap.of(map(parse_principal_rule, principals)),
    )


class Known(NamedTuple):
    """A name of a cluster, and what the second calls it."""

    own: str
    image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedAcls:
    """The ACLs of a cluster with the names of the second.

    Attributes:
        acls: by their ids, which are made of their fields.
        originals: the ACL of the cluster that each of them stands for.
        inexact: ACLs of the cluster that hold for known names only.
        left_out: ALLOWs of the cluster for principals, or on resources, without a counterpart.
    """

    acls: Mapping[str, Acl]
    originals: Mapping[str, Acl]
    inexact: tuple[Acl, ...]
    left_out: tuple[Acl, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AclMapper:
    """How the ACLs of one cluster are written with the names of the second."""

    maps: Maps
    side: int
    semantics: Semantics
    principals: Sequence[Known]
    resources: Mapping[str, Sequence[Known]]

    def apply(self, acls: Iterable[Acl]) -> MappedAcls:
        """Map ACLs; equal ones become one."""
        found: dict[str, Acl] = {}
        originals: dict[str, Acl] = {}
        inexact: list[Acl] = []
        left_out: list[Acl] = []
        for acl in acls:
            patterns, principals = self._patterns(acl), self._principals(acl)
            if acl.is_allow and (patterns == [] or principals == [NOBODY]):
                left_out.append(acl)
            if patterns is None or principals is None:
                inexact.append(acl)
            for kind, name in self._known_patterns(acl) if patterns is None else patterns:
                for who in self._known_principals(acl) if principals is None else principals:
                    image = replace(acl, pattern_type=kind, resource_name=name, principal=who)
                    image = replace(image, acl_id=repr(image.binding))
                    found[image.acl_id] = image
                    originals.setdefault(image.acl_id, acl)
        return MappedAcls(
            acls=found, originals=originals, inexact=tuple(inexact), left_out=tuple(left_out)
        )

    def _patterns(self, acl: Acl) -> list[tuple[str, str]] | None:
        """Return the patterns that an ACL's pattern becomes; None where patterns cannot do it."""
        kind, name, how = acl.pattern_type, acl.resource_name, self.semantics
        names = self.maps.of_type(acl.resource_type)
        if names.is_same or acl.resource_type not in OPERATIONS_OF_TYPE:
            return [(kind, name)]
        if matches_every_name(kind, name, how):
            return _everything(names, kind, name)
        if effective_pattern_type(kind, how) == LITERAL:
            image = _image(names, name, self.side)
            if image == "*":
                return None
            return [] if image is None else [(kind, image)]
        start, _ = start_of_names(kind, name, how)
        is_glob = effective_pattern_type(kind, how) == GLOB
        starts = _starts(names, self.side, start, is_whole=not is_glob)
        if starts is None:
            return None
        return [
            (kind if is_own else PREFIXED, f"{image}{name[len(start) :]}" if is_own else image)
            for image, is_own in starts
        ]

    def _known_patterns(self, acl: Acl) -> Iterator[tuple[str, str]]:
        for own, image in self.resources.get(acl.resource_type, ()):
            if image != "*" and reaches(acl, acl.resource_type, own, self.semantics):
                yield LITERAL, image

    def _principals(self, acl: Acl) -> list[str] | None:
        """Return whom an ACL is for; None where no text of a principal can tell."""
        text, names = acl.principal, self.maps.principals
        parts = split_principal(text)
        if names.is_same or text == WILDCARD_PRINCIPAL or parts is None:
            return [text]
        if names_exactly(text, self.semantics):
            return [_image(names, text, self.side) or NOBODY]
        if all(map(is_universal, parts)):
            return [text]
        kind, name = parts
        if has_wildcard(kind):
            return None
        start = f"{kind}:{name.partition('*')[0].partition('?')[0]}"
        starts = _starts(names, self.side, start, is_whole=False)
        if starts is None:
            return None
        return [f"{image}{text[len(start) :]}" for image, _ in starts] or [NOBODY]

    def _known_principals(self, acl: Acl) -> Iterator[str]:
        for own, image in self.principals:
            if principal_matches(acl.principal, own, self.semantics):
                yield image
        # Whoever it is for, the resource has an ACL.
        yield NOBODY


def _image(names: NameMap, name: str, side: int) -> str | None:
    """Return what the second cluster calls a name of a cluster."""
    if side == FIRST:
        return names.there(name)
    return None if names.back(name) is None else name


def _everything(names: NameMap, kind: str, name: str) -> list[tuple[str, str]]:
    """Return the pattern of every name: itself, or where not every name counts, each part."""
    if any(not rule.theirs for rule in names.rules):
        return [(kind, name)]
    return [(PREFIXED, rule.theirs) for rule in names.rules]


def _starts(
    names: NameMap, side: int, start: str, *, is_whole: bool
) -> list[tuple[str, bool]] | None:
    """Return the beginnings that a beginning becomes, and whether each is followed by the rest.

    Args:
        names: the rules.
        side: whose beginning it is.
        start: the beginning.
        is_whole: whatever follows it is meant, as by a prefix; otherwise a rest has to match.

    Returns:
        None where the names cannot be told by beginnings alone.
    """
    found: list[tuple[str, bool]] = []
    for rule in names.rules:
        own = rule[side]
        if start.startswith(own):
            rest = start[len(own) :]
            if not names.is_of(rule, rest):
                continue
            image = rule.theirs + rest
            if not all(
                _is_met(below, image, start, side, is_whole=is_whole) for below in names.below(rule)
            ):
                return None
            found.append((image, True))
        elif own.startswith(start):
            if not is_whole:
                return None
            found.append((rule.theirs, False))
    wide = [image for image, _ in found]
    return [
        each
        for each in dict.fromkeys(found)
        if not is_whole or not any(each[0] != one and each[0].startswith(one) for one in wide)
    ]


def _is_met(below: Rule, image: str, start: str, side: int, *, is_whole: bool) -> bool:
    """Whether an image holds no names of a longer rule but those that the beginning has there."""
    if not below.theirs.startswith(image):
        return True
    return is_whole and below[side].startswith(start)
