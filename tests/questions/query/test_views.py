"""The views of the published tables, compared with the pure rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.rules import answers
from aclkit.rules.patterns.match import reaches
from aclkit.warehouse.duck import connect
from aclkit.warehouse.pinned_sql import spark_sql
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.views import explain_sql, sql_of, view_sql
from tests.questions.query import small_warehouse as small

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
    assert "FROM some_resource r" in text
    assert "JOIN some_principal p" in text


def test_view_is_left_out_where_a_table_is_missing():
    assert view_sql(["principal", "host"]) == {}


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
        "explain_acl": sql_of("explain_acl", names),
    }.items():
        here = spark.sql(spark_sql(text))
        there = connection.execute(f"SELECT * FROM {view}")
        assert here.columns == [column[0] for column in there.description]
        expected = sorted(map(str, there.fetchall()))
        assert sorted(str(tuple(row)) for row in here.collect()) == expected


def found(run_id, subject, **fields):
    row = {
        "cluster_id": small.CLUSTER, "run_id": run_id, "finding": "k", "severity": "low",
        "subject": subject, "message": "m", "fix": "f", "acl_ids": [], "fingerprint": subject,
    }  # fmt: skip
    return row | fields


def in_force(root, rows, runs):
    """Publish findings and runs; return the subjects and runs that finding_current shows."""
    history = small.tables(small.ACLS, SETTINGS, KIP_1042)["acl_history"]
    wanted = {"finding": rows, "acl_history": history}
    versions = {name: small.write_table(root, name, given) for name, given in wanted.items()}
    for number, fields in enumerate(runs):
        small.publish(root, versions, run_number=number, run_id=f"r{number}", **fields)
    with connect(open_warehouse(str(root))) as connection:
        shown = connection.execute("SELECT subject, run_id FROM finding_current").fetchall()
    return sorted(shown)


def test_findings_in_force_are_those_of_the_run_that_decided_and_of_the_newest(root):
    rows = [found("r0", "mended"), found("r1", "dead"), found("r2", "past"), found("r3", "log")]
    runs = [
        {"counts": {"decided_in_run": 0}}, {"counts": {"decided_in_run": 1}},
        {"job": "replay", "counts": {}}, {"job": "replay", "counts": {}},
    ]  # fmt: skip
    assert in_force(root, rows, runs) == [("dead", "r1"), ("log", "r3")]


def test_findings_of_a_run_that_kept_the_decisions_are_those_of_the_run_that_made_them(root):
    runs = [{"counts": {"decided_in_run": 0}}, {"counts": {"decided_in_run": 0}}]
    assert in_force(root, [found("r0", "dead")], runs) == [("dead", "r0")]


def test_finding_of_both_runs_is_in_force_once_as_the_newest_said_it(root):
    runs = [{"counts": {"decided_in_run": 0}}, {"job": "replay", "counts": {}}]
    rows = [found("r0", "same"), found("r1", "same")]
    assert in_force(root, rows, runs) == [("same", "r1")]


def test_findings_of_one_fingerprint_in_one_run_stay_apart(root):
    rows = [found("r0", "same", acl_ids=["a"]), found("r0", "same", acl_ids=["b"])]
    assert len(in_force(root, rows, [{"counts": {"decided_in_run": 0}}])) == 2


def test_what_usage_found_stays_in_force_until_usage_is_asked_again(root):
    rows = [found("r0", "dead"), found("r1", "asked before"), found("r2", "unused")]
    decided = {"counts": {"decided_in_run": 3}}
    usage = {"job": "usage", "counts": {}}
    runs = [{"counts": {"decided_in_run": 0}}, usage, usage, decided]
    assert in_force(root, rows, runs) == [("unused", "r2")]


def test_what_usage_found_ends_with_the_acl_that_it_is_about(root):
    alive, gone = small.ACLS[0].acl_id, "removed-since"
    rows = [found("r0", "stands", acl_ids=[alive]), found("r0", "ended", acl_ids=[alive, gone])]
    runs = [{"job": "usage", "counts": {}}, {"counts": {"decided_in_run": 1}}]
    assert in_force(root, rows, runs) == [("stands", "r0")]


def test_findings_in_force_are_each_clusters_own(root):
    rows = [found("r0", "mine"), found("r1", "theirs", cluster_id="c2")]
    runs = [
        {"counts": {"decided_in_run": 0}},
        {"counts": {"decided_in_run": 1}, "cluster_id": "c2"},
    ]
    assert in_force(root, rows, runs) == [("mine", "r0"), ("theirs", "r1")]


def test_findings_in_force_have_the_columns_of_the_findings(connection):
    cursor = connection.execute("SELECT * FROM finding_current")
    assert [column[0] for column in cursor.description] == list(TABLES["finding"].column_names)


def test_spark_shows_the_same_findings_in_force(spark, root):
    rows = [found("r0", "mended"), found("r1", "dead"), found("r2", "log"), found("r1", "log")]
    runs = [{"decided_in_run": 0}, {"decided_in_run": 1}, {}]
    there = in_force(root, rows, [{"counts": counts} for counts in runs])
    tables = {
        "finding": [
            tuple(row.get(name) for name in TABLES["finding"].column_names) for row in rows
        ],
        "job_run": [
            (n, f"r{n}", small.CLUSTER, *[None] * 8, counts, *[None] * 4)
            for n, counts in enumerate(runs)
        ],
    }
    tables["acl_history"] = []
    for name, values in tables.items():
        spark.createDataFrame(values, TABLES[name].ddl).createOrReplaceTempView(f"t_{name}")
    text = sql_of("finding_current", {name: f"t_{name}" for name in tables})
    here = spark.sql(spark_sql(text))
    assert sorted((row["subject"], row["run_id"]) for row in here.collect()) == there
    assert there == [("dead", "r1"), ("log", "r2")]
