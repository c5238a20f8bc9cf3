"""Ranges of addresses as Kafka 4.4.0 reads them; its own answers are the anchor."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from aclkit.model.cidr import (
    any_other_in,
    is_any_other,
    parse_address,
    parse_range,
    range_of_any_other,
)
from aclkit.model.host import canonical_host

DATA = Path(__file__).parents[1] / "data" / "kafka-4.4"


def cases():
    """Each pair that Kafka was asked about: range, address, whether it is in, creation."""
    text = gzip.decompress((DATA / "cidr_cases.tsv.gz").read_bytes()).decode()
    return [line.split("\t") for line in text.split("\n")[1:] if line]


def test_every_pair_is_answered_as_kafka_does():
    pairs = cases()
    assert len(pairs) == 1_567
    for text, address, in_range, creation in pairs:
        found = parse_range(text)
        assert (found is not None and found.holds(address)) == (in_range == "true"), text
        assert (found is not None) == (creation == "ok"), text


def test_a_host_with_a_slash_is_created_where_it_parses():
    lines = (DATA / "creation.tsv").read_text(encoding="utf-8").split("\n")[1:]
    hosts = {line.split("\t")[0]: line.split("\t")[1] for line in lines if line}
    asked = {host: answer for host, answer in hosts.items() if "/" in host}
    assert len(asked) == 9
    for host, answer in asked.items():
        assert (parse_range(host) is not None) == (answer == "ok"), host


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("10.1.2.3/8", "10.0.0.0/8"),
        ("010.000.000.000/08", "10.0.0.0/8"),
        ("[2001:DB8::]/+32", "2001:db8::/32"),
        ("fe80::%3/10", "fe80::/10"),
        ("fe80::%eth0/10", "fe80::/10"),
        ("2001:db8::%lo/32", "2001:db8::/32"),
        ("fe80::%2147483647/10", "fe80::/10"),
        ("fec0::%000000000001/10", "fec0::/10"),
        ("::/-0", "::/0"),
        ("2001:db8::/٣٢", "2001:db8::/32"),
        ("0000002001:db8::/32", "2001:db8::/32"),
        ("64:ff9b::0010.000.0000.0/104", "64:ff9b::a00:0/104"),
        ("64:ff9b::000000010.0.0.0/104", "64:ff9b::a00:0/104"),
    ],
)
def test_what_is_read_is_written_in_one_way(text, written):
    found = parse_range(text)
    assert str(found) == written
    assert parse_range(written) == found


@pytest.mark.parametrize(
    "text",
    [
        "10.0.0.1",
        "10.0.0.0/008",
        "10.0.0.0/+8",
        "10.0.0.0/8\n",
        "::ffff:10.0.0.0/104",
        "::ffff:a00:0/104",
        "fe80::%nope/10",
        "fe80::%/10",
        "fe80::%lo/10",
        "fec0::%lo/10",
        "fec0::%eth0/10",
        "fe80::%2147483648/10",
        "fe80::%" + "9" * 100_000 + "/10",
        "64:ff9b::0000000010.0.0.0/104",
        "64:ff9b::0256.0.0.0/104",
        "0010.0.0.0/8",
        "[::/0",
        ":::/0",
        "1:2:3:4:5:6:7:8::/0",
        "1:2:3:4:5:6:7:8:9/0",
        "::/",
        "::/+",
        "::/129",
        "::/-1",
        "::/" + "9" * 100_000,
        "/" * 100_000,
        ":" * 100_000 + "/1",
        "<any-other in 10.0.0.0/8>",
    ],
)
def test_what_is_malformed_is_no_range(text):
    assert parse_range(text) is None


def test_no_glob_is_a_range():
    for text in ("10.*/8", "10.0.0.?/8", "*/8", "::*/8", "fe80::%*/10", "fe80::%?/10"):
        assert parse_range(text) is None


def test_0_0_0_0_is_in_no_range():
    for text in ("0.0.0.0/0", "0.0.0.0/32", "0.0.0.0/31"):
        assert not parse_range(text).holds("0.0.0.0")
    assert parse_range("0.0.0.0/31").holds("0.0.0.1")
    empty = parse_range("0.0.0.0/32")
    assert empty.first > empty.last


def test_an_address_is_written_as_java_does():
    for text in ("0.0.0.0", "10.2.3.4", "255.255.255.255", "::", "2001:db8::1", "ffff::f0"):
        assert str(parse_address(text)) == canonical_host(text)


def test_what_no_acl_names_within_a_range_has_a_name_that_nothing_else_has():
    name = any_other_in(parse_range("10.1.2.3/8"))
    assert name == "<any-other in 10.0.0.0/8>"
    assert range_of_any_other(name) == parse_range("10.0.0.0/8")
    assert is_any_other(name)
    assert canonical_host(name) is None
    for text in ("<any-other>", "<any-other in 10.1.2.3/8>", "<any-other in >", "10.0.0.0/8"):
        assert range_of_any_other(text) is None
