"""Tables too large for this process: counted by SQL, slices of them read, and the same refused."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.errors import DataError
from aclkit.pipeline import plan
from aclkit.pipeline.explain.completeness import (
    READ_BACK,
    SLICED,
    check_completeness,
    read_counted,
    read_sliced,
)
from aclkit.pipeline.explain.faults import refuse_faults
from aclkit.pipeline.explain.materialize import rows_expected
from aclkit.pipeline.explain.sample import CELL
from aclkit.pipeline.explain.slices import counts_of, drawn_resources
from aclkit.runtime.frame import Steps
from aclkit.runtime.spark import session_beside
from aclkit.warehouse.frames import SparkReader
from aclkit.warehouse.views import explain_sql
from tests.pipeline.explain.decided import decided
from tests.pipeline.explain.memory import Memory
from tests.pipeline.explain.test_completeness import (
    BROKEN,
    SETTINGS,
    large,
    small,
    strata,
)


def copied(memory, names=SLICED):
    """The tables again, under the names by which slices are read of them."""
    copy = Memory()
    for name, table in names.items():
        copy.connection.register("given", memory.arrow(f"FROM {table}"))
        copy.connection.execute(f"CREATE TABLE {name} AS FROM given")
    return copy


def by_duckdb(memory):
    return copied(memory, {name: name for name in READ_BACK})


def by_spark(session, memory):
    reader = SparkReader(session_beside(session), Steps())
    for name in READ_BACK:
        reader.know(name, reader.spark.createDataFrame(memory.arrow(f"FROM {name}")))
    return reader


def check(scope, memory, asked, seed="run-1"):
    expected = rows_expected(scope.inventory)
    return check_completeness(
        scope, copied(memory), SETTINGS, expected, is_dense=False, seed=seed, asked=asked
    )


@pytest.fixture
def tiny_slices(monkeypatch):
    """Slices of one resource each, of which four are read."""
    monkeypatch.setattr(plan, "_ROWS_READ_BACK_HERE", 1)


COUNTED = (
    "principal", "resource", "host", "explain_pair", "explain_class_pair", "ruleset",
    "explain_ruling", "rows_decided", "rows_expected", "acls",
)  # fmt: skip


def test_what_is_complete_has_the_same_counts_and_says_how_many_slices_were_read(tiny_slices):
    scope, acls = small()
    memory = decided(scope, acls)
    expected = rows_expected(scope.inventory)
    here = check_completeness(scope, memory, SETTINGS, expected, is_dense=False, seed="run-1")
    counts = check(scope, memory, by_duckdb(memory))
    assert {name: counts[name] for name in COUNTED} == {name: here[name] for name in COUNTED}
    assert (counts["slices_read"], counts["slices"]) == (4, 6)
    assert 0 < counts["cells_checked"] <= 1_000


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_not_complete_is_an_error_that_says_what_is_wrong(tiny_slices, what):
    scope, acls = small()
    memory = decided(scope, acls)
    statement, message = BROKEN[what]
    memory.connection.execute(statement)
    with pytest.raises(DataError, match=message):
        check(scope, memory, by_duckdb(memory))


SLOW = pytest.mark.slow
SHOWN_BY_SPARK = {
    "a class pair without a ruleset",  # a null as a value
    "a pair with the ruleset of another principal",  # values of one statement in the next
    "a ruling gone",  # a list, from sums of bits
    "a ruleset that no pair has",
}
"""Of all that is wrong, what takes the most of Spark's SQL; the rest of it is slow."""


def test_spark_counts_what_this_process_does(spark, tiny_slices):
    scope, acls = small()
    memory = decided(scope, acls)
    by_this_process = by_duckdb(memory)
    found = [check(scope, memory, asked) for asked in (by_spark(spark, memory), by_this_process)]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "what", [what if what in SHOWN_BY_SPARK else pytest.param(what, marks=SLOW) for what in BROKEN]
)
def test_spark_refuses_what_this_process_does(spark, tiny_slices, what):
    scope, acls = small()
    memory = decided(scope, acls)
    statement, message = BROKEN[what]
    memory.connection.execute(statement)
    with pytest.raises(DataError, match=message):
        check(scope, memory, by_spark(spark, memory))


