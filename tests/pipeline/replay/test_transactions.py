"""Transaction records: which spans take effect."""

from __future__ import annotations

from aclkit.pipeline.replay.transactions import Marker, Span, find_spans

BEGIN, END, ABORT = (
    "BEGIN_TRANSACTION_RECORD",
    "END_TRANSACTION_RECORD",
    "ABORT_TRANSACTION_RECORD",
)


def test_end_commits_and_abort_does_not():
    markers = [Marker(1, BEGIN), Marker(4, END), Marker(5, BEGIN), Marker(9, ABORT)]
    assert find_spans(markers, 20) == ([Span(1, 4, "committed"), Span(5, 9, "aborted")], [])


def test_a_transaction_open_at_the_end_has_no_effect_yet():
    assert find_spans([Marker(3, BEGIN)], 20) == ([Span(3, 20, "open")], [])


def test_a_nested_begin_is_skipped():
    spans, faults = find_spans([Marker(1, BEGIN), Marker(2, BEGIN), Marker(3, END)], 20)
    assert spans == [Span(1, 3, "committed")]
    assert [fault.log_offset for fault in faults] == [2]


def test_an_end_without_begin_is_skipped():
    spans, faults = find_spans([Marker(2, END), Marker(3, ABORT)], 20)
    assert spans == []
    assert [fault.log_offset for fault in faults] == [2, 3]
