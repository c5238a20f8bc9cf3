"""A Spark session on the bucket: it reads and writes, gets over faults, and tells no secret."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.object_store, pytest.mark.spark, pytest.mark.timeout(280)]

PROGRAM = """
import sys
from aclkit.runtime.spark import build_session

uri, events = sys.argv[1:]
told = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": events, "spark.driver.memory": "1g"}
session = build_session("bucket", uris=[uri], extra_conf=told)
session.range(10).write.format("delta").save(uri + "/table")
session.range(10, 20).write.format("delta").mode("append").save(uri + "/table")
same = uri.replace("s3a://", "s3://")
print(session.read.format("delta").load(same + "/table").selectExpr("sum(id)").collect()[0][0])
print(session.sparkContext._conf.toDebugString())
print(session.sql("SET -v").collect())
session.stop()
"""

PLAIN = """
from aclkit.errors import SurroundingsError
from aclkit.runtime.spark import build_session
try:
    build_session("plain")
    build_session("plain", uris=["s3a://bucket"])
except SurroundingsError as error:
    print(error)
"""


def run(program, *arguments, **env):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=240, check=False,
    )  # fmt: skip


@pytest.fixture
def events(tmp_path):
    (tmp_path / "events").mkdir()
    return tmp_path / "events"


def told(folder):
    """Return all that lies in a folder, as one text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return b"".join(path.read_bytes() for path in files).decode(errors="replace")


def test_a_session_writes_and_reads_and_nothing_that_it_leaves_holds_a_secret(
    bucket, events, tmp_path
):
    (tmp_path / "tmp").mkdir()
    token = {"AWS_SESSION_TOKEN": "a-token-that-nobody-may-see"}
    done = run(PROGRAM, bucket.uri, str(events), TMPDIR=str(tmp_path / "tmp"), **token)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.startswith("190\n")
    for secret in (bucket.env["AWS_SECRET_ACCESS_KEY"], *token.values()):
        assert secret not in done.stdout + told(events)
    assert [path.name for path in (tmp_path / "tmp").iterdir()] == []


def test_a_session_gets_over_what_passes(bucket, events):
    for kind in ("slow-down", "cut-before", "cut-after", "lost"):
        bucket.store.fail(kind, "PUT", "*.parquet", times=1)
    bucket.store.fail("half", "GET", "*.parquet", times=1)
    done = run(PROGRAM, bucket.uri, str(events))
    assert done.stdout.startswith("190\n"), done.stderr
    assert sum(bucket.store.met().values()) == 5


def test_a_session_that_was_to_open_no_bucket_has_no_jars_for_it():
    done = run(PLAIN)
    assert done.stdout.startswith("Spark cannot open s3a://. Pass "), done.stderr
