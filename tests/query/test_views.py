"""The views of the published tables, compared with the pure rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.decide.rules import answers
from aclkit.explain.views import explain_acl_sql, explain_sql, view_sql
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.patterns.match import reaches
from aclkit.query.duck import connect
from aclkit.query.warehouse import open_warehouse
from aclkit.schemas import TABLES
from tests.query import small_warehouse as small

SETTINGS = BrokerSettings(super_users=frozenset({small.SUPER_USER}), allow_everyone=True)


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
@pytest.mark.parametrize("allow_everyone", [True, False])
def test_explain_view_is_the_pure_rule_on_every_cell(root, semantics, allow_everyone):
    settings = replace(SETTINGS, allow_everyone=allow_everyone)
    small.build(root, settings=settings, semantics=semantics)
    with connect(open_warehouse(str(root))) as connection:
        rows = connection.execute("SELECT * FROM explain").fetchall()
    assert len(rows) == len(set(rows)) == len(list(small.requests()))
    assert set(rows) == small.brute_force(small.ACLS, settings, semantics)


def test_explain_view_has_the_columns_of_the_contract(connection):
    cursor = connection.execute("SELECT * FROM explain LIMIT 0")
    assert [column[0] for column in cursor.description] == list(TABLES["explain"].column_names)


def test_explain_acl_lists_every_matching_acl_of_a_cell(connection):
    rows = connection.execute(
        "SELECT principal, host, operation, resource_type, resource_name, acl_id FROM explain_acl"
    ).fetchall()
    expected = {
        (q.principal, q.host, q.operation, q.resource_type, q.resource_name, a.acl_id)
        for q in small.requests()
        if q.principal != small.SUPER_USER
        for a in small.ACLS
        if reaches(a, q.resource_type, q.resource_name, KIP_1042) and answers(a, q, KIP_1042)
    }
    assert len(rows) == len(expected)
    assert set(rows) == expected


def test_acl_current_holds_the_acls_alive(connection):
    ids = {row[0] for row in connection.execute("SELECT acl_id FROM acl_current").fetchall()}
    assert ids == {acl.acl_id for acl in small.ACLS}


def test_physical_explain_takes_the_place_of_the_view(root):
    versions = small.build(root)
    row = {"cluster_id": small.CLUSTER, "principal": "User:only", "decision": "DENIED"}
    small.publish(
        root, versions | {"explain": small.write_table(root, "explain", [row])}, run_number=2
    )
    with connect(open_warehouse(str(root))) as connection:
        rows = connection.execute("SELECT principal FROM explain").fetchall()
    assert rows == [("User:only",)]


def test_view_reads_the_tables_that_it_is_told():
    text = explain_sql({"principal": "some_principal", "resource": "some_resource"})
    assert "FROM some_principal p" in text
    assert "JOIN some_resource r" in text


def test_view_is_left_out_where_a_table_is_missing():
    assert view_sql(["principal", "host"], "spark") == {}


def test_spark_reads_the_same_views(spark, root, published, connection):
    from pyspark.sql import types as T

    order = ("principal", "host", "resource", "explain_pair", "explain_class_pair",
             "explain_ruling", "acl_history", "ruleset", "ruleset_group", "host_match")  # fmt: skip
    made = small.tables(small.ACLS, SETTINGS, KIP_1042)
    for name in order:
        ddl = (
            TABLES[name].ddl
            if name in TABLES
            else "cluster_id STRING, acl_host STRING, host STRING"
        )
        schema = T.StructType.fromDDL(ddl)
        rows = [tuple(row.get(field) for field in schema.names) for row in made[name]]
        spark.createDataFrame(rows, schema).createOrReplaceTempView(f"t_{name}")
    names = {name: f"t_{name}" for name in order} | {"acl_current": "t_acl_history"}
    for view, text in {
        "explain": explain_sql(names),
        "explain_acl": explain_acl_sql("spark", names),
    }.items():
        here = spark.sql(text)
        there = connection.execute(f"SELECT * FROM {view}")
        assert here.columns == [column[0] for column in there.description]
        expected = sorted(map(str, there.fetchall()))
        assert sorted(str(tuple(row)) for row in here.collect()) == expected
