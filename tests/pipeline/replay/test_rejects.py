"""Rejects on frames of a few rows: which stand, and what is mended."""

from __future__ import annotations

from pyspark.sql import functions as F

from aclkit.model.facts import ADD_ACL, FACT, REJECT, SourceRow
from aclkit.pipeline.replay.rejects import listing_rejects, mended_offsets, stand_now
from tests.pipeline.replay.frames import must_be, reject, table


def stand(spark, known, incoming, reread, covered=()):
    rows = (table(spark, "acl_reject", each) for each in (known, incoming))
    return stand_now(*rows, reread, covered)


def test_rejects_of_a_source_that_was_read_whole_are_those_it_has_now(spark):
    known = [reject("old", 4), reject("stays", 6), reject("other", 8, source="copy")]
    found = stand(spark, known, [reject("stays", 6), reject("new", 9)], ["log"])
    standing = [reject("stays", 6), reject("new", 9), reject("other", 8, source="copy")]
    must_be(found.standing, "acl_reject", standing)
    assert (found.has_changed, found.gone, sorted(found.left)) == (True, (4,), [6, 8, 9])


def test_rejects_of_a_source_that_was_not_read_whole_stand(spark):
    found = stand(spark, [reject("old", 4)], [reject("old", 4)], [])
    must_be(found.standing, "acl_reject", [reject("old", 4)])
    assert (found.has_changed, found.gone, found.left) == (False, (), ())


def test_a_reject_goes_where_another_source_has_read_its_offset_well(spark):
    known = [reject("well", 4), reject("badly", 5), reject("beyond", 9), reject("unplaced")]
    again = reject("still bad", 5, source="copy")
    found = stand(spark, known, [again], ["copy"], [(0, 9)])
    standing = [reject("badly", 5), reject("beyond", 9), reject("unplaced"), again]
    must_be(found.standing, "acl_reject", standing)
    assert (found.has_changed, found.gone, sorted(found.left)) == (True, (4,), [5, 9])


def test_a_reject_without_an_offset_that_is_gone_is_a_change_and_mends_nothing(spark):
    found = stand(spark, [reject("old")], [], ["log"])
    must_be(found.standing, "acl_reject", [])
    assert (found.has_changed, found.gone, found.left) == (True, (), ())


def test_a_new_reject_is_a_change(spark):
    assert stand(spark, [], [reject("new", 1)], ["log"]).has_changed


def test_mended_are_the_offsets_of_the_rejects_that_go(spark):
    rows = [reject("a", 1), reject("b", 1), reject("c", 2), reject("d"), reject("e", 5)]
    gone, left = mended_offsets(table(spark, "acl_reject", rows), F.col("log_offset") < 3)
    assert (sorted(gone), left) == ([1, 2], [5])


def test_the_rejects_of_a_listing_are_rows_of_a_source(spark):
    bad = SourceRow(kind=REJECT, source="list", position=3, reason="why", raw="x", digest="d")
    good = SourceRow(kind=FACT, source="list", record_type=ADD_ACL)
    named = {"source": "list", "position": 3, "raw": "x", "digest": "d"}
    must_be(listing_rejects(spark, [bad, good], "c"), "acl_reject", [reject("why", **named)])
