"""What Spark code of others imports: published tables, decisions on its own requests, a raw log.

All three use only what a client of Spark Connect has too. The workers import aclkit.
"""

from aclkit.spark.deciding import decide
from aclkit.spark.metadata_log import register
from aclkit.spark.published_tables import tables

__all__ = ["decide", "register", "tables"]
