"""One store for all tests here, and a bucket of its own for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.object_store.bench import Bucket, Store, start_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def _store() -> Iterator[Store]:
    with start_store() as store:
        yield store


@pytest.fixture
def store(_store: Store) -> Iterator[Store]:
    """The store, without faults and counts of the test before."""
    _store.reset()
    yield _store
    _store.set_clock(timedelta())


@pytest.fixture
def bucket(store: Store, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """A new bucket, which this process's environment reaches."""
    for name, value in store.env.items():
        monkeypatch.setenv(name, value)
    return store.bucket(f"tests-{next(_numbers)}")


@pytest.fixture(scope="session")
def session_on_s3(_store: Store) -> Iterator[SparkSession]:
    """The session of this process, whose JVM reaches the store."""
    from aclkit.runtime.spark import build_session

    with pytest.MonkeyPatch.context() as patch:
        for name, value in _store.env.items():
            patch.setenv(name, value)
        small = {"spark.driver.memory": "1g"}
        session = build_session("nights", uris=["s3a://any"], extra_conf=small)
        yield session
        session.stop()
