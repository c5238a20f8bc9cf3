"""All tables of a small cluster as Spark decides them, against the pure rules."""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import functions as F

from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain import deciding, pairing, tables
from aclkit.pipeline.explain.deciding import decide_all
from aclkit.pipeline.explain.incremental import AMENDED
from aclkit.pipeline.explain.output import Output
from aclkit.runtime import frame
from aclkit.warehouse.store import Store
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql
from tests.factories import acl
from tests.pipeline.explain.decided import decided
from tests.pipeline.explain.frames import COMPILED, acl_frame, in_parts, scope_of

ACLS = [
    acl("pay", pattern_type="PREFIXED", operation="ALL", acl_id="prefix"),
    acl("pay-in", acl_id="literal-2"),
    acl("pay-in", acl_id="literal-1"),
    acl("pay-in", principal="User:*", operation="DESCRIBE", host="10.0.0.1", acl_id="all"),
    acl("pay-in", principal="User:b", permission_type="DENY", host="10.0.0.2", acl_id="deny"),
    acl("*", principal="User:b", operation="WRITE", acl_id="wildcard"),
    acl("p?y-*", pattern_type="GLOB", principal="User:b", host="10.*", acl_id="glob"),
]


RESOURCES = (("TOPIC", "pay-in"), ("TOPIC", "pay-out"), ("TOPIC", "x"), ("GROUP", "g"))


@pytest.mark.parametrize(
    ("semantics", "conf"),
    [(KIP_1042, {}), (KAFKA, {}), (KIP_1042, COMPILED)],
    ids=["kip-1042", "kafka", "kip-1042-compiled"],
)
def test_spark_decides_as_the_pure_rules_do_whether_its_plans_are_walked_or_compiled(
    spark, tmp_path, semantics, conf
):
    for key, value in conf.items():
        spark.conf.set(key, value)
    must_decide_as_the_pure_rules(spark, tmp_path, scope(semantics), ask_its_view=True)


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_beyond_every_bound_spark_broadcasts_nothing_and_decides_the_same(
    spark, tmp_path, monkeypatch, semantics
):
    be_beyond_every_bound(monkeypatch)
    monkeypatch.setattr(F, "broadcast", lambda rows: pytest.fail(f"{rows} was broadcast"))
    must_decide_as_the_pure_rules(spark, tmp_path, in_parts(scope(semantics), 3))


def test_keys_that_many_rows_share_are_joined_apart_and_decide_the_same(
    spark, tmp_path, monkeypatch
):
    be_beyond_every_bound(monkeypatch)
    monkeypatch.setattr(frame, "_SHARED_BY", 1)
    must_decide_as_the_pure_rules(spark, tmp_path, in_parts(scope(KIP_1042), 3))


def be_beyond_every_bound(monkeypatch):
    monkeypatch.setattr(frame, "_BROADCAST_ROWS", 0)
    monkeypatch.setattr(frame, "_BROADCAST_TEXTS", 0)
    monkeypatch.setattr(pairing, "_PATTERNS_OF_A_WORKER", 0)
    monkeypatch.setattr(deciding, "MOST_ACLS", len(ACLS))


def scope(semantics):
    return scope_of(
        ACLS,
        principals=("User:a", "User:b", "User:c", "User:root"),
        hosts=("10.0.0.1", "10.0.0.2", "9.9.9.9"),
        resources=RESOURCES,
        super_users=frozenset({"User:root"}),
        semantics=semantics,
    )


def must_decide_as_the_pure_rules(spark, tmp_path, scope, *, ask_its_view=False):
    output = Output.of(Store(spark, str(tmp_path)), scope)
    for name, rows in tables.of_inventory(scope).items():
        output.write_rows(name, rows)
    acl_rows = acl_frame(spark, ACLS)
    decide_all(scope, lambda: acl_rows, output, allow_everyone=False)
    memory = decided(scope, ACLS)
    for name in AMENDED:
        found = Counter(repr(tuple(row)) for row in output.read(name).collect())
        assert found == Counter(map(repr, memory.rows(f"FROM {name}"))), name
    if ask_its_view:  # that of equal tables is the same
        must_show_the_same_cells(output, memory)


def must_show_the_same_cells(output, memory):
    asked = "principal, host, operation, resource_type, resource_name, decision, deciding_acl_id"
    cells = f"SELECT {asked} FROM ({explain_sql()})"
    with output.ask(*EXPLAIN_TABLES) as read:
        assert set(read.rows(cells)) == set(memory.rows(cells))
