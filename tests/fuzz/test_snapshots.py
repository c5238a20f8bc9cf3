"""A snapshot with any one thing wrong is refused, or says what it said."""

from __future__ import annotations

from aclkit.errors import DataError
from aclkit.model.facts import COMMITTED, SourceRow
from aclkit.pipeline.sources.log_names import parse_snapshot_name
from aclkit.pipeline.sources.snapshot import read_snapshot
from tests.fuzz.mutants import damaged, each, lie
from tests.truncated import files_of

SNAPSHOTS = {n: c for n, c in files_of("truncated").items() if n.endswith(".checkpoint")}


def read(name: str, data: bytes) -> list[SourceRow] | None:
    end_offset, epoch = parse_snapshot_name(name) or (0, 0)
    try:
        return read_snapshot(data, name, end_offset, epoch)
    except DataError:
        return None


def proving_nothing(name: str, data: bytes) -> list[SourceRow]:
    """What a snapshot holds whose batches have another epoch than its name."""
    return [row for row in read(name, data) or () if row.fact != COMMITTED]


def test_a_header_that_lies_makes_no_other_snapshot():
    refused = 0
    for rng in each("snapshot headers", 120):
        name, data = rng.choice(sorted(SNAPSHOTS.items()))
        changed = lie(data, rng)
        found = read(name, changed.data)
        refused += found is None
        assert found in (None, read(name, data), proving_nothing(name, data)), changed.fields
    assert refused


def test_bytes_that_are_changed_lost_or_doubled_make_no_other_snapshot():
    for rng in each("snapshot bytes", 120):
        name, data = rng.choice(sorted(SNAPSHOTS.items()))
        assert read(name, damaged(data, rng)) in (None, read(name, data))
