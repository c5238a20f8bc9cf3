"""Hosts that are ranges: exact unions, what is as good as any host, and texts that are none."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from aclkit.audit.findings.denies import find_overridden
from aclkit.audit.findings.never_matches import find_malformed_ranges, find_never_matches
from aclkit.audit.findings.public_access import ANY_HOST, find_public_access
from aclkit.audit.findings.redundant import find_redundant, find_removable, find_shadowed
from aclkit.audit.findings.registry import REGISTRY, find_all, find_readings
from aclkit.model.acl import Acl, acl_words
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.rules import ALLOWED, decide
from tests.audit.findings.auditing import audit_of, subjects
from tests.factories import acl, request
from tests.fuzz.mutants import each
from tests.pace import within_loops

find_any_host = REGISTRY[ANY_HOST]

RANGES = replace(KAFKA, cidr_hosts=True)
BOTH = replace(KIP_1042, cidr_hosts=True)


def audit(*acls: Acl, semantics=RANGES):
    return audit_of(*acls, semantics=semantics)


def from_hosts(*hosts: str, permission_type: str = "ALLOW") -> list[Acl]:
    """Make ACLs that differ in their hosts alone; their ids are the numbers of their places."""
    return [
        acl(host=host, permission_type=permission_type, acl_id=f"{permission_type}-{number}")
        for number, host in enumerate(hosts)
    ]


@pytest.mark.parametrize(
    "hosts",
    [
        ["10.0.0.0/8", "10.0.0.0/9", "10.128.0.0/9"],
        ["10.1.2.3/8", "10.0.0.0/9", "10.128.0.0/10", "10.255.0.0/10"],
        ["10.0.0.0/30", "10.0.0.0", "10.0.0.1", "10.0.0.2/31"],
        ["0.0.0.0/30", "0.0.0.1", "0.0.0.2/31"],
        ["::/1", "::/2", "4000::/2"],
        ["*", "0.0.0.0/0", "::/0", "0.0.0.0"],
        ["*", "0.0.0.0/1", "128.0.0.0/1", "::/0", "0.0.0.0"],
    ],
)
def test_ranges_that_make_up_another_one_make_it_needless_and_override_it(hosts):
    for permission in ("ALLOW", "DENY"):
        whole, *parts = from_hosts(*hosts, permission_type=permission)
        # An ALLOW of ALL from any host is to be narrowed itself, and makes nothing needless.
        narrow, wide = ("READ", "ALL") if permission == "DENY" else ("DESCRIBE", "READ")
        whole = replace(whole, operation=narrow)
        parts = [replace(part, operation=wide) for part in parts]
        assert subjects(find_redundant(audit(whole, *parts))) == [str(whole)]
    denies, whole = parts, replace(whole, permission_type="ALLOW")
    (found,) = find_overridden(audit(whole, *denies))
    assert set(found.acl_ids) == {whole.acl_id, *(deny.acl_id for deny in denies)}
    for missing in range(len(denies)):
        left = [deny for number, deny in enumerate(denies) if number != missing]
        assert not subjects(find_overridden(audit(whole, *left)))
        left = [replace(deny, permission_type="ALLOW") for deny in left]
        assert not subjects(find_redundant(audit(whole, *left)))


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("10.1.0.0/16", "10.0.0.0/8"),
        ("10.1.2.3", "10.1.0.0/16"),
        ("10.0.0.0/8", "*"),
        ("::/0", "*"),
        ("fe80:0:0:0:0:0:0:1%eth0", "fe80::/10"),
    ],
)
@pytest.mark.parametrize("permission", ["ALLOW", "DENY"])
def test_what_lies_in_a_range_is_shadowed_by_it(narrow, wide, permission):
    rows = from_hosts(narrow, wide, permission_type=permission)
    assert subjects(find_shadowed(audit(*rows))) == [str(rows[0])]
    assert not subjects(find_shadowed(audit(rows[0], replace(rows[1], host="9.0.0.0/8"))))
    assert find_all(audit(*rows, semantics=KAFKA)) != find_all(audit(*rows))


def test_a_glob_shadows_the_range_that_it_holds_and_the_other_way_round():
    narrow, wide = from_hosts("10.1.0.0/16", "10.*")
    assert subjects(find_shadowed(audit(narrow, wide, semantics=BOTH))) == [str(narrow)]
    narrow, wide = from_hosts("10.1.*", "10.0.0.0/8")
    assert subjects(find_shadowed(audit(narrow, wide, semantics=BOTH))) == [str(narrow)]
    assert not subjects(find_shadowed(audit(*from_hosts("10.1.0.0/16", "1?.2*"), semantics=BOTH)))


def test_two_texts_of_one_range_say_the_same_and_the_first_by_id_stays():
    one, other = from_hosts("10.0.0.0/8", "10.1.2.3/08")
    assert subjects(find_redundant(audit(one, other))) == [str(other)]


SMALL = [f"10.0.0.{first}/{mask}" for mask in (28, 29, 30, 31, 32) for first in (0, 4, 6, 8, 12)]
ADDRESSES = [*(f"10.0.0.{n}" for n in range(16)), "9.9.9.9", "0.0.0.0", "0:0:0:0:0:0:0:1"]
HOSTS = [*SMALL, *ADDRESSES, "0.0.0.0/0", "::/0", "10.0.0.0/33", "*"]


def decisions(rows: list[Acl]) -> list[bool]:
    operations = OPERATIONS_OF_TYPE["TOPIC"]
    asked = [request(host=host, operation=op) for host in ADDRESSES for op in operations]
    return [decide(rows, each, BrokerSettings(), RANGES).decision == ALLOWED for each in asked]


def test_all_that_is_reported_can_go_and_what_is_left_cannot():
    """Of few addresses, all that ranges can tell apart is asked about; with no others but *."""
    seen = 0
    for chance in each("findings of ranges", 120):
        rows = _drawn(chance)
        audited = audit(*rows)
        found = find_removable(audited.rows, audited.others, audited.overridden)
        gone = {*found.covers, *audited.overridden}
        seen += len(gone)
        kept = [row for row in rows if row.acl_id not in gone]
        assert decisions(kept) == decisions(rows), list(map(str, rows))
        for row in (row for row in kept if row.acl_id in audited.rows and row.is_allow):
            fewer = [other for other in kept if other != row]
            # What only addresses need that are not asked about cannot be seen here.
            if "0/0" not in row.host and row.host != "*":
                assert decisions(fewer) != decisions(kept), (str(row), list(map(str, rows)))
    assert seen > 120


def _drawn(chance: random.Random) -> list[Acl]:
    return [
        acl(
            host=chance.choice(HOSTS if chance.random() < 0.3 else SMALL),
            operation=chance.choice(("READ", "ALL", "DESCRIBE")),
            permission_type=chance.choice(("ALLOW", "ALLOW", "DENY")),
            acl_id=f"acl-{number}",
        )
        for number in range(chance.randint(3, 9))
    ]


def test_a_thousand_halves_of_ranges_take_no_square_of_time():
    rows = []
    for number in range(500):
        name, start = f"t{number}", f"10.{number // 250}.{number % 250}"
        rows.append(acl(name, host=f"{start}.0/24"))
        halves = (f"{start}.0/25", f"{start}.128/25", f"{start}.7")
        rows += [acl(name, host=half, operation="ALL") for half in halves[:2]]
        rows.append(acl(name, host=halves[2], operation="ALL"))
    with within_loops(250):
        assert len(subjects(find_redundant(audit(*rows)))) == 500


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        (["*"], "any host"),
        (["0.0.0.0/0"], "any IPv4 address except 0.0.0.0 (no IPv6 address)"),
        (["9.9.9.9/0"], "any IPv4 address except 0.0.0.0 (no IPv6 address)"),
        (["::/0"], "any IPv6 address (no IPv4 address)"),
        (["[::]/0"], "any IPv6 address (no IPv4 address)"),
        (["::/0", "0.0.0.0/0"], "any IPv4 address except 0.0.0.0 or any IPv6 address"),
    ],
)
def test_a_range_of_all_addresses_counts_as_any_host_and_says_what_it_leaves_out(hosts, said):
    rows = [acl(operation="DELETE", host=host) for host in hosts]
    (found,) = find_any_host(audit(*rows))
    assert (found.subject, found.severity) == ("User:a on TOPIC", "low")
    words = acl_words(rows[0], "User:a", "TOPIC") + (" and 1 more" if rows[1:] else "")
    assert found.message.endswith(f" on topics from {said}: {words}.")
    if "*" not in hosts:
        assert not subjects(find_any_host(audit(*rows, semantics=KAFKA)))


@pytest.mark.parametrize("host", ["0.0.0.0/1", "10.0.0.0/8", "::/1", "0.0.0.0/32", "0.0.0.0/33"])
def test_a_range_of_some_addresses_is_not_any_host(host):
    assert not subjects(find_any_host(audit(acl(operation="DELETE", host=host))))


def test_a_range_of_all_addresses_is_as_public_as_any_host():
    (found,) = find_public_access(audit(acl(principal="User:*", host="0.0.0.0/0")))
    assert found.severity == "high"
    place = "any IPv4 address except 0.0.0.0 (no IPv6 address)"
    assert found.message.startswith(f"Every client from {place} can read topic orders: ")
    (found,) = find_public_access(audit(acl(principal="User:*", host="10.0.0.0/8")))
    assert found.severity == "medium"
    assert found.message.startswith("Every client from 10.0.0.0/8 can read topic orders: ")


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("10.0.0.0/33", "Value [33] not in range [0,32]"),
        ("10.0.0.0/", "Could not parse [10.0.0.0/]"),
        ("10.0.*/8", "Could not parse [10.0.*/8]"),
        ("::ffff:10.0.0.0/104", "Could not parse [::ffff:10.0.0.0] - not an IPv6 address"),
        ("/", "Could not parse [/]"),
        ("*/*", "Could not parse [*/*]"),
    ],
)
@pytest.mark.parametrize("semantics", [RANGES, BOTH], ids=["kafka", "kip-1042"])
def test_a_text_that_should_be_a_range_and_is_none_is_found(host, why, semantics):
    rows = from_hosts(host), from_hosts(host, permission_type="DENY")
    for (row,), severity, effect in zip(
        rows, ("low", "medium"), ("grants nothing", "protects nothing"), strict=True
    ):
        (found,) = find_all(audit(row, semantics=semantics))
        assert (found.finding, found.severity) == ("malformed-range", severity)
        assert found.message == (
            f"{acl_words(row)} {effect}: the host is not a valid range ({why})."
        )
        assert find_readings([row], semantics) == [found]


def test_where_ranges_do_not_decide_it_never_matches():
    for read in (KAFKA, KIP_1042):
        (found,) = find_readings(from_hosts("10.0.0.0/33", permission_type="DENY"), read)
        assert (found.finding, "not an IP address" in found.message) == ("never-matches", True)
        assert "then remove the one found" in found.fix
    (found,) = find_readings(from_hosts("10.0.*/8"), KIP_1042)
    assert found.finding == "never-matches"


def test_a_malformed_range_hides_no_other_reason():
    row = acl("a b", host="10.0.0.0/33")
    found = {each.finding: each.message for each in find_readings([row], RANGES)}
    assert found.keys() == {"malformed-range", "never-matches"}
    reason = "topic names cannot contain ' '"
    assert found["never-matches"] == f"{acl_words(row)} grants nothing: {reason}."


def test_a_zone_that_only_the_brokers_machine_knows_is_said():
    (found,) = find_malformed_ranges(from_hosts("fe80::%bond0/10"), RANGES)
    assert "only on brokers that have the network interface of its zone" in found.message
    assert "without its zone" in found.fix
    assert not list(find_malformed_ranges(from_hosts("fe80::%eth0/10", "fe80::/10"), RANGES))


@pytest.mark.parametrize("host", ["10.0.0.0/8", "::/0", "fe80::%bond0/10"])
@pytest.mark.parametrize("read", [KAFKA, KIP_1042], ids=["kafka", "kip-1042"])
def test_a_range_that_does_not_decide_yet_is_no_dead_acl(host, read):
    rows = [*from_hosts(host), *from_hosts(host, permission_type="DENY")]
    assert not list(find_never_matches(rows, read))


def test_a_range_that_never_wakes_is_dead():
    for row in (acl("a b", host="10.0.0.0/8"), acl(host="0.0.0.0/32"), acl(host="10.0.0.0/33")):
        (found,) = find_never_matches([row], KAFKA)
        assert "grants nothing" in found.message
        assert "then remove the one found" in found.fix


def test_where_ranges_decide_only_a_range_of_no_address_never_matches():
    rows = from_hosts("10.0.0.0/8", "0.0.0.0/32", "0.0.0.0/31", "::/128", "10.0.0.0/32")
    (found,) = find_never_matches(rows, RANGES)
    assert found.acl_ids == (rows[1].acl_id,)
    assert "contains no address, because no range contains 0.0.0.0" in found.message
