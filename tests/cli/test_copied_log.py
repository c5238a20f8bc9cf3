"""A metadata log that is copied by ``tar`` over a pipe while it grows: as if read in place.

``sh -c`` stands for ``ssh HOST`` and ``kubectl exec POD --``. The broker is simulated: a thread
appends the bytes of a real segment in pieces that end anywhere. ``tests/tools/broker/copied.py``
does the same with a broker that writes.
"""

from __future__ import annotations

import shutil
import subprocess
import threading

import pytest

from tests.cli.running import KRAFT, REPLAYED, SEGMENT, Warehouse

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not shutil.which("bash") or not shutil.which("tar"), reason="no bash, tar"),
]
PIECE = 1_777
"""Bytes that are appended at once: no batch ends there."""


class Log:
    """A folder with a log that grows, and the copies that are made of it."""

    def __init__(self, folder):
        self.folder = folder
        self.place = folder / "data" / "__cluster_metadata-0"
        self.place.mkdir(parents=True)
        (folder / "data" / "meta.properties").write_text(
            "version=1\ncluster.id=a-cluster\n", encoding="utf-8"
        )
        self.bytes = (KRAFT / SEGMENT).read_bytes()
        self.grow(60_000)

    def grow(self, until):
        """Append up to this number of bytes; snapshots appear as soon as the log has theirs."""
        with (self.place / SEGMENT).open("ab") as file:
            while (size := file.tell()) < until:
                file.write(self.bytes[size : min(size + PIECE, until)])
                file.flush()

    def copy(self, name):
        """Do what the recipe does; tar's exit code 1 says that a file changed meanwhile."""
        copy = self.folder / name
        copy.mkdir()
        far = f"tar -C {self.place.parent} -cf - meta.properties __cluster_metadata-0"
        recipe = f"set -o pipefail; sh -c '{far}' | tar -xf - -C {copy}"
        done = subprocess.run(["bash", "-c", recipe], capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return f"metadata-log:{copy}/__cluster_metadata-0"


@pytest.fixture
def log(tmp_path):
    return Log(tmp_path)


def test_copies_of_a_log_that_grows_come_to_the_state_of_the_log_in_place(log, tmp_path):
    copied, in_place = Warehouse(tmp_path / "copied"), Warehouse(tmp_path / "in-place")
    end = threading.Event()

    def append():
        size = 60_000
        while size < len(log.bytes) and not end.is_set():
            size = min(size + PIECE, len(log.bytes))
            log.grow(size)

    writer = threading.Thread(target=append)
    writer.start()
    try:
        for number in range(3):
            copied.replay(log.copy(f"copy-{number}"))
    finally:
        end.set()
        writer.join()
    log.grow(len(log.bytes))
    copied.replay(log.copy("last"))
    in_place.replay(f"metadata-log:{log.place}")
    without_source = [name for name in REPLAYED if name not in ("acl_log", "acl_reject")]
    for name in without_source:
        assert copied.table(name) == in_place.table(name), name
    assert copied.table("acl_reject") == []
    assert len(copied.acls()) == 627


def test_a_copy_that_ends_within_a_batch_is_read_up_to_there_and_later_whole(log, tmp_path):
    copied = Warehouse(tmp_path / "copied")
    copied.replay(log.copy("first"))
    before = copied.published().run.head_offset
    log.grow(len(log.bytes))
    copied.replay(log.copy("second"))
    assert before is not None
    assert before < copied.published().run.head_offset == 1020


def test_a_copy_that_was_cut_off_on_its_way_ends_the_recipe_with_an_error(log):
    far = f"tar -C {log.place.parent} -cf - meta.properties __cluster_metadata-0"
    (log.folder / "cut").mkdir()
    recipe = f"set -o pipefail; sh -c '{far}' | head -c 30000 | tar -xf - -C {log.folder}/cut"
    done = subprocess.run(["bash", "-c", recipe], capture_output=True, check=False)
    assert done.returncode == 2
