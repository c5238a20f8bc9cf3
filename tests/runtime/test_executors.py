"""What a cluster has for tasks, by its settings."""

from __future__ import annotations

import pytest

from aclkit.runtime.executors import bytes_of_task

MIB = 1 << 20


@pytest.mark.parametrize(
    ("settings", "mebibytes"),
    [
        ({}, 384),
        ({"spark.executor.memory": "8g"}, 819),
        ({"spark.executor.memory": "8g", "spark.executor.cores": "4"}, 204),
        ({"spark.executor.memoryOverhead": "2g", "spark.executor.cores": "4"}, 512),
        ({"spark.executor.memoryOverhead": "1024"}, 1024),
        ({"spark.executor.memory": "10g", "spark.executor.memoryOverheadFactor": "0.4"}, 4096),
        ({"spark.executor.pyspark.memory": "3g", "spark.executor.memoryOverhead": "1g"}, 3072),
    ],
)
def test_python_in_a_task_has_its_share_of_what_lies_outside_the_heap(settings, mebibytes):
    assert bytes_of_task(settings) // MIB == mebibytes
