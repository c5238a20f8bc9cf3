"""A principal's ACLs on other names than the one asked about → sentences that say why not there.

What was granted on one name is often asked for on another: a star in a LITERAL name, a prefix that
was meant and not said, a group that nobody thought of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from aclkit.model.acl import Acl, Request
from aclkit.model.glob import glob_matches
from aclkit.model.groups import grouped
from aclkit.model.resource import WORD_OF_TYPE
from aclkit.model.semantics import Semantics
from aclkit.questions.query.lifetimes import lifetimes_naming
from aclkit.questions.query.pattern_grants import kind_word, pattern_grants
from aclkit.rules.patterns.match import (
    LITERAL,
    host_matches,
    matches_every_name,
    principal_matches,
    reaches,
)
from aclkit.warehouse.reader import Tables

MOST_SHOWN: Final = 5
"""Patterns of which a sentence tells; all are counted."""


@dataclass(frozen=True, slots=True)
class OwnAcls:
    """What a principal has elsewhere.

    Attributes:
        others: ACLs that name the principal on other names of the type, the most alike first; none
            where one of them reaches the name that is asked about.
        groups: of READ on a topic, the ALLOWs by which the principal may READ groups; None of
            every other request.
    """

    others: tuple[Acl, ...] = ()
    groups: tuple[Acl, ...] | None = None


def read_own_acls(
    connection: Tables, cluster_id: str, request: Request, semantics: Semantics, offset: int
) -> OwnAcls:
    """Read them as of an offset; see ``reader.open_tables`` for the connection."""

    def naming(resource_type: str) -> list[Acl]:
        lives = lifetimes_naming(connection, cluster_id, resource_type, request.principal, offset)
        found = (life.acl for life in lives)
        return [a for a in found if principal_matches(a.principal, request.principal, semantics)]

    own = naming(request.resource_type)
    is_reached = any(reaches(acl, *request.resource, semantics) for acl in own)
    others = [acl for acl in own if acl.principal == request.principal]
    others.sort(key=lambda acl: (-_alike(acl, request), acl.pattern, acl.acl_id))
    is_consumer = (request.operation, request.resource_type) == ("READ", "TOPIC")
    groups = _reading(naming("GROUP"), request, semantics) if is_consumer else None
    return OwnAcls(others=() if is_reached else tuple(others), groups=groups)


def own_acl_words(own: OwnAcls, request: Request) -> Iterator[str]:
    """Yield a sentence for each pattern of the others, and one of the groups."""
    name, word = request.resource_name, WORD_OF_TYPE[request.resource_type]
    patterns = grouped(((acl.pattern, acl.permission_type), acl) for acl in own.others)
    for acls in list(patterns.values())[:MOST_SHOWN]:
        done = ", ".join(dict.fromkeys(acl.operation for acl in acls))
        verb = "has" if acls[0].is_allow else "is denied"
        told = f"{request.principal} {verb} {done} on {word} {_pattern(acls[0])}"
        yield f"{told}, which does not match {name}.{_hint(acls[0], name)}"
    if (more := len(patterns) - MOST_SHOWN) > 0:
        yield f"{request.principal} has ACLs on {more:,} more patterns of that type."
    if own.groups is not None:
        yield _groups_words(own.groups, request.principal)


def _groups_words(groups: Sequence[Acl], principal: str) -> str:
    need = "A consumer also needs READ on its group"
    if not groups:
        return f"{need}, and no ACL allows {principal} that on any group."
    shown = ", ".join(dict.fromkeys(map(_pattern, groups[:MOST_SHOWN])))
    more = f" and {len(groups) - MOST_SHOWN:,} more" if len(groups) > MOST_SHOWN else ""
    stars = [acl for acl in groups if _has_star(acl)]
    hint = f" {_STAR}" if stars else ""
    return f"{need}. ACLs allow {principal} that on group {shown}{more}.{hint}"


def _hint(acl: Acl, name: str) -> str:
    """Say of a LITERAL name what was perhaps meant."""
    if acl.pattern_type != LITERAL:
        return ""
    if _has_star(acl) and glob_matches(acl.resource_name, name):
        return f" {_STAR}"
    if acl.resource_name and name.startswith(acl.resource_name):
        return " LITERAL is this very name; PREFIXED would match it."
    return ""


_STAR: Final = "In a LITERAL name * is a plain character, no wildcard."


def _has_star(acl: Acl) -> bool:
    return acl.pattern_type == LITERAL and "*" in acl.resource_name != "*"


def _reading(acls: Iterable[Acl], request: Request, semantics: Semantics) -> tuple[Acl, ...]:
    """Return the ALLOWs of READ from the host that DENYs leave something of."""
    here = [acl for acl in acls if host_matches(acl.host, request.host, semantics)]
    grants = pattern_grants(here, {}, frozenset({request.host}), semantics)
    found = [grant.acl for grant in grants if grant.operation == "READ"]
    every = [
        acl
        for acl in here
        if acl.operation in ("READ", "ALL")
        and matches_every_name(acl.pattern_type, acl.resource_name, semantics)
    ]
    if any(not acl.is_allow for acl in every):
        return ()
    return (*every, *found)


def _alike(acl: Acl, request: Request) -> int:
    pairs = zip(acl.resource_name, request.resource_name, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _pattern(acl: Acl) -> str:
    return f"{acl.resource_name or repr('')} ({kind_word(acl)})"
