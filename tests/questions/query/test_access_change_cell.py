"""The view access_change_cell: what deciding both nights cell by cell gives."""

from __future__ import annotations

import random

import pytest

from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.rules.decide.rules import decide
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.views import PAST, PAST_TABLES, sql_of
from tests.questions.query import changed_warehouse
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import SUPER_USER, acl

SUPER = BrokerSettings(super_users=frozenset({SUPER_USER}))
COLUMNS = (
    "principal, host, operation, resource_type, resource_name, change, decision_before, "
    "acl_id_before, decision_after, acl_id_after"
)


def random_night(seed, others=()):
    """Some ACLs of the night before, and some of its own."""
    draw = random.Random(seed)
    kept = [a for a in others if draw.random() < 0.7]
    return kept + [
        acl(
            1_000 * seed + n,
            resource_name=draw.choice(["pay", "payments", "p*s", "*", "orders", "free"]),
            pattern_type=draw.choice(["LITERAL", "PREFIXED", "GLOB"]),
            principal=draw.choice(["User:alice", "User:bob", "User:*", "User:?o*", "User:x'y"]),
            host=draw.choice(["*", "10.0.0.1", "10.0.0.*"]),
            operation=draw.choice(["READ", "ALL", "DESCRIBE", "ALTER_CONFIGS"]),
            permission_type=draw.choice(["ALLOW", "ALLOW", "DENY"]),
        )
        for n in range(5)
    ]


def expected(nights):
    """Decide every cell twice by the pure rule."""
    for request in small.requests():
        was, now = (decide(acls, request, settings, KIP_1042) for acls, settings in nights)
        if was.decision != now.decision:
            yield (
                request.principal, request.host, request.operation, request.resource_type,
                request.resource_name, "gained" if now.decision == "ALLOWED" else "lost",
                was.decision, was.acl and was.acl.acl_id, now.decision, now.acl and now.acl.acl_id,
            )  # fmt: skip


def nights_of(seed, settings=(SUPER, SUPER)):
    first = random_night(seed)
    return list(zip([first, random_night(seed + 1, first)], settings, strict=True))


SETTINGS = [
    (SUPER, SUPER),
    (SUPER, BrokerSettings(super_users=frozenset({SUPER_USER, "User:bob"}))),
    (SUPER, BrokerSettings(super_users=SUPER.super_users, allow_everyone=True)),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=["acls", "super-users", "allow-everyone"])
@pytest.mark.parametrize("seed", [1, 11, 21])
def test_cells_are_the_difference_of_deciding_both_nights(tmp_path, seed, settings):
    nights = nights_of(seed, settings)
    changed_warehouse.build(tmp_path, nights)
    with connect(open_warehouse(str(tmp_path))) as connection:
        rows = connection.execute(f"SELECT {COLUMNS} FROM access_change_cell").fetchall()
    assert len(rows) == len(set(rows))
    assert set(rows) == set(expected(nights))
    assert rows


def test_cells_of_a_change_are_as_many_as_it_counts(tmp_path):
    changes = changed_warehouse.build(tmp_path, nights_of(5))
    with connect(open_warehouse(str(tmp_path))) as connection:
        rows = connection.execute(
            "SELECT principal, resource_type, resource_name, count(*) FILTER (change = 'gained'), "
            "count(*) FILTER (change = 'lost') FROM access_change_cell GROUP BY ALL"
        ).fetchall()
    named = {(c["principal"], c["resource_type"], c["resource_name"]): (c["gained"], c["lost"])
             for c in changes if c["principal"] and c["gained"] + c["lost"]}  # fmt: skip
    assert named
    assert {row[:3]: row[3:] for row in rows if row[:3] in named} == named


def test_a_past_that_was_vacuumed_leaves_the_view_empty_and_all_else_readable(tmp_path):
    changed_warehouse.build(tmp_path, nights_of(1))
    with connect(open_warehouse(str(tmp_path))) as connection:
        ((before,),) = connection.execute("SELECT count(*) FROM access_change_cell").fetchall()
    now = open_warehouse(str(tmp_path)).run.table_versions["explain_ruling"]
    from deltalake import DeltaTable

    files = [
        set(DeltaTable(tmp_path / "explain_ruling", version=v).file_uris()) for v in (now, now - 1)
    ]
    for uri in files[1] - files[0]:
        (tmp_path / "explain_ruling" / uri.rpartition("/")[2]).unlink()
    with connect(open_warehouse(str(tmp_path))) as connection:
        ((after,),) = connection.execute("SELECT count(*) FROM access_change_cell").fetchall()
        assert connection.execute("SELECT count(*) FROM explain").fetchone()
    assert (before > 0, after) == (True, 0)


@pytest.mark.slow
def test_spark_reads_the_same_cells(spark, tmp_path):
    nights = nights_of(1)
    changed_warehouse.build(tmp_path, nights)
    published = open_warehouse(str(tmp_path))
    names = {}
    before = published.runs[0].table_versions
    versions = [(name, name, published.run.table_versions[name])
                for name in ("access_change", *PAST_TABLES)]  # fmt: skip
    versions += [(f"{PAST}.{name}", name, before[name]) for name in PAST_TABLES]
    for number, (key, table, version) in enumerate([*versions, ("job_run", "job_run", None)]):
        reader = spark.read.format("delta")
        reader = reader if version is None else reader.option("versionAsOf", version)
        names[key] = f"t{number}"
        reader.load(f"{tmp_path}/{table}").createOrReplaceTempView(names[key])
    rows = spark.sql(f"SELECT {COLUMNS} FROM ({sql_of('access_change_cell', names)})").collect()
    assert {tuple(row) for row in rows} == set(expected(nights))
    assert len(TABLES)
