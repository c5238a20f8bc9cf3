"""For random ACLs and uses: each use is decided as before, nothing is gained, the list exact."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.acl import Acl, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.questions.narrow.narrowing import narrow
from aclkit.questions.narrow.pieces import Names
from aclkit.questions.narrow.proof import prove_narrowed
from aclkit.questions.usage.use import Use
from aclkit.rules.decide.rules import ALLOWED, decide
from aclkit.rules.names.change_lines import names_in
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import RegionChange
from aclkit.rules.names.rows import Rules

ME, OTHER = "User:me", "User:other"
HOSTS = ("10.0.0.1", "9.9.9.9")
"""The first may be one that ACLs name; the other is in none."""
NAMES = ("a", "a.b", "a.b.c", "a.d", "b", "hardcode")
KINDS = ("TOPIC", "GROUP")
UNIVERSE = [
    Request(principal=who, host=host, operation=op, resource_type=kind, resource_name=name)
    for who, host, kind, name in product((ME, OTHER), HOSTS, KINDS, NAMES)
    for op in OPERATIONS_OF_TYPE[kind]
]

_PATTERNS = st.one_of(
    st.tuples(st.just("LITERAL"), st.sampled_from((*NAMES, "*"))),
    st.tuples(st.just("PREFIXED"), st.sampled_from(("a", "a.", "a.b", "*"))),
    st.tuples(st.just("GLOB"), st.sampled_from(("a*", "?.*", "*", "a.?"))),
)


@st.composite
def _acls(draw: st.DrawFn) -> Acl:
    kind = draw(st.sampled_from(KINDS))
    pattern_type, name = draw(_PATTERNS)
    return Acl(
        acl_id="",
        resource_type=kind,
        resource_name=name,
        pattern_type=pattern_type,
        principal=draw(st.sampled_from((ME, ME, ME, OTHER, "User:*", "User:*", "User:m*"))),
        host=draw(st.sampled_from(("*", HOSTS[0]))),
        operation=draw(st.sampled_from(("ALL", "ALL", "ALL", "READ", *OPERATIONS_OF_TYPE[kind]))),
        permission_type=draw(st.sampled_from(("ALLOW", "ALLOW", "ALLOW", "DENY"))),
    )


_RULES = st.builds(
    lambda acls, semantics, supers, allow_everyone: Rules(
        acls=tuple(replace(acl, acl_id=f"{at}") for at, acl in enumerate(acls)),
        settings=BrokerSettings(super_users=frozenset(supers), allow_everyone=allow_everyone),
        semantics=semantics,
    ),
    st.lists(_acls(), max_size=8, unique_by=lambda acl: acl.binding),
    st.sampled_from((KAFKA, KIP_1042)),
    st.sampled_from(((), (), (), (ME,))),
    st.booleans(),
)
_USES = st.lists(
    st.sampled_from([asked for asked in UNIVERSE if asked.principal == ME]), max_size=8
)
_HOW = st.sampled_from(("keep", "prefix", "literal"))


@settings(max_examples=max(300, settings.default.max_examples))
@given(rules=_RULES, asked=_USES, keep=st.lists(_acls(), max_size=2), names=_HOW, data=st.data())
def test_a_narrower_set_keeps_each_use_gains_nothing_and_lists_what_is_lost(
    rules: Rules, asked: list[Request], keep: list[Acl], names: Names, data: st.DataObject
) -> None:
    stays = {acl.binding: "too-new" for acl in rules.acls if data.draw(st.integers(0, 5)) == 0}
    uses = [Use(request=request) for request in asked]
    found = narrow(rules, ME, uses, stays=stays, keep=dict.fromkeys(keep, ""), names=names)
    after = found.after(rules.acls)
    before_allowed, after_allowed = _allowed(rules), _allowed(replace(rules, acls=after))
    assert not after_allowed - before_allowed
    assert {each for each in asked if each in before_allowed} <= after_allowed
    lost = before_allowed - after_allowed
    assert all(request.principal == ME for request in lost)
    assert not {acl.binding for acl in rules.acls} & {acl.binding for acl in found.added}
    assert stays.keys() <= {acl.binding for acl in after}
    kept = {each for each in before_allowed if _is_kept(each, keep, rules)}
    assert kept <= after_allowed

    proven = prove_narrowed(rules, found, uses, Budget())
    assert proven.is_known
    told = {each for change in proven.lost for each in _told(change.opening)}
    assert told == lost


def _allowed(rules: Rules) -> set[Request]:
    return {
        each
        for each in UNIVERSE
        if decide(rules.acls, each, rules.settings, rules.semantics).decision == ALLOWED
    }


def _is_kept(request: Request, keep: list[Acl], rules: Rules) -> bool:
    """Whether an ACL of the keep file would allow a request, were it alone in force."""
    if request.principal != ME:
        return False
    alone = BrokerSettings(super_users=frozenset(), allow_everyone=False)
    allows = [acl for acl in keep if acl.is_allow]
    return decide(allows, request, alone, rules.semantics).decision == ALLOWED


def _has(hosts: NameClass, host: str) -> bool:
    return hosts.is_all or (hosts.name == host if hosts.is_single else host == HOSTS[1])


def _told(opening: RegionChange) -> set[Request]:
    """Return what of the universe a loss that is listed has."""
    assert opening.regions
    assert all(region.is_exact for region in opening.regions)
    names = {
        name
        for region in opening.regions
        for name in names_in(region, opening.resource_type, NAMES)
    }
    return {
        each
        for each in UNIVERSE
        if each.resource_type == opening.resource_type and each.resource_name in names
        for party in opening.parties
        if each.operation in party.operations
        and any(who.name == each.principal for who in party.principals)
        and any(_has(host, each.host) for host in party.hosts)
    }
