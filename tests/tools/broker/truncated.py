"""A real broker that truncates its metadata log → that log, and the same log before it did.

``python -m tests.tools.broker.truncated [FILE.tar.gz]`` records it anew, in about three minutes,
and compares what both tell. In the archive lie ``truncated/``, the folder as the broker left it,
and ``whole/``, all its segments, each copied aside before the broker deleted it.
"""

from __future__ import annotations

import random
import shutil
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    KafkaAdminClient,
    NewTopic,
    ResourcePattern,
    ResourceType,
)

from tests.tools.broker.server import Broker, start_broker
from tests.truncated import lives_since

SMALL = {
    "internal.metadata.log.segment.bytes": "24576",
    "internal.metadata.max.batch.size.in.bytes": "8192",
    "internal.metadata.delete.delay.millis": "1000",
    "metadata.log.max.record.bytes.between.snapshots": "20000",
    "metadata.max.retention.bytes": "110000",
    "metadata.max.idle.interval.ms": "5000",
}
"""Segments and snapshots so small that a few thousand records make the broker truncate."""

ROUNDS, ADDED, REMOVED = 60, 24, 16
_SECONDS = 240
_SETTLED = 75
"""The broker looks for what is too much about once a minute."""


def record(folder: Path) -> None:
    """Write ACLs until the broker has deleted segments; ``truncated`` and ``whole`` hold the logs.

    Raises:
        TimeoutError: it deleted none.
    """
    whole = folder / "whole"
    whole.mkdir(parents=True)
    with start_broker(folder / "broker", SMALL, version="4.3.1") as broker:
        client = KafkaAdminClient(bootstrap_servers=broker.address())
        for _ in _write(client, random.Random(20261122)):
            _copy(broker, whole)
        _wait_until_truncated(broker, whole)
        for _ in _write(client, random.Random(20261123), rounds=4):
            _copy(broker, whole)
        client.close()
        truncated = folder / "truncated"
        shutil.copytree(broker.metadata_log, truncated, ignore=_not_log)
        for segment in truncated.glob("*.log"):
            shutil.copy(segment, whole)


def compare(folder: Path) -> int:
    """Return how many ACLs both logs tell of since the oldest snapshot that is left.

    Raises:
        AssertionError: they do not tell the same.
    """
    truncated, whole = (
        {file.name: file.read_bytes() for file in sorted((folder / name).iterdir())}
        for name in ("truncated", "whole")
    )
    oldest = min(name for name in truncated if name.endswith(".checkpoint"))
    first = int(oldest.partition("-")[0])
    lives = lives_since(truncated, first)
    assert first > 0
    assert lives == lives_since(whole, first), "the truncated log tells another history"
    return len(lives)


def pack(folder: Path, archive: Path) -> None:
    """Write both logs into an archive."""
    with tarfile.open(archive, "w:gz") as packed:
        for name in ("truncated", "whole"):
            for file in sorted((folder / name).iterdir()):
                packed.add(file, f"{name}/{file.name}", filter=_plain)


def _write(client: KafkaAdminClient, rng: random.Random, rounds: int = ROUNDS) -> Iterator[None]:
    """Add and remove ACLs, a round after the other."""
    alive: list[ACL] = []
    for number in range(rounds):
        if number % 10 == 0:
            client.create_topics([NewTopic(f"topic-{rng.randrange(10**9)}", 1, 1)])
        added = [_acl(rng) for _ in range(ADDED)]
        client.create_acls(added)
        alive += added
        rng.shuffle(alive)
        gone, alive = alive[:REMOVED], alive[REMOVED:]
        client.delete_acls([_only(acl) for acl in gone])
        time.sleep(0.05)
        yield


def _acl(rng: random.Random) -> ACL:
    kind = rng.choice([ACLResourcePatternType.LITERAL, ACLResourcePatternType.PREFIXED])
    name = f"{rng.choice(['orders', 'payments', 'bestellungen-ü'])}.{rng.randrange(10**6)}"
    return ACL(
        principal=f"User:u{rng.randrange(400)}",
        host="*",
        operation=rng.choice([ACLOperation.READ, ACLOperation.WRITE, ACLOperation.DESCRIBE]),
        permission_type=rng.choice([ACLPermissionType.ALLOW] * 4 + [ACLPermissionType.DENY]),
        resource_pattern=ResourcePattern(ResourceType.TOPIC, name, kind),
    )


def _only(acl: ACL) -> ACLFilter:
    return ACLFilter(
        acl.principal, acl.host, acl.operation, acl.permission_type, acl.resource_pattern
    )


def _copy(broker: Broker, whole: Path) -> None:
    """Copy each segment as it is now: it only grows until it is deleted."""
    for segment in broker.metadata_log.glob("*.log"):
        shutil.copy(segment, whole)


def _wait_until_truncated(broker: Broker, whole: Path) -> None:
    first = broker.metadata_log / f"{0:020}.log"
    deadline = time.monotonic() + _SECONDS
    while first.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the broker kept {first} for {_SECONDS} s")
        _copy(broker, whole)
        time.sleep(1)
    time.sleep(_SETTLED)


def _not_log(_: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith((".log", ".checkpoint"))]


def _plain(item: tarfile.TarInfo) -> tarfile.TarInfo:
    item.mode, item.mtime = 0o644, 0
    item.uid = item.gid = 0
    item.uname = item.gname = ""
    return item


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        record(Path(made))
        print(f"both logs tell the same of {compare(Path(made))} ACLs")  # noqa: T201 -- a command
        for name in sys.argv[1:]:
            pack(Path(made), Path(name))
