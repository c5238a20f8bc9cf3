"""A cluster that is upgraded broker by broker, with ranges nested four deep, IPv6 and bad ones."""

from __future__ import annotations

from collections.abc import Iterable

from aclkit.model.acl import Acl
from aclkit.model.brokers import Broker, Brokers
from aclkit.warehouse.codecs import broker_rows
from aclkit.warehouse.schemas import TABLES
from tests.factories import acl

LEVELS = {"4.3": 31, "4.4": 33}


def broker(number: int, version: str, since_offset: int = 1) -> Broker:
    return Broker(
        broker_id=number,
        is_registered=True,
        min_level=7,
        max_level=LEVELS[version],
        since_offset=since_offset,
    )


OLD = (broker(1, "4.3"), broker(2, "4.3"))
ROLLING = (broker(1, "4.4"), broker(2, "4.3"))
NEW = (broker(1, "4.4"), broker(2, "4.4"))


def of_bob(number: str, host: str, permission_type: str, operation: str = "READ") -> Acl:
    fields = {"principal": "User:bob", "operation": operation, "acl_id": f"bob-{number}"}
    return acl("payments", host=host, permission_type=permission_type, **fields)


def broker_table(brokers: Iterable[Broker], cluster_id: str) -> list[dict[str, object]]:
    """Write brokers as rows of the table."""
    rows = broker_rows(Brokers(brokers=tuple(brokers)), cluster_id)
    return [dict(zip(TABLES["broker"].column_names, row, strict=True)) for row in rows]


PLAIN = [
    acl("payments", principal="User:alice", acl_id="alice-1"),
    acl("g", resource_type="GROUP", principal="User:*", acl_id="group-1"),
]
RANGES = [
    of_bob("1", "10.0.0.0/8", "ALLOW"),
    of_bob("2", "10.1.0.0/16", "DENY", "ALL"),
    of_bob("3", "10.1.2.0/24", "ALLOW"),
    of_bob("4", "10.1.2.128/25", "DENY"),
    acl("pay", pattern_type="PREFIXED", principal="User:*", host="2001:db8::/32",
        operation="ALL", permission_type="DENY", acl_id="six-1"),
    acl("payments", host="2001:db8::/33", operation="WRITE", acl_id="six-2"),
    acl("free", principal="User:carol", host="2001:db9::/32", acl_id="six-3"),
]  # fmt: skip
BAD = [
    of_bob("5", "10.0.0.0/33", "ALLOW"),
    of_bob("6", "::ffff:10.0.0.0/104", "DENY"),
    of_bob("7", "10.1.0.0/016", "DENY"),
]
ACLS = [*PLAIN, *RANGES, *BAD]
DOES = {
    "bob-1": "high", "bob-2": "info", "bob-3": "info", "bob-4": "info",
    "six-1": "medium", "six-2": "info", "six-3": "high",
}  # fmt: skip
"""How severe it is that a range wakes: high gives, medium takes."""
