"""A JVM that hangs, stands still or ends: it is killed, and what happened is told."""

from __future__ import annotations

import os
import signal

import pytest

from aclkit.errors import SurroundingsError
from aclkit.kafka.verify.jars import JARS_OF, NEWEST
from aclkit.kafka.verify.kafka import Kafka
from aclkit.model.semantics import BrokerSettings
from aclkit.runtime.scratch import scratch
from tests.factories import acl, request

pytestmark = pytest.mark.kafka

CLOSED = BrokerSettings()


def test_where_kafka_hangs_it_is_ended_and_goes_on_behind(kafka_path):
    with Kafka(kafka_path, patience=2) as impatient:
        impatient.load([acl("#y", resource_type="GROUP"), acl()], CLOSED)
        hangs = request("#x", resource_type="GROUP")
        answers = impatient.ask([request(), hangs, request(), request("b"), hangs])
    decisions = [answer.decision for answer in answers]
    assert decisions == ["ALLOWED", None, "ALLOWED", "DENIED", None]
    assert answers[1].rule == answers[4].rule == "hangs: no answer within 2 s"


def test_a_jvm_that_stands_still_is_ended(kafka_path, monkeypatch):
    with Kafka(kafka_path, patience=2) as impatient:
        impatient.load([], CLOSED)
        monkeypatch.setattr("aclkit.kafka.verify.kafka._PATIENCE_TO_LOAD", 1)
        process = impatient._jvm.process
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(SurroundingsError, match="did not load 1 ACLs within 1 s"):
            impatient.load([acl("a" * 10**6)], CLOSED)
        assert process.returncode == -signal.SIGKILL


def test_a_jvm_that_ends_by_itself_is_told_with_its_last_words(kafka_path):
    of_spark = kafka_path[len(JARS_OF[NEWEST].digests) :]
    with (
        Kafka(of_spark) as broken,
        pytest.raises(SurroundingsError, match=r"unexpectedly:\n.*kafka"),
    ):
        broken.load([], CLOSED)


def test_nothing_is_left_behind(kafka_path):
    before = set(scratch().glob("verify-*"))
    with Kafka(kafka_path) as kafka:
        kafka.load([], CLOSED)
        process = kafka._jvm.process
        assert set(scratch().glob("verify-*")) - before
    assert process.returncode is not None
    assert set(scratch().glob("verify-*")) == before
