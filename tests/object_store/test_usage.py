"""An authorizer log in a bucket: read as from a folder, and only what is new of it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from tests.object_store.copies import put_file, put_folder

SECURE = Path(__file__).parents[1] / "data" / "secure"
LINES = (SECURE / "kafka-authorizer.log").read_bytes().splitlines(keepends=True)
COMPARED = ("lines", "agree", "mismatch", "undetermined", "unreadable", "coverage", "rows")


def ran(*words: str) -> str:
    told = CliRunner().invoke(cli, words)
    assert told.exit_code == 0, told.output
    return told.stdout


def usage(warehouse: str, logs: str) -> dict[str, object]:
    told = json.loads(ran("--warehouse", warehouse, "usage", logs, "--format", "json"))
    coverage = told["coverage"].items()
    told["coverage"] = {name: value for name, value in coverage if not name.endswith("files")}
    return {name: told[name] for name in COMPARED}


@pytest.fixture
def folder(tmp_path):
    """The log of a broker as rotation leaves it: what is older is packed."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "kafka-authorizer.log.1.gz").write_bytes(gzip.compress(b"".join(LINES[:300])))
    (folder / "kafka-authorizer.log").write_bytes(b"".join(LINES[300:-50] * 400))
    return folder


def test_a_log_in_a_bucket_is_read_as_in_a_folder_and_once_it_grows_from_where_it_ended(
    bucket, tmp_path, folder
):
    here, there = str(tmp_path / "warehouse"), f"{bucket.uri}/warehouse"
    source = f"metadata-log:{SECURE / '__cluster_metadata-0'}"
    known = ["--super-users", "User:admin", "--no-allow-everyone", "--fail-on", "never"]
    for warehouse in (here, there):
        ran("--warehouse", warehouse, "--assume-single-writer", "run", "--source", source, *known)
    logs = put_folder(folder, bucket, "logs")
    found = usage(here, str(folder))
    assert found["lines"] == 300 + 400 * (len(LINES) - 350)
    assert usage(there, logs) == found

    log = folder / "kafka-authorizer.log"
    read = log.stat().st_size
    with log.open("ab") as file:
        file.writelines(LINES[-50:])
    put_file(log, bucket, "logs/kafka-authorizer.log")
    bucket.store.reset()
    found = usage(here, str(folder))
    assert found["lines"] == 51  # what follows an entry may belong to it, so the last is read again
    assert usage(there, logs) == found
    sent = sum(each.sent for each in bucket.store.requests() if each.key.endswith(log.name))
    assert 0 < sent < read / 10
