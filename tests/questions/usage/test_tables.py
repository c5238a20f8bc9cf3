"""What usage keeps in a warehouse: rows that were read again are replaced, older lines stay."""

from __future__ import annotations

import random

import pytest

from aclkit.questions.usage import tables
from aclkit.questions.usage.clock import Clock, parse_zone, to_datetime
from aclkit.questions.usage.entry import read_entries
from aclkit.questions.usage.file_reads import chains_of
from aclkit.questions.usage.lines import coverage_of
from aclkit.questions.usage.tables import UsageTables
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store
from tests.questions.usage.reading import expected, random_lines, rows_in, work
from tests.questions.usage.test_reading import PAST, START, TEXTS


@pytest.fixture
def kept(tmp_path):
    return UsageTables(Store(None, str(tmp_path / "w")), "c")


def read(kept, *paths, number=7):
    older = kept.take_older()
    reader = work(PAST, run_number=number, older=older, cluster_id=kept.cluster_id)
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


def test_lines_that_an_older_aclkit_kept_are_taken_over_once_and_do_not_count_again(kept, tmp_path):
    log = tmp_path / "a.log"
    lines = random_lines(random.Random(3), 120, TEXTS, START)
    log.write_bytes(b"".join(lines))
    entries = list(read_entries(lines, Clock(parse_zone("UTC"))))
    names = TABLES["access_log"].column_names
    older = []
    for entry in entries[:60]:
        said = {
            "cluster_id": "c", "line_id": entry.line_id, "source": str(log),
            "position": entry.position, "verdict": "unreadable", "reason": entry.problem,
            "log_time": entry.span and to_datetime(entry.span[0]),
        }  # fmt: skip
        if entry.statement:
            said |= {"verdict": "agree", "decision": "DENIED"}
        older.append(tuple(said.get(name) for name in names))
    distinct = {row[names.index("line_id")]: row for row in older}
    kept.store.append_rows(tables.ACCESS_LOG, [*distinct.values()])
    read(kept, log)
    again = len([entry for entry in entries if entry.line_id not in distinct])
    assert sum(count for count, *_ in rows(kept, "run_number = 7").values()) == again
    assert sum(count for count, *_ in rows(kept, "run_number = 0").values()) == len(distinct)
    read(kept, log, number=8)
    assert sum(count for count, *_ in rows(kept).values()) == again + len(distinct)
    with kept.lines() as opened:
        coverage = coverage_of(opened)
    assert {file.source for file in coverage.files} == {str(log)}
    assert coverage.gaps == ()
