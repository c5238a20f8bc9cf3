"""What a live cluster does not report: the right that would show it, and what answers lack."""

from __future__ import annotations

import pytest

from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.unread import (
    ACLS,
    COSTS,
    FAILED,
    GROUPS,
    INSTEAD,
    NOT_OFFERED,
    RIGHT,
    RIGHTS,
    SETTINGS,
    TOKENS,
    TOPICS,
    TRANSACTIONAL_IDS,
    USERS,
    Unread,
    caveats_on_names,
    right_acl,
    unread_note,
)

PARTS = (TOPICS, USERS, GROUPS, TRANSACTIONAL_IDS, TOKENS, SETTINGS)


def test_every_part_has_a_right_a_cost_and_another_way():
    assert set(PARTS) == COSTS.keys() == INSTEAD.keys() == RIGHTS.keys() - {ACLS}


@pytest.mark.parametrize("part", RIGHTS)
def test_every_right_is_an_acl_that_kafka_acls_adds(part):
    command = kafka_acls_command(right_acl(part, "User:me"))
    assert command is not None
    assert " --allow-principal User:me --operation Describe" in command


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("cause", [RIGHT, NOT_OFFERED, FAILED])
def test_a_note_names_the_right_only_where_one_is_missing(part, cause):
    note = unread_note(Unread(part=part, cause=cause, reason="why"), "User:me")
    assert note.startswith(f"{part}: not read (why).")
    assert COSTS[part] in note
    assert ("Missing right: DESCRIBE" in note) == ("for User:me" in note) == (cause == RIGHT)


@pytest.mark.parametrize(
    ("unread", "principals", "resource_type", "begins"),
    [
        ([], False, None, None),
        ([SETTINGS], False, None, None),
        ([TOPICS], False, None, "Topics of this cluster"),
        ([TOPICS], False, "TOPIC", "Topics of this cluster"),
        ([TOPICS], False, "GROUP", None),
        ([TOPICS], False, "CLUSTER", None),
        ([TOPICS, GROUPS, TOKENS], False, None, "Topics, groups and delegation tokens of this"),
        ([TOPICS, USERS], True, None, "SCRAM users of this cluster"),
        ([TOKENS], True, None, "Owners of delegation tokens of this cluster"),
    ],
)
def test_a_list_reports_which_of_its_own_names_can_be_missing(
    unread, principals, resource_type, begins
):
    found = [
        *caveats_on_names(unread, are_principals=principals, resource_type=resource_type),
    ]
    assert len(found) == (begins is not None)
    assert all(text.startswith(begins) for text in found)
