"""The fold on frames of a few rows: each table that it makes, whole."""

from __future__ import annotations

import hashlib
import json

import pytest

from aclkit.model.facts import (
    ADD_DELEGATION,
    ADD_RESOURCE,
    ADD_SCRAM,
    ADD_TOPIC,
    LISTING,
    RECORD,
    REMOVE_ACL,
    REMOVE_DELEGATION,
    REMOVE_RESOURCE,
    REMOVE_SCRAM,
    REMOVE_TOPIC,
    SNAPSHOT,
)
from aclkit.pipeline.replay.history_plan import HistoryPlan
from aclkit.pipeline.replay.ranges import Itinerary, Stretch
from aclkit.pipeline.replay.transactions import ABORTED, COMMITTED, OPEN, Fault, Span
from tests.factories import acl
from tests.pipeline.replay.frames import (
    added,
    at,
    binding_of,
    columns_of,
    fact,
    life,
    listed,
    must_be,
    reject,
    rows_of,
    table,
)


@pytest.fixture
def fold(engine):
    """Facts of one gapless log of 30 offsets → the tables of its history."""

    def of(*rows, way=((RECORD, 0, 30),), within=(), rejected=(), faults=()):
        stretches = tuple(Stretch(*each) for each in way)
        itinerary = Itinerary(stretches=stretches, holes=(), head=30, checks=())
        plan = HistoryPlan(itinerary, tuple(Span(*each) for each in within), tuple(faults))
        known = table(engine, "acl_reject", rejected)
        return engine.history(table(engine, "acl_log", rows), known, plan)

    return of


def where(tables):
    """Where ACLs were added, and where that took effect."""
    lives = columns_of(tables["acl_history"]).select(["added_offset", "effective_offset"])
    return sorted(rows_of(lives))


def test_a_fact_takes_effect_where_it_stands_and_not_outside_the_way(fold):
    found = fold(added(3, "a"), added(10, "b"), added(30, "c"), way=((RECORD, 5, 30),))
    assert where(found) == [(10, 10)]


def test_a_record_of_a_transaction_takes_effect_at_its_end_if_it_was_committed(fold):
    found = fold(
        *(added(n, f"acl{n}") for n in (1, 3, 5, 7, 9)),
        within=((2, 4, COMMITTED), (4, 6, ABORTED), (8, 30, OPEN)),
    )
    assert where(found) == [(1, 1), (3, 4), (7, 7)]


def test_a_snapshot_takes_effect_at_its_last_offset_and_only_where_history_jumps_onto_it(fold):
    way = ((SNAPSHOT, 0, 10), (RECORD, 10, 30))
    found = fold(listed(10, "a"), listed(20, "b"), way=way)
    assert where(found) == [(9, 9)]


def test_listings_take_effect_at_their_numbers(fold):
    found = fold(added(0, "a", fact=LISTING), way=((RECORD, 0, 1),))
    assert where(found) == [(0, 0)]


def test_a_life_has_all_fields_of_its_acl_and_when_it_came_and_went(fold):
    one = acl(
        "ord", resource_type="GROUP", pattern_type="PREFIXED", principal="User:p", host="10.0.0.1",
        operation="DESCRIBE", permission_type="DENY",
    )  # fmt: skip
    found = fold(
        fact(1, acl_id="a", **binding_of(one)),
        added(2, "b"),
        fact(4, REMOVE_ACL, acl_id="a"),
    )
    must_be(
        found["acl_history"], "acl_history", [{**life("a", 1, 4), **binding_of(one)}, life("b", 2)]
    )


def test_a_life_of_a_transaction_begins_at_its_end_and_keeps_where_its_record_stands(fold):
    rows = (added(3, "a"), fact(6, REMOVE_ACL, acl_id="a"))
    found = fold(*rows, within=((2, 4, COMMITTED), (5, 8, COMMITTED)))
    life_of_a = life("a", 3, 8, effective_offset=4, removed_at=at(6))
    must_be(found["acl_history"], "acl_history", [life_of_a])


def test_what_came_twice_lives_once_and_what_came_again_lives_again(fold):
    gone = fact(4, REMOVE_ACL, acl_id="a")
    found = fold(added(1, "a"), added(2, "a"), gone, added(6, "a"))
    must_be(found["acl_history"], "acl_history", [life("a", 1, 4), life("a", 6)])


def test_a_snapshot_ends_what_it_lacks_and_begins_what_it_adds(fold):
    found = fold(
        added(1, "stays"),
        added(2, "vanishes"),
        listed(10, "stays"),
        listed(10, "appears"),
        way=((RECORD, 0, 5), (SNAPSHOT, 5, 10), (RECORD, 10, 30)),
    )
    must_be(
        found["acl_history"],
        "acl_history",
        [
            life("stays", 1),
            life("vanishes", 2, 9, removed_at=at(10)),
            life("appears", 9, added_by=SNAPSHOT, added_at=at(10)),
        ],
    )


