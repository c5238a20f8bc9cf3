"""Rows of explain, and what is asked for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pytest

from aclkit.kafka.verify import compare
from aclkit.kafka.verify.compare import Cell, Sample, read_cells
from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.kafka.verify.witnessed import build
from tests.questions.query import small_warehouse as small

SETTINGS = BrokerSettings(super_users=frozenset({small.SUPER_USER}))
ROWS = {
    (c[1], c[2], c[3], c[4], c[5], *c[8:])
    for c in small.brute_force(small.ACLS, SETTINGS, KAFKA)
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="module")
def read(root) -> Callable[[Sample | None], list[Cell]]:
    build(root, small.ACLS, SETTINGS, KAFKA)
    published = open_warehouse(str(root))

    def read(sample: Sample | None) -> list[Cell]:
        with connect(published) as connection:
            batches = read_cells(connection, published, small.CLUSTER, sample)
            return list(chain.from_iterable(batches))

    return read


def flat(cell: Cell) -> tuple[str | None, ...]:
    asked = cell.request
    place = asked.principal, asked.host, asked.operation, asked.resource_type, asked.resource_name
    return (*place, cell.decision, cell.rule, cell.acl_id)


def test_all_rows_are_read(read):
    found = [flat(cell) for cell in read(None)]
    assert set(found) == ROWS
    assert len(found) == len(ROWS)


def test_a_sample_is_rows_and_the_same_seed_takes_the_same(read):
    first, again, other = (read(Sample(100, seed)) for seed in (1, 1, 2))
    assert len({flat(cell) for cell in first}) == 100
    assert {flat(cell) for cell in first} <= ROWS
    assert first == again != other


def test_more_than_there_is_is_all_of_it(read):
    assert {flat(cell) for cell in read(Sample(10**6, 1))} == ROWS


def test_of_a_large_inventory_a_part_is_chosen_first(read, monkeypatch):
    monkeypatch.setattr(compare, "_ENOUGH_CELLS", 100)
    few = {flat(cell) for cell in read(Sample(3, 1))}
    assert len(few) == 3
    assert few <= ROWS
    principals = {row[0] for seed in range(12) for row in map(flat, read(Sample(3, seed)))}
    assert principals == set(small.PRINCIPALS)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan["children"]:
        yield from nodes(below)


def joins(plan: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each join of a plan with what is below its right side, which DuckDB holds.

    What was worked out once, and is scanned there, is what it was worked out from.
    """
    made = {each["extra_info"]["Table Index"]: each["children"][0]
            for each in nodes(plan) if each["name"] == "CTE"}  # fmt: skip
    for each in nodes(plan):
        if each["name"].endswith("JOIN"):
            right = each["children"][1]
            while right["name"] in ("FILTER", "CTE_SCAN"):
                of = right["extra_info"].get("CTE Index")
                right = right["children"][0] if of is None else made[of]
            yield each["extra_info"]["Join Type"], right


def test_of_a_part_only_its_own_pairs_and_rulings_are_held(root, read):
    assert read(Sample(1, 1))
    sides = [["User:a"], ["10.0.0.1"], ["TOPIC:orders"]]
    with connect(open_warehouse(str(root))) as connection:
        sql = f"EXPLAIN (FORMAT json) {compare._SOME_ROWS_OF_SIDES}"
        ((_, plan),) = connection.execute(sql, [*sides, small.CLUSTER, 1, 1]).fetchall()
    held = [right["extra_info"].get("Join Type") for kind, right in joins(*json.loads(plan))
            if kind == "LEFT"]  # fmt: skip
    assert set(held) == {"SEMI"}


def test_a_table_that_was_written_out_is_read_itself(tmp_path):
    versions = build(tmp_path, small.ACLS, SETTINGS, KAFKA)
    rows = [{
        "cluster_id": small.CLUSTER, "principal": "User:a", "host": "10.0.0.1",
        "operation": "READ", "resource_type": "TOPIC", "resource_name": "only",
        "decision": "DENIED", "rule": "DefaultDeny",
    }]  # fmt: skip
    versions["explain"] = small.write_table(tmp_path, "explain", rows)
    small.publish(tmp_path, versions, run_number=2)
    published = open_warehouse(str(tmp_path))
    with connect(published) as connection:
        for sample in (None, Sample(10, 1)):
            ((found,),) = read_cells(connection, published, small.CLUSTER, sample)
            assert found.request.resource_name == "only"


def test_any_other_is_asked_by_its_witness(read):
    symbols = {ANY_OTHER, ANY_OTHER_PRINCIPAL}
    for cell in read(None):
        asked = cell.asked
        if cell.request.resource_type == "GROUP" and cell.request.resource_name == ANY_OTHER:
            assert asked is None, "the warehouse knows no witness of this one"
            continue
        assert asked is not None
        assert not {asked.principal, asked.host, asked.resource_name} & symbols
        if cell.request.principal == ANY_OTHER_PRINCIPAL:
            assert asked.principal == "User:any-other"
        if cell.request.host == ANY_OTHER:
            assert asked.host == "192.0.2.1"
        if cell.request.resource_name == ANY_OTHER:
            assert asked.resource_name == "q-any-other"


def test_what_stands_for_the_rest_of_a_range_is_asked_by_its_own_witness():
    """Without a witness it is not asked about; an address is asked as it is."""
    witnesses = {
        "<any-other in 10.0.0.0/8>": "10.0.0.1",
        "<any-other in 10.1.0.0/16>": None,
        ANY_OTHER: "192.0.2.1",
        "10.1.2.3": None,
    }
    memory = duckdb.connect()
    memory.execute("CREATE TABLE host (cluster_id VARCHAR, host VARCHAR, witness VARCHAR)")
    memory.executemany("INSERT INTO host VALUES ('c1', ?, ?)", list(witnesses.items()))
    memory.execute(
        "CREATE TABLE principal AS SELECT 'c1' AS cluster_id, '' AS principal, '' AS witness"
    )
    memory.execute(
        "CREATE TABLE resource AS SELECT 'c1' AS cluster_id, '' AS resource_type, "
        "'' AS resource_name, '' AS witness"
    )
    memory.execute(
        "CREATE TABLE explain AS SELECT cluster_id, 'User:a' AS principal, host, "
        "'READ' AS operation, 'TOPIC' AS resource_type, 't' AS resource_name, "
        "'DENIED' AS decision, 'DefaultDeny' AS rule, NULL AS deciding_acl_id FROM host"
    )
    with memory:
        found = list(chain.from_iterable(read_cells(memory, None, "c1", None)))
    asked = {cell.request.host: cell.asked and cell.asked.host for cell in found}
    assert asked == {**witnesses, "10.1.2.3": "10.1.2.3"}
