"""Fixtures of the reading side: a small published warehouse and a connection to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import Published, open_warehouse
from tests.on_disk import on_disk
from tests.questions.query import small_warehouse
from tests.untouched import left_alone


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    root = tmp_path_factory.mktemp("house") / on_disk("ware house é")
    small_warehouse.build(root)
    with left_alone(root):
        yield open_warehouse(str(root))


@pytest.fixture(scope="module")
def connection(published: Published) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(published) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"
