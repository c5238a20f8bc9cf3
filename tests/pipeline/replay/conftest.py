"""Both engines of a replay: what holds for one holds for the other."""

from __future__ import annotations

import pytest

from aclkit.pipeline.replay.on_duckdb import OnDuckdb

SPARK = pytest.param("spark", marks=(pytest.mark.spark, pytest.mark.xdist_group("spark")))


@pytest.fixture(params=["duckdb", SPARK])
def engine(request):
    """An engine for the cluster c."""
    if request.param == "duckdb":
        yield OnDuckdb("c")
        return
    # Here, because the other engine must do without pyspark.
    from aclkit.pipeline.replay.on_spark import OnSpark
    from aclkit.runtime.frame import Steps

    with Steps() as steps:
        yield OnSpark(request.getfixturevalue("spark"), "c", steps)
