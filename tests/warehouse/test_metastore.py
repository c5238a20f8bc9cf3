"""The recipe of docs/spark.md registers a warehouse in a Hive metastore, here one on Derby."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable

from aclkit.warehouse.schemas import TABLES
from tests.documents import code_blocks
from tests.questions.query import small_warehouse as small

ROOT = Path(__file__).parents[2]
(RECIPE,) = code_blocks((ROOT / "docs" / "spark.md").read_text(encoding="utf-8"), "sql")


def test_the_recipe_names_every_table_that_a_run_writes():
    named = {line.split("/")[-1].strip("';") for line in RECIPE.splitlines() if "LOCATION" in line}
    assert named == TABLES.keys()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_recipe_makes_the_tables_readable_by_name(tmp_path):
    small.build(tmp_path / "warehouse")
    script = Path(__file__).with_name("registering.py")
    words = [sys.executable, str(script), str(tmp_path), str(tmp_path / "warehouse"), RECIPE]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    tables, rulings = done.stdout.splitlines()[-2:]
    assert {"acl_history", "explain_pair", "explain_ruling", "job_run"} <= {*tables.split()}
    count = DeltaTable(tmp_path / "warehouse" / "explain_ruling").to_pyarrow_table().num_rows
    assert int(rulings) == count > 0
