"""A small warehouse on disk, written with deltalake: for tests of the reading side only."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KIP_1042, BrokerSettings, Semantics
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.match import host_matches, names_exactly, principal_matches, reaches
from aclkit.warehouse.formats import FORMAT
from aclkit.warehouse.schemas import TABLES

Row = Mapping[str, Any]
Made = TypeVar("Made")

CLUSTER = "c1"
WHEN = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SUPER_USER = "User:admin"
PRINCIPALS = (
    "User:alice", "User:bob", "User:carol", "User:x'y", SUPER_USER, f"User:{ANY_OTHER}",
)  # fmt: skip
HOSTS = ("10.0.0.1", "10.0.0.2", "10.0.1.1", ANY_OTHER)
RESOURCES = (
    ("TOPIC", "payments"), ("TOPIC", "pay-x"), ("TOPIC", "orders"), ("TOPIC", "free"),
    ("TOPIC", ANY_OTHER), ("GROUP", "g1"), ("GROUP", ANY_OTHER), ("CLUSTER", "kafka-cluster"),
)  # fmt: skip
HOST_MATCH = ("cluster_id", "acl_host", "host")

_ARROW = {
    "STRING": pa.string(),
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "ARRAY<STRING>": pa.list_(pa.string()),
    "ARRAY<BIGINT>": pa.list_(pa.int64()),
    "MAP<STRING,STRING>": pa.map_(pa.string(), pa.string()),
    "MAP<STRING,BIGINT>": pa.map_(pa.string(), pa.int64()),
}


def acl(number: int, **fields: str) -> Acl:
    """Make an ACL; only what a test is about has to be said."""
    defaults = {
        "resource_type": "TOPIC", "resource_name": "payments", "pattern_type": "LITERAL",
        "principal": "User:alice", "host": "*", "operation": "READ", "permission_type": "ALLOW",
    }  # fmt: skip
    return Acl(acl_id=f"acl-{number:02}", **{**defaults, **fields})


ACLS = (
    acl(1),
    acl(2, resource_name="pay", pattern_type="PREFIXED", principal="User:bob", operation="ALL"),
    acl(3, resource_name="p*s", pattern_type="GLOB", principal="User:*", operation="DESCRIBE"),
    acl(4, principal="User:bob", host="10.0.0.1", permission_type="DENY"),
    acl(5, principal="User:c*", host="10.0.0.*", operation="WRITE"),
    acl(6, resource_name="*", principal="User:alice", operation="WRITE", host="10.0.1.1"),
    acl(7, resource_type="GROUP", resource_name="*", principal="User:*"),
    acl(8, resource_name="orders", principal="User:x'y", operation="ALTER_CONFIGS"),
    acl(9, resource_name="orders", principal="has no principal type", operation="ALL"),
    acl(10, resource_type="CLUSTER", resource_name="kafka-cluster", operation="CREATE"),
)  # fmt: skip


def write_table(root: Path, name: str, rows: Iterable[Row], mode: str = "overwrite") -> int:
    """Write one table and return its new version."""
    columns = TABLES[name].columns if name in TABLES else [(c, "STRING", "") for c in HOST_MATCH]
    schema = pa.schema([(column, _ARROW[kind]) for column, kind, _ in columns])
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
    write_deltalake(root / name, table, mode=mode)
    return DeltaTable(root / name).version()


def write_brokers(root: Path, level: int) -> int:
    """Write one broker of a cluster where a metadata.version is in force; return the version."""
    row = {
        "cluster_id": CLUSTER, "broker_id": 1, "is_registered": True, "min_level": 7,
        "max_level": level, "since_offset": 1, "finalized_level": level, "finalized_offset": 2,
    }  # fmt: skip
    return write_table(root, "broker", [row])


def publish(root: Path, versions: Mapping[str, int], **fields: Any) -> None:
    """Append a row to job_run."""
    row = {
        "run_number": 1, "run_id": "r", "cluster_id": CLUSTER, "job": "run", "status": "complete",
        "started_at": WHEN, "finished_at": WHEN, "seconds": 1.0, "head_offset": 100,
        "settings": "{}", "counts": {"acls": 1}, "notes": ["a note"], "table_versions": versions,
        "format_number": FORMAT,
    }  # fmt: skip
    write_table(root, "job_run", [{**row, **fields}], mode="append")


def build(
    root: Path,
    acls: Sequence[Acl] = ACLS,
    settings: BrokerSettings | None = None,
    semantics: Semantics = KIP_1042,
) -> dict[str, int]:
    """Write and publish a whole warehouse; return the versions."""
    settings = settings or BrokerSettings(super_users=frozenset({SUPER_USER}), allow_everyone=True)
    return copied(
        # Settings that nobody knows are equal to those that are known.
        root, (build, tuple(acls), settings, settings.unknown, semantics),
        lambda place: _build(place, acls, settings, semantics),
    )  # fmt: skip


def copied(root: Path, key: Hashable, make: Callable[[Path], Made]) -> Made:
    """Make a warehouse once for each key, and in an empty folder a copy of it: that is quicker."""
    if root.is_dir() and any(root.iterdir()):
        return make(root)
    key = key, CLUSTER, PRINCIPALS, HOSTS, RESOURCES
    if key not in _MADE:
        place = Path(tempfile.mkdtemp(dir=_FOLDER.name))
        _MADE[key] = place, make(place)
    place, made = _MADE[key]
    shutil.copytree(place, root, dirs_exist_ok=True)
    return deepcopy(made)


_FOLDER = tempfile.TemporaryDirectory()
_MADE: dict[Hashable, tuple[Path, Any]] = {}


def _build(
    root: Path, acls: Sequence[Acl], settings: BrokerSettings, semantics: Semantics
) -> dict[str, int]:
    versions = {
        name: write_table(root, name, rows)
        for name, rows in tables(acls, settings, semantics).items()
    }
    publish(root, versions, settings=_said(settings, semantics))
    return versions


def _said(settings: BrokerSettings, semantics: Semantics) -> str:
    return json.dumps({
        "semantics": asdict(semantics),
        "super_users": sorted(settings.super_users),
        "allow_everyone": settings.allow_everyone,
        "unknown": sorted(settings.unknown),
    })  # fmt: skip


def build_with_log(
    root: Path,
    acls: Sequence[Acl] = ACLS,
    settings: BrokerSettings | None = None,
    used: Iterable[Request] = (),
) -> None:
    """Write and publish a warehouse with a whole log of the 100 days after all ACLs came."""
    settings = settings or BrokerSettings()
    versions = build(root, acls, settings) | write_whole_log(root, used)
    said = _said(settings, KIP_1042)
    publish(root, versions, run_number=2, counts={"decided_in_run": 1}, settings=said)


def write_whole_log(root: Path, used: Iterable[Request] = ()) -> dict[str, int]:
    """Write the log of the only broker, which is the active controller too; return the versions."""
    last = WHEN + timedelta(days=100)
    micros = [round(each.timestamp() * 1_000_000) for each in (WHEN, last)]
    served = Request(
        principal="User:other", host="10.9.9.9", operation="WRITE", resource_type="TOPIC",
        resource_name="of.others",
    )  # fmt: skip
    lines = [
        dict.fromkeys(TABLES["access_day"].column_names)
        | asdict(each)
        | {"cluster_id": CLUSTER, "file_id": "1", "run_number": 2,
           "decision": "DENIED" if each is served else "ALLOWED",
           "verdict": "agree", "request_name": "Produce", "lines": 1, "log_day": last,
           "first_at": last, "last_at": last, "is_open": False}
        for each in (served, *used)
    ]  # fmt: skip
    starts, ends = ({f"{kind}_{end}": [at] for kind in ("spoke", "allowed", "beat")}
                    for end, at in zip(("from", "to"), micros, strict=True))  # fmt: skip
    file = dict.fromkeys(TABLES["log_file"].column_names) | {
        "cluster_id": CLUSTER, "file_id": "1", "source": "/logs/broker-1.log", **starts, **ends,
    }  # fmt: skip
    return {
        "access_day": write_table(root, "access_day", lines),
        "log_file": write_table(root, "log_file", [file]),
        "broker": write_brokers(root, 27),
    }


def tables(
    acls: Sequence[Acl], settings: BrokerSettings, semantics: Semantics
) -> dict[str, list[Row]]:
    """Make the rows of all tables of the reading side, every ruling by the pure rule."""
    rulesets: dict[str, list[Acl]] = {}
    pairs, class_pairs, rulings = [], [], []
    not_super = replace(settings, super_users=frozenset())
    classes = {
        name: str([
            a.acl_id
            for a in acls
            if not names_exactly(a.principal, semantics)
            and principal_matches(a.principal, name, semantics)
        ])
        for name in PRINCIPALS
    }  # fmt: skip
    for kind, name in RESOURCES:
        reaching = [a for a in acls if reaches(a, kind, name, semantics)]
        for principal in PRINCIPALS:
            own = [a for a in reaching if principal_matches(a.principal, principal, semantics)]
            shared = [a for a in own if not names_exactly(a.principal, semantics)]
            for members in (own, shared):
                ruleset = _ruleset_id(kind, members, reaching)
                if ruleset in rulesets:
                    continue  # every asker of a ruleset is ruled on alike
                rulesets[ruleset] = members
                rulings += _rulings(ruleset, (principal, kind, name), members, not_super, semantics)
            where = {"cluster_id": CLUSTER, "resource_type": kind, "resource_name": name}
            class_pairs.append(
                where
                | {"principal_class": classes[principal],
                   "ruleset_id": _ruleset_id(kind, shared, reaching)}
            )  # fmt: skip
            if own != shared:
                pairs.append(
                    where | {"principal": principal, "ruleset_id": _ruleset_id(kind, own, reaching)}
                )
    for kind in OPERATIONS_OF_TYPE:
        rulings += _rulings("super", (SUPER_USER, kind, "any"), [], settings, semantics)
    return {
        "acl_history": [_history(a) for a in acls] + [_history(acl(99)) | {"removed_offset": 50}],
        "principal": [
            {
                "cluster_id": CLUSTER, "principal": name, "principal_type": "User",
                "principal_name": name.removeprefix("User:"), "principal_class": classes[name],
                "is_super_user": name in settings.super_users, "is_any_other": ANY_OTHER in name,
                "origin": "file", "attributes": {"team": "a"},
            }
            for name in PRINCIPALS
        ],
        "host": [
            {"cluster_id": CLUSTER, "host": name, "is_any_other": name == ANY_OTHER}
            for name in HOSTS
        ],
        "resource": [
            {"cluster_id": CLUSTER, "resource_type": kind, "resource_name": name}
            for kind, name in RESOURCES
        ],
        "explain_pair": pairs,
        "explain_class_pair": _distinct(class_pairs),
        "explain_ruling": _distinct(rulings),
        "ruleset": [
            {"cluster_id": CLUSTER, "ruleset_id": name, "group_ids": [a.acl_id for a in members]}
            for name, members in rulesets.items()
        ],
        "ruleset_group": [
            {"cluster_id": CLUSTER, "group_id": a.acl_id, "acl_ids": [a.acl_id]} for a in acls
        ],
        "host_match": [
            {"cluster_id": CLUSTER, "acl_host": pattern, "host": host}
            for pattern in sorted({a.host for a in acls})
            for host in HOSTS
            if host_matches(pattern, host, semantics)
        ],
        "finding": [],
    }  # fmt: skip


def brute_force(
    acls: Sequence[Acl], settings: BrokerSettings, semantics: Semantics
) -> set[tuple[str | None, ...]]:
    """Decide every cell by the pure rule, in the columns of explain."""
    return {
        (
            CLUSTER, request.principal, request.host, request.operation, request.resource_type,
            request.resource_name, "User", request.principal.removeprefix("User:"),
            ruling.decision, ruling.rule, ruling.acl.acl_id if ruling.acl else None,
        )
        for request in requests()
        for ruling in [decide(acls, request, settings, semantics)]
    }  # fmt: skip


def requests() -> Iterable[Request]:
    """Yield every cell as a request."""
    for principal in PRINCIPALS:
        for kind, name in RESOURCES:
            for operation in OPERATIONS_OF_TYPE[kind]:
                for host in HOSTS:
                    yield Request(
                        principal=principal,
                        host=host,
                        operation=operation,
                        resource_type=kind,
                        resource_name=name,
                    )


def _ruleset_id(kind: str, members: Sequence[Acl], reaching: Sequence[Acl]) -> str:
    if members:
        return "+".join(a.acl_id for a in members)
    return f"other:{kind}" if reaching else f"none:{kind}"


def _rulings(
    ruleset: str,
    place: tuple[str, str, str],
    members: Sequence[Acl],
    settings: BrokerSettings,
    semantics: Semantics,
) -> Iterable[Row]:
    """Rule on each operation from any other host and from those that a member names."""
    asker, kind, name = place
    named = [
        host
        for host in HOSTS
        if host != ANY_OTHER
        and any(a.host != "*" and host_matches(a.host, host, semantics) for a in members)
    ]
    if ruleset.startswith("other:"):
        members = [acl(0, resource_type=kind, resource_name="*", principal="Nobody:0")]
    for operation in OPERATIONS_OF_TYPE[kind]:
        for host in [*named, ANY_OTHER]:
            request = Request(
                principal=asker, host=host, operation=operation,
                resource_type=kind, resource_name=name,
            )  # fmt: skip
            ruling = decide(members, request, settings, semantics)
            yield {
                "cluster_id": CLUSTER, "ruleset_id": ruleset, "host": host,
                "operation": operation, "decision": ruling.decision, "rule": ruling.rule,
                "deciding_acl_id": ruling.acl.acl_id if ruling.acl else None,
            }  # fmt: skip


def _history(a: Acl) -> dict[str, Any]:
    return asdict(a) | {
        "cluster_id": CLUSTER, "added_offset": 1, "effective_offset": 2, "added_at": WHEN,
        "added_by": "record",
    }  # fmt: skip


def _distinct(rows: Iterable[Row]) -> list[Row]:
    return list({json.dumps(row, sort_keys=True): row for row in rows}.values())
