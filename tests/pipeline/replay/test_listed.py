"""What a listing names beside ACLs: what came, and what went."""

from __future__ import annotations

from aclkit.model.facts import DELEGATION, SourceRow
from aclkit.model.unread import GROUPS, TOKENS, TOPICS, TRANSACTIONAL_IDS, USERS
from aclkit.pipeline.replay.listing import Thing, changed_things, thing_of

ALL = frozenset({TOPICS, USERS, GROUPS, TRANSACTIONAL_IDS, TOKENS})
A, B = Thing("TOPIC", "a", "id-1"), Thing("TOPIC", "b", "id-2")
GROUP = Thing("GROUP", "g")
USER = Thing(principal="User:u", mechanism="SCRAM-SHA-256")
OWNER = Thing(principal="User:u", mechanism=DELEGATION)


def changed(before, listed, told=ALL):
    return changed_things(before, listed, told, lambda name: f"made-of-{name}")


def test_what_is_new_came_and_what_is_not_told_any_more_went():
    assert changed([A, GROUP, USER], [B, GROUP, OWNER]) == ([OWNER, B], [USER, A])


def test_of_a_part_that_is_not_told_whole_nothing_goes_but_what_is_new_comes():
    assert changed([A, GROUP], [B], frozenset()) == ([B], [])
    assert changed([A, GROUP, USER], [], frozenset({"groups"})) == ([], [GROUP])


def test_a_topic_made_anew_is_another_one():
    again = A._replace(topic_id="id-9")
    assert changed([A], [again]) == ([again], [A])


def test_a_topic_whose_id_is_not_told_is_the_one_of_that_name():
    assert changed([A], [A._replace(topic_id=None)]) == ([], [])


def test_a_topic_whose_id_was_never_told_has_one_made_of_its_name_and_keeps_it():
    unknown, made = Thing("TOPIC", "a"), Thing("TOPIC", "a", "made-of-a")
    assert changed([], [unknown]) == ([made], [])
    assert changed([made], [A]) == ([], [])
    assert changed([made], []) == ([], [made])


def test_rows_name_things_and_acls_and_rejects_do_not():
    def row(record_type, **columns):
        return SourceRow(kind="fact", source="s", record_type=record_type, **columns)

    assert thing_of(row("TOPIC_RECORD", resource_name="a", topic_id="id-1")) == A
    assert thing_of(row("LISTED_RESOURCE", resource_type="GROUP", resource_name="g")) == GROUP
    token = row("DELEGATION_TOKEN_RECORD", principal="User:u", mechanism=DELEGATION)
    assert thing_of(token) == OWNER
    assert thing_of(row("ACCESS_CONTROL_ENTRY_RECORD")) is None
    assert thing_of(SourceRow(kind="reject", source="s")) is None


def test_each_thing_has_records_of_its_coming_and_going():
    assert {thing.part: thing.record_types for thing in (A, GROUP, USER, OWNER)} == {
        "topics": ("TOPIC_RECORD", "REMOVE_TOPIC_RECORD"),
        "groups": ("LISTED_RESOURCE", "REMOVE_LISTED_RESOURCE"),
        "SCRAM users": (
            "USER_SCRAM_CREDENTIAL_RECORD",
            "REMOVE_USER_SCRAM_CREDENTIAL_RECORD",
        ),
        "delegation tokens": ("DELEGATION_TOKEN_RECORD", "REMOVE_DELEGATION_TOKEN_RECORD"),
    }
