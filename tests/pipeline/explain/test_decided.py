"""Who says whether ranges decide is told where an ACL's host may be one."""

from __future__ import annotations

import pytest

from aclkit.model.brokers import ranges_by_broker
from aclkit.model.semantics import KIP_1042
from aclkit.pipeline.explain.decided import notes_on_reading


@pytest.mark.parametrize(
    ("hosts", "told"),
    [((), 1), (("*", "10.0.0.1"), 1), (("*", "10.0.0.0/8"), 2), (("10.0.0.0/8",), 2)],
)
def test_ranges_are_told_of_where_any_host_may_be_one(hosts, told):
    notes = notes_on_reading(hosts, ranges_by_broker(()), KIP_1042, is_auto=False)
    assert len(list(notes)) == told
