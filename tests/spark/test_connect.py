"""``aclkit.spark`` through Spark Connect: a client without a JVM, and a server of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aclkit.warehouse.duck import open_tables
from tests.cli.running import KRAFT
from tests.questions.query import small_warehouse as small


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_the_three_work_through_connect(tmp_path):
    root = tmp_path / "warehouse"
    small.build(root)
    script = Path(__file__).with_name("through_connect.py")
    words = [sys.executable, str(script), str(root), str(KRAFT), small.SUPER_USER]
    # By default the workers of a server are the first python3 of PATH.
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        words, cwd=tmp_path, env=env, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["client"] == "pyspark.sql.connect.session"
    assert {"acl_current", "explain", "job_run"} == {*said["counts"]}
    with open_tables(str(root)) as (_, here):
        for name, count in said["counts"].items():
            assert here.execute(f"SELECT count(*) FROM {name}").fetchall() == [(count,)], name
    assert said["requests"] > 0
    assert said["wrong"] == 0
    assert said["log"] > 0
