"""Which Kafka is asked, and what each of them answers: as recorded, whatever its version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aclkit.kafka.verify.jars import NEWEST, RANGES_SINCE, VERSIONS, choose_version, class_path
from aclkit.kafka.verify.kafka import Kafka
from aclkit.kafka.verify.wire import Reply
from aclkit.model.semantics import BrokerSettings
from tests.factories import acl, request
from tests.kafka_answers import read_cases, read_worlds, render

DATA = Path(__file__).parents[2] / "data"
TEXT = VERSIONS[VERSIONS.index(RANGES_SINCE) - 1]
PLAIN, RANGE = acl(), acl(host="10.0.0.0/8")
REQUEST = ("principal", "host", "operation", "resource_type", "resource_name")
EACH = [
    pytest.param(version, marks=() if version == NEWEST else pytest.mark.slow)
    for version in VERSIONS
]
"""The jars of the others may have to be fetched first."""


@pytest.fixture(scope="module", params=EACH)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def kafka(version: str, kept_jvms: None) -> Iterator[Kafka]:
    with Kafka(class_path(version, print)) as kafka:
        yield kafka


@pytest.mark.parametrize("reads_ranges", [True, False])
def test_without_a_slash_in_a_host_the_newest_is_asked(reads_ranges):
    assert choose_version(None, [PLAIN], reads_ranges=reads_ranges) == (NEWEST, None)
    assert choose_version("4.1.0", [PLAIN], reads_ranges=reads_ranges) == ("4.1.0", None)


def test_a_run_that_reads_ranges_asks_the_newest_that_does():
    assert choose_version(None, [PLAIN, RANGE], reads_ranges=True) == (NEWEST, None)


def test_a_run_that_reads_ranges_as_text_asks_the_newest_that_does_and_says_why():
    version, note = choose_version(None, [PLAIN, RANGE], reads_ranges=False)
    assert version == TEXT
    assert note == (
        f"Kafka {TEXT} is compared, because {NEWEST} reads hosts such as 10.0.0.0/8 as ranges, "
        f"but the run as text."
    )


@pytest.mark.parametrize(
    ("given", "reads_ranges", "reading"),
    [
        (NEWEST, False, "as ranges, but the run as text"),
        (TEXT, True, "as text, but the run as ranges"),
    ],
)
def test_a_version_that_is_named_is_asked_and_its_other_reading_told(given, reads_ranges, reading):
    version, note = choose_version(given, [RANGE], reads_ranges=reads_ranges)
    assert version == given
    assert note is not None
    assert f"such as 10.0.0.0/8 {reading}. Decisions that depend on it differ." in note
    assert choose_version(given, [RANGE], reads_ranges=not reads_ranges) == (given, None)


@pytest.mark.kafka
def test_each_version_answers_300_random_sets_as_recorded(kafka):
    asked = 0
    for acls, settings, world in read_worlds():
        kafka.load(acls, settings)
        requests = [request(**dict(zip(REQUEST, row, strict=False))) for row in world["queries"]]
        answers = [
            [reply.decision, reply.rule if reply.acl is None else acls.index(reply.acl)]
            for reply in kafka.ask(requests)
        ]
        assert answers == [row[len(REQUEST) :] for row in world["queries"]], world["id"]
        asked += len(answers)
    assert asked == 7500


@pytest.mark.kafka
def test_each_version_answers_the_cases_of_kafkas_own_tests_as_recorded(kafka):
    asked = 0
    for name, acls, settings, said in read_cases():
        kafka.load(acls, settings)
        recorded = {query: answer for query, answer in said.items() if "|BYTYPE:" not in query}
        requests = [request(**dict(zip(REQUEST, q.split("|"), strict=True))) for q in recorded]
        assert list(map(render, kafka.ask(requests))) == list(recorded.values()), name
        asked += len(requests)
    assert asked > 100


@pytest.mark.kafka
def test_ranges_are_read_since_the_version_that_is_said_to(kafka, version):
    kafka.load([RANGE], BrokerSettings())
    inside, outside = kafka.ask([request(host="10.1.2.3"), request(host="11.1.2.3")])
    is_range = VERSIONS.index(version) >= VERSIONS.index(RANGES_SINCE)
    assert inside == (Reply("ALLOWED", "MatchingAcl", RANGE) if is_range else outside)
    assert outside == Reply("DENIED", "DefaultDeny")
