"""The dense table: one of several clusters writes it, and it holds the rows of all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.pipeline.explain.decided import take_inventory
from aclkit.pipeline.explain.materialize import materialize
from aclkit.warehouse.frames import TableFrames
from aclkit.warehouse.run import begin_run, publish
from tests.pipeline.explain.test_against_rules import GIVEN, random_acls, write_acls
from tests.pipeline.explain.test_nights import options


@pytest.mark.slow
def test_a_dense_table_holds_the_clusters_that_were_decided_without_one(spark, tmp_path):
    few = {kind: entries[:2] for kind, entries in GIVEN.items()}
    expected = {}
    for cluster, dense in (("b", "never"), ("a", "always")):
        with begin_run(spark, str(tmp_path), "materialize", lock_timeout=0) as run:
            run.cluster_id = cluster
            write_acls(run, random_acls(1))
            asked = replace(options(few), dense=dense)
            scope = take_inventory(run, asked)
            expected[cluster] = materialize(run, scope, asked).rows
            publish(run)
            rows = TableFrames(run.store).read("explain").groupBy("cluster_id").count().collect()
    assert dict(rows) == expected
