"""What an audit looks at is read from the tables of a run, without Spark."""

from __future__ import annotations

from types import SimpleNamespace

from aclkit.audit.findings.audit_input import Life
from aclkit.audit.findings.audit_tables import audit_of
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.warehouse.location import Location
from tests.questions.query import small_warehouse as small
from tests.upgrading import ROLLING, broker_table

OF = {"cluster_id": small.CLUSTER}
EVERYONE = BrokerSettings(allow_everyone=True)


def read(root, versions, **options):
    store = SimpleNamespace(place=Location(str(root)), versions=versions, replace=None)
    return audit_of(store, small.CLUSTER, EVERYONE, KIP_1042, **options)


def test_acls_lifetimes_and_inventory_are_read(tmp_path):
    topic = OF | {"resource_type": "TOPIC", "resource_name": "t"}
    versions = small.build(tmp_path) | {
        "resource_lifetime": small.write_table(
            tmp_path,
            "resource_lifetime",
            [
                topic | {"topic_id": "y", "first_offset": 9},
                topic | {"topic_id": "x", "first_offset": 1, "last_offset": 5},
                topic | {"cluster_id": "other", "resource_name": "not mine", "first_offset": 1},
            ],
        ),
        "principal_lifetime": small.write_table(
            tmp_path, "principal_lifetime", [OF | {"principal": "User:u", "first_offset": 3}]
        ),
        "resource": small.write_table(
            tmp_path,
            "resource",
            [
                topic | {"origin": "file", "is_any_other": False},
                topic | {"resource_name": "<any-other>", "origin": "always", "is_any_other": True},
            ],
        ),
        "broker": small.write_table(tmp_path, "broker", broker_table(ROLLING, small.CLUSTER)),
    }
    audit = read(tmp_path, versions, broad_share=0.2)
    assert sorted(audit.acls, key=lambda acl: acl.acl_id) == list(small.ACLS)
    assert audit.added_offsets["acl-01"] == 1
    assert audit.topics == (
        Life(name="t", first_offset=1, last_offset=5, topic_id="x"),
        Life(name="t", first_offset=9, topic_id="y"),
    )
    assert audit.users == (Life(name="User:u", first_offset=3),)
    assert audit.listed_topics == {"t"}
    assert audit.listed_principals >= {"User:alice", "User:bob"}
    assert audit.asked_principals == sorted(
        name for name in small.PRINCIPALS if "any-other" not in name
    )
    assert (audit.resource_count, audit.broad_share) == (1, 0.2)
    assert (audit.settings, audit.semantics) == (EVERYONE, KIP_1042)
    assert audit.brokers == ROLLING


def test_tables_that_were_never_written_are_empty(tmp_path):
    audit = read(tmp_path, {})
    assert (audit.acls, audit.topics, audit.users, audit.resource_count) == ([], (), (), 0)
    assert audit.brokers == ()
