"""ACLs and assertions → principals, hosts and resources of no inventory that are meant too. Pure.

They are what an assertion or an ACL names letter by letter, and for each pattern of an assertion
names that stand for those to come: one for the pattern itself, and one for what it shares with
each pattern of an ACL, as far as such a name is found. For what three patterns share, nothing
stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from aclkit.assertions.match import symbols_of
from aclkit.assertions.model import Assertion, Pattern, ResourcePattern
from aclkit.model.acl import ANY_OTHER_PRINCIPAL, Acl
from aclkit.model.host import canonical_host
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import split_principal
from aclkit.model.resource import CLUSTER_NAME, Resource
from aclkit.model.semantics import KIP_1042, BrokerSettings, Semantics
from aclkit.patterns.contain import pattern_symbols
from aclkit.patterns.identity import index_principals, principal_pattern
from aclkit.patterns.match import GLOB, LITERAL, effective_pattern_type, names_exactly
from aclkit.preview.overlap import fill, may_overlap, overlap
from aclkit.preview.state import Asked, Change, State
from aclkit.preview.witness import find_witnesses


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """Names of no inventory.

    Attributes:
        principals: who.
        hosts: from where.
        resources: on what.
        endless: those of the principals that stand for any number of them.
        written: what of all these an assertion says letter by letter.
    """

    principals: tuple[str, ...]
    hosts: tuple[str, ...]
    resources: tuple[Resource, ...]
    endless: frozenset[str]
    written: frozenset[str | Resource]


def find_beyond(
    assertions: Sequence[Assertion],
    acls: Mapping[str, Acl],
    inventory: Asked,
    semantics: Semantics,
) -> Beyond:
    """Find the names beyond an inventory that some of the assertions may be about."""
    wanted = _wanted(assertions)
    named, endless = _principals(wanted.principals, acls.values(), inventory, semantics)
    names = find_witnesses(_as_change(wanted, acls, semantics), inventory)
    of_acls = {acl.host for acl in acls.values() if canonical_host(acl.host) == acl.host}
    hosts = [*_literals(wanted.hosts), *sorted(of_acls), *(w.host for w in names if w.host)]
    written = [
        Resource(p.resource_type, p.name.text)
        for p in wanted.resources
        if p.name.pattern_type == LITERAL
    ]
    resources = [*written, *(w.resource for w in names if w.resource)]
    return Beyond(
        principals=tuple(p for p in (*named, *endless) if p not in inventory.principals),
        hosts=tuple(dict.fromkeys(host for host in hosts if host not in inventory.hosts)),
        resources=tuple(dict.fromkeys(r for r in resources if r not in inventory.resources)),
        endless=frozenset(endless),
        written=frozenset(chain(_literals(wanted.principals), _literals(wanted.hosts), written)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """All patterns of some assertions, each once."""

    principals: tuple[Pattern, ...]
    hosts: tuple[Pattern, ...]
    resources: tuple[ResourcePattern, ...]


_EVERYTHING: Final = Pattern(GLOB, "*")
_ALL_RESOURCES: Final = tuple(ResourcePattern(kind, _EVERYTHING) for kind in OPERATIONS_OF_TYPE)


def _wanted(assertions: Iterable[Assertion]) -> _Wanted:
    principals: list[Pattern] = []
    hosts: list[Pattern] = []
    resources: list[ResourcePattern] = []
    for assertion in assertions:
        who = assertion.who
        principals += [_EVERYTHING] if who.names is None or who.is_inverted else who.names
        for what in assertion.duties:
            hosts += what.hosts or ()
            resources += _ALL_RESOURCES if what.names is None else what.names
    return _Wanted(
        principals=tuple(dict.fromkeys(principals)),
        hosts=tuple(dict.fromkeys(hosts)),
        resources=tuple(dict.fromkeys(resources)),
    )


def _literals(patterns: Iterable[Pattern]) -> list[str]:
    return [pattern.text for pattern in patterns if pattern.pattern_type == LITERAL]


def _principals(
    patterns: Sequence[Pattern], acls: Iterable[Acl], inventory: Asked, semantics: Semantics
) -> tuple[list[str], list[str]]:
    """Return principals that are named, by an assertion or an ACL, and those that stand for more.

    Of several names that could stand for more, the one that fewest ACL principals match is taken.
    """
    texts = sorted({acl.principal for acl in acls})
    exact = [text for text in texts if names_exactly(text, semantics)]
    index = index_principals(texts, semantics)
    taken = frozenset((*inventory.principals, *exact))
    globs = [
        pattern_symbols(*principal_pattern(text, semantics), KIP_1042)
        for text in texts
        if split_principal(text) and not names_exactly(text, semantics)
    ]
    endless: dict[str, None] = {}
    for pattern in patterns:
        if pattern.pattern_type == LITERAL:
            continue
        mine = symbols_of(pattern)
        shared = (overlap(mine, symbols) for symbols in globs if may_overlap(mine, symbols))
        for symbols in (mine, *(s for s in shared if s is not None)):
            names = [fill(symbols, run=run, one=run[0]) for run in _FILLERS]
            free = [name for name in names if split_principal(name) and name not in taken]
            if free:
                endless.setdefault(min(free, key=lambda name: len(index.matching(name))))
    return [*dict.fromkeys([*_literals(patterns), *exact])], [*endless, ANY_OTHER_PRINCIPAL]


_FILLERS: Final = ("any-other", *(f"{letter}-any-other" for letter in "zqxjkvw"))


def _as_change(wanted: _Wanted, acls: Mapping[str, Acl], semantics: Semantics) -> Change:
    """Take the patterns of assertions for ACLs that come: what they touch needs witnesses.

    Assertions know globs even where ACLs are read without; so each ACL's pattern is written as
    what it acts as.
    """
    alive = {
        acl_id: replace(acl, pattern_type=effective_pattern_type(acl.pattern_type, semantics))
        for acl_id, acl in acls.items()
    }
    hosts = {acl.host for acl in acls.values()} | {_as_glob(host) for host in wanted.hosts}
    comes = [
        *(_comes(p.resource_type, p.name.pattern_type, p.name.text, "*") for p in wanted.resources
          if p.name.pattern_type != LITERAL),
        *(_comes("CLUSTER", LITERAL, CLUSTER_NAME, host) for host in sorted(hosts)),
    ]  # fmt: skip
    state = State(acls=alive, settings=BrokerSettings())
    return Change(
        before=state,
        after=state.with_acls(replace(a, acl_id=f"assertion {n}") for n, a in enumerate(comes)),
        semantics=replace(KIP_1042, wildcard_defect=semantics.wildcard_defect),
    )


def _as_glob(host: Pattern) -> str:
    return host.text if host.pattern_type in (LITERAL, GLOB) else f"{host.text}*"


def _comes(resource_type: str, pattern_type: str, name: str, host: str) -> Acl:
    return Acl(
        acl_id="",
        resource_type=resource_type,
        resource_name=name,
        pattern_type=pattern_type,
        principal="User:*",
        host=host,
        operation="ALL",
        permission_type="ALLOW",
    )
