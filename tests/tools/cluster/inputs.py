"""A benchmark's cluster → its metadata log and its inventory as files, for commands to read."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from aclkit.pipeline.sources.payload import uuid_text
from tests.cli.running import write_segment
from tests.pipeline.sources.log_bytes import acl_record, batch, topic_record
from tests.tools.benchmarks.shapes import Shape, build

_SEGMENTS = 4
_BATCH = 500
_CONFIG = b"\x01\x04\0" + bytes((24 << 20) // _SEGMENTS)
"""The head of a ConfigRecord: of a kind that is passed over unread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What commands are told.

    Attributes:
        replay: words of a replay, behind ``--warehouse``.
        materialize: words of a materialize, likewise.
    """

    replay: tuple[str, ...]
    materialize: tuple[str, ...]


def write_inputs(folder: Path, shape: Shape, *more: str) -> Inputs:
    """Write the files of a shape's cluster.

    The log has segments for several tasks, and the topics beside the ACLs. As in a real one most of
    its bytes tell other things: it is left to Spark.

    Args:
        folder: where to; made here.
        shape: the cluster.
        more: words for the materialize.
    """
    cluster = build(shape)
    log = folder / "__cluster_metadata-0"
    records = [topic_record(name, _uuid(number)) for number, name in enumerate(cluster.topics)]
    records += [
        acl_record(replace(acl, acl_id=uuid_text(_uuid(number))))
        for number, acl in enumerate(cluster.acls)
    ]
    at = 0
    for number in range(_SEGMENTS):
        segment, batches = [_CONFIG, *records[number::_SEGMENTS]], []
        for start in range(0, len(segment), _BATCH):
            some = segment[start : start + _BATCH]
            batches.append((at, batch(at, *some)))
            at += len(some)
        write_segment(log, batches)
    lists = {
        "principals": _write(folder, "principal", cluster.principals),
        "hosts": _write(folder, "host", cluster.hosts),
    }
    listed = (word for name, path in lists.items() for word in (f"--{name}", str(path)))
    named = ("--cluster", shape.name)
    return Inputs(
        replay=(*named, "--source", f"metadata-log:{log}"), materialize=(*named, *listed, *more)
    )


def _uuid(number: int) -> bytes:
    return (number + 1).to_bytes(16, "big")


def _write(folder: Path, column: str, names: Iterable[str]) -> Path:
    path = folder / f"{column}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([(column,), *((name,) for name in names)])
    return path
