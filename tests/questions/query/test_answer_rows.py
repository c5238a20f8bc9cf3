"""Why and history as rows, for programs: the same columns as tuples and as Arrow."""

from __future__ import annotations

from aclkit.model.resource import Resource
from aclkit.questions.query.history import read_history
from aclkit.questions.query.history_answer import HISTORY_COLUMNS, history_rows
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.why_answer import WHY_COLUMNS, why_rows
from tests.questions.query import small_warehouse as small

PAYMENTS = Resource("TOPIC", "payments")


def test_why_has_a_row_for_each_acl_that_takes_part(connection, published):
    answer = explain_why(connection, published, small.CLUSTER, "User:alice", "READ", PAYMENTS)
    found = why_rows(answer)
    table = found.arrow()
    assert tuple(table.column_names) == found.columns == WHY_COLUMNS
    assert table.column("acl_id").to_pylist() == [
        part.acl.acl_id for part in (*answer.acls, *answer.near)
    ]
    assert set(table.column("decision").to_pylist()) == {answer.ruling.decision}


def test_why_without_acls_has_the_decision_alone(connection, published):
    nowhere = Resource("TRANSACTIONAL_ID", "nobody-knows-it")
    answer = explain_why(connection, published, small.CLUSTER, "User:zed", "WRITE", nowhere)
    assert not answer.acls
    (row,) = why_rows(answer).rows
    assert row[:2] == (answer.ruling.decision, answer.ruling.rule)
    assert set(row[2:]) == {None}


def test_history_has_the_newest_interval_first_and_each_ends_where_the_next_begins(
    connection, published
):
    answer = read_history(connection, published, small.CLUSTER, "User:bob", "READ", PAYMENTS)
    table = history_rows(answer).arrow()
    assert tuple(table.column_names) == HISTORY_COLUMNS
    begins = table.column("from_offset").to_pylist()
    assert begins == [interval.from_offset for interval in reversed(answer.intervals)]
    assert table.column("to_offset").to_pylist() == [None, *begins[:-1]]
