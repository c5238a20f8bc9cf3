"""What Kafka answered, kept under ``data``: random sets of ACLs, and the cases of its own tests."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from aclkit.kafka.verify.wire import Reply
from aclkit.model.acl import Acl
from aclkit.model.filter import AccessControlEntryFilter, AclBindingFilter, ResourcePatternFilter
from aclkit.model.principal import parse_super_users
from aclkit.model.semantics import BrokerSettings
from aclkit.rules.decide.rules import Ruling
from tests.factories import acl

DATA = Path(__file__).parent / "data"
SETS = DATA / "kafka_oracle.jsonl.gz"
SETS_WITH_RANGES = DATA / "kafka-4.4" / "cidr_oracle.jsonl.gz"
ACL = ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation",
       "permission_type")  # fmt: skip


def read_worlds(path: Path = SETS) -> list[tuple[list[Acl], BrokerSettings, dict[str, Any]]]:
    """Each world: its ACLs, the broker's settings, and what Kafka said."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [_world(json.loads(line)) for line in file]


def _world(row: dict[str, Any]) -> tuple[list[Acl], BrokerSettings, dict[str, Any]]:
    settings = BrokerSettings(
        super_users=parse_super_users(row["super_users"]),
        allow_everyone=row["allow_everyone_if_no_acl_found"],
    )
    return [_acl(fields) for fields in row["acls"]], settings, row


def _acl(fields: Iterable[str]) -> Acl:
    return acl(**dict(zip(ACL, fields, strict=True)))


def filters_of(row: dict[str, Any]) -> Iterator[tuple[AclBindingFilter, list[int]]]:
    """Each filter that a world was asked by, and the places of the ACLs that it selected."""
    for *fields, places in row["filters"]:
        resource_type, name, pattern_type, principal, host, operation, permission_type = fields
        pattern = ResourcePatternFilter(
            resource_type=resource_type, resource_name=name, pattern_type=pattern_type
        )
        entry = AccessControlEntryFilter(
            principal=principal, host=host, operation=operation, permission_type=permission_type
        )
        yield AclBindingFilter(pattern=pattern, entry=entry), places


def read_cases() -> Iterator[tuple[str, list[Acl], BrokerSettings, dict[str, str]]]:
    """Each case of Kafka's own tests: its name, ACLs, settings, and question → answer."""
    with (DATA / "kafka_cases.tsv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    for name, everyone, super_users, acls, queries, answers in rows:
        settings = BrokerSettings(
            super_users=parse_super_users(super_users), allow_everyone=everyone == "1"
        )
        loaded = [_acl(text.split("|")) for text in acls.split(";;") if text]
        said = dict(zip(queries.split(";;"), answers.split(" ;; "), strict=True))
        yield name, loaded, settings, said


def render(found: Ruling | Reply) -> str:
    """Write an answer as the cases do: ``ALLOWED/P:green User:bob@* READ A``."""
    if found.acl is None:
        return f"{found.decision}/{found.rule}"
    by = found.acl
    return (
        f"{found.decision}/{by.pattern_type[0]}:{by.resource_name} "
        f"{by.principal}@{by.host} {by.operation} {by.permission_type[0]}"
    )
