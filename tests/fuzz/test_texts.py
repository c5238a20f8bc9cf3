"""Texts of Kafka's tools with something wrong: what is sound is read, and no loss is silent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path

import pytest

from aclkit.errors import DataError
from aclkit.model import facts as rows
from aclkit.model.facts import SourceRow
from aclkit.pipeline.sources.acls_list import read_acls_list
from aclkit.pipeline.sources.arrow import to_record_batch
from aclkit.pipeline.sources.dump_log import read_dump_log
from aclkit.pipeline.sources.records import read_records
from aclkit.pipeline.sources.text_lines import text_lines
from tests.cli.dump_text import read_dump
from tests.cli.running import KRAFT_TEXT
from tests.fuzz.mutants import each, edited

Reader = Callable[[Iterable[str], str], Iterator[SourceRow]]

_LINES = (KRAFT_TEXT / "kafka-dump-log.txt").read_text(encoding="utf-8").splitlines(keepends=True)
DUMP = "".join(_LINES[300:460])
_LINES = (
    (KRAFT_TEXT / "kafka-dump-checkpoint.txt").read_text(encoding="utf-8").splitlines(keepends=True)
)
CHECKPOINT = "".join(_LINES[:60] + _LINES[-40:])
RECORDS = "".join(
    f"{json.dumps(record)}\n"
    for record in islice(read_dump(KRAFT_TEXT / "kafka-dump-log.txt"), 150, 270)
)
LISTING = "".join(
    (KRAFT_TEXT / "kafka-acls-list.txt").read_text(encoding="utf-8").splitlines(keepends=True)[:150]
)

RPK = (Path(__file__).parents[1] / "data" / "other-acl-forms" / "rpk.txt").read_text(
    encoding="utf-8"
)
COMMENTED = "".join(f"# {line}" for line in LISTING.splitlines(keepends=True))

TEXTS = {
    "dump-log": (read_dump_log, DUMP),
    "checkpoint": (read_dump_log, CHECKPOINT),
    "records": (read_records, RECORDS),
    "acls-list": (read_acls_list, LISTING),
    "commented": (read_acls_list, COMMENTED),
    "rpk": (read_acls_list, RPK),
}


def read(reader: Reader, text: str) -> list[SourceRow]:
    """Read a text as a file of it is read: no rows if it is refused, else all can be written."""
    data = BytesIO(text.encode("utf-8", "surrogatepass"))
    try:
        found = list(reader(text_lines(data, "text"), "text"))
    except DataError:
        return []
    to_record_batch(found)
    return found


def _of(found: Iterable[SourceRow], kind: str) -> list[SourceRow]:
    return [row for row in found if row.kind == kind]


@pytest.mark.parametrize("kind", sorted(TEXTS))
def test_a_text_with_something_wrong_ends_in_rows_or_in_a_clear_error(kind):
    reader, text = TEXTS[kind]
    for rng in each(kind, 60):
        wrong = text
        for _ in range(rng.choice([1, 1, 3])):
            wrong = edited(wrong or "\n", rng)
        read(reader, wrong)


@pytest.mark.parametrize("kind", ["dump-log", "records"])
def test_an_acl_whose_line_is_cut_leaves_a_hole_and_no_silence(kind):
    reader, text = TEXTS[kind]
    expected = {
        row.log_offset
        for row in _of(read(reader, text), rows.FACT)
        if row.record_type in (rows.ADD_ACL, rows.REMOVE_ACL)
    }
    lines = text.splitlines(keepends=True)
    for rng in each(f"{kind} lost", 60):
        at = rng.randrange(len(lines))
        # Lines of records are not counted: of one that is cut before its offset nobody can know.
        least = lines[at].index(",") + 1 if kind == "records" else 0
        kept = lines[at][: rng.randrange(least, len(lines[at]))]
        found = read(reader, "".join([*lines[:at], kept, "\n" * bool(kept), *lines[at + 1 :]]))
        seen = {row.log_offset for row in _of(found, rows.FACT)}
        covered = [r for r in _of(found, rows.RANGE) if r.fact == rows.RECORD]
        silent = [
            offset
            for offset in expected - seen
            if any(r.from_offset <= offset < r.to_offset for r in covered)
        ]
        assert not silent, (at, kept)


def test_a_table_of_rpk_with_something_wrong_loses_no_acl_in_silence():
    sound = {_named(row) for row in read(read_acls_list, RPK)}
    for rng in each("rpk lost", 300):
        found = {_named(row) for row in read(read_acls_list, edited(RPK, rng))}
        kept = len(found & sound)
        assert not found or kept + 1 >= len(sound), found


def _named(row: SourceRow) -> tuple[str | None, ...]:
    return row.resource_name, row.principal, row.operation, row.permission_type
