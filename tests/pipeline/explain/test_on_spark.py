"""Deciding as DataFrames: Spark's tables equal those of this process, by the promised plan."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from aclkit.errors import DataError
from aclkit.model.acl import Acl
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain import on_spark
from aclkit.pipeline.explain.deciding import InThisProcess, decide
from aclkit.pipeline.explain.on_spark import Frames, decide_on_spark
from aclkit.pipeline.explain.prepared import prepare
from aclkit.pipeline.explain.scope import of_inventory
from aclkit.pipeline.plan import Plan
from aclkit.warehouse.damage import is_of_spark
from aclkit.warehouse.duck_beside import ask_files
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.shared_folder import NOT_SHARED, Mark
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import read_files
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql
from tests.fuzz.mutants import rounds
from tests.pipeline.explain.decided import DECIDED, acl_table
from tests.pipeline.explain.test_engines import scope_and_acls, tables_by

BY_TASKS = [table for table in DECIDED if table != "ruleset_group"]
"""Of the tables that deciding writes: all but the one that the driver writes."""


BY_WRITER = [table for table in BY_TASKS if table != "explain_pair"]
"""Of these, those that Spark's Delta writer writes on a disk: tasks write files of the others."""


def by_spark(spark, folder, seed=1, semantics=KIP_1042, more=()):
    """Every table that Spark writes: its rows, sorted; and the store."""
    scope, acls = scope_and_acls(seed, semantics, more)
    store = Store(lambda: spark, str(folder))
    decide_on_spark(spark, scope, acl_table(acls), store, allow_everyone=True)
    return {table: rows_of(store, table) for table in DECIDED}, store


def rows_of(store, table):
    files = read_files(store.place, table, None)
    return sorted(map(repr, ask_files("t", files, "SELECT * FROM t")))


def commits_of(store, table):
    """What wrote each version of a table."""
    for log in sorted((store.place.folder / table / "_delta_log").glob("*.json")):
        infos = (
            json.loads(line).get("commitInfo")
            for line in log.read_text(encoding="utf-8").splitlines()
        )
        yield next(filter(None, infos))


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_spark_writes_the_same_tables_as_this_process(spark, tmp_path, semantics):
    here = tables_by(InThisProcess(Plan()), tmp_path / "here", semantics=semantics)
    found, store = by_spark(spark, tmp_path / "spark", semantics=semantics)
    assert found == here
    for table in BY_WRITER:
        made, commit = commits_of(store, table)  # a table is made before Spark writes into it
        assert made["engineInfo"].startswith("delta-rs")
        assert commit["operationMetrics"]["numOutputRows"] == str(len(found[table]))
        assert commit["engineInfo"].startswith("Apache-Spark/")
    assert not any("Spark" in each["engineInfo"] for each in commits_of(store, "explain_pair"))


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_random_clusters_have_the_same_tables_however_slices_are_cut(spark, tmp_path, monkeypatch):
    """In one slice, in one for each name, or as it pays; of nine clusters three are skewed."""
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    cuts = [lambda *_: [0], lambda blocks, _: [*range(len(blocks))], on_spark.cut_for_tasks]
    for number in range(rounds(9)):
        asked = {
            "seed": f"random {number}",
            "semantics": (KAFKA, KIP_1042)[number % 2],
            "more": skewed() if number % 9 < len(cuts) else (),  # each cut meets one
        }
        monkeypatch.setattr(on_spark, "cut_for_tasks", cuts[number % len(cuts)])
        here = tables_by(InThisProcess(Plan()), tmp_path / f"{number}-here", **asked)
        found, _ = by_spark(spark, tmp_path / f"{number}-spark", **asked)
        assert (number, found) == (number, here)


def skewed():
    """5,000 ACLs for everyone on one name, each from its own host; and one principal with all."""
    read = Acl(
        acl_id="", resource_type="TOPIC", resource_name="ab", pattern_type="LITERAL",
        principal="User:*", host="*", operation="READ", permission_type="ALLOW",
    )  # fmt: skip
    of_all = [
        replace(read, acl_id=f"everyone {number}", host=f"10.0.{number >> 8}.{number & 255}")
        for number in range(5_000)
    ]
    everything = {"principal": "User:c", "resource_name": "*", "operation": "ALL"}
    of_one = [
        replace(read, acl_id=f"all {kind}", resource_type=kind, **everything)
        for kind in ("TOPIC", "GROUP")
    ]
    return of_all + of_one