def verdict(ask):
    try:
        return ask()
    except DataError as error:
        return str(error)


def counted_by_sql(scope, asked):
    refuse_faults(asked)
    return counts_of(scope, asked)


TABLES = ("explain_pair", "explain_class_pair", "ruleset", "explain_ruling")


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_both_ways_refuse_the_same_tables_with_the_same_words(data):
    scope, acls = small()
    memory = decided(scope, acls)
    for _ in range(data.draw(st.integers(0, 2), "changes")):
        table = data.draw(st.sampled_from(TABLES), "table")
        columns = [row[0] for row in memory.rows(f"DESCRIBE {table}")]
        column = data.draw(st.sampled_from([c for c in columns if c in WRITTEN]), "column")
        rows = memory.rows(f"SELECT * FROM {table} ORDER BY ALL")
        row, other = (data.draw(st.sampled_from(rows), "row") for _ in range(2))
        how = data.draw(st.sampled_from(("lost", "twice", "another", "unknown", "null")), "how")
        if how != "twice":
            rows.remove(row)
        if how != "lost":
            at = columns.index(column)
            value = {"twice": row[at], "another": other[at], "unknown": "?", "null": None}[how]
            rows.append((*row[:at], value, *row[at + 1 :]))
        memory.connection.execute(f"DELETE FROM {table}")
        holes = ", ".join("?" * len(columns))
        memory.connection.executemany(f"INSERT INTO {table} VALUES ({holes})", rows)
    here = verdict(lambda: read_counted(scope, memory, "", 1)[0])
    assert verdict(partial(counted_by_sql, scope, by_duckdb(memory))) == here


WRITTEN = {
    "principal", "principal_class", "resource_type", "resource_name", "ruleset_id", "host",
    "operation", "decision", "rule",
}  # fmt: skip


def test_slices_are_other_ones_in_another_run_and_the_same_in_the_same():
    scope, acls = large()
    asked = by_duckdb(decided(scope, acls))
    refuse_faults(asked)
    drawn = [drawn_resources(scope, asked, seed, (4, 100), 10) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_slice_is_a_range_of_resources_with_all_of_them():
    scope, acls = large()
    asked = by_duckdb(decided(scope, acls))
    refuse_faults(asked)
    every = sorted(entry.key for entry in scope.inventory.resources)
    drawn = {entry.key for entry in drawn_resources(scope, asked, 1, (2, 7), 1)}
    bounds = [len(every) * n // 7 for n in range(8)]
    slices = [every[start:end] for start, end in pairwise(bounds)]
    assert sum(drawn.issuperset(each) for each in slices) == 2


def test_every_stratum_of_the_view_has_a_cell_in_the_sample_though_slices_are_read(tiny_slices):
    scope, acls = large()
    memory = decided(scope, acls)
    counts, cells = read_sliced(scope, copied(memory), by_duckdb(memory), "run-1", 1_000)
    assert (counts["slices_read"], counts["slices"]) == (4, 112)
    every = memory.rows(f"SELECT {', '.join(CELL)} FROM ({explain_sql()})")
    assert set(cells) <= set(every)
    assert strata(scope, cells, memory).keys() == strata(scope, every, memory).keys()


def test_42_wrong_cells_at_one_resource_are_found_though_slices_are_read(tiny_slices):
    scope, acls = large()
    memory = decided(scope, acls)
    wrong = "host = '10.0.0.7' AND operation = 'READ' AND rule = 'MatchingAcl'"
    memory.connection.execute(f"UPDATE explain_ruling SET decision = 'ALLOWED' WHERE {wrong}")
    for seed in range(2):
        with pytest.raises(DataError, match=r"host='10\.0\.0\.7'.*the tables have \('ALLOWED'"):
            check(scope, memory, by_duckdb(memory), seed=f"run-{seed}")
