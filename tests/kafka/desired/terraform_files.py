"""Plans as ``terraform show -json`` writes them, made of a few words, and the handed files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from aclkit.kafka.desired.model import Document

HANDED = Path(__file__).parents[2] / "data" / "desired" / "terraform"
MONGEY = "registry.opentofu.org/mongey/kafka"
CONFLUENT = "registry.terraform.io/confluentinc/confluent"
COLUMNS = (
    "resource_type",
    "pattern_type",
    "resource_name",
    "principal",
    "host",
    "operation",
    "permission_type",
)


def handed(name):
    return Document(name, (HANDED / name).read_text(encoding="utf-8"))


def rows(name):
    """Return the rows of a TSV, without its header."""
    with (HANDED / name).open(encoding="utf-8", newline="") as file:
        return [tuple(row) for row in csv.reader(file, delimiter="\t")][1:]


def row(desired):
    return tuple(getattr(desired.acl, column) for column in COLUMNS)


def acl(name="orders", principal="User:ann", permission="Allow", **changed):
    """Return the attributes of a kafka_acl."""
    return {
        "acl_host": "*",
        "acl_operation": "Read",
        "acl_permission_type": permission,
        "acl_principal": principal,
        "resource_name": name,
        "resource_pattern_type_filter": "Literal",
        "resource_type": "Topic",
        **changed,
    }


def confluent_acl(name="orders", principal="User:sa-1", cluster="lkc-1", **changed):
    """Return the attributes of a confluent_kafka_acl."""
    return {
        "host": "*",
        "operation": "READ",
        "permission": "ALLOW",
        "principal": principal,
        "resource_name": name,
        "pattern_type": "LITERAL",
        "resource_type": "TOPIC",
        "kafka_cluster": [{"id": cluster}],
        **changed,
    }


def resource(address, actions, before=None, after=None, *, kind="kafka_acl", index=None, **more):
    """Return one of ``resource_changes``; what is unknown is left out of ``after``."""
    change = {
        "actions": actions.split(","),
        "before": before,
        "after": after,
        "after_unknown": {},
        "before_sensitive": {},
        "after_sensitive": {},
    }
    change |= {name: more.pop(name) for name in list(more) if name in change}
    change |= {name: more.pop(name) for name in ("importing",) if name in more}
    provider = CONFLUENT if kind.startswith("confluent") else MONGEY
    name = address.rpartition(f"{kind}.")[2].partition("[")[0]
    made = {
        "address": address,
        "mode": "managed",
        "type": kind,
        "name": name,
        "provider_name": provider,
        "change": change,
        **more,
    }
    return made if index is None else {**made, "index": index}


def plan(*resources, **more):
    """Return a plan in the shape of ``2-plan.json``."""
    return {
        "format_version": "1.2",
        "terraform_version": "1.12.6",
        "planned_values": {"root_module": {}},
        "resource_changes": list(resources),
        "configuration": {"root_module": {}},
        "errored": False,
        **more,
    }


def document(*values, name="plan.json"):
    return Document(name, "\n".join(map(json.dumps, values)))
