"""A small cluster on a machine without Java and pyspark: every job of it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import aclkit
from tests.cli.running import KRAFT_TEXT, Warehouse
from tests.nightly.test_nightly import add

SAMPLE = Path(aclkit.__file__).parent / "cli" / "data" / "sample"
PROGRAM = """\
import sys
for missing in ("pyspark", "py4j", "delta"):
    sys.modules[missing] = None
from aclkit.cli import cli
cli()
"""


@pytest.fixture
def call(tmp_path):
    """Call a command where there is no Java, and no pyspark; return what it told."""

    def run(*words, code=0):
        kept = {key: text for key, text in os.environ.items() if not key.startswith("SPARK_")}
        nowhere = {"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path / "none")}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "--warehouse", str(tmp_path / "w"), *words],
            env=kept | nowhere,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    return run


def test_a_first_night_and_one_with_a_new_acl(call, tmp_path):
    source = ("--source", f"metadata-log:{SAMPLE}", "--fail-on", "never")
    assert "No access changed." in call("run", *source)
    more = tmp_path / "more.jsonl"
    more.write_text(add(1020, "User:newcomer", "payments.v1.events") + "\n", encoding="utf-8")
    told = call("run", *source, "--source", f"records:{more}")
    assert "User:newcomer" in told
    assert "Nothing new since the previous run" in call(
        "run", *source, "--source", f"records:{more}"
    )
    (count,) = Warehouse(tmp_path / "w").sql("SELECT count(*) AS n FROM acl_history")
    assert int(count["n"]) > 600


def test_acls_are_added_and_removed_forgotten_and_made_anew(call, tmp_path):
    wanted = ("--allow-principal", "User:a", "--operation", "READ", "--topic", "t")
    call("acls", "add", *wanted)
    call("materialize", "--super-users", "User:admin")
    call("acls", "remove", *wanted, "--force")
    call("materialize", "--super-users", "User:admin", "--rebuild", "--force")
    call("--cluster", "log", "replay", "--source", f"metadata-log:{SAMPLE}")
    call("--cluster", "log", "replay", "--forget", "900-")
    listing = f"acls-list:{KRAFT_TEXT / 'kafka-acls-list.txt'}"
    call("--cluster", "listing", "replay", "--source", listing)
    names = pa.table({"resource_type": ["topic"], "resource_name": ["t"]})
    write_deltalake(str(tmp_path / "names"), names)
    call("--cluster", "listing", "materialize", "--resources", str(tmp_path / "names"))


def test_the_demo(call):
    assert "Three questions to try" in call("demo")
