"""Readers see what the newest run published, and nothing else."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict

import pytest

from aclkit.errors import SurroundingsError, UsageError
from aclkit.model.semantics import KAFKA
from aclkit.query.duck import connect
from aclkit.query.warehouse import open_warehouse, resolve_cluster, run_settings
from tests.query import small_warehouse as small


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


def test_table_missing_from_the_run_does_not_exist(root):
    versions = small.build(root)
    del versions["finding"]
    small.publish(root, versions, run_number=2)
    with connect(open_warehouse(str(root))) as connection:
        names = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
    assert "finding" not in names
    assert {"acl_current", "explain", "explain_acl", "host"} <= names


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
    with pytest.raises(UsageError, match=r"nothing is published.*replay --source"):
        open_warehouse(str(root))


def test_warehouse_must_be_named():
    with pytest.raises(UsageError, match="--warehouse DIR"):
        open_warehouse(None)


def test_object_storage_is_for_spark():
    with pytest.raises(UsageError, match="not on a local disk"):
        open_warehouse("s3a://bucket/warehouse")


def test_lost_table_is_the_surroundings_fault(root):
    small.build(root)
    shutil.rmtree(root / "host")
    with pytest.raises(SurroundingsError, match="cannot read version 0 of"):
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
