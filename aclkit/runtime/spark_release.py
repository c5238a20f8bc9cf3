"""The Spark that is installed → its release, the jars that are right for it, what it brings along.

Nothing here starts a JVM.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version

from aclkit.errors import SurroundingsError
from aclkit.runtime.jars import DELTA_OF, DELTA_VERSION, HADOOP, S3, Jars, spark_home


def spark_release() -> str:
    """Return the release of the Spark that would start here: ``4.2`` of 4.2.0.

    It is that of Spark's own jars, because ``SPARK_HOME`` need not be the installed pyspark.

    Raises:
        SurroundingsError: there is none.
    """
    return release_of(_version_of("spark-core_2.13") or version("pyspark"))


def release_of(spark: str) -> str:
    """Return the release of a version of Spark.

    >>> release_of("4.2.0")
    '4.2'
    """
    return ".".join(spark.split(".")[:2])


def delta_jars() -> Jars:
    """Return Delta's jars for the installed Spark.

    Raises:
        SurroundingsError: aclkit knows none for it.
    """
    spark = spark_release()
    if spark not in DELTA_OF:
        raise SurroundingsError(
            f"aclkit has no jars of Delta {DELTA_VERSION} for Spark {spark}. "
            f"Install pyspark {' or '.join(DELTA_OF)}."
        )
    return DELTA_OF[spark]


def s3_jars() -> Jars:
    """Return the jars by which the installed Spark opens S3.

    Raises:
        SurroundingsError: aclkit knows none for its Hadoop.
    """
    hadoop = hadoop_version()
    if hadoop != HADOOP:
        raise SurroundingsError(
            f"aclkit has jars for S3 of Hadoop {HADOOP} (Spark 4.2), and this Spark has Hadoop "
            f"{hadoop}. Install pyspark 4.2, or pass --packages "
            f"org.apache.hadoop:hadoop-aws:{hadoop} to spark-submit."
        )
    return S3


def hadoop_version() -> str:
    """Return the version of Hadoop's client in Spark; VERSION if that is not seen."""
    return _version_of("hadoop-client-api") or "VERSION"


def own_delta(env: Mapping[str, str] = os.environ) -> str | None:
    """Name the Delta that a platform brings along with its Spark, so that no other is loaded.

    Returns:
        None where Spark has none of its own.
    """
    if runtime := env.get("DATABRICKS_RUNTIME_VERSION"):
        return f"Databricks Runtime {runtime}"
    return next((jar.name for jar in (spark_home() / "jars").glob("*delta-spark*.jar")), None)


def _version_of(artifact: str) -> str | None:
    """Return the version of one of Spark's own jars, None if it is not there."""
    jars = sorted((spark_home() / "jars").glob(f"{artifact}-*.jar"))
    return jars[0].stem.removeprefix(f"{artifact}-") if jars else None
