"""export duckdb: one file that says what is in it, and holds what a question would read."""

from __future__ import annotations

import shutil

import duckdb
import pytest

from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.schemas import TABLES
from tests.cli.running import Warehouse
from tests.on_disk import on_disk
from tests.questions.query import small_warehouse as small


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory) -> Warehouse:
    path = tmp_path_factory.mktemp("duckdb") / on_disk("ware'house; é")
    small.build(path)
    return Warehouse(path)


def rows(connection, name):
    return sorted(map(repr, connection.execute(f"SELECT * FROM {name}").fetchall()))


def about(path):
    with duckdb.connect(path, read_only=True) as connection:
        return dict(connection.execute("SELECT name, value FROM about").fetchall())


@pytest.mark.parametrize("words", [(), ("--copy",), ("--views",)])
def test_the_file_has_every_table_and_view_of_a_question(warehouse, tmp_path, words):
    path = tmp_path / 'it\'s "one".duckdb'
    warehouse.run("export", "duckdb", "--output", path, *words)
    assert list(tmp_path.iterdir()) == [path]
    with (
        duckdb.connect(path, read_only=True) as made,
        connect(open_warehouse(str(warehouse.path))) as asked,
    ):
        made.execute("SET TimeZone = 'UTC'")
        names = [name for (name,) in asked.execute("SHOW TABLES").fetchall()]
        assert {*TABLES} <= {*names}
        assert [name for name in names if rows(made, name) != rows(asked, name)] == []


def test_a_copy_stands_alone_and_tells_no_path(tmp_path):
    small.build(tmp_path / "warehouse")
    path = tmp_path / "acls.duckdb"
    Warehouse(tmp_path / "warehouse").run("export", "duckdb", "-o", path)
    shutil.rmtree(tmp_path / "warehouse")
    with duckdb.connect(path, read_only=True) as made:
        assert made.execute("SELECT count(*) > 0 FROM explain").fetchall() == [(True,)]
    assert str(tmp_path).encode() not in path.read_bytes()
    assert about(path)["holds"] == "rows"


def test_views_say_of_which_run_they_are_and_until_when_they_hold(warehouse, tmp_path):
    told = warehouse.run("export", "duckdb", "--views", "-o", tmp_path / "acls.duckdb").stderr
    said = about(tmp_path / "acls.duckdb")
    assert (said["warehouse"], said["clusters"]) == (str(warehouse.path), small.CLUSTER)
    assert said["run_number"] == str(open_warehouse(str(warehouse.path)).run.run_number)
    assert said["made_at"] < said["holds_until"]
    assert said["holds_until"][:10] in told


def test_every_column_says_what_it_means(warehouse, tmp_path):
    warehouse.run("export", "duckdb", "-o", tmp_path / "acls.duckdb")
    with duckdb.connect(tmp_path / "acls.duckdb", read_only=True) as made:
        found = made.execute(
            "SELECT table_name, column_name, comment FROM duckdb_columns() "
            "WHERE NOT internal AND schema_name = 'main'"
        ).fetchall()
    wanted = {(t.name, name, text) for t in TABLES.values() for name, _, text in t.columns}
    assert wanted <= {*found}


def test_a_file_that_is_there_goes_only_by_force(warehouse, tmp_path):
    path = tmp_path / "acls.duckdb"
    path.write_text("before", encoding="utf-8")
    told = warehouse.run("export", "duckdb", "-o", path, code=2).stderr
    assert "exists. Pass another file, or --force to replace it." in told
    assert path.read_text(encoding="utf-8") == "before"
    warehouse.run("export", "duckdb", "-o", path, "--force")
    assert about(path)["clusters"] == small.CLUSTER
    assert "it is not a file" in warehouse.run("export", "duckdb", "-o", tmp_path, code=2).stderr


def test_what_cannot_be_made_leaves_nothing(tmp_path):
    small.build(tmp_path / "warehouse")
    for file in (tmp_path / "warehouse" / "explain_ruling").glob("*.parquet"):
        file.write_bytes(b"broken")
    words = ("export", "duckdb", "--copy", "-o", tmp_path / "acls.duckdb")
    told = Warehouse(tmp_path / "warehouse").run(*words, code=4).stderr
    assert told.startswith("Error: Cannot read explain_ruling of ")
    assert [path.name for path in tmp_path.iterdir()] == ["warehouse"]


def test_a_copy_that_finds_no_room_is_refused_before_it_begins(warehouse, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    told = warehouse.run("export", "duckdb", "-o", tmp_path / "acls.duckdb", code=4).stderr
    assert "has 1 MiB free. Next: set TMPDIR to a larger disk, or pass --views." in told
    assert list(tmp_path.iterdir()) == []
    warehouse.run("export", "duckdb", "--views", "-o", tmp_path / "acls.duckdb")


def test_a_copy_and_views_are_not_asked_for_at_once(warehouse, tmp_path):
    words = ("export", "duckdb", "--views", "--copy", "-o", tmp_path / "acls.duckdb")
    assert "Pass --views or --copy, not both." in warehouse.run(*words, code=2).stderr
