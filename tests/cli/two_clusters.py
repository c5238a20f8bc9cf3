"""A warehouse of two clusters with the same roles, stage and prod, written for the reading side."""

from __future__ import annotations

import json

from aclkit.model.semantics import KAFKA, BrokerSettings
from tests.factories import acl
from tests.questions.query import small_warehouse as small

TEAMS = (
    "payments", "orders", "search", "fraud", "inventory", "billing", "risk", "catalog", "ads",
    "users", "mail", "audit",
)  # fmt: skip


def roles(env):
    """96 ACLs: what twelve services need in an environment."""
    for at, team in enumerate(TEAMS):
        who, other = f"User:{env}-{team}", TEAMS[(at + 3) % len(TEAMS)]
        rows = (
            ("TOPIC", f"{env}.{team}.", "PREFIXED", "ALL"),
            ("GROUP", f"{env}.{team}", "PREFIXED", "READ"),
            ("TRANSACTIONAL_ID", f"{env}.{team}-tx", "PREFIXED", "WRITE"),
            ("TOPIC", f"{env}.{other}.events", "LITERAL", "READ"),
            ("TOPIC", f"{env}.{other}.orders", "LITERAL", "DESCRIBE"),
            ("TOPIC", "shared.currencies", "LITERAL", "READ"),
            ("TOPIC", f"{env}.dlq.{team}", "LITERAL", "WRITE"),
            ("CLUSTER", "kafka-cluster", "LITERAL", "IDEMPOTENT_WRITE"),
        )
        for number, (kind, name, pattern, operation) in enumerate(rows):
            yield acl(name, resource_type=kind, pattern_type=pattern, operation=operation,
                      principal=who, acl_id=f"{env}-{team}-{number}")  # fmt: skip


def topics(env):
    """The topics that exist."""
    names = [f"{env}.{team}.{name}" for team in TEAMS for name in ("events", "orders")]
    return [*names, *(f"{env}.dlq.{team}" for team in TEAMS), "shared.currencies"]


def rows_of(cluster_id, acls, names, settings):
    """The rows of a cluster in the tables that a comparison reads."""
    whose = {"cluster_id": cluster_id}
    people = sorted({each.principal for each in acls})
    return {
        "acl_history": [
            {**small._history(each), **whose, "effective_offset": 2, "added_offset": 2}
            for each in acls
        ],
        "principal": [{**whose, "principal": each, "is_super_user": each in settings.super_users}
                      for each in people],
        "host": [{**whose, "host": "<any-other>"}],
        "resource": [{**whose, "resource_type": "TOPIC", "resource_name": name, "origin": "log",
                      "is_any_other": False} for name in names],
    }  # fmt: skip


def build(path, clusters, more=None, **settings):
    """Publish clusters, each with its ACLs and its topics; settings by cluster, more tables."""
    tables = dict(more or {})
    for cluster_id, (acls, names) in clusters.items():
        known = settings.get(cluster_id, BrokerSettings())
        for table, rows in rows_of(cluster_id, list(acls), names, known).items():
            tables.setdefault(table, []).extend(rows)
    versions = {name: small.write_table(path, name, rows) for name, rows in tables.items()}
    versions["explain_ruling"] = small.write_table(path, "explain_ruling", [])
    for number, cluster_id in enumerate(clusters, 1):
        known = settings.get(cluster_id, BrokerSettings())
        said = {"semantics": KAFKA.said(), "super_users": sorted(known.super_users),
                "allow_everyone": known.allow_everyone, "unknown": []}  # fmt: skip
        small.publish(path, versions, run_number=number, cluster_id=cluster_id, run_id=f"r{number}",
                      settings=json.dumps(said), notes=[])  # fmt: skip
    return path
