"""What usage keeps in a warehouse: rows that were read again are replaced."""

from __future__ import annotations

import random

import pytest

from aclkit.questions.usage.clock import to_datetime
from aclkit.questions.usage.command import UsageTables
from aclkit.questions.usage.file_reads import chains_of
from aclkit.warehouse.store import Store
from tests.questions.usage.reading import expected, random_lines, rows_in, work
from tests.questions.usage.test_reading import PAST, START, TEXTS


@pytest.fixture
def kept(tmp_path):
    return UsageTables(Store(None, str(tmp_path / "w")), "c")


def read(kept, *paths, number=7):
    reader = work(PAST, run_number=number, cluster_id=kept.cluster_id)
    chains = chains_of([str(path) for path in paths], kept.known_files())
    return kept.write((read for chain in chains for read in reader.read(chain)), number)


def rows(kept, where="true"):
    with kept.lines() as opened:
        found = opened.arrow(f"SELECT * FROM access_day WHERE {where}").to_pylist()
    utc = to_datetime(0).tzinfo
    names = ("log_day", "first_at", "last_at")
    return rows_in(
        row | {name: row[name] and row[name].replace(tzinfo=utc) for name in names} for row in found
    )


def test_a_growing_log_in_a_warehouse_gives_what_the_whole_gives(kept, tmp_path):
    log = tmp_path / "a.log"
    lines = random_lines(random.Random(1), 300, TEXTS, START)
    for number, part in enumerate((100, 101, 250, len(lines)), start=1):
        log.write_bytes(b"".join(lines[:part]))
        read(kept, log, number=number)
        assert rows(kept) == expected(lines[:part], PAST)
    written = read(kept, log, number=9)
    assert (written.lines, rows(kept, "run_number = 9")) == (0, {})


def test_a_reading_of_another_cluster_stays(kept, tmp_path):
    log = tmp_path / "a.log"
    lines = random_lines(random.Random(2), 50, TEXTS, START)
    log.write_bytes(b"".join(lines))
    other = UsageTables(kept.store, "other")
    read(other, log)
    read(kept, log)
    log.write_bytes(b"".join(lines * 2))
    read(kept, log, number=8)
    assert rows(kept) == expected(lines * 2, PAST)
    assert [known.seen_bytes for known in other.known_files()] == [len(b"".join(lines))]
