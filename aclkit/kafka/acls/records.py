"""ACLs → JSON lines that ``replay --source records:`` reads back to the same ACLs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from aclkit.answer.json_text import json_text
from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.facts import ADD_ACL


def render_records(acls: Iterable[Acl], added_at: Mapping[str, datetime | None]) -> Iterator[str]:
    """Yield a record line for each ACL, in the order in which they were added.

    Offsets count from 0, because other records are not exported; ids and times are kept. The
    payload is what kafka-dump-log prints: codes as numbers, in the order of the schema.
    """

    def age(acl: Acl) -> tuple[datetime, str]:
        return added_at.get(acl.acl_id) or _EPOCH, acl.acl_id

    for offset, acl in enumerate(sorted(acls, key=age)):
        time = added_at.get(acl.acl_id)
        line: dict[str, object] = {"offset": offset}
        if time is not None:
            line["timestamp"] = (time - _EPOCH) // timedelta(milliseconds=1)
        line |= {"type": ADD_ACL, "version": 0, "data": _payload(acl)}
        yield json_text(line, separators=(",", ":"))


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _payload(acl: Acl) -> dict[str, object]:
    return {
        "id": acl.acl_id,
        "resourceType": ResourceType.code_of(acl.resource_type),
        "resourceName": acl.resource_name,
        "patternType": PatternType.code_of(acl.pattern_type),
        "principal": acl.principal,
        "host": acl.host,
        "operation": AclOperation.code_of(acl.operation),
        "permissionType": AclPermissionType.code_of(acl.permission_type),
    }
