"""Warehouses that several files of end-to-end tests look at."""

from __future__ import annotations

import pytest

from tests.cli.running import KRAFT, NEWEST, SEGMENT, Warehouse


@pytest.fixture(scope="session")
def replayed(_session, tmp_path_factory) -> Warehouse:
    """The real log and its newest snapshot, replayed once; copy it to change it."""
    warehouse = Warehouse(tmp_path_factory.mktemp("replayed") / "warehouse")
    warehouse.replay(f"metadata-log:{KRAFT}")
    return warehouse


@pytest.fixture(scope="session")
def segment_path() -> str:
    return str(KRAFT / SEGMENT)


@pytest.fixture(scope="session")
def snapshot_path() -> str:
    return str(KRAFT / NEWEST)
