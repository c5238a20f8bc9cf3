"""Hosts: what java.net.InetAddress.getHostAddress() prints, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.model.host import canonical_host, parse_host


@pytest.mark.parametrize(
    ("text", "java"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("::", "0:0:0:0:0:0:0:0"),
        ("2001:0DB8::00fF", "2001:db8:0:0:0:0:0:ff"),
        ("::ffff:192.168.1.1", "192.168.1.1"),
        ("::FFFF:c0a8:0101", "192.168.1.1"),
        ("::192.168.1.1", "0:0:0:0:0:0:c0a8:101"),
        ("64:ff9b::10.0.0.1", "64:ff9b:0:0:0:0:a00:1"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1%eth0"),
        ("fe80::1%2", "fe80:0:0:0:0:0:0:1%2"),
    ],
)
def test_an_address_is_written_as_java_writes_it(text, java):
    assert canonical_host(text) == parse_host(text) == java


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "localhost",
        "10.0.0",
        "127.00.0.1",
        "10.0.0.0/8",
        "10.0.0.1%eth0",
        "fe80::1%",
        "::ffff:10.0.0.1%",
        "fe80::1%a,b",
        "fe80::1%a b",
        "fe80::1%a%b",
        "fe80::1%a\nb",
        "fe80::1%\udcff",
        "[::1]",
    ],
)
def test_what_is_no_address_is_refused(text):
    assert canonical_host(text) is None
    with pytest.raises(UsageError, match="expected an IP address"):
        parse_host(text)


@given(st.ip_addresses())
def test_the_canonical_form_is_its_own_canonical_form(address):
    once = canonical_host(str(address))
    assert once is not None
    assert canonical_host(once) == once


@given(st.ip_addresses(v=6))
def test_ipv6_is_eight_lower_case_groups_without_leading_zeros(address):
    host = canonical_host(str(address))
    if address.ipv4_mapped is None:
        assert host == ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":"))
        assert host.count(":") == 7
    else:
        assert host == str(address.ipv4_mapped)
