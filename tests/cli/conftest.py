"""Warehouses that several files of end-to-end tests look at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.running import KRAFT, NEWEST, SEGMENT, Warehouse
from tests.untouched import left_alone


@pytest.fixture(scope="session")
def replayed(_session, tmp_path_factory) -> Iterator[Warehouse]:
    """The real log and its newest snapshot, replayed once; copy it to change it."""
    warehouse = Warehouse(tmp_path_factory.mktemp("replayed") / "warehouse")
    warehouse.replay(f"metadata-log:{KRAFT}")
    with left_alone(warehouse.path):
        yield warehouse


@pytest.fixture(scope="session")
def segment_path() -> str:
    return str(KRAFT / SEGMENT)


@pytest.fixture(scope="session")
def snapshot_path() -> str:
    return str(KRAFT / NEWEST)
