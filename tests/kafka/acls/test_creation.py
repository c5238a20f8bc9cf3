"""Hosts of ACLs to come: what Kafka 4.4's controller said of each, under both metadata.versions."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from aclkit.kafka.acls.creation import CreationRules, refused_host
from aclkit.model.semantics import KAFKA, KIP_1042

DATA = Path(__file__).parents[2] / "data" / "kafka-4.4"
NAMES = {False: "InvalidRequestException", True: "UnsupportedVersionException"}
NEWER = CreationRules(level=32, cidr_hosts=False)
OLDER = CreationRules(level=31, cidr_hosts=True)


def creation_cases() -> list[list[str]]:
    """Return host, and what Kafka said from 4.4-IV1 on and below."""
    lines = (DATA / "creation.tsv").read_text(encoding="utf-8").split("\n")
    return [line.split("\t") for line in lines[1:] if line]


def said(host: str, rules: CreationRules) -> str:
    found = refused_host(host, rules)
    return "ok" if found is None else f"{NAMES[found.is_of_version]}: {found.message}"


def test_every_host_is_taken_or_refused_in_kafkas_words():
    cases = creation_cases()
    assert len(cases) == 17
    for host, newer, older in cases:
        assert said(host, NEWER) == newer
        assert said(host, OLDER) == older


def test_every_text_of_a_range_is_taken_where_kafka_takes_it():
    text = gzip.decompress((DATA / "cidr_cases.tsv.gz").read_bytes()).decode()
    rows = [line.split("\t") for line in text.split("\n")[1:] if line]
    taken = {host: creation == "ok" for host, _, _, creation in rows}
    assert {True, False} == set(taken.values())
    for host, is_taken in taken.items():
        if "/" in host:
            assert (refused_host(host, NEWER) is None) == is_taken, host


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("256.0.0.0/33", "Value [256] not in range [0,255]"),
        ("10.0.0.0/008", "Could not parse [10.0.0.0/008]"),
        ("::1/x", "Could not parse [::1/x] - invalid prefix length"),
        ("::1/2147483648", "Could not parse [::1/2147483648] - invalid prefix length"),
        ("::1/-2147483648", "Could not parse [::1/-2147483648] - prefix length must be between 0 "
         "and 128"),
        ("::1/129", "Could not parse [::1/129] - prefix length must be between 0 and 128"),
        ("fe80::%nope/10", "Could not parse [fe80::%nope]"),
        ("[::1/64", "Could not parse [[::1]"),
        ("::ffff:1.2.3.4%1/64", "Could not parse [::ffff:1.2.3.4%1]"),
        ("[::ffff:1.2.3.4]/64", "Could not parse [[::ffff:1.2.3.4]] - not an IPv6 address"),
    ],
)  # fmt: skip
def test_why_a_text_is_no_range_is_said_by_the_first_check_that_it_fails(host, why):
    assert said(host, NEWER) == f"InvalidRequestException: Invalid CIDR notation '{host}': {why}"


def test_the_metadata_version_in_force_goes_before_what_decides():
    assert CreationRules.of(31, KAFKA).words == "31 (4.4-IV0) is in force"
    for level, decides, takes in ((31, True, False), (32, False, True), (None, True, True)):
        assert CreationRules(level=level, cidr_hosts=decides).takes_ranges is takes
    assert not CreationRules.of(None, KIP_1042).takes_ranges
