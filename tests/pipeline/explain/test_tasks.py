"""What Spark's tasks do, without Spark: the same tables as the kernel's, whatever the batches."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from aclkit.model.acl import Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.pipeline.explain import dense, tasks
from aclkit.pipeline.explain.prepared import Resources, prepare
from aclkit.pipeline.explain.tasks import PATTERN_IDS
from aclkit.pipeline.inventory.survey import Given
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.warehouse.schemas import TABLES
from tests.pipeline.explain.decided import acl_table, by_kernel
from tests.pipeline.explain.systems import Answers, scope_of
from tests.pipeline.explain.test_against_rules import CASES, GIVEN
from tests.pipeline.explain.test_kernel import cluster

NAMES_OF_A_BATCH, ENTRIES = 3, 40
OF_SLICES = {"explain_pair": tasks.pairs, "explain_class_pair": tasks.class_pairs}
OF_SETS = {"ruleset": tasks.rulesets, "explain_ruling": partial(tasks.rulings, 0)}


class Partitions:
    """A cluster's names in partitions, and what all tasks share."""

    def __init__(self, case: str, seed: int = 0) -> None:
        semantics, settings, self.acls = cluster(case, seed)
        given = Given(entries=GIVEN, extend=True)
        self.scope = scope_of(self.acls, given, settings, semantics)
        self.everyone = settings.allow_everyone
        prepared = prepare(self.scope, acl_table(self.acls))
        light = replace(prepared, index=PatternIndex.build([], semantics))
        is_super = np.array([n in self.scope.super_users for n in self.scope.principal_names], bool)
        self.shared = tasks.Shared(light, ENTRIES, is_super, self.everyone)
        resources = Resources.of(self.scope)
        keys, late = resources.keys, resources.met_last
        found = [prepared.index.matches(*key) for key in keys]
        self.names = pa.table(
            {
                "place": pa.array(range(len(keys)), pa.int32()),
                "resource_type": [kind for kind, _ in keys],
                "resource_name": [name for _, name in keys],
                "met_last": pa.array(late.astype(np.int32)),
                PATTERN_IDS: pa.array(found, pa.list_(pa.int32())),
            }
        )

    def each(self, task: tasks.Task) -> list[dict[str, object]]:
        """The rows of a task over all partitions: the first ten names, the others, and none."""
        parts = (self.names.slice(0, 10), self.names.slice(10), self.names.slice(0, 0))
        return [row for part in parts for row in self.done(task, part)]

    def done(self, task: tasks.Task, rows: pa.Table) -> list[dict[str, object]]:
        batches = rows.to_batches(NAMES_OF_A_BATCH)
        return [row for table in task(self.shared, batches) for row in table.to_pylist()]

    def sets(self) -> pa.Table:
        """The distinct sets of all partitions."""
        found = {row["ruleset_id"]: row for row in self.each(tasks.sets) if row["pairs"] is None}
        return pa.Table.from_pylist([*found.values()], tasks.SETS)


def in_order(table: str, rows: Sequence[dict[str, object]]) -> list[str]:
    names = TABLES[table].column_names
    return sorted(repr([row[name] for name in names]) for row in rows)


def by_this_process(cut: Partitions, table: str) -> list[str]:
    rows = by_kernel(cut.scope, cut.acls)[table]
    return sorted(repr([list(v) if isinstance(v, tuple) else v for v in row]) for row in rows)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("table", OF_SLICES)
def test_slices_make_the_pairs_of_the_kernel(case, table):
    cut = Partitions(case)
    assert in_order(table, cut.each(OF_SLICES[table])) == by_this_process(cut, table)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("table", OF_SETS)
def test_distinct_sets_make_the_rulesets_and_rulings_of_the_kernel(case, table):
    cut = Partitions(case)
    assert in_order(table, cut.done(OF_SETS[table], cut.sets())) == by_this_process(cut, table)


@pytest.mark.parametrize("case", CASES)
def test_the_content_of_a_set_is_a_function_of_its_id(case):
    cut = Partitions(case)
    found = [row for row in cut.each(tasks.sets) if row["pairs"] is None]
    contents = {(r["ruleset_id"], *map(repr, sorted_groups(r))) for r in found}
    assert len(contents) == len({row["ruleset_id"] for row in found})


def sorted_groups(row):
    # Which groups a set has of a class hangs on who asks; all of them together do not.
    return row["type_no"] if row["met_last"] else None, sorted(row["own"] + row["of_class"])


@pytest.mark.parametrize("case", CASES)
def test_a_slice_counts_its_pairs(case):
    cut = Partitions(case)
    counts = [row for row in cut.each(tasks.sets) if row["pairs"] is not None]
    assert sum(row["pairs"] for row in counts) == len(cut.each(tasks.pairs))
    assert sum(row["class_pairs"] for row in counts) == len(cut.each(tasks.class_pairs))
    assert len({row["ruleset_id"] for row in counts}) == len(counts) > 2


class Counted:
    """Counts as an accumulator of Spark does."""

    value = 0

    def __iadd__(self, count: int) -> Counted:
        self.value += count
        return self


@pytest.mark.parametrize("case", CASES)
def test_the_rulings_are_counted_by_what_decides_them(case):
    cut, counted = Partitions(case), Counted()
    rows = cut.done(partial(tasks.rulings, counted), cut.sets())
    assert counted.value == len(rows)


def test_the_entries_of_a_block_bound_its_pairs():
    cut = Partitions("kip-1042" if "kip-1042" in CASES else next(iter(CASES)))
    weighed = cut.each(lambda shared, batches: tasks.weigh(4, shared, batches))
    entries = sum(row["entries"] for row in weighed)
    assert entries >= len(cut.each(tasks.pairs))
    assert {row["block"] for row in weighed} == {n // 4 for n in range(len(cut.names))}


@pytest.mark.parametrize("case", CASES)
def test_the_cells_multiplied_out_are_every_decision_once(case):
    cut = Partitions(case)
    rows = by_kernel(cut.scope, cut.acls)
    answers = Answers.of(rows, cut.scope, allow_everyone=cut.everyone)
    found = {}
    for row in cut.each(dense.cells):
        for principal, cell in product(row["principals"], row["cells"]):
            resource = row["resource_type"], row["resource_name"]
            key = principal["principal"], cell["host"], cell["operation"], *resource
            assert key not in found
            found[key] = cell["decision"], cell["rule"], cell["deciding_acl_id"]
            parts = f"{principal['principal_type']}:{principal['principal_name']}"
            assert parts == principal["principal"]
    expected = {}
    for entry in cut.scope.inventory.resources:
        asked = product(
            cut.scope.principal_names, cut.scope.host_names, OPERATIONS_OF_TYPE[entry.resource_type]
        )
        for principal, host, operation in asked:
            request = Request(
                principal=principal, host=host, operation=operation,
                resource_type=entry.resource_type, resource_name=entry.name,
            )  # fmt: skip
            key = principal, host, operation, *entry.key
            expected[key] = answers.of_request(request)
    assert found == expected


def test_a_python_worker_imports_no_engine():
    """Each worker of Spark imports this: DuckDB and deltalake are half of what it would take."""
    shown = "print({'duckdb', 'deltalake'} & {*sys.modules})"
    code = f"import sys, aclkit.pipeline.explain.dense; {shown}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
