"""Columns of requests: each row has the ruling of the pure rule, whatever came before it."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.host import parse_host
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.model.symbol import symbol_in
from aclkit.rules.decide import many
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.many import ASKED, RULED, ManyRequests
from tests import strategies as small
from tests.factories import acl, request
from tests.kafka_answers import SETS, SETS_WITH_RANGES, read_worlds
from tests.rules.decide.test_index import SUPER, specified


def columns(rows):
    """Requests as columns: objects, or tuples that may hold null."""
    said = [
        row if isinstance(row, tuple) else tuple(getattr(row, n) for n in ASKED) for row in rows
    ]
    return [pa.array([row[at] for row in said], pa.string()) for at in range(len(ASKED))]


def decided(judge, rows):
    found = judge.decide(columns(rows))
    assert found.type == RULED
    return [row and tuple(row.values()) for row in found.to_pylist()]


def told(ruling):
    return ruling.decision, ruling.rule, ruling.acl_id


@given(
    small.acl_sets(),
    st.lists(small.requests(small.hosts), max_size=20),
    small.semantics,
    st.booleans(),
)
def test_every_ruling_is_that_of_the_pure_rule(acls, asked, read, everyone):
    settings = BrokerSettings(super_users=SUPER, allow_everyone=everyone)
    judge = pickle.loads(pickle.dumps(ManyRequests(acls, settings, read)))
    half = len(asked) // 2
    found = decided(judge, asked[:half]) + decided(judge, asked[half:])
    assert found == [
        None if symbol_in(one) else told(specified(acls, one, settings, read)) for one in asked
    ]


@pytest.mark.parametrize(
    ("path", "read"), [(SETS, KAFKA), (SETS_WITH_RANGES, replace(KAFKA, cidr_hosts=True))]
)
def test_every_ruling_is_that_of_kafkas_own_authorizer(path, read):
    for acls, settings, row in read_worlds(path):
        asked, answers = [], []
        for principal, host, operation, kind, name, *answer in row["queries"]:
            asked.append((principal, parse_host(host), operation, kind, name))
            answers.append(tuple(answer))
        places = {each.acl_id: at for at, each in enumerate(acls)}
        found = decided(ManyRequests(acls, settings, read), asked)
        assert [(d, places.get(by, rule)) for d, rule, by in found] == answers, row["id"]


def test_what_is_no_request_has_no_ruling():
    judge = ManyRequests([acl("t")], BrokerSettings(allow_everyone=True), KAFKA)
    sound = ("User:a", "10.0.0.1", "READ", "TOPIC", "t")
    symbols = (0, "User:<any-other>"), (1, "<any-other in 10.0.0.0/8>"), (4, "<any-other>")
    for at, wrong in [
        *symbols,
        *enumerate([None] * 5),
        (2, "read"),
        (2, "ANY"),
        (3, "topic"),
        (3, "ANY"),
    ]:
        broken = (*sound[:at], wrong, *sound[at + 1 :])
        assert decided(judge, [broken, sound, broken])[::2] == [None, None]
    assert decided(judge, [sound])[0] is not None
    assert decided(judge, []) == []


def test_requests_that_the_same_acls_match_are_decided_once(monkeypatch):
    calls = []
    decide = AclIndex.decide
    monkeypatch.setattr(
        AclIndex, "decide", lambda self, *a: calls.append(a) or decide(self, *a)
    )  # fmt: skip
    judge = ManyRequests([acl("pay", pattern_type="PREFIXED")], BrokerSettings(), KIP_1042)
    asked = [request(f"pay{n}", principal=f"User:u{n}", host=f"10.0.0.{n}") for n in range(200)]
    assert len({*decided(judge, asked)}) == 1
    assert len(calls) == 1


def test_what_is_forgotten_is_decided_again(monkeypatch):
    monkeypatch.setattr(many, "_MOST", 1)
    acls = [acl("a", principal="User:a"), acl("b", principal="User:b", permission_type="DENY")]
    judge = ManyRequests(acls, BrokerSettings(), KAFKA)
    asked = [request(n, principal=f"User:{p}") for n in "abc" for p in "abc"] * 2
    right = [told(specified(acls, one, BrokerSettings(), KAFKA)) for one in asked]
    assert decided(judge, asked) == right
