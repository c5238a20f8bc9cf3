"""The log that a real broker truncated, as ``tests.tools.broker.truncated`` recorded it."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from pathlib import Path

from aclkit.model import facts as rows
from aclkit.model.facts import SourceRow
from aclkit.pipeline.replay.ranges import Itinerary, merge_ranges, plan
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.sources.log_names import parse_snapshot_name
from aclkit.pipeline.sources.segment import read_segment
from aclkit.pipeline.sources.snapshot import read_snapshot
from tests.pipeline.replay.specification import AclFact, Lifetime, write_history

ARCHIVE = Path(__file__).parent / "data" / "truncated-4.3" / "log.tar.gz"


def files_of(name: str) -> dict[str, bytes]:
    """The files of ``truncated`` or ``whole``, by name."""
    with tarfile.open(ARCHIVE) as packed:
        members = [m for m in packed.getmembers() if m.name.startswith(f"{name}/")]
        found = {m.name.partition("/")[2]: packed.extractfile(m) for m in members}
        return {file: stream.read() for file, stream in sorted(found.items()) if stream}


def unpack(name: str, folder: Path) -> Path:
    """Write the files of ``truncated`` or ``whole`` into a folder below one."""
    made = folder / name
    made.mkdir(parents=True)
    for file, content in files_of(name).items():
        (made / file).write_bytes(content)
    return made


def read_files(files: Mapping[str, bytes]) -> list[SourceRow]:
    """The rows of segments and snapshots, by name."""
    found: list[SourceRow] = []
    for name, content in files.items():
        snapshot = parse_snapshot_name(name)
        found += (
            read_snapshot(content, name, *snapshot) if snapshot else read_segment(content, name)
        )
    return found


def way_through(files: Mapping[str, bytes]) -> Itinerary:
    """The way through the log that these files allow."""
    return plan(merge_ranges([], _ranges(read_files(files))).ranges)


def lives_since(files: Mapping[str, bytes], offset: int) -> set[tuple[str, int, int | None]]:
    """What the files say of each ACL that was alive at an offset or came later.

    Where it came from before the offset is left out: a snapshot does not tell.
    """
    found = read_files(files)
    facts = [
        AclFact(row.log_offset, row.record_type, row.acl_id or "")
        for row in found
        if row.fact == rows.RECORD and row.record_type in _OF_ACLS
    ]
    snapshots: dict[int, list[str]] = {}
    for row in found:
        if row.kind == rows.RANGE and row.fact == rows.SNAPSHOT:
            snapshots.setdefault(row.to_offset, [])
        if row.fact == rows.SNAPSHOT and row.record_type == rows.ADD_ACL:
            snapshots.setdefault(row.log_offset, []).append(row.acl_id)
    itinerary = plan(merge_ranges([], _ranges(found)).ranges)
    history = write_history(facts, snapshots, itinerary)
    return {_since(life, offset) for life in history.lifetimes if _is_since(life, offset)}


_OF_ACLS = (rows.ADD_ACL, rows.REMOVE_ACL, rows.BEGIN_TXN, rows.END_TXN, rows.ABORT_TXN)


def _ranges(found: list[SourceRow]) -> list[Range]:
    return [
        Range(row.from_offset, row.to_offset, row.epoch, row.fact, row.follows)
        for row in found
        if row.kind == rows.RANGE
    ]


def _is_since(life: Lifetime, offset: int) -> bool:
    return life.removed_offset is None or life.removed_offset >= offset


def _since(life: Lifetime, offset: int) -> tuple[str, int, int | None]:
    return life.acl_id, max(life.effective_offset, offset - 1), life.removed_offset
