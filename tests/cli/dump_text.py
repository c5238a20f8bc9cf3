"""The text of kafka-dump-log → its ACL records and the state that they leave: a small oracle."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType

ADD, REMOVE = "ACCESS_CONTROL_ENTRY_RECORD", "REMOVE_ACCESS_CONTROL_ENTRY_RECORD"

_LINE = re.compile(r"\| offset: (\d+) CreateTime: (\d+) .*? payload: (\{.*\})$")

Record = dict[str, Any]
Binding = tuple[str, ...]


def read_dump(path: Path) -> Iterator[Record]:
    """Yield each record as a line of a ``records`` file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := _LINE.match(line):
            yield {"offset": int(match[1]), "timestamp": int(match[2]), **json.loads(match[3])}


def binding_of(data: Record) -> Binding:
    """Return an ACL record's seven fields as Kafka names them."""
    return (
        ResourceType.name_of(data["resourceType"]),
        data["resourceName"],
        PatternType.name_of(data["patternType"]),
        data["principal"],
        data["host"],
        AclOperation.name_of(data["operation"]),
        AclPermissionType.name_of(data["permissionType"]),
    )


def alive_at_end(records: Iterable[Record]) -> Counter[Binding]:
    """Apply records one by one; a transaction's at its end, never if it aborts or stays open."""
    alive: dict[str, Binding] = {}
    held: list[Record] | None = None
    for record in records:
        kind = record["type"]
        if kind == "BEGIN_TRANSACTION_RECORD":
            held = []
        elif kind == "ABORT_TRANSACTION_RECORD":
            held = None
        elif kind == "END_TRANSACTION_RECORD":
            for waiting in held or ():
                _apply(alive, waiting)
            held = None
        elif held is not None:
            held.append(record)
        else:
            _apply(alive, record)
    return Counter(alive.values())


def _apply(alive: dict[str, Binding], record: Record) -> None:
    if record["type"] == ADD:
        alive[record["data"]["id"]] = binding_of(record["data"])
    elif record["type"] == REMOVE:
        del alive[record["data"]["id"]]