def test_the_plan_is_one_match_and_two_exchanges(spark, monkeypatch):
    # One partition needs no exchange.
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    monkeypatch.setattr(on_spark, "cut_for_tasks", lambda *_: [0, 2])
    scope, acls = scope_and_acls()
    prepared = prepare(scope, acl_table(acls))
    with Frames.of(spark, scope, prepared, None, allow_everyone=True) as frames:
        plans = {
            "explain_pair": (frames.pairs, {"ArrowEvalPython": 1, "MapInArrow": 1, "Exchange": 1}),
            "explain_ruling": (
                frames.rulings([]),
                {"ArrowEvalPython": 1, "MapInArrow": 2, "Exchange": 2},
            ),
        }
        for table, (frame, expected) in plans.items():
            assert (table, nodes_of(frame)) == (table, expected)


def nodes_of(frame):
    """The nodes of an executed plan that compute in Python or move rows, caches opened."""
    text = frame._jdf.queryExecution().executedPlan().toString()
    names = re.findall(r"(\w*Exchange|ArrowEvalPython|MapInArrow|\w*Join)\b", text)
    return dict(Counter(names))


def test_the_dense_table_is_the_view_multiplied_out(spark, tmp_path):
    scope, acls = scope_and_acls()
    store = Store(lambda: spark, str(tmp_path))
    decide(scope, acl_table(acls), store, InThisProcess(Plan()), allow_everyone=True)
    for table, rows in of_inventory(scope).items():
        store.replace(table, rows, "c")
    with read_written(store, "c", *EXPLAIN_TABLES) as read:
        columns = ", ".join(TABLES["explain"].column_names)
        expected = read.arrow(f"SELECT {columns} FROM ({explain_sql()})").to_pylist()
    asked = spark, scope, acl_table(acls), store
    decide_on_spark(*asked, allow_everyone=True, dense=len(expected))
    assert rows_of(store, "explain") == sorted(map(repr, expected))
    with pytest.raises(DataError, match="Nothing is published"):
        decide_on_spark(*asked, allow_everyone=True, dense=len(expected) + 1)


@pytest.mark.parametrize("table", BY_TASKS)
def test_a_row_too_many_in_any_table_is_not_published(spark, tmp_path, monkeypatch, table):
    if table == "explain_ruling":
        monkeypatch.setattr(Frames, "ruled", property(lambda frames: frames._ruled.value - 1))
    else:
        counted = Frames.counted
        one_less = lambda frames: (found := counted(frames)) | {table: found[table] - 1}  # noqa: E731 -- short
        monkeypatch.setattr(Frames, "counted", one_less)
    with pytest.raises(DataError, match=f"rows of {table}, but"):
        by_spark(spark, tmp_path)


def test_a_failed_write_ends_the_others(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(Frames, "class_pairs", property(lambda frames: frames.pairs.select("x")))
    with pytest.raises(Exception, match="UNRESOLVED_COLUMN"):
        by_spark(spark, tmp_path)
    assert spark.sparkContext.statusTracker().getActiveJobsIds() == []


def test_a_table_that_is_made_has_a_checksum_which_spark_follows(spark, tmp_path):
    """Without one Delta finds the state of a new table out by jobs of its own."""
    _, store = by_spark(spark, tmp_path)
    delta = spark._jvm.org.apache.spark.sql.delta.DeltaLog
    for table in BY_WRITER:
        log = delta.forTable(spark._jsparkSession, str(store.place.folder / table))
        made = log.getSnapshotAt(
            0, *(getattr(log, f"getSnapshotAt$default${n}")() for n in (2, 3, 4))
        )
        assert made.checksumOpt().isDefined()
        assert made.validateChecksum(getattr(made, "validateChecksum$default$1")())


def test_tasks_insist_on_the_mark_of_the_drivers_folder(spark, tmp_path):
    lost = Mark(str(tmp_path / "elsewhere" / "_aclkit" / "mark"), "word")
    scope, acls = scope_and_acls()
    prepared = prepare(scope, acl_table(acls))
    with Frames.of(spark, scope, prepared, None, allow_everyone=True) as frames:
        frames.mark = lost
        with pytest.raises(Exception, match=NOT_SHARED) as failed:
            frames.pairs.count()
    assert is_of_spark(failed.value)
