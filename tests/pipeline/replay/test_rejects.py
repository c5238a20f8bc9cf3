"""Rejects on frames of a few rows: which stand, and what is mended."""

from __future__ import annotations

import pytest

from aclkit.pipeline.replay.conditions import Offsets, Origin
from tests.pipeline.replay.frames import must_be, reject, table


def stand(engine, known, incoming, reread, covered=()):
    rows = (table(engine, "acl_reject", each) for each in (known, incoming))
    return engine.stand_now(*rows, reread, covered)


def test_rejects_of_a_source_that_was_read_whole_are_those_it_has_now(engine):
    known = [reject("old", 4), reject("stays", 6), reject("other", 8, source="copy")]
    found = stand(engine, known, [reject("stays", 6), reject("new", 9)], ["log"])
    standing = [reject("stays", 6), reject("new", 9), reject("other", 8, source="copy")]
    must_be(found.standing, "acl_reject", standing)
    assert (found.has_changed, found.gone, sorted(found.left)) == (True, (4,), [6, 8, 9])


def test_rejects_of_a_source_that_was_not_read_whole_stand(engine):
    found = stand(engine, [reject("old", 4)], [reject("old", 4)], [])
    must_be(found.standing, "acl_reject", [reject("old", 4)])
    assert (found.has_changed, found.gone, found.left) == (False, (), ())


def test_a_reject_goes_where_another_source_has_read_its_offset_well(engine):
    known = [reject("well", 4), reject("badly", 5), reject("beyond", 9), reject("unplaced")]
    again = reject("still bad", 5, source="copy")
    found = stand(engine, known, [again], ["copy"], [(0, 9)])
    standing = [reject("badly", 5), reject("beyond", 9), reject("unplaced"), again]
    must_be(found.standing, "acl_reject", standing)
    assert (found.has_changed, found.gone, sorted(found.left)) == (True, (4,), [5, 9])


def test_a_reject_without_an_offset_that_is_gone_is_a_change_and_mends_nothing(engine):
    found = stand(engine, [reject("old")], [], ["log"])
    must_be(found.standing, "acl_reject", [])
    assert (found.has_changed, found.gone, found.left) == (True, (), ())


def test_a_new_reject_is_a_change(engine):
    assert stand(engine, [], [reject("new", 1)], ["log"]).has_changed


def test_rejects_are_picked_by_offsets_and_by_sources(engine):
    rows = [reject("a", 1), reject("b", 1), reject("c", 2), reject("d"), reject("e", 5)]
    known = table(engine, "acl_reject", rows)
    assert sorted(engine.offsets(engine.only(known, Offsets(0, 3)))) == [1, 2]
    assert engine.offsets(engine.without(known, Offsets(0, 3))) == [5]
    must_be(engine.without(known, Offsets(0, 3)), "acl_reject", rows[3:])


@pytest.mark.parametrize("source", ["/log", "/log/", "/log/0'.log"])
def test_a_folder_is_the_source_of_what_lies_in_it(engine, source):
    there = [reject("a", source="/log/0'.log")]
    others = [reject("b", source="/log2"), reject("c", source=None)]
    known = table(engine, "acl_reject", [*there, *others])
    must_be(engine.only(known, Origin(source)), "acl_reject", there)
    must_be(engine.without(known, Origin(source)), "acl_reject", others)


def test_rejects_are_alike_however_often_each_is_there(engine):
    one, two = table(engine, "acl_reject", [reject("a")] * 2), table(engine, "acl_reject", [])
    assert engine.are_alike(one, table(engine, "acl_reject", [reject("a")]))
    assert not engine.are_alike(one, two)
    assert not engine.are_alike(two, one)
