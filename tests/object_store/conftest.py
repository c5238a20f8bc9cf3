"""One store for all tests here, and a bucket of its own for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.object_store.bench import Bucket, Store, start_store

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
