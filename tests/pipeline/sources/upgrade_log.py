"""The metadata log of a cluster that is upgraded from 4.3 to 4.4, broker by broker, as bytes.

``stage_log(folder, stage)`` writes it as it stands at a stage of ``STAGES``; the log of a later one
begins with that of an earlier one. Its ACLs have hosts that sleep until a broker of 4.4 reads them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from aclkit.model.acl import Acl
from aclkit.pipeline.sources.payload import uuid_text
from tests.factories import acl
from tests.pipeline.sources.log_bytes import (
    NO_OP,
    acl_record,
    batch,
    broker_record,
    feature,
    level_record,
    topic_record,
)

OLD, ROLLING, NEW = "old", "rolling", "new"
STAGES: Final = (OLD, ROLLING, NEW)
"""Two brokers of 4.3; then broker 2 runs 4.4; then both do and metadata.version is raised."""

LEVEL_OF_4_3, LEVEL_OF_4_4 = 30, 33

_HOSTS: Final = (
    # Four deep, the DENYs in between.
    ("pay", "User:app", "READ", "ALLOW", "10.0.0.0/8"),
    ("pay", "User:app", "READ", "DENY", "10.1.0.0/16"),
    ("pay", "User:app", "READ", "ALLOW", "10.1.2.0/24"),
    ("pay", "User:app", "READ", "DENY", "10.1.2.3/32"),
    ("pay", "User:ops", "READ", "ALLOW", "10.1.2.4"),
    # Four deep the other way round: what was allowed to all is taken away.
    ("ship", "User:app", "WRITE", "ALLOW", "*"),
    ("ship", "User:app", "WRITE", "DENY", "10.1.2.0/24"),
    ("ship", "User:app", "WRITE", "ALLOW", "10.1.2.99/25"),
    ("ship", "User:app", "WRITE", "DENY", "10.1.2.9/31"),
    ("ship", "User:app", "WRITE", "DENY", "010.001.003.000/24"),
    # Both families, and all there is of IPv6.
    ("six", "User:app", "READ", "ALLOW", "2001:db8::/32"),
    ("six", "User:app", "READ", "DENY", "[2001:DB8:1::]/+48"),
    ("six", "User:app", "READ", "ALLOW", "2001:db8:1:2::/64"),
    ("six", "User:app", "READ", "DENY", "2001:db8:1:2::3/128"),
    ("six", "User:ops", "READ", "ALLOW", "::/0"),
    ("six", "User:*", "DESCRIBE", "ALLOW", "0.0.0.0/0"),
    # Nearly ranges: 4.4 would refuse them, and they match nothing.
    ("odd", "User:app", "READ", "ALLOW", "10.0.0.0/33"),
    ("odd", "User:app", "READ", "ALLOW", "10.0.0.0/008"),
    ("odd", "User:app", "READ", "ALLOW", "::ffff:10.0.0.0/104"),
    ("odd", "User:app", "READ", "ALLOW", "fe80::%nope/10"),
    ("odd", "User:*", "READ", "DENY", "10.0.0/8"),
    ("odd", "User:ops", "READ", "ALLOW", "0.0.0.0/32"),
    ("odd", "User:ops", "WRITE", "ALLOW", "*"),
)
"""Topic, principal, operation, permission, host."""

_MADE_BY_4_4: Final = (
    ("pay", "User:new", "READ", "ALLOW", "172.16.0.0/12"),
    ("pay", "User:new", "READ", "DENY", "172.16.5.0/24"),
)
_TOPICS: Final = ("pay", "ship", "six", "odd")


def stage_acls(stage: str) -> list[Acl]:
    """The ACLs that are alive at a stage."""
    fields = (*_HOSTS, *(_MADE_BY_4_4 if stage == NEW else ()))
    return [
        acl(
            topic,
            principal=principal,
            operation=operation,
            permission_type=permission,
            host=host,
            acl_id=uuid_text(number.to_bytes(16)),
        )
        for number, (topic, principal, operation, permission, host) in enumerate(fields, 1)
    ]


def stage_log(folder: Path, stage: str) -> Path:
    """Write the log of a stage into a folder of its name, and return that."""
    place = folder / "__cluster_metadata-0"
    place.mkdir(parents=True)
    old, new = stage_acls(OLD), stage_acls(NEW)
    topics = [topic_record(name, n.to_bytes(16)) for n, name in enumerate(_TOPICS, 100)]
    batches = {
        OLD: [level_record(LEVEL_OF_4_3), _broker(1, LEVEL_OF_4_3), _broker(2, LEVEL_OF_4_3),
              *topics, *map(acl_record, old)],
        ROLLING: [NO_OP, _broker(2, LEVEL_OF_4_4)],
        NEW: [_broker(1, LEVEL_OF_4_4), level_record(LEVEL_OF_4_4),
              *map(acl_record, new[len(old) :])],
    }  # fmt: skip
    written, base = b"", 0
    for epoch, name in enumerate(STAGES[: STAGES.index(stage) + 1], 1):
        written += batch(base, *batches[name], epoch=epoch)
        base += len(batches[name])
    (place / f"{0:020}.log").write_bytes(written)
    return place


def _broker(broker_id: int, level: int) -> bytes:
    features = (feature(b"group.version", 0, 1), feature(b"metadata.version", 7, level))
    return broker_record(3, *features, broker_id=broker_id)
