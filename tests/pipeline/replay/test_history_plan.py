"""The way through a log is planned without its holes, and what is left out is told."""

from __future__ import annotations

import pytest

from aclkit.model.facts import RECORD
from aclkit.pipeline.replay.history_plan import notes_on, plan_history
from aclkit.pipeline.replay.spans import Range

WITH_A_HOLE = [Range(0, 4, 1, RECORD), Range(6, 9, 1, RECORD)]


def test_history_ends_before_a_hole_unless_holes_are_accepted():
    ends = [
        max(
            stretch.to_offset
            for stretch in plan_history(WITH_A_HOLE, (), **how).itinerary.stretches
        )
        for how in ({}, {"accept_holes": False}, {"accept_holes": True})
    ]
    assert ends == [4, 4, 9]


@pytest.mark.parametrize(("high_watermark", "is_told"), [(None, True), (0, False), (9, False)])
def test_that_all_counts_as_committed_is_told_where_no_high_watermark_says_what_is(
    high_watermark, is_told
):
    plan = plan_history([Range(0, 9, 1, RECORD)], (), high_watermark=high_watermark)
    notes = list(notes_on(plan, high_watermark))
    assert any("No --high-watermark given" in note for note in notes) is is_told
