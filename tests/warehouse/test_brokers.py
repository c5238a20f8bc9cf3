"""Which metadata.version is in force: as the log finalized it, else as a live cluster told it."""

from __future__ import annotations

import json

import pytest

from aclkit.kafka.authorizer.warehouse import WarehouseSource
from aclkit.warehouse.acls_in_force import level_in_force
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.questions.query import small_warehouse as small


@pytest.mark.parametrize(
    ("logged", "told", "level"), [(33, 29, 33), (33, None, 33), (None, 29, 29), (None, None, None)]
)
def test_the_log_goes_before_what_a_live_cluster_told(tmp_path, logged, told, level):
    path = tmp_path / "warehouse"
    versions = small.build(path)
    if logged is not None:
        versions["broker"] = small.write_brokers(path, logged)
    said = {"brokers": {}, "metadata_version": told} if told is not None else {}
    small.publish(path, versions, run_number=2, job="replay", settings=json.dumps(said))
    published = open_warehouse(str(path))
    with connect(published) as connection:
        assert level_in_force(connection, published, small.CLUSTER) == level
        assert level_in_force(connection, published, "another") is None
    assert WarehouseSource(str(path)).load().level == level
