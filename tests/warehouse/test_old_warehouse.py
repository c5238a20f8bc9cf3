"""A warehouse that an aclkit without formats wrote: asked, gone on with, maintained.

How it was made says ``tests/data/warehouse-of-0.1/README.md``. Of its two clusters one follows
listings and lived two nights, the other follows a log and lived one; the next is this aclkit's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from aclkit.warehouse.formats import FORMAT
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.table_files import columns_of
from tests.cli.running import DATA, KRAFT, SEGMENT, Warehouse, split_batches, write_segment

ROOT = Path(__file__).parents[2]
OLD = DATA / "warehouse-of-0.1"
LOG = ("--source", "metadata-log:../kraft-4.1/__cluster_metadata-0")


def listing(day, date, job="run"):
    return (job, "--source", f"acls-list:{day}.txt", "--at", f"2026-11-{date}T00:00:00Z")


NEW_NIGHTS = (
    ("log", ("run", *LOG)),
    ("listing", listing("wednesday", 18)),
)
AS_OF_OLD = (
    ("log", ("run", *LOG, "--high-watermark", "915")),
    # Decided on Tuesday, but the lifetimes begin on Monday.
    ("listing", listing("monday", 16, "replay")),
    ("listing", listing("tuesday", 17)),
)
"""What leaves a fresh warehouse as the old one is, as far as its newest runs say."""
BY_DEFAULT = (
    "--principals", "principals.csv", "--hosts", "hosts.csv", "--resources", "resources.csv",
    # What an older aclkit wrote down for what nobody had said.
    "--super-users", "User:admin", "--no-allow-everyone", "--fail-on", "never",
)  # fmt: skip
ASKED = (*BY_DEFAULT, "--semantics", "kip-1042")
"""With the reading that was the default when it was made."""

OF_TIME_OR_RUN = {"job_run", "finding", "access_change", "setting"}
COMPARED = tuple(name for name in TABLES if name not in OF_TIME_OR_RUN)
NEWEST = {
    "finding": "SELECT finding, severity, subject, message, fix, acl_ids, fingerprint, holds_for, "
    "evidence FROM finding_current",
    "access_change": "SELECT c.* EXCLUDE (run_id) FROM access_change c JOIN job_run r "
    "ON r.run_id = c.run_id WHERE r.run_number IN "
    "(SELECT max(run_number) FROM job_run WHERE job = 'run' GROUP BY cluster_id)",
    "setting": "SELECT cluster_id, super_users, allow_everyone FROM setting",
}
"""Of the other tables, what the newest run of each cluster says, times and run aside."""


def live(warehouse: Warehouse, nights, options=ASKED) -> None:
    """Let a warehouse live through nights; what a source is called is what it was called then.

    In processes of their own: the readers of a running Spark stay in the folder it began in.
    """
    path = os.pathsep.join([str(ROOT), *sys.path])
    for cluster, words in nights:
        asked = options if words[0] == "run" else ()
        place = ("--warehouse", str(warehouse.path), "--cluster", cluster)
        command = [sys.executable, "-c", "from aclkit.cli import cli; cli()", *place]
        env = os.environ | {"PYTHONPATH": path}
        ended = subprocess.run(
            [*command, *words, *asked],
            cwd=OLD,
            env=env,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert ended.returncode == 0, ended.stderr


def unpack(folder: Path) -> Warehouse:
    shutil.unpack_archive(OLD / "warehouse.tar.xz", folder)
    return Warehouse(folder / "warehouse")


def bytes_of(warehouse: Warehouse) -> dict[str, bytes]:
    files = (path for path in warehouse.path.rglob("*") if path.is_file())
    return {str(path.relative_to(warehouse.path)): path.read_bytes() for path in files}


def newest(warehouse: Warehouse) -> dict[str, list[str]]:
    """Return all rows that nights on the same inputs leave alike."""
    said = {name: sorted(map(repr, rows)) for name, rows in warehouse.tables(COMPARED).items()}
    return said | {name: sorted(map(repr, warehouse.sql(text))) for name, text in NEWEST.items()}


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("old"))


def csv_of(warehouse, cluster, *question):
    return warehouse.run(*question, "--format", "csv", cluster=cluster).stdout.splitlines()


def test_it_has_no_format_and_two_clusters(old):
    published = old.published()
    assert published.clusters == ("listing", "log")
    assert [run.format_number for run in published.runs] == [0] * 3
    assert "format_number" not in columns_of(str(old.path / "job_run"))


def test_questions_about_it_are_answered_and_write_nothing(old):
    before = bytes_of(old)
    who = csv_of(old, "listing", "who-can", "READ", "topic:pay.in")
    assert [line.split(",")[0] for line in who[1:]] == ["User:admin", "User:ann"]
    request = ("User:cy", "READ", "topic:pay.in", "--host", "10.0.0.1")
    why = old.run("why", *request, cluster="listing").stdout
    assert why.startswith("User:cy cannot READ topic:pay.in from 10.0.0.1: no ACL allows it")
    changes = csv_of(old, "listing", "changes")
    assert any("User:bob" in line for line in changes)
    assert len(csv_of(old, "listing", "changes", "--cells")) > 1
    for question in (
        ("who-can", "ANY", "topic:payments.v1.events"),
        ("what-can", "User:alice", "topic"),
        ("audit", "--fail-on", "never"),
    ):
        assert len(csv_of(old, "log", *question)) > 1, question
    assert old.sql("SELECT count(format_number) AS known FROM job_run") == [{"known": "0"}]
    assert bytes_of(old) == before


@pytest.fixture(scope="module")
def gone_on(_session, tmp_path_factory):
    """The old warehouse after a night of this aclkit."""
    warehouse = unpack(tmp_path_factory.mktemp("gone-on"))
    live(warehouse, NEW_NIGHTS)
    return warehouse


@pytest.mark.spark
@pytest.mark.slow
def test_the_next_night_gives_it_the_format_and_decides_everything_anew(gone_on):
    nights = gone_on.published().runs[-len(NEW_NIGHTS) :]
    assert [run.format_number for run in nights] == [FORMAT] * len(NEW_NIGHTS)
    assert columns_of(str(gone_on.path / "job_run")) == list(TABLES["job_run"].column_names)
    for run in nights:
        assert run.decided_in == run.run_number
        assert not any("decided again" in note for note in run.notes)


@pytest.mark.spark
@pytest.mark.slow
def test_decided_by_an_old_default_it_tells_once_that_acls_are_read_otherwise(tmp_path):
    warehouse = unpack(tmp_path)
    told = "SELECT r.run_number, f.severity FROM finding f JOIN job_run r ON r.run_id = f.run_id "
    told += "WHERE f.finding = 'reading-changed' ORDER BY r.run_number"
    causes = "SELECT DISTINCT cause FROM access_change WHERE run_id = (SELECT run_id FROM job_run "
    causes += "ORDER BY run_number DESC LIMIT 1)"
    tuesday = ("listing", listing("tuesday", 17))
    live(warehouse, [tuesday], BY_DEFAULT)
    (row,) = warehouse.sql(told)
    assert row["severity"] == "high"
    assert [row["cause"] for row in warehouse.sql(causes)] in ([], ["settings"])
    live(warehouse, NEW_NIGHTS[1:], BY_DEFAULT)
    assert warehouse.sql(told) == [row]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_its_tables_are_those_of_a_fresh_warehouse(gone_on, tmp_path):
    fresh = Warehouse(tmp_path / "fresh")
    live(fresh, (*AS_OF_OLD, *NEW_NIGHTS))
    ours, theirs = newest(gone_on), newest(fresh)
    for name, rows in theirs.items():
        assert Counter(ours[name]) == Counter(rows), name
    assert theirs["explain"]
    assert theirs["access_change"]
    assert theirs["finding"]


@pytest.mark.spark
@pytest.mark.slow
def test_it_is_maintained_and_says_what_it_said(gone_on, tmp_path):
    warehouse = gone_on.copy(tmp_path / "maintained")
    before = newest(warehouse)
    warehouse.run("maintain", "--keep-days", "0", "--keep-runs", "1")
    assert newest(warehouse) == before
    assert warehouse.published().run.format_number == FORMAT


@pytest.mark.usefixtures("spark")
def test_it_is_maintained_as_it_is(tmp_path):
    warehouse = unpack(tmp_path)
    before = newest(warehouse)
    warehouse.run("maintain")
    assert newest(warehouse) == before
    assert warehouse.published().run.format_number == FORMAT


@pytest.mark.usefixtures("spark")
def test_its_brokers_are_unknown_until_its_log_is_read_again(tmp_path):
    warehouse = unpack(tmp_path)
    assert warehouse.sql("SELECT * FROM broker") == []
    (tmp_path / "tail").mkdir()
    tail = [piece for piece in split_batches((KRAFT / SEGMENT).read_bytes()) if piece[0] >= 900]
    segment = write_segment(tmp_path / "tail", tail)
    part = warehouse.replay(f"metadata-log:{segment}", cluster="log")
    assert "An older aclkit skipped the brokers in the log" in part.stderr
    assert warehouse.sql("SELECT * FROM broker") == []
    whole = warehouse.replay(f"metadata-log:{KRAFT}", cluster="log")
    assert (
        "Brokers compare hosts such as 10.0.0.0/8 as text: broker 1 supports metadata.version up "
        "to 27" in whole.stderr
    )
    (row,) = warehouse.sql("SELECT cluster_id, max_level, since_offset FROM broker")
    assert tuple(row.values()) == ("log", "27", "9")
    again = warehouse.replay(f"metadata-log:{segment}", cluster="log")
    assert "CIDR" not in again.stderr
