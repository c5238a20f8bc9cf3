"""What Spark code of others imports: published tables, decisions on its own requests, a raw log.

All three use only what a client of Spark Connect has too. The workers import aclkit.
"""

from aclkit.spark.deciding import decide
from aclkit.spark.readable import register, tables

__all__ = ["decide", "register", "tables"]
