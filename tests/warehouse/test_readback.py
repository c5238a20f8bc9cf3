"""Questions that a run asks of its own tables, by the engine that reads them where they lie."""

from __future__ import annotations

import pytest

from aclkit.warehouse.readback import read_written
from aclkit.warehouse.store import Store


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_value_stands_for_a_question_mark_on_a_local_disk_and_at_a_uri(spark, tmp_path, scheme):
    store = Store(spark, f"{scheme}{tmp_path}")
    store.append_rows("log_range", [("c", 0, 5, 1, "record"), ("c", 5, 9, None, "snapshot")])
    with read_written(store, "c", "log_range") as read:
        asked = "SELECT to_offset FROM log_range WHERE fact = ? AND epoch IN (?, ?)"
        assert read.rows(asked, "record", 1, 2) == [(5,)]
