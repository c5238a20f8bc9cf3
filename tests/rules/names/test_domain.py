"""What names there are: against the functions that check names elsewhere."""

from __future__ import annotations

import random

import pytest

from aclkit.errors import UsageError
from aclkit.model.host import canonical_host
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.questions.preview.topics import parse_topic
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.compare import EQUIVALENT
from aclkit.rules.names.domain import HOSTS, PRINCIPALS, TOPICS, USERS, domain_of
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from tests.rules.names.world import acl

GROUPS = [
    "0",
    "1",
    "25",
    "25ab",
    "2b",
    "10a0",
    "256",
    "fe80",
    "99",
    "00",
    "a",
    "1a",
    "2600",
    "300",
    "",
    "g",
    "ffff",
    "f",
]


def is_topic(name: str) -> bool:
    """Ask the check of names that people give."""
    try:
        parse_topic(name)
    except UsageError:
        return False
    return True


@pytest.mark.parametrize(
    "name", ["a", ".", "..", "...", ".a", "", "a b", "é", "a" * 249, "a" * 250]
)
def test_topics_are_what_brokers_create(name: str) -> None:
    assert TOPICS.holds(name) == is_topic(name)


def test_every_octet_is_an_address_or_none_as_canonical_host_has_it() -> None:
    for octet in range(300):
        for text in (f"{octet}.0.1.9", f"1.{octet}.0.0", f"0{octet}.1.1.1", f"1.2.3.{octet}"):
            assert HOSTS.holds(text) == (canonical_host(text) == text), text


def test_ipv6_hosts_are_eight_groups_as_java_writes_them() -> None:
    chance = random.Random(1)
    for _ in range(20_000):
        text = ":".join(chance.choice(GROUPS) for _ in range(chance.choice([7, 8, 8, 8, 9])))
        assert HOSTS.holds(text) == (canonical_host(text) == text), text


@pytest.mark.parametrize(
    "group", ["25ab", "2b", "10a0", "1a", "99f", "256a", "300f", "0a", "abcde"]
)
def test_a_group_that_could_have_been_decimal_goes_on_as_hexadecimal(group: str) -> None:
    for text in (f"{group}:0:0:0:0:0:0:1", f"1:0:0:0:0:0:0:{group}"):
        assert HOSTS.holds(text) == (canonical_host(text) == text), text


@pytest.mark.parametrize("last", ["0:0", "1:ffff", "a00:1"])
@pytest.mark.parametrize("sixth", ["ffff", "fffe", "fff", "0", "ffff%eth0"])
def test_mapped_addresses_are_written_as_ipv4(sixth: str, last: str) -> None:
    group, percent, zone = sixth.partition("%")
    text = f"0:0:0:0:0:{group}:{last}{percent}{zone}"
    assert HOSTS.holds(text) == (canonical_host(text) == text)
    assert HOSTS.holds(f"1:0:0:0:0:{group}:{last}")


@pytest.mark.parametrize("zone", ["eth0", "", "2", "a%b", "a/b", "a,b", "é", "a b", "~"])
def test_a_zone_stands_behind_a_whole_ipv6_address_only(zone: str) -> None:
    for address in ("fe80:0:0:0:0:0:0:1", "10.0.0.1", "fe80:0:0"):
        text = f"{address}%{zone}"
        assert HOSTS.holds(text) == (canonical_host(text) == text), text


def test_a_principal_has_a_colon_and_the_cluster_one_name() -> None:
    assert [PRINCIPALS.holds(name) for name in ("User:a", ":", "a", "")] == [
        True,
        True,
        False,
        False,
    ]
    assert domain_of("CLUSTER").holds("kafka-cluster")
    assert not domain_of("CLUSTER").holds("kafka-cluster2")
    assert domain_of("USER") is PRINCIPALS
    assert domain_of("GROUP").holds("")


def test_users_have_a_name_behind_their_type() -> None:
    names = ["User:", "User:a", "User:a:b", "user:a", "User:<any-other>", "User:<any-other>x"]
    assert [USERS.holds(name) for name in names] == [False, True, True, False, False, True]


@pytest.mark.parametrize("name", ["User:<any-other>", "<any-other>:a", "<any-other>"])
def test_what_stands_for_other_names_is_no_name(name: str) -> None:
    assert not PRINCIPALS.holds(name)
    assert domain_of("GROUP").holds(name) == (name != "<any-other>")
    assert PRINCIPALS.holds(f"x{name}:")
    assert domain_of("GROUP").holds(f"{name}>")


@pytest.mark.parametrize(
    "text", ["User:<any-other> READ LITERAL a", "User:a READ LITERAL <any-other>"]
)
def test_an_acl_for_what_stands_for_others_opens_nothing(text: str) -> None:
    new = Rules(acls=[acl(f"ALLOW {text}", resource_type="GROUP")], **READ_SO)
    none = Rules(acls=[], **READ_SO)
    assert Comparison.of(none, new, Budget()).difference.verdict == EQUIVALENT


READ_SO = {"settings": BrokerSettings(), "semantics": KIP_1042}
