"""Readers see what the newest run published, and nothing else."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from aclkit.errors import SurroundingsError, UsageError
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA
from aclkit.questions.query.access import who_can
from aclkit.warehouse.duck import connect
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import open_warehouse, read_files, resolve_cluster, run_settings
from aclkit.warehouse.schemas import TABLES
from tests.questions.query import small_warehouse as small


def count(root, table):
    with connect(open_warehouse(str(root))) as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_version_that_no_run_published_is_not_seen(root):
    small.build(root)
    small.write_table(root, "host", [{"cluster_id": small.CLUSTER, "host": "10.9.9.9"}])
    assert count(root, "host") == len(small.HOSTS)


def test_newest_run_number_is_what_readers_open(root):
    versions = small.build(root)
    newer = small.write_table(root, "host", [])
    small.publish(root, versions | {"host": newer}, run_number=3)
    small.publish(root, versions, run_number=2)
    assert count(root, "host") == 0


@pytest.fixture
def fresh(root):
    """A warehouse whose only run has written nothing."""
    small.publish(root, {})
    with connect(open_warehouse(str(root))) as connection:
        yield connection


@pytest.mark.parametrize("table", sorted(TABLES.keys() - {"job_run"}))
def test_table_that_no_run_has_written_is_empty_with_the_columns_of_the_contract(fresh, table):
    cursor = fresh.execute(f"SELECT * FROM {table}")
    assert [column[0] for column in cursor.description] == list(TABLES[table].column_names)
    assert cursor.fetchall() == []


def test_types_of_an_unwritten_table_are_those_of_a_written_one(fresh, root):
    for table in TABLES.keys() - {"explain", "job_run"}:
        version = small.write_table(root, table, [])
        written = read_files(Location(str(root)), table, version)
        assert [(row[0], row[1]) for row in fresh.execute(f"DESCRIBE {table}").fetchall()] == list(
            written.columns
        )


@pytest.mark.parametrize("view", ["acl_current", "explain_acl"])
def test_view_of_unwritten_tables_has_no_rows(fresh, view):
    assert fresh.execute(f"SELECT * FROM {view}").fetchall() == []


def test_explain_that_no_run_has_written_is_the_view_of_the_other_tables(root):
    small.build(root)
    with connect(open_warehouse(str(root))) as connection:
        assert connection.execute("SELECT count(*) > 0 FROM explain").fetchone() == (True,)


def test_table_that_lacks_a_column_of_a_view_is_the_surroundings_fault(root):
    versions = small.build(root)
    table = pa.table({"cluster_id": ["c1"]})
    write_deltalake(root / "ruleset", table, mode="overwrite", schema_mode="overwrite")
    small.publish(root, versions | {"ruleset": 1}, run_number=2)
    with pytest.raises(SurroundingsError, match=r"Cannot read .*explain_acl"):
        connect(open_warehouse(str(root)))


def test_empty_table_keeps_its_types(connection):
    described = connection.execute("DESCRIBE finding").fetchall()
    assert ("acl_ids", "VARCHAR[]") in [row[:2] for row in described]
    assert connection.execute("SELECT * FROM finding").fetchall() == []


def test_maps_arrays_and_times_are_read(connection):
    row = connection.execute(
        "SELECT p.attributes, added_at FROM principal p, acl_history LIMIT 1"
    ).fetchone()
    assert row == ({"team": "a"}, small.WHEN.replace(tzinfo=None))


@pytest.mark.parametrize("make", [lambda root: None, lambda root: root.mkdir()])
def test_nothing_published_names_the_next_step(root, make):
    make(root)
    with pytest.raises(UsageError, match=r"has no data yet.*replay --source"):
        open_warehouse(str(root))


def test_warehouse_must_be_named():
    with pytest.raises(UsageError, match="--warehouse DIR"):
        open_warehouse(None)


def test_lost_table_is_the_surroundings_fault(root):
    small.build(root)
    shutil.rmtree(root / "host")
    with pytest.raises(SurroundingsError, match="Cannot read version 0 of"):
        connect(open_warehouse(str(root)))


def test_run_row_is_read(published):
    run = published.run
    assert (run.run_number, run.job, run.head_offset) == (1, "run", 100)
    assert (run.counts, run.notes) == ({"acls": 1}, ("a note",))
    assert published.last_materialize(small.CLUSTER) is run
    assert published.last_materialize("elsewhere") is None


def test_only_cluster_needs_no_name_and_several_do(root):
    versions = small.build(root)
    assert resolve_cluster(open_warehouse(str(root)), None) == small.CLUSTER
    small.publish(root, versions, run_number=2, cluster_id="c2")
    both = open_warehouse(str(root))
    assert resolve_cluster(both, "c2") == "c2"
    with pytest.raises(UsageError, match=r"several clusters.*c1, c2"):
        resolve_cluster(both, None)
    with pytest.raises(UsageError, match="'c3' is not in"):
        resolve_cluster(both, "c3")


def test_settings_of_a_run_are_read(root):
    said = {"semantics": asdict(KAFKA), "super_users": ["User:a"]}
    small.publish(root, {}, settings=json.dumps(said))
    settings, semantics = run_settings(open_warehouse(str(root)).run)
    assert semantics == KAFKA
    assert settings.super_users == {"User:a"}
    assert not settings.allow_everyone


def damage(root, table, start, end):
    """Overwrite bytes of a table's only Parquet file."""
    (path,) = (root / table).glob("*.parquet")
    content = bytearray(path.read_bytes())
    content[start:end] = b"\xff" * len(content[start:end])
    path.write_bytes(bytes(content))


def test_damaged_runs_are_the_surroundings_fault(root):
    small.build(root)
    damage(root, "job_run", -8, None)
    with pytest.raises(SurroundingsError, match=r"Cannot read .*job_run"):
        open_warehouse(str(root))


@pytest.mark.parametrize("table", ["host", "explain_ruling", "acl_history"])
def test_a_damaged_page_of_a_table_is_the_surroundings_fault(root, table):
    small.build(root)
    damage(root, table, 4, 300)
    published = open_warehouse(str(root))
    with pytest.raises(SurroundingsError), connect(published) as connection:
        who_can(connection, published, small.CLUSTER, "READ", Resource("TOPIC", "payments"))


@pytest.mark.parametrize(
    "said", ["{", "[]", '{"semantics": {"later": 1}}', '{"semantics": 3}', '{"super_users": 5}']
)
def test_settings_that_this_version_cannot_read_are_the_surroundings_fault(root, said):
    small.publish(root, {}, settings=said)
    with pytest.raises(SurroundingsError, match="settings of run 1"):
        run_settings(open_warehouse(str(root)).run)
