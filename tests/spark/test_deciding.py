"""Requests in a DataFrame: each gets the ruling of the pure rule, where it lies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from chispa import assert_df_equality
from pyspark.sql import functions as F
from pyspark.sql import types as T

from aclkit.errors import DataError, UsageError
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.rules.decide.many import ASKED
from aclkit.spark import decide
from aclkit.warehouse.codecs import ACL_COLUMNS
from tests.factories import request
from tests.questions.query import small_warehouse as small
from tests.rules.decide.test_index import specified

SETTINGS = BrokerSettings(super_users=frozenset({small.SUPER_USER}), allow_everyone=True)
ADDED = ("decision", "rule", "deciding_acl_id")


def texts(names):
    return T.StructType([T.StructField(name, T.StringType()) for name in names])


def every_request():
    """Names of ACLs and others, each with each."""
    for principal in (
        small.SUPER_USER,
        "User:alice",
        "User:bob",
        "User:cy",
        "User:new",
        "no colon",
    ):
        for host in ("10.0.0.1", "10.0.1.1", "0:0:0:0:0:0:0:1"):
            for operation, kind, name in (
                ("READ", "TOPIC", "payments"), ("WRITE", "TOPIC", "payments"),
                ("DESCRIBE", "TOPIC", "pays"), ("WRITE", "TOPIC", "other"),
                ("READ", "GROUP", "g"), ("CREATE", "CLUSTER", "kafka-cluster"),
                ("DESCRIBE", "TRANSACTIONAL_ID", "nobody names it"),
            ):  # fmt: skip
                yield principal, host, operation, kind, name


def right(rows, acls=small.ACLS, settings=SETTINGS, semantics=KIP_1042):
    for row in rows:
        fields = dict(zip(ASKED, row, strict=True))
        asked = request(fields.pop("resource_name"), **fields)
        found = specified(acls, asked, settings, semantics)
        yield *row, found.decision, found.rule, found.acl_id


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    place = tmp_path_factory.mktemp("decided")
    small.build(place, small.ACLS, SETTINGS)
    return str(place)


@pytest.fixture
def requests(spark):
    return spark.createDataFrame([*every_request()], texts(ASKED))


def test_by_a_warehouse_every_ruling_is_that_of_the_pure_rule(spark, root, requests):
    expected = spark.createDataFrame([*right(every_request())], texts((*ASKED, *ADDED)))
    assert_df_equality(decide(requests, root), expected, ignore_row_order=True)


def test_by_a_frame_of_acls_and_settings_that_are_given(spark, root, requests):
    rows = [tuple(getattr(acl, name) for name in ACL_COLUMNS) for acl in small.ACLS]
    acls = spark.createDataFrame(rows, texts(ACL_COLUMNS))
    settings = BrokerSettings(super_users=frozenset({"User:new"}))
    expected = [*right(every_request(), settings=settings)]
    found = decide(requests, acls=acls, super_users=["User:new"])
    schema = texts((*ASKED, *ADDED))
    assert_df_equality(found, spark.createDataFrame(expected, schema), ignore_row_order=True)


def test_other_columns_stay_and_rows_that_are_no_request_have_no_ruling(spark, root):
    rows = [(1, "User:alice", "10.0.0.1", "READ", "TOPIC", "payments", "DENIED"),
            (2, None, "10.0.0.1", "READ", "TOPIC", "payments", "DENIED"),
            (3, "User:alice", "10.0.0.1", "read", "TOPIC", "payments", None)]  # fmt: skip
    ddl = "n INT, " + ", ".join(f"{name} STRING" for name in (*ASKED, "decision"))
    logged = spark.createDataFrame(rows, ddl)
    with pytest.raises(UsageError, match="have decision already"):
        decide(logged, root)
    found = decide(logged, root, prefix="acl_").orderBy("n").collect()
    assert [(row.n, row.decision) for row in found] == [(1, "DENIED"), (2, "DENIED"), (3, None)]
    assert [row.acl_decision is None for row in found] == [False, True, True]
    assert found[0].acl_decision == next(right([rows[0][1:6]]))[5]


def test_names_of_columns_are_those_of_the_session_and_no_name_is_taken(spark, root):
    """Spark finds a column whatever its case, unless the session says otherwise."""
    row = ("User:alice", "10.0.0.1", "READ", "TOPIC", "payments", 7)
    written = (*(name.title() for name in ASKED), "aclkit_ruling")
    logged = spark.createDataFrame([row], [*written])
    (found,) = decide(logged, root).collect()
    assert tuple(found) == (*row, *next(right([row[:5]]))[5:])
    with pytest.raises(UsageError, match="have decision already"):
        decide(logged.withColumn("Decision", F.lit("x")), root)
    twice = logged.select("*", F.lit("h").alias("host"))
    with pytest.raises(UsageError, match="more than once: host"):
        decide(twice, root)
    with pytest.raises(UsageError, match="host is int"):
        decide(logged.withColumn("host", F.lit(1)), root)
    spark.conf.set("spark.sql.caseSensitive", "true")
    lower = twice.toDF(*ASKED, "aclkit_ruling", "HOST").withColumn("Decision", F.lit("x"))
    assert decide(lower, root).first().decision == next(right([row[:5]]))[5]
    with pytest.raises(UsageError, match="missing: principal"):
        decide(logged, root)


def framed(spark, **fields):
    """One ACL as a frame, and the column cluster_id."""
    row = {name: getattr(small.ACLS[0], name) for name in ACL_COLUMNS}
    row |= {"cluster_id": "one", **fields}
    return spark.createDataFrame([tuple(row.values())], texts(row))


@pytest.mark.parametrize(
    ("field", "word", "said"),
    [
        ("permission_type", "Deny", "unknown permission_type 'Deny'"),
        ("operation", "read", "unknown operation 'read'"),
        ("pattern_type", "prefixed", "unknown pattern_type"),
        ("resource_type", "Topic", "unknown resource_type"),
        ("host", None, "null, found one in host"),
        ("host", "10.0.0.0/8", "Pass semantics='kafka,4.4'"),
    ],
)
def test_a_row_that_is_no_acl_of_kafka_is_refused_and_not_acted_on(
    spark, requests, field, word, said
):
    with pytest.raises(DataError, match=said):
        decide(requests, acls=framed(spark, **{field: word}))


def test_acls_of_several_clusters_decide_nothing_together(spark, requests):
    acls = framed(spark).union(framed(spark, cluster_id="two", acl_id="other"))
    with pytest.raises(UsageError, match="of several clusters"):
        decide(requests, acls=acls)
    deciding = decide(requests, acls=acls, cluster="two").select("deciding_acl_id").distinct()
    assert {row[0] for row in deciding.collect()} <= {None, "other"}
    with pytest.raises(UsageError, match="no column cluster_id"):
        decide(requests, acls=acls.drop("cluster_id"), cluster="two")


def test_super_users_are_a_collection_or_a_text_as_kafka_has_it(spark, requests):
    acls = framed(spark)
    for given in ("User:new; User:cy", ["User:new", "User:cy"]):
        found = decide(requests, acls=acls, super_users=given).where("rule = 'SuperUser'")
        who = {row[0] for row in found.select("principal").collect()}
        assert who == {"User:new", "User:cy"}


def test_a_moment_is_an_offset_or_a_time_of_any_type_and_of_no_other(root, requests):
    with pytest.raises(UsageError, match="Invalid time 'True'"):
        decide(requests, root, at=True)
    with pytest.raises(UsageError, match="beyond the log"):
        decide(requests, Path(root), at=np.int64(10**9))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "Pass a warehouse, or a frame of ACLs"),
        ({"warehouse": "w", "acls": True}, "Pass a warehouse, or a frame of ACLs"),
        ({"acls": True}, "missing: acl_id"),
        ({"acls": True, "at": 1}, "has no past"),
        ({"warehouse": True, "super_users": "alice"}, "no principal type"),
        ({"warehouse": True, "super_users": ["User:<any-other>"]}, "stands for any other"),
        ({"warehouse": True, "allow_everyone": "false"}, "Expected True or False"),
        ({"warehouse": True, "semantics": "5"}, "Unknown way of reading ACLs"),
        ({"warehouse": True, "cluster": "x"}, "Cluster 'x' is not in"),
    ],
)
def test_what_cannot_be_decided_is_told_before_a_job_runs(requests, root, given, said):
    if given.get("acls"):
        given = {**given, "acls": requests}
    if given.get("warehouse") is True:
        given = {**given, "warehouse": root}
    with pytest.raises(UsageError, match=said):
        decide(requests, **given)
    with pytest.raises(UsageError, match="missing: principal"):
        decide(requests.drop("principal"), root)


def test_the_plan_is_one_udf_where_the_requests_are_without_an_exchange(root, requests):
    """Whatever is asked of the rulings: the function is called once for a batch."""
    asked = decide(requests.repartition(3), root).where("decision = 'ALLOWED'").groupBy("rule")
    plan = asked.agg(F.count("deciding_acl_id"))._jdf.queryExecution().executedPlan().toString()
    assert plan.count("ArrowEvalPython") == 1
    decided = decide(requests, root)._jdf.queryExecution().executedPlan().toString()
    assert decided.count("ArrowEvalPython") == 1
    assert "Exchange" not in decided
