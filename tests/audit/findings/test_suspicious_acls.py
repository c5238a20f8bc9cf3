"""Of millions of ACLs those alone are read that a finding on how they are read is about."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.audit.findings.differences import PLAIN, odd_texts, read_suspicious_acls
from aclkit.audit.findings.readings import reads_differently
from aclkit.audit.findings.registry import find_readings
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.inventory.survey import Texts
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.reader import Reader
from tests.factories import acl, history_row
from tests.strategies import acls

RANGES = replace(KAFKA, cidr_hosts=True)
READINGS = (KIP_1042, KAFKA, RANGES)
ODD = [
    acl("a b", acl_id="illegal-letter"),
    acl("a*", pattern_type="GLOB", acl_id="glob"),
    acl("*", resource_type="GROUP", acl_id="every-group"),
    acl("x", resource_type="CLUSTER", acl_id="other-cluster"),
    acl(principal="nobody", acl_id="no-colon"),
    acl(principal="User:a*", acl_id="glob-principal"),
    acl(host="localhost", acl_id="host-name"),
    acl(host="10.0.0.0/33", acl_id="malformed-range"),
    acl(operation="CREATE", resource_type="GROUP", acl_id="no-such-operation"),
    acl(operation="UNKNOWN(77)", acl_id="unknown-operation"),
    acl(permission_type="UNKNOWN(9)", acl_id="unknown-permission"),
    acl(resource_type="UNKNOWN(9)", acl_id="unknown-type"),
    acl(pattern_type="UNKNOWN(9)", acl_id="unknown-pattern"),
]


def read_odd(rows, semantics, removed=()):
    """Read the odd ones of some ACLs out of a history of them."""
    history = [
        history_row(row, number, "c", 9 if row in removed else None)
        for number, row in enumerate(rows)
    ]
    texts = Texts(
        patterns=tuple({row.pattern for row in rows}),
        principals=tuple({row.principal for row in rows}),
        hosts=tuple({row.host for row in rows}),
    )
    with duckdb.connect() as connection:
        connection.register("acl_history", arrow_table(history, arrow_schema("acl_history")))
        return read_suspicious_acls(Reader(connection, "c", lambda *_: None), texts, semantics)


def told(rows, semantics):
    return find_readings(rows, semantics), reads_differently(rows)


@pytest.mark.parametrize("semantics", READINGS)
@pytest.mark.parametrize("resource_type", OPERATIONS_OF_TYPE)
def test_of_a_plain_acl_nothing_is_told(resource_type, semantics):
    assert told([replace(PLAIN, resource_type=resource_type)], semantics) == ([], {})


@pytest.mark.parametrize("semantics", READINGS)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.acl_id)
def test_an_odd_acl_is_read_and_the_others_are_not(odd, semantics):
    usual = [acl(f"topic-{number}", acl_id=f"usual-{number}") for number in range(3)]
    read = read_odd([*usual, odd], semantics)
    assert read == ([odd] if told([odd], semantics) != ([], {}) else [])


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.acl_id)
def test_of_each_odd_acl_something_is_told_in_some_reading(odd):
    assert any(told([odd], semantics) != ([], {}) for semantics in READINGS)


def test_an_acl_that_is_there_twice_is_read_with_each_of_its_ids():
    twins = [acl("a", acl_id="1"), acl("a", acl_id="2")]
    assert read_odd([twins[1], acl("b", acl_id="3"), twins[0]], KIP_1042) == twins


def test_what_was_removed_is_neither_odd_nor_there_twice():
    gone = [acl(host="localhost", acl_id="1"), acl("a", acl_id="2")]
    assert read_odd([*gone, acl("a", acl_id="3")], KIP_1042, removed=gone) == []


def test_each_text_is_looked_at_for_itself():
    kinds = [("TOPIC", "READ", "ALLOW"), ("GROUP", "CREATE", "ALLOW"), ("TOPIC", "READ", "ANY")]
    columns = ("resource_type", "operation", "permission_type")
    assert odd_texts(columns, kinds, KIP_1042) == kinds[1:]


@given(
    st.lists(st.one_of(acls(), st.sampled_from(ODD)), max_size=6, unique_by=lambda row: row.acl_id),
    st.sampled_from(READINGS),
)
def test_all_is_told_of_the_odd_ones_that_is_told_of_all(rows, semantics):
    assert told(read_odd(rows, semantics), semantics) == told(
        sorted(rows, key=lambda row: row.acl_id), semantics
    )
