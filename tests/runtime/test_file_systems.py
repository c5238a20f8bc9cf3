"""What a session can open, and what is said where it cannot."""

from __future__ import annotations

import pytest

from aclkit.errors import SurroundingsError
from aclkit.runtime.spark import require_file_systems


@pytest.mark.parametrize(
    ("uri", "connector"),
    [
        ("gs://bucket/w", "org.apache.hadoop:hadoop-gcp:3.5.0"),
        (
            "abfss://container@account.dfs.core.windows.net/w",
            "org.apache.hadoop:hadoop-azure:3.5.0",
        ),
        ("s3a://bucket/w", "org.apache.hadoop:hadoop-aws:3.5.0"),
    ],
)
def test_the_error_of_a_missing_connector_names_it_and_the_way_to_give_it(spark, uri, connector):
    with pytest.raises(SurroundingsError) as missing:
        require_file_systems(spark, ["/data/w", uri])
    scheme = uri.partition(":")[0]
    assert str(missing.value).startswith(f"Spark cannot open {scheme}://. Pass ")
    assert f"--packages {connector}" in str(missing.value)
    assert "SPARK_DIST_CLASSPATH='FOLDER/*'" in str(missing.value)


def test_a_scheme_of_nobody_is_told_by_those_that_are(spark):
    with pytest.raises(
        SurroundingsError, match=r"open nope://\. Expected s3, s3a, gs, abfss, hdfs"
    ):
        require_file_systems(spark, ["nope://x"])


def test_folders_and_their_uris_are_opened_by_spark_itself(spark):
    require_file_systems(spark, ["/data/w", "file:///data/w", "hdfs://host/w"])
