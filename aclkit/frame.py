"""Rows that the driver holds → a DataFrame that Spark plans as a local relation.

Through Arrow, and not by ``parallelize``: the rows travel once, as columns, and a join with them
needs no job of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType


def local_frame(
    spark: SparkSession, rows: Sequence[Sequence[Any]], schema: StructType | str
) -> DataFrame:
    """Make a DataFrame of driver-side rows; times are UTC."""
    struct = schema
    if isinstance(struct, str):
        struct = cast(StructType, StructType.fromDDL(struct))
    arrow = to_arrow_schema(struct, timezone="UTC")
    columns = list(zip(*rows, strict=True)) or [()] * len(arrow)
    arrays = [pa.array(list(c), type=f.type) for c, f in zip(columns, arrow, strict=True)]
    return spark.createDataFrame(pa.Table.from_arrays(arrays, schema=arrow), schema=struct)
