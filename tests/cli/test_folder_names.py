"""Folders of strange names that a warehouse may lie in: nights, questions, and an export."""

from __future__ import annotations

import duckdb
import pytest

from tests.cli.running import SEGMENT, SYNTHETIC, Warehouse

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.parametrize("name", ["100% a#b", 'it\'s "x" {1,2} ä', "a:b=c;d&e+f,g@h $x ~ (1)"])
def test_a_warehouse_in_a_folder_of_a_strange_name_answers(name, tmp_path):
    source = tmp_path / name / "log" / SEGMENT
    source.parent.mkdir(parents=True)
    source.write_bytes((SYNTHETIC / "basic" / SEGMENT).read_bytes())
    warehouse = Warehouse(tmp_path / name / "warehouse")
    night = ("run", "--source", f"metadata-log:{source.parent}", "--fail-on", "never")
    warehouse.run(*night)
    warehouse.run(*night, "--super-users", "User:admin")
    warehouse.run("maintain", "--keep-days", "0", "--keep-runs", "1")
    warehouse.run("who-can", "ANY", "topic:orders", "--all")
    warehouse.run("sql", "SELECT count(*) FROM explain", "--engine", "spark")
    copy = tmp_path / name / "access.duckdb"
    warehouse.run("export", "duckdb", "--output", str(copy))
    with duckdb.connect(str(copy), read_only=True) as connection:
        (found,) = connection.execute("SELECT count(*) FROM explain").fetchall()
    assert found[0] == len(warehouse.table("explain")) > 0
