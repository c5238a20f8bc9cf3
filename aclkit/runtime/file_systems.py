"""URIs that a session is to open → whether its Spark knows their file systems, and what is missing.

Spark itself opens local disks and HDFS. For S3 aclkit brings the jars; for others it names them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from aclkit.errors import SurroundingsError
from aclkit.runtime.object_stores import STORES
from aclkit.runtime.s3_jars import HADOOP
from aclkit.runtime.uri import is_uri, split_scheme


def require_file_systems(session: SparkSession, uris: Iterable[str]) -> None:
    """Insist that a session can open URIs.

    Raises:
        SurroundingsError: it has no file system for one.
    """
    schemes = {split_scheme(uri)[0] for uri in uris if is_uri(uri)}
    context: Any = session.sparkContext  # whose JVM's names no type knows
    for scheme in sorted(schemes):
        file_system = context._jvm.org.apache.hadoop.fs.FileSystem
        try:
            file_system.getFileSystemClass(scheme, context._jsc.hadoopConfiguration())
        except Py4JError as error:
            raise SurroundingsError(_advice(scheme)) from error


def _advice(scheme: str) -> str:
    store = STORES.get(scheme)
    said = f"Spark cannot open {scheme}://"
    if store is None or scheme not in store.spark_schemes:
        return f"{said}. Expected s3, s3a, gs, abfss, hdfs or a folder."
    return (
        f"{said}. Pass --packages org.apache.hadoop:{store.connector}:{HADOOP} to spark-submit. "
        "For a Spark that aclkit starts, put the connector's jars into a folder and set "
        "SPARK_DIST_CLASSPATH='FOLDER/*'"
    )
