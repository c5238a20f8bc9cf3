"""What is known of a change after one log, and after another."""

from __future__ import annotations

import pytest

from aclkit.questions.by_whom.command import merged
from aclkit.questions.by_whom.match import ADDED, AclChange, Match
from aclkit.questions.by_whom.tables import KnownBy, key_of
from aclkit.questions.query.lifetimes import (
    MISSING,
    NONE,
    ONE,
    SEVERAL,
    UNSURE,
    ChangedBy,
    certainty_of,
)

CHANGE = AclChange(acl_id="id", change=ADDED, log_offset=7, time=100, epoch=1)
ADMIN, ALICE = ("User:admin", "10.0.0.9"), ("User:alice", "10.0.0.8")


def known(certainty, *candidates):
    each = KnownBy(change=CHANGE, by=ChangedBy(certainty, candidates), sources=("old.log",))
    return {key_of(CHANGE): each}


def after(before, *candidates, is_covered=False):
    match = Match(change=CHANGE, candidates=candidates, is_covered=is_covered, sources=("new.log",))
    (found,) = merged([CHANGE], before, [match])
    return found


@pytest.mark.parametrize(
    ("candidates", "is_covered", "certainty"),
    [
        ([], False, MISSING),
        ([ADMIN], False, UNSURE),
        ([], True, NONE),
        ([ADMIN], True, ONE),
        ([ADMIN, ("User:admin", "10.0.0.7")], True, ONE),
        ([ADMIN, ALICE], True, SEVERAL),
    ],
)
def test_one_principal_is_certain_only_where_the_log_is_whole(candidates, is_covered, certainty):
    assert certainty_of(candidates, is_covered=is_covered) == certainty


def test_a_later_log_makes_a_missing_change_certain():
    found = after(known(MISSING), ADMIN, is_covered=True)
    assert found.by == ChangedBy(ONE, (ADMIN,))


def test_a_candidate_of_an_earlier_log_stays():
    found = after(known(UNSURE, ALICE), ADMIN, is_covered=True)
    assert found.by == ChangedBy(SEVERAL, (ADMIN, ALICE))
    assert found.sources == ("new.log", "old.log")


def test_what_was_certain_stays_though_the_log_is_gone():
    (found,) = merged([CHANGE], known(ONE, ADMIN), [])
    assert found.by == ChangedBy(ONE, (ADMIN,))


def test_a_change_that_the_history_no_longer_has_goes():
    assert not [*merged([], known(ONE, ADMIN), [])]


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (ChangedBy(ONE, (ADMIN,)), "by User:admin from 10.0.0.9 (only candidate)"),
        (ChangedBy(SEVERAL, (ADMIN, ALICE)), "by User:admin or User:alice"),
        (
            ChangedBy(UNSURE, (ADMIN,)),
            "perhaps by User:admin from 10.0.0.9 (the log of that time may have gaps)",
        ),
        (ChangedBy(NONE), "by whom is not known: no request in the log"),
        (ChangedBy(MISSING), "by whom is not known: no log of that time"),
    ],
    ids=lambda value: value.certainty if isinstance(value, ChangedBy) else "",
)
def test_words_tell_how_sure_it_is(by, words):
    assert by.words == words
