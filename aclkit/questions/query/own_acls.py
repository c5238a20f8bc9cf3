"""A principal's ACLs on other names than the one asked about → why they do not apply to it.

A grant on one name is often expected on another: a star in a LITERAL name, a prefix that was meant
but not written, a forgotten group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.broker_settings import ALLOW_EVERYONE
from aclkit.model.glob import glob_matches
from aclkit.model.groups import grouped
from aclkit.model.phrases import few, number_of
from aclkit.model.resource import WORD_OF_TYPE
from aclkit.model.semantics import Semantics
from aclkit.model.values import dataclass
from aclkit.questions.query.lifetimes import lifetimes_naming
from aclkit.questions.query.pattern_grants import kind_word, pattern_grants
from aclkit.rules.decide.counterfactual import Case
from aclkit.rules.names.cover import ALL
from aclkit.rules.patterns.identity import asked_host
from aclkit.rules.patterns.match import (
    LITERAL,
    common_start,
    host_can_match,
    host_matches,
    is_any_host,
    matches_every_name,
    principal_matches,
    reaches,
)
from aclkit.warehouse.duck import Tables

MOST_SHOWN: Final = 5
"""Patterns of which a sentence tells; all are counted."""


@dataclass(frozen=True, slots=True)
class OwnAcls:
    """What a principal has elsewhere.

    Attributes:
        others: ACLs that name the principal on other names of the type, the most similar first;
            none where one of them applies to the name that is asked about.
        groups: for READ on a topic, the ALLOWs that let the principal read groups, those for any
            host first; None for every other request.
        less: where DENYs override these, "on some groups", "from some hosts".
    """

    others: tuple[Acl, ...] = ()
    groups: tuple[Acl, ...] | None = None
    less: tuple[str, ...] = ()


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
    name = request.resource_name
    others.sort(
        key=lambda acl: (-len(common_start(acl.resource_name, name)), acl.pattern, acl.acl_id)
    )
    is_consumer = (request.operation, request.resource_type) == ("READ", "TOPIC")
    found = OwnAcls(others=() if is_reached else tuple(others))
    if not is_consumer:
        return found
    groups, less = _reading(naming("GROUP"), request, semantics)
    return replace(found, groups=groups, less=less)


def own_acl_words(own: OwnAcls, case: Case) -> Iterator[str]:
    """Yield a sentence for each pattern of the others, and one of the groups."""
    request, semantics = case.request, case.semantics
    name, word = request.resource_name, WORD_OF_TYPE[request.resource_type]
    alike = list(grouped(((a.pattern, a.permission_type, a.host), a) for a in own.others).values())
    for acls in alike[:MOST_SHOWN]:
        done = ", ".join(dict.fromkeys(acl.operation for acl in acls))
        verb = "has" if acls[0].is_allow else "is denied"
        where = f"{word} {_pattern(acls[0], semantics)}{_from(acls[0], semantics)}"
        told = f"{request.principal} {verb} {done} on {where}"
        yield f"{told}, which does not match {name}.{_hint(acls[0], name)}"
    shown, every = (
        {acl.pattern for acls in some for acl in acls} for some in (alike[:MOST_SHOWN], alike)
    )
    if more := len(every - shown):
        yield f"{request.principal} has ACLs on {number_of(more, 'more pattern')} of that type."
    if own.groups is not None:
        yield f"A consumer also needs READ on its group{_groups_words(own.groups, own.less, case)}"


def _groups_words(groups: Sequence[Acl], less: Sequence[str], case: Case) -> str:
    """Go on from what a consumer needs with what of it ACLs allow."""
    principal, semantics = case.request.principal, case.semantics
    if not groups and ALLOW_EVERYONE in case.settings.unknown:
        unreached = f"Where no ACL applies to the group, {ALLOW_EVERYONE} decides."
        return f". No ACL allows {principal} that. {unreached}"
    if not groups:
        return f", and no ACL allows {principal} that on any group."
    is_any = case.request.host == ANY_OTHER
    patterns = dict.fromkeys(
        _pattern(acl, semantics) + (_from(acl, semantics) if is_any else "") for acl in groups
    )
    is_bound = is_any and not any(is_any_host(acl.host, semantics) for acl in groups)
    only = ", from some hosts only" if is_bound else ""
    told = [f". ACLs allow {principal} that on group {few(patterns, MOST_SHOWN)}{only}."]
    if any(map(_has_star, groups)):
        told.append(_STAR)
    if less:
        told.append(f"DENYs override it {' and '.join(less)}.")
    return " ".join(told)


def _hint(acl: Acl, name: str) -> str:
    """Suggest what was perhaps meant by a LITERAL name."""
    if acl.pattern_type != LITERAL:
        return ""
    if _has_star(acl) and glob_matches(acl.resource_name, name):
        return f" {_STAR}"
    if acl.is_allow and acl.resource_name and name.startswith(acl.resource_name):
        return " LITERAL is this very name; PREFIXED would match it."
    return ""


_STAR: Final = "In a LITERAL name * is a plain character, no wildcard."


def _has_star(acl: Acl) -> bool:
    return acl.pattern_type == LITERAL and "*" in acl.resource_name != "*"


def _reading(
    acls: Iterable[Acl], request: Request, semantics: Semantics
) -> tuple[tuple[Acl, ...], tuple[str, ...]]:
    """Return the ALLOWs of READ that DENYs leave something of, and where DENYs override these.

    Where no host is asked about, they are those of any host that an ACL names.
    """
    asking = [acl for acl in acls if acl.operation in ("READ", "ALL")]
    found: dict[Acl, None] = {}
    overridden: list[Acl] = []
    is_partly = False
    for host in _hosts(asking, request, semantics):
        here = [acl for acl in asking if host_matches(acl.host, host, semantics)]
        left = dict(_left(here, host, semantics))
        found |= dict.fromkeys(left)
        is_partly |= not all(left.values())
        overridden += [acl for acl in here if acl.is_allow and acl not in left]
    less = {"on some groups": is_partly, "from some hosts": not found.keys().isdisjoint(overridden)}
    return tuple(found), tuple(words for words, is_so in less.items() if is_so)


def _hosts(acls: Iterable[Acl], request: Request, semantics: Semantics) -> list[str]:
    """Return the host that is asked about, else any other one before those that ACLs name."""
    if request.host != ANY_OTHER:
        return [request.host]
    named = {
        asked_host(acl.host, semantics) or acl.host
        for acl in acls
        if host_can_match(acl.host, semantics) and not is_any_host(acl.host, semantics)
    }
    return [ANY_OTHER, *sorted(named)]


def _left(here: Sequence[Acl], host: str, semantics: Semantics) -> Iterator[tuple[Acl, bool]]:
    """Yield the ALLOWs from a host that DENYs leave something of, and whether they leave all."""
    every = [a for a in here if matches_every_name(a.pattern_type, a.resource_name, semantics)]
    if any(not acl.is_allow for acl in every):
        return
    has_denies = any(not acl.is_allow for acl in here)
    yield from ((acl, not has_denies) for acl in every)
    for grant in pattern_grants(here, {}, frozenset({host}), semantics):
        if grant.operation == "READ":
            yield grant.acl, grant.extent == ALL


def _pattern(acl: Acl, semantics: Semantics) -> str:
    is_every = matches_every_name(acl.pattern_type, acl.resource_name, semantics)
    return f"{acl.resource_name or repr('')} ({'all' if is_every else kind_word(acl)})"


def _from(acl: Acl, semantics: Semantics) -> str:
    return "" if is_any_host(acl.host, semantics) else f" from {acl.host}"
