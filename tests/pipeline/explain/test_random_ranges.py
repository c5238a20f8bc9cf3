"""200 random systems with ranges: specification = index = kernel, decision and deciding ACL.

Hosts are drawn from ranges nested four deep in both families, written in the ways there are, from
texts that are nearly ranges, from globs, and from addresses at the ends of the ranges.
"""

from __future__ import annotations

import ipaddress
import random
from dataclasses import replace

import pytest

from aclkit.model.acl import ANY_OTHER
from aclkit.model.cidr import IPV4, IPV6, Address, parse_range
from aclkit.model.host import canonical_host
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.match import host_matches
from tests.factories import acl, request
from tests.pipeline.explain.systems import decide_by_kernel, take_scope

SYSTEMS = 200
REQUESTS = 25
SUPER_USER = "User:root"
MALFORMED = (
    "10.0.0.0/33", "10.0.0/8", "10.0.0.0/008", "10.0.0.0/", " 10.0.0.0/8", "10.0.0.0/+8",
    "::ffff:10.0.0.0/104", "::ffff:a00:0/104", "fe80::%nope/10", "2001:db8::/129", "[::/0", "/",
    "10.*/8", "client.example.org", "::1", "",
)  # fmt: skip
WIDE = ("0.0.0.0/0", "::/0", "0.0.0.0/32", "128.0.0.0/1", "[::]/+0")
GLOBS = ("*", "*", "10.1.?.*", "10.0.*.1", "2001:db8:?:*", "*:1")
PRINCIPALS = ("User:a", "User:a", "User:a", "User:ab", "Group:a", SUPER_USER)
ACL_PRINCIPALS = ("User:a", "User:a", "User:*", "User:a*", "Group:*", "Group:a", "a", SUPER_USER)
NAMES = ("a", "a", "ab", "b")
PATTERNS = ("a", "a", "ab", "b", "*", "", "a*", "?", "?b")

CASES = {
    "kafka": (replace(KAFKA, cidr_hosts=True), False),
    "kip-1042": (replace(KIP_1042, cidr_hosts=True), True),
    "kafka-before-ranges": (KAFKA, True),
    "kip-1042-before-ranges": (KIP_1042, False),
}
"""How ACLs are read, and allow.everyone; each decides a quarter of the systems."""


def nested(rng, bits):
    """Write four ranges, each within the one before, as somebody might."""
    start = rng.choice((10 << 24, 10 << 24 | 1 << 16)) if bits == IPV4 else 0x20010DB8 << 96
    number = start | rng.getrandbits(bits // 2)
    masks = sorted(rng.sample(range(8, bits + 1), 4))
    if bits == IPV4:
        return [f"{Address(IPV4, number)}/{mask:0{rng.choice((1, 2))}}" for mask in masks]
    short = str(ipaddress.IPv6Address(number))
    forms = (short, short.upper(), str(Address(IPV6, number)), f"[{short}]", f"{short}%1")
    return [f"{rng.choice(forms)}/{rng.choice(('', '0', '+'))}{mask}" for mask in masks]


def addresses_of(texts):
    """The addresses at both ends of the ranges and beside them, that a broker could see.

    But for 0.0.0.0: it is all that is left for ``<any-other>`` beside 0.0.0.0/0 and ::/0.
    """
    found = {"10.9.9.9", "192.168.0.1", "0:0:0:0:0:0:0:1", "2001:db8:0:0:0:0:0:7%2"}
    for text in texts:
        meant = parse_range(text)
        ends = (meant.network - 1, meant.network, meant.last, meant.last + 1) if meant else ()
        found.update(
            str(Address(meant.bits, number)) for number in ends if 0 <= number < 1 << meant.bits
        )
    return sorted(host for host in found - {"0.0.0.0"} if canonical_host(host) == host)


def draw_hosts(rng):
    """The hosts that ACLs name, and those that ask."""
    ranges = [text for bits in (IPV4, IPV6) for _ in range(3) for text in nested(rng, bits)]
    asking = addresses_of((*ranges, *WIDE))
    named = (*ranges, *ranges, *WIDE, *MALFORMED, *GLOBS, *rng.sample(asking, 8))
    return named, asking


def draw_acls(rng, hosts):
    own = rng.sample(hosts, 6)
    return [
        acl(
            rng.choice(PATTERNS),
            acl_id=f"{number}",
            resource_type="GROUP",
            pattern_type=rng.choice(("LITERAL", "LITERAL", "PREFIXED", "GLOB")),
            principal=rng.choice(ACL_PRINCIPALS),
            host=rng.choice(own),
            operation=rng.choice(("READ", "READ", "DESCRIBE", "ALL")),
            permission_type=rng.choice(("ALLOW", "ALLOW", "DENY")),
        )
        for number in range(rng.randint(4, 14))
    ]


def draw_requests(rng, hosts, own):
    """Ask from hosts that the system's ACLs mean, and from any."""
    ranges = replace(KAFKA, cidr_hosts=True)
    meant = [host for host in hosts if any(host_matches(a.host, host, ranges) for a in own)]
    asking = [rng.choice(meant if meant and rng.random() < 0.6 else hosts) for _ in range(REQUESTS)]
    return [
        request(
            rng.choice(NAMES),
            resource_type="GROUP",
            principal=rng.choice(PRINCIPALS),
            host=host,
            operation=rng.choice(("READ", "DESCRIBE")),
        )
        for host in asking
    ]


def answer(ruling):
    return ruling.decision, ruling.rule, ruling.acl.acl_id if ruling.acl else None


def check(semantics, settings, systems, seed):
    """Decide systems in three ways; return how many answers hang on ranges, and who was asked of.

    What stands for no one address is asked of its witness as well.
    """
    rng = random.Random(seed)
    named, asking = draw_hosts(rng)
    otherwise = replace(semantics, cidr_hosts=not semantics.cidr_hosts)
    hanging, asked_of = 0, set()
    for _ in range(systems):
        acls = draw_acls(rng, named)
        hosts = take_scope(acls, [], settings, semantics, asking).host_names
        requests = draw_requests(rng, hosts, acls)
        scope = take_scope(acls, requests, settings, semantics, asking)
        witness = {entry.name: entry.witness or entry.name for entry in scope.inventory.hosts}
        index = AclIndex.of(acls, semantics)
        by_kernel = decide_by_kernel(acls, requests, scope, allow_everyone=settings.allow_everyone)
        for each, found in zip(requests, by_kernel, strict=True):
            expected = answer(decide(acls, each, settings, semantics))
            at_witness = replace(each, host=witness[each.host])
            assert answer(index.decide(each, settings)) == expected, each
            assert answer(decide(acls, at_witness, settings, semantics)) == expected, each
            assert found == expected, each
            hanging += answer(decide(acls, at_witness, settings, otherwise)) != expected
            asked_of.add(each.host)
    return hanging, asked_of


def settings_of(case):
    semantics, allow_everyone = CASES[case]
    super_users = frozenset({SUPER_USER})
    return semantics, BrokerSettings(super_users=super_users, allow_everyone=allow_everyone)


@pytest.mark.parametrize("case", CASES)
def test_specification_index_and_kernel_answer_the_same(case):
    hanging, hosts = check(*settings_of(case), SYSTEMS // len(CASES), case)
    assert hanging > 50
    assert ANY_OTHER in hosts
    within = {host for host in hosts if host.startswith("<any-other in ")}
    assert bool(within) == settings_of(case)[0].cidr_hosts


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_they_answer_the_same_for_all_200_systems_in_each_case(case):
    assert check(*settings_of(case), SYSTEMS, f"all {case}")[0] > 200
