"""``aclkit.spark`` through Spark Connect: a client without a JVM, and a server of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from aclkit.audit.mcp.described_tables import VIEWS
from aclkit.warehouse.reader import open_tables
from aclkit.warehouse.schemas import TABLES
from tests.cli.running import KRAFT
from tests.questions.query import small_warehouse as small

pytest.importorskip("grpc", reason="without aclkit[connect] there is no client")


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_the_three_work_through_connect(tmp_path):
    root = tmp_path / "warehouse"
    small.build(root)
    script = Path(__file__).with_name("through_connect.py")
    words = [sys.executable, str(script), str(root), str(KRAFT)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["client"] == "pyspark.sql.connect.session"
    with open_tables(str(root)) as (_, here):
        count = "SELECT count(*) FROM {}"
        names = [*TABLES, *VIEWS]
        there = {name: here.execute(count.format(name)).fetchall()[0][0] for name in names}
    assert said["counts"] == there
    assert said["joined"] == said["requests"] > 0
    assert said["wrong"] == 0
    assert said["log"] > 0
