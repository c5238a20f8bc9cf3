"""A run after another one in a warehouse, small enough to need no Spark: its changes."""

from __future__ import annotations

from dataclasses import replace

from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.model.symbol import PRINCIPALS, RESOURCES
from aclkit.pipeline.explain.decided import MaterializeOptions, is_decided, take_inventory
from aclkit.pipeline.explain.materialize import materialize
from aclkit.pipeline.inventory.entry import FILE, Entry
from aclkit.pipeline.inventory.survey import Given
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import begin_run, publish
from tests.factories import acl, exactly
from tests.pipeline.explain.test_against_rules import write_acls

ONE = acl("t", acl_id="1")
ALL_GROUPS = acl("*", resource_type="GROUP", principal="User:*", acl_id="2")
PEOPLE = ("User:a", "User:b")


def night(warehouse, acls, principals=PEOPLE):
    """Publish a run; return how many changes it counts, and its rows of ``access_change``."""
    entries = {
        PRINCIPALS: [Entry(name=name, origin=FILE) for name in principals],
        RESOURCES: [
            Entry(name=name, resource_type=kind, origin=FILE)
            for kind, name in (("TOPIC", "t"), ("GROUP", ""))
        ],
    }
    asked = MaterializeOptions(
        settings=BrokerSettings(),
        reading=exactly(KIP_1042),
        given=Given(entries=entries),
        dense="never",
    )
    with begin_run(None, str(warehouse), "materialize", lock_timeout=0) as run:
        run.cluster_id = "c"
        write_acls(run, acls)
        scope = take_inventory(run, asked)
        assert not is_decided(run, scope, asked)
        materialize(run, scope, asked)
        publish(run)
        with read_written(run.store, "c", "access_change") as read:
            rows = read.rows(
                "SELECT principal, resource_type, resource_name, cause, gained, lost "
                f"FROM access_change WHERE run_id = '{run.run_id}' ORDER BY ALL"
            )
    return run.counts.get("access_changes"), rows


def test_another_acl_under_the_same_id_is_decided_and_reported(tmp_path):
    night(tmp_path, [ONE, ALL_GROUPS])
    count, rows = night(tmp_path, [replace(ONE, permission_type="DENY"), ALL_GROUPS])
    assert (count, rows) == (1, [("User:a", "TOPIC", "t", "acl", 0, 2)])


def test_a_deny_on_the_empty_name_is_decided_and_reported(tmp_path):
    night(tmp_path, [ONE, ALL_GROUPS])
    deny = acl("", resource_type="GROUP", permission_type="DENY", acl_id="3")
    count, rows = night(tmp_path, [ONE, ALL_GROUPS, deny])
    assert (count, rows) == (1, [("User:a", "GROUP", "", "acl", 0, 1)])


def test_a_name_that_only_one_run_knows_is_no_change_of_access(tmp_path):
    night(tmp_path, [ONE, ALL_GROUPS])
    count, rows = night(tmp_path, [ONE, ALL_GROUPS], ("User:a", "User:c"))
    assert count == 0
    assert rows == [
        ("User:b", None, None, "inventory", 0, 0), ("User:c", None, None, "inventory", 0, 0),
    ]  # fmt: skip
