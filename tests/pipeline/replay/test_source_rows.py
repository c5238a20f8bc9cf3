"""Which items of a source are read again: those that may hold anything that is not known."""

from __future__ import annotations

import pytest

from aclkit.pipeline.replay.ranges import Range
from aclkit.pipeline.replay.source_rows import news_filter
from aclkit.pipeline.sources.items import WorkItem

READ_BEFORE = [Range(0, 100, 1, "record")]


@pytest.mark.parametrize(
    ("end", "head", "has_brokers", "is_news"),
    [
        pytest.param(50, 100, True, False, id="the-log-leads-past-it"),
        pytest.param(120, 100, True, True, id="it-is-newer-than-all"),
        pytest.param(50, 40, True, True, id="history-was-not-computed-so-far"),
        pytest.param(50, None, True, True, id="no-history-was-computed"),
        pytest.param(50, 100, False, True, id="an-older-aclkit-passed-over-its-brokers"),
        pytest.param(None, 100, True, True, id="it-is-no-older-snapshot"),
    ],
)
def test_an_older_snapshot_is_news_unless_all_it_says_is_known(end, head, has_brokers, is_news):
    item = WorkItem(kind="any", path="any", only_below=end)
    assert news_filter(READ_BEFORE, head, has_brokers=has_brokers)(item) is is_news
