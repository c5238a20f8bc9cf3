"""The data source of authorizer logs, as a task of Spark's reads it: how far it is."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from aclkit.questions.usage import log_file, source
from aclkit.questions.usage.log_file import read_lines
from aclkit.questions.usage.source import AuthorizerLogSource, read_file
from aclkit.runtime import read_progress
from aclkit.runtime.progress import measure
from aclkit.runtime.read_progress import ReadProgress, followed, size_of
from tests.questions.usage.pasts import LOG
from tests.runtime.terminal import Terminal


class Heard(ReadProgress):
    """Keeps what is told."""

    size = 0

    def add(self, size, records=0):
        self.size += size


@pytest.mark.parametrize("is_packed", [False, True])
def test_every_byte_on_the_disk_is_told(tmp_path, is_packed):
    path = tmp_path / "kafka-authorizer.log"
    path.write_bytes(gzip.compress(LOG.read_bytes()) if is_packed else LOG.read_bytes())
    heard = Heard()
    assert len(list(read_lines(str(path), heard))) == 369
    assert heard.size == path.stat().st_size
    assert len(list(read_file(str(path), "UTC", heard))) == 369


def test_a_task_tells_its_lines_and_its_share(log_to, monkeypatch):
    monkeypatch.setattr(read_progress, "_PAUSE", 0)
    monkeypatch.setattr(read_progress, "_STEP", 1)
    monkeypatch.setattr(log_file, "_BUFFER", 4096)
    monkeypatch.setattr(source, "_ROWS_PER_BATCH", 100)
    log_to(Terminal())
    with followed([size_of(str(LOG))]) as board:
        options = {"paths": json.dumps([str(LOG)]), "zone": "UTC", "board": board}
        reader = AuthorizerLogSource(options).reader(None)
        batches = reader.read(*reader.partitions())
        assert next(batches).num_rows + next(batches).num_rows == 200
        assert re.fullmatch(r"100 records read, \d\d% of the bytes", measure())
        assert sum(batch.num_rows for batch in batches) == 169
        assert measure() == ""
