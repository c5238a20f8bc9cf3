"""Findings for every name: brute force over short names, principals and hosts agrees.

``ACLKIT_FUZZ=N`` has it look at N times as many systems as an ordinary run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import pytest

from aclkit.audit.findings.audit_input import AuditInput, Life
from aclkit.audit.findings.denies import find_deny_leaves_describe, find_overridden
from aclkit.audit.findings.escalation import find_escalations
from aclkit.audit.findings.public_access import ANY_HOST, find_public_access
from aclkit.audit.findings.redundant import covers_of, find_removable
from aclkit.audit.findings.registry import REGISTRY, find_all
from aclkit.audit.findings.required_pairs import find_read_without_group
from aclkit.audit.findings.too_much import find_open_to_everyone, find_over_broad
from aclkit.audit.findings.unknown import find_unknown, notes_on, staying
from aclkit.model.acl import Acl, Request
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings, Semantics
from aclkit.rules.decide.rules import answers
from aclkit.rules.names.classes import classes_of_hosts, classes_of_principals
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import of_host, of_principal
from aclkit.rules.patterns.match import can_match, reaches
from tests.audit.findings.auditing import audit_of, subjects
from tests.factories import acl
from tests.fuzz.mutants import each
from tests.rules.names.world import acl as read_acl
from tests.rules.names.world import names_up_to

find_any_host = REGISTRY[ANY_HOST]

SYSTEMS = 320
NAMES = names_up_to(4)
OPERATIONS = ("READ", "WRITE", "DESCRIBE", "DELETE")
WHO = ("User:x", "User:x", "User:*", "User:*", "User:svc-*", "User:*-x", "*:x", "User:A*",
       "User:?*", "Group:*")  # fmt: skip
FROM = ("*", "*", "*", "10.0.*", "10.0.0.1", "*.*", "*:*")


@cache
def people(read: Semantics) -> list[str]:
    """Return one of each class of principals; a principal of a text that is no glob is one."""
    texts = {symbols for text in WHO if (symbols := of_principal(text, read))}
    found = classes_of_principals({*texts, tuple("User:ANONYMOUS"), tuple("User:zz")}, Budget())
    assert found.is_complete
    return [each.name for each in found.members]


@cache
def hosts(read: Semantics) -> list[str]:
    """Return one of each class of hosts."""
    found = classes_of_hosts({of_host(text, read) for text in FROM}, Budget())
    assert found.is_complete
    return [each.name for each in found.members]


@cache
def systems() -> list[tuple[AuditInput, World]]:
    """Return small systems of ACLs, the same for all tests."""
    made: list[tuple[AuditInput, World]] = []
    for chance in each("findings for every name", SYSTEMS):
        read = chance.choice((KIP_1042, KIP_1042, KAFKA))
        drawn = (_acl(chance, number) for number in range(chance.randint(3, 10)))
        rows = [row for row in drawn if can_match(row, read)]
        made.append((audit_of(*rows, semantics=read), World(rows, read)))
    return made


def _acl(chance: random.Random, number: int) -> Acl:
    kind = chance.choice(("LITERAL", "PREFIXED", "GLOB", "GLOB"))
    letters, most = ("ab**?", 4) if kind == "GLOB" else ("ab", 2)
    name = "".join(chance.choice(letters) for _ in range(chance.randint(1, most)))
    if kind == "LITERAL" and chance.random() < 0.3:
        name = "*"
    operation = chance.choice(("READ", "READ", "ALL", "DESCRIBE", "DELETE"))
    permission = chance.choice(("ALLOW", "DENY"))
    text = f"{permission} {chance.choice(WHO)} {operation} {kind} {name} {chance.choice(FROM)}"
    return read_acl(text, number)


class World:
    """What each ACL answers, as bits: one for each operation, principal, host and name."""

    def __init__(self, rows: Sequence[Acl], read: Semantics) -> None:
        self.rows = rows
        asked = [
            Request(principal=p, host=h, operation=o, resource_type="TOPIC", resource_name="")
            for o in OPERATIONS
            for p in people(read)
            for h in hosts(read)
        ]
        self.asked, self.answered = asked, {}
        for row in rows:
            names = sum(1 << n for n, x in enumerate(NAMES) if reaches(row, "TOPIC", x, read))
            found = (
                names << at * len(NAMES) for at, a in enumerate(asked) if answers(row, a, read)
            )
            self.answered[row.acl_id] = sum(found)

    def union(self, keep: Callable[[Acl], bool]) -> int:
        bits = 0
        for row in self.rows:
            if keep(row):
                bits |= self.answered[row.acl_id]
        return bits

    def allowed(self, gone: frozenset[str] = frozenset()) -> int:
        """Return what is allowed by ACLs, without some of them."""
        rows = [row for row in self.rows if row.acl_id not in gone]
        allow = self.union(lambda row: row in rows and row.is_allow)
        return allow & ~self.denied(gone)

    def denied(self, gone: frozenset[str] = frozenset()) -> int:
        return self.union(lambda row: row.acl_id not in gone and not row.is_allow)

    def reached(self, gone: frozenset[str], read: Semantics) -> set[str]:
        """Return the names that some ACL reaches: the others are open under allow.everyone."""
        rows = [row for row in self.rows if row.acl_id not in gone]
        return {name for name in NAMES if any(reaches(r, "TOPIC", name, read) for r in rows)}

    def of(self, keep: Callable[[Request], bool]) -> int:
        whole = (1 << len(NAMES)) - 1
        return sum(whole << at * len(NAMES) for at, a in enumerate(self.asked) if keep(a))


def test_all_that_is_reported_can_go_and_what_is_left_cannot() -> None:
    seen = 0
    for audit, world in systems():
        rows, read = audit.acls, audit.semantics
        covers = find_removable(audit.rows, audit.others, audit.overridden).covers
        overridden, removable = set(audit.overridden), {k for k, v in covers.items() if v}
        seen += len(overridden | removable)
        for some in ({one} for one in sorted(overridden | removable)):
            assert world.allowed(frozenset(some)) == world.allowed()
        gone = frozenset(overridden | removable)
        assert world.allowed(gone) == world.allowed()
        assert world.denied(frozenset(removable)) == world.denied()
        assert world.reached(gone, read) == world.reached(frozenset(), read)
        for row in (row for row in rows if row.acl_id not in gone):
            more = frozenset({*gone, row.acl_id})
            is_needed = (
                world.allowed(more) != world.allowed()
                if row.is_allow
                else world.denied(more) != world.denied(gone)
            )
            assert is_needed, (str(row), list(map(str, rows)), read)
    assert seen > SYSTEMS / 3


def test_an_allow_is_overridden_exactly_where_all_that_it_answers_is_denied() -> None:
    for audit, world in systems():
        rows, read, found = audit.acls, audit.semantics, audit.overridden
        for row in (row for row in rows if row.is_allow):
            left = world.answered[row.acl_id] & ~world.denied()
            assert (row.acl_id in found) == (not left), (str(row), list(map(str, rows)), read)
            named = {each.acl_id for each in found.get(row.acl_id, ())}
            assert not named or not world.answered[row.acl_id] & ~world.union(
                lambda each, named=named: each.acl_id in named
            )


def test_access_is_public_exactly_where_denies_leave_some() -> None:
    for audit, world in systems():
        rows, read = audit.acls, audit.semantics
        found = {f.acl_ids[0] for f in find_public_access(audit)}
        for row in (row for row in rows if row.is_allow):
            left = world.answered[row.acl_id] & ~world.denied()
            if row.principal in ("User:A*", "User:?*") and read == KIP_1042:
                left &= world.of(lambda asked: asked.principal == "User:ANONYMOUS")
            elif row.principal != "User:*":
                left = 0
            assert (row.acl_id in found) == bool(left), (str(row), list(map(str, rows)), read)


def test_a_principal_has_what_is_sensitive_exactly_where_denies_leave_it() -> None:
    for audit, world in systems():
        rows = audit.acls
        found = {acl_id for f in find_any_host(audit) for acl_id in f.acl_ids}
        sensitive = world.of(lambda asked: asked.operation in ("WRITE", "DELETE"))
        for row in (row for row in rows if row.acl_id in found):
            assert world.answered[row.acl_id] & ~world.denied() & sensitive


def test_a_deny_leaves_describe_exactly_where_the_rule_still_allows_it() -> None:
    for audit, world in systems():
        rows, read = audit.acls, audit.semantics
        found = {f.acl_ids[0] for f in find_deny_leaves_describe(audit)}
        block = len(people(read)) * len(hosts(read)) * len(NAMES)
        whole = (1 << block) - 1
        at = OPERATIONS.index("DESCRIBE") * block
        for row in (row for row in rows if not row.is_allow and row.operation == "READ"):
            reads = world.answered[row.acl_id] >> OPERATIONS.index("READ") * block & whole
            left = reads & world.allowed() >> at
            assert (row.acl_id in found) == bool(left), (str(row), list(map(str, rows)), read)


OPEN = [
    "ALLOW User:* READ PREFIXED open.",
    "DENY User:* ALL LITERAL open.",
    "DENY User:* ALL GLOB open.?*",
]


def of_texts(*texts: str, **known: object) -> AuditInput:
    return audit_of(*(read_acl(text, number) for number, text in enumerate(texts)), **known)


def test_what_two_denies_take_together_is_overridden_and_not_public() -> None:
    kinds = [found.finding for found in find_all(of_texts(*OPEN))]
    assert kinds == ["allow-overridden"]
    (found,) = find_overridden(of_texts(*OPEN))
    assert found.acl_ids == ("acl-0", "acl-1", "acl-2")
    (found,) = find_public_access(of_texts(*OPEN[:1], OPEN[2]))
    assert found.message.endswith(" can DESCRIBE topic:open..")


def test_principals_that_only_several_texts_cover_are_seen() -> None:
    allow = "ALLOW User:?* READ LITERAL logs"
    denies = ["DENY User:? ALL LITERAL logs", "DENY User:??* ALL LITERAL logs"]
    assert subjects(find_overridden(of_texts(allow, *denies)))
    assert not subjects(find_overridden(of_texts(allow, denies[0])))


def test_all_hosts_of_a_glob_can_be_named_one_by_one() -> None:
    allow = "ALLOW User:a READ LITERAL logs 10.0.0.?"
    denies = [f"DENY User:a ALL LITERAL logs 10.0.0.{n}" for n in range(10)]
    assert subjects(find_overridden(of_texts(allow, *denies)))
    assert not subjects(find_overridden(of_texts(allow, *denies[1:])))


def test_a_shortest_name_is_told_and_decided() -> None:
    audit = of_texts("ALLOW User:* READ GLOB ?*", "DENY User:* ALL GLOB ?")
    (found,) = find_public_access(audit)
    assert found.message.rpartition("topic:")[2] == "zz."


def test_a_prefix_whose_topics_a_deny_takes_is_not_broad() -> None:
    topics = [Life(name=f"{'ab'[n % 4 > 0]}.{n}", first_offset=1) for n in range(20)]
    texts = ["ALLOW User:a READ GLOB ?*", "DENY User:* ALL PREFIXED b."]
    assert subjects(find_over_broad(of_texts(texts[0], topics=topics)))
    assert not subjects(find_over_broad(of_texts(*texts, topics=topics)))


def test_topics_to_come_are_closed_by_acls_that_reach_them_together() -> None:
    everyone = {"settings": BrokerSettings(allow_everyone=True)}
    texts = ["ALLOW User:a READ GLOB ?", "ALLOW User:a READ GLOB ??*"]
    assert subjects(find_open_to_everyone(of_texts(*texts, **everyone))) == ["cluster"]
    _, found = find_open_to_everyone(of_texts(texts[1], **everyone))
    assert found.message.endswith(
        "new topics that no ACL matches, for example a topic named 'z': no ACL applies."
    )


def test_a_group_that_is_denied_to_one_is_none_to_him() -> None:
    group = {"resource_type": "GROUP", "principal": "User:*"}
    rows = [acl(), acl(principal="User:b"), acl("g", **group)]
    rows.append(acl("g", permission_type="DENY", **group | {"principal": "User:b"}))
    assert subjects(find_read_without_group(audit_of(*rows))) == ["User:b"]


def test_tokens_of_a_user_that_a_deny_protects_are_not_within_reach() -> None:
    of_user = {"resource_type": "USER", "operation": "CREATE_TOKENS"}
    allow = acl("User:", pattern_type="PREFIXED", **of_user)
    deny = acl("User:root", principal="User:*", permission_type="DENY", **of_user)
    known = {
        "settings": BrokerSettings(super_users=frozenset({"User:root"})),
        "asked_principals": ["User:root", "User:x"],
    }
    (found,) = find_escalations(audit_of(allow, **known))
    assert found.severity == "high"
    (found,) = find_escalations(audit_of(allow, deny, **known))
    assert found.severity == "medium"


HARD = [f"DENY User:a ALL GLOB *{x}*{y}*{z}*" for x in "abc" for y in "def" for z in "ghi"]


@pytest.mark.parametrize("total", [1, 3])
def test_what_the_budget_leaves_open_is_a_note_and_clears_nothing(total: int) -> None:
    texts = [
        "ALLOW User:a DELETE GLOB *a*b*",
        "DENY User:a ALL GLOB *a*",
        "DENY User:a ALL GLOB *b",
    ]
    known = find_all(of_texts(*texts))
    assert [each.finding for each in known] == ["allow-overridden"]
    poor = of_texts(*texts, budget=Budget(per_question=total))
    found = find_all(poor)
    assert not found
    unknown = find_unknown(poor, found, find_all)
    assert {"allow-overridden", "any-host"} <= {each.finding for each in unknown}
    assert staying(unknown, known) == known
    notes = notes_on(unknown)
    assert notes == notes_on(find_unknown(poor, found, find_all))
    hard = "ALLOW DELETE on topic *a*b* (glob) for User:a from any host"
    assert any(f"allow-overridden of {hard}. Hard to decide: " in note for note in notes)


@pytest.mark.parametrize("states", [2, 6, 15])
def test_however_few_the_states_nothing_is_guessed(states: int) -> None:
    exact_kinds = {"allow-overridden", "public-access", "deny-leaves-describe", "over-broad"}
    unknown_names = 0
    for audit, world in systems()[::3]:
        poor = replace(audit, budget=Budget(per_question=states))
        told, true = find_all(poor), find_all(audit)
        names, true_names = (
            {each.fingerprint for each in found if each.finding in exact_kinds}
            for found in (told, true)
        )
        unknown = {each.fingerprint for each in find_unknown(poor, told, find_all)}
        unknown_names += len(unknown)
        assert names <= true_names
        assert true_names <= names | unknown
        gone = frozenset({*poor.overridden, *(k for k, cover in covers_of(poor).items() if cover)})
        assert world.allowed(gone) == world.allowed()
    assert unknown_names


def test_with_states_enough_nothing_is_unknown() -> None:
    audit = of_texts("ALLOW User:a READ PREFIXED x", *HARD)
    assert find_unknown(audit, find_all(audit), find_all) == []