def test_without_a_jump_and_a_transaction_the_same_comes_of_fewer_joins(fold):
    gone = fact(3, REMOVE_ACL, acl_id="a")
    found = fold(added(1, "a"), gone, added(4, "b"), added(30, "c"))
    must_be(found["acl_history"], "acl_history", [life("a", 1, 3), life("b", 4)])


def test_adding_what_lives_and_removing_what_does_not_are_rejects(fold):
    gone = fact(5, REMOVE_ACL, acl_id="x")
    found = fold(added(1, "a"), added(2, "a"), gone)
    twice = {"acl_id": "a", **binding_of(acl(principal="User:a"))}

    def row(offset, reason, binding):
        text = json.dumps(binding, separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).hexdigest()
        named = {"cluster_id": "c", "stage": "replay", "source": "log", "log_offset": offset}
        return {**named, "reason": reason, "raw": text, "digest": digest}

    must_be(
        found["acl_reject"],
        "acl_reject",
        [
            row(2, "expected a new ACL id, but an ACL with this id exists", twice),
            row(5, "expected the id of an existing ACL, but none has it", {"acl_id": "x"}),
        ],
    )


def test_a_topic_lives_by_its_id_and_all_else_by_type_and_name(fold):
    found = fold(
        fact(1, ADD_TOPIC, resource_name="t", topic_id="id1"),
        fact(2, REMOVE_TOPIC, topic_id="id1"),
        fact(3, ADD_TOPIC, resource_name="t", topic_id="id2"),
        fact(4, ADD_RESOURCE, resource_type="GROUP", resource_name="g"),
        fact(5, REMOVE_RESOURCE, resource_type="GROUP", resource_name="g"),
        added(6, "a"),
    )

    def row(kind, name, topic_id, first, last):
        named = {"cluster_id": "c", "resource_type": kind, "resource_name": name}
        return {**named, "topic_id": topic_id, "first_offset": first, "last_offset": last}

    must_be(
        found["resource_lifetime"],
        "resource_lifetime",
        [
            row("TOPIC", "t", "id1", 1, 2),
            row("TOPIC", "t", "id2", 3, None),
            row("GROUP", "g", None, 4, 5),
        ],
    )


def test_a_user_lives_once_for_each_mechanism_and_as_an_owner_of_tokens(fold):
    found = fold(
        fact(1, ADD_SCRAM, principal="User:a", mechanism="SCRAM-SHA-256"),
        fact(2, ADD_SCRAM, principal="User:a", mechanism="SCRAM-SHA-512"),
        fact(3, REMOVE_SCRAM, principal="User:a", mechanism="SCRAM-SHA-256"),
        fact(4, ADD_DELEGATION, principal="User:b", mechanism="DELEGATION_TOKEN"),
        fact(5, REMOVE_DELEGATION, principal="User:b", mechanism="DELEGATION_TOKEN"),
    )

    def row(principal, mechanism, first, last):
        named = {"cluster_id": "c", "principal": principal, "mechanism": mechanism}
        return {**named, "first_offset": first, "last_offset": last}

    must_be(
        found["principal_lifetime"],
        "principal_lifetime",
        [
            row("User:a", "SCRAM-SHA-256", 1, 3),
            row("User:a", "SCRAM-SHA-512", 2, None),
            row("User:b", "DELEGATION_TOKEN", 4, 5),
        ],
    )


@pytest.mark.parametrize(("offset", "alive"), [(4, []), (5, ["a"]), (9, ["a"]), (10, [])])
def test_a_life_holds_behind_the_offset_it_came_at_up_to_the_one_it_went_at(engine, offset, alive):
    history = table(engine, "acl_history", [life("a", 4, 9)])
    same = table(engine, "acl_log", [listed(offset, acl_id) for acl_id in alive])
    assert engine.contradictions(same, history, [offset]) == {}
    other = table(engine, "acl_log", [] if alive else [listed(offset, "a")])
    assert engine.contradictions(other, history, [offset]) == {offset: ["a"]}


def test_rejects_of_sources_and_faults_of_transactions_stand_beside_those_of_the_replay(fold):
    found = fold(rejected=[reject("bad", 3)], faults=[Fault(5, "why")])
    fault = reject("why", 5, stage="replay", source=None)
    must_be(found["acl_reject"], "acl_reject", [reject("bad", 3), fault])


def test_a_reject_has_the_names_of_its_acl_whatever_letters_they_have(fold):
    one = acl('a"b\\c/\n\t\x1f\x7fé😀\u2028', principal="User:'; DROP TABLE facts; --")
    rows = [fact(n, acl_id="a", **binding_of(one)) for n in (1, 2)]
    (found,) = columns_of(fold(*rows)["acl_reject"])["raw"].to_pylist()
    assert json.loads(found) == {"acl_id": "a", **binding_of(one)}
    assert '"a\\"b\\\\c/\\n\\t\\u001F\x7fé😀\u2028"' in found
