"""A tiny run, whose plans are walked, leaves the tables of one whose plans are compiled."""

from __future__ import annotations

import pytest

from aclkit.runtime.spark import _UNCOMPILED
from tests.cli.running import KRAFT, MATERIALIZED, REPLAYED, Warehouse
from tests.pipeline.explain.frames import COMPILED


@pytest.mark.slow
def test_walked_plans_and_compiled_ones_leave_the_same_tables(spark, tmp_path):
    tables = []
    for number, settings in enumerate((_UNCOMPILED, COMPILED)):
        for key, value in settings.items():
            spark.conf.set(key, value)
        warehouse = Warehouse(tmp_path / str(number))
        warehouse.replay(f"metadata-log:{KRAFT}", cluster="c")
        warehouse.run("materialize", "--super-users", "User:admin", "--dense", "always")
        tables.append(warehouse.tables((*REPLAYED, *MATERIALIZED)))
    assert _UNCOMPILED.keys() == COMPILED.keys()
    assert tables[0] == tables[1]
