"""Over a warehouse: the authorizer and ``explain`` agree on every row."""

from __future__ import annotations

import json

import pytest

from aclkit.errors import UsageError
from aclkit.kafka.authorizer.requests import AuthorizerNotReadyError, ReadOnlyError
from aclkit.kafka.authorizer.warehouse import over_warehouse
from aclkit.model.acl import Request
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.sql import run_sql
from tests.kafka.authorizer.asking import CLIENTS, SERVER, action, answer, context
from tests.questions.query import small_warehouse as small

ROWS = (
    "SELECT principal, host, operation, resource_type, resource_name, decision, rule, "
    "deciding_acl_id FROM explain"
)


def started(root, **options):
    authorizer = over_warehouse(str(root), **options)
    authorizer.start(SERVER)[CLIENTS].result(timeout=30)
    return authorizer


def agreeing_rows(root):
    """Put every row of explain to the authorizer, and count them."""
    count = 0
    with connect(open_warehouse(str(root))) as connection, started(root) as authorizer:
        for row in run_sql(connection, ROWS).rows:
            principal, host, operation, resource_type, name, decision, rule, acl_id = row
            request = Request(
                principal=principal, host=host, operation=operation,
                resource_type=resource_type, resource_name=name,
            )  # fmt: skip
            ruling = authorizer.decide(request)
            found = ruling.decision, ruling.rule, ruling.acl.acl_id if ruling.acl else None
            assert found == (decision, rule, acl_id), request
            who = context(principal, host)
            assert authorizer.authorize(who, [action(name, operation, resource_type)]) == [decision]
            count += 1
    return count


@pytest.mark.parametrize("read", [small.KIP_1042, KAFKA])
def test_authorizer_and_explain_agree_on_every_row(tmp_path, read):
    small.build(tmp_path, semantics=read)
    assert agreeing_rows(tmp_path) == len(list(small.requests()))


@pytest.mark.parametrize(
    ("acls", "allowed"),
    [
        ([small.acl(1, principal="User:c*")], "DENIED"),
        ([small.acl(1, principal="User:c*"), small.acl(2, pattern_type="GLOB")], "ALLOWED"),
    ],
)
def test_where_nothing_was_decided_acls_are_read_as_by_default(tmp_path, acls, allowed):
    rows = small.tables(acls, BrokerSettings(), KAFKA)["acl_history"]
    versions = {"acl_history": small.write_table(tmp_path, "acl_history", rows)}
    small.publish(tmp_path, versions, job="replay")
    with started(tmp_path) as authorizer:
        assert answer(authorizer, "User:carol", "payments") == allowed


@pytest.mark.slow
@pytest.mark.spark
def test_authorizer_and_explain_agree_on_the_whole_sample(demo_warehouse):
    assert agreeing_rows(demo_warehouse) == 549_780


def test_removed_acls_are_not_there(tmp_path):
    small.build(tmp_path)
    with started(tmp_path) as authorizer:
        assert {each.acl_id for each in authorizer.acls()} == {a.acl_id for a in small.ACLS}
        assert authorizer.acl_count() == len(small.ACLS)


def test_a_warehouse_is_not_ready_before_its_high_watermark(tmp_path):
    versions = small.build(tmp_path)
    said = json.dumps({"allow_everyone": True})
    small.publish(tmp_path, versions, run_number=2, high_watermark=200, settings=said)
    authorizer = over_warehouse(str(tmp_path))
    authorizer.start(SERVER)
    assert authorizer.refresh() == 100
    with authorizer, pytest.raises(AuthorizerNotReadyError):
        answer(authorizer)
    small.publish(
        tmp_path, versions, run_number=3, head_offset=200, high_watermark=200, settings=said
    )
    with started(tmp_path) as authorizer:
        assert answer(authorizer, "User:alice", "payments") == "ALLOWED"


def test_a_warehouse_is_read_only(tmp_path):
    small.build(tmp_path)
    with started(tmp_path) as authorizer:
        (future,) = authorizer.create_acls(context(), [small.acl(77)])
        with pytest.raises(ReadOnlyError, match=r"kafka-acls .* --add --topic payments"):
            future.result(timeout=10)


def test_what_is_wrong_with_a_warehouse_is_what_the_listeners_are_told(tmp_path):
    with (
        over_warehouse(str(tmp_path)) as authorizer,
        pytest.raises(UsageError, match="has no data yet"),
    ):
        authorizer.start(SERVER)[CLIENTS].result(timeout=30)
    small.build(tmp_path)
    with (
        over_warehouse(str(tmp_path), "other") as authorizer,
        pytest.raises(UsageError, match="Cluster 'other' is not in"),
    ):
        authorizer.start(SERVER)[CLIENTS].result(timeout=30)


def test_attributes_of_principals_join_with_explain(tmp_path):
    """KIP-111: the custom fields are columns to ask by."""
    small.build(tmp_path)
    statement = (
        "SELECT p.attributes['team'], count(*) FROM explain JOIN principal p "
        "USING (cluster_id, principal) WHERE decision = 'ALLOWED' GROUP BY ALL"
    )
    with connect(open_warehouse(str(tmp_path))) as connection:
        ((team, count),) = run_sql(connection, statement).rows
    assert (team, count > 0) == ("a", True)
