"""A warehouse of two clusters, with more names, findings and changes than a page holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclkit.model.semantics import KIP_1042, BrokerSettings
from tests.audit.reports.made import HOSTILE
from tests.questions.query import small_warehouse as small

LARGE = "large"
SMALL = f"x&cluster={LARGE}#<img src=x>"
"""The id of the other cluster, as whoever writes the tables could choose it."""

NAMES = 230
PEOPLE = tuple(f"User:{HOSTILE}&page={number:03}" for number in range(NAMES))
TOPICS = tuple(f"{HOSTILE}{'.' * (number < 120)}&page={number:03}" for number in range(NAMES))
"""120 of one prefix, and the others of one each."""

PUBLIC = "public?page=2&x"


def build(root: Path) -> None:
    """Write both clusters into the same tables, a run for each."""
    _add(root, LARGE, 1, PEOPLE, TOPICS, (
        small.acl(1, resource_name="*", principal=PEOPLE[0], operation="WRITE"),
        *(small.acl(n, resource_name=PUBLIC, principal=who, operation="READ")
          for n, who in enumerate(PEOPLE, 2)),
    ))  # fmt: skip
    _add(root, SMALL, 2, ("User:only-here",), ("only-here",), (
        small.acl(1, resource_name=PUBLIC, principal="User:only-here", operation="WRITE"),
    ))  # fmt: skip


def _add(root, cluster, run_number, people, topics, acls) -> None:
    settings = BrokerSettings(super_users=frozenset({small.SUPER_USER}), allow_everyone=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(small, "CLUSTER", cluster)
        patched.setattr(small, "PRINCIPALS", (*people, small.PRINCIPALS[-1]))
        patched.setattr(small, "RESOURCES", (*(("TOPIC", name) for name in (*topics, PUBLIC)),))
        patched.setattr(small, "HOSTS", small.HOSTS[-1:])
        rows = small.tables(acls, settings, KIP_1042)
    run = f"run-{run_number}"
    rows["finding"] = [
        {"cluster_id": cluster, "run_id": run, "finding": "public-access", "severity": "high",
         "subject": name, "message": f"About {name}.", "fix": "Mend it.", "acl_ids": [],
         "fingerprint": f"print-{number:03}", "evidence": []}
        for number, name in enumerate(topics)
    ]  # fmt: skip
    rows["access_change"] = [
        {"cluster_id": cluster, "run_id": run, "principal": name, "resource_type": "TOPIC",
         "resource_name": PUBLIC, "cause": "acl", "cause_offsets": [], "gained": number, "lost": 0,
         "ruleset_before": "a", "ruleset_after": "b"}
        for number, name in enumerate(people, 1)
    ]  # fmt: skip
    versions = {
        name: small.write_table(root, name, each, mode="append") for name, each in rows.items()
    }
    said = {"super_users": sorted(settings.super_users), "allow_everyone": False}
    small.publish(
        root, versions, run_number=run_number, run_id=run, cluster_id=cluster,
        counts={"access_changes": len(people)}, settings=json.dumps(said),
    )  # fmt: skip
