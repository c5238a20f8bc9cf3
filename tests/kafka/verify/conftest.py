"""Kafka's own authorizer, started once for all files; its jars are fetched where they miss."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aclkit.kafka.verify.jars import class_path
from aclkit.kafka.verify.kafka import Kafka


@pytest.fixture(scope="session")
def kafka_path() -> tuple[Path, ...]:
    return class_path(say=print)


@pytest.fixture(scope="module")
def kafka(kafka_path: tuple[Path, ...], kept_jvms: None) -> Iterator[Kafka]:
    with Kafka(kafka_path) as kafka:
        yield kafka
