"""Warehouses that several files of end-to-end tests look at."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from aclkit.kafka.acls.text import render_list
from tests.cli import gating
from tests.cli.proving import DENY, OPENS
from tests.cli.running import KRAFT, NEWEST, SEGMENT, Warehouse
from tests.questions.query import small_warehouse
from tests.untouched import left_alone


@pytest.fixture(scope="session")
def replayed(_session, tmp_path_factory) -> Iterator[Warehouse]:
    """The real log and its newest snapshot, replayed once; copy it to change it."""
    warehouse = Warehouse(tmp_path_factory.mktemp("replayed") / "warehouse")
    warehouse.replay(f"metadata-log:{KRAFT}")
    with left_alone(warehouse.path):
        yield warehouse


@pytest.fixture(scope="session")
def root(tmp_path_factory) -> Iterator[Path]:
    """A small published warehouse, to be asked."""
    place = tmp_path_factory.mktemp("asked")
    small_warehouse.build(place)
    with left_alone(place):
        yield place


@pytest.fixture(scope="session")
def segment_path() -> str:
    return str(KRAFT / SEGMENT)


@pytest.fixture(scope="session")
def snapshot_path() -> str:
    return str(KRAFT / NEWEST)


@pytest.fixture
def acl_file(tmp_path):
    """Write ACLs into a file as kafka-acls prints them."""

    def write(name, *acls):
        text = "\n".join(render_list(acls))
        (tmp_path / name).write_text(f"{text}\n" if text else "", encoding="utf-8")
        return tmp_path / name

    return write


@pytest.fixture
def two_files(acl_file, monkeypatch, tmp_path):
    """Two listings, the second allows more; by relative paths, so that output is the same."""
    acl_file("before.txt", DENY)
    acl_file("after.txt", DENY, OPENS)
    monkeypatch.chdir(tmp_path)
    return "before.txt", "after.txt"


@pytest.fixture
def work(tmp_path, monkeypatch, acl_file):
    """A folder to work in, with a listing of the cluster."""
    monkeypatch.chdir(tmp_path)
    acl_file("now.txt", *gating.CLUSTER)
    return tmp_path


@pytest.fixture
def write(work):
    def write(name, value):
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return name

    return write
