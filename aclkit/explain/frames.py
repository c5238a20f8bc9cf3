"""Small driver-side values → the DataFrames that the explain transforms join with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from aclkit.explain.rank import dense_rank, rank_hosts, rank_patterns, rank_principals
from aclkit.frame import local_frame
from aclkit.inventory.survey import Texts
from aclkit.model.enums import AclOperation
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.semantics import Semantics

PATTERN_DDL: Final = (
    "pattern_id INT, resource_type STRING, pattern_type STRING, resource_name STRING, "
    "pattern_rank INT, name_order INT"
)
COVER_DDL: Final = (
    "resource_type STRING, operation STRING, is_allow BOOLEAN, asked STRING, cover INT, "
    "operation_rank INT, operation_order INT"
)


def pattern_rows(texts: Texts, semantics: Semantics) -> list[tuple[int, str, str, str, int, int]]:
    """Number the patterns, rank them, and order their names by code point."""
    ranks = rank_patterns(texts.patterns, semantics)
    orders = dense_rank(texts.patterns, lambda pattern: pattern[2])
    return [(n, *p, ranks[p], orders[p]) for n, p in enumerate(texts.patterns)]


def principal_ranks(spark: SparkSession, texts: Texts, semantics: Semantics) -> DataFrame:
    """Return ACL principals with their rank and their place in code-point order."""
    ranks = rank_principals(texts.principals, semantics)
    orders = dense_rank(texts.principals, str)
    rows = [(text, rank, orders[text]) for text, rank in ranks.items()]
    return _frame(spark, rows, "principal STRING, principal_rank INT, principal_order INT")


def host_ranks(spark: SparkSession, texts: Texts, semantics: Semantics) -> DataFrame:
    """Return ACL hosts with their rank and their place in code-point order."""
    ranks = rank_hosts(texts.hosts, semantics)
    orders = dense_rank(texts.hosts, str)
    rows = [(text, rank, orders[text]) for text, rank in ranks.items()]
    return _frame(spark, rows, "host STRING, host_rank INT, host_order INT")


def covers(spark: SparkSession) -> DataFrame:
    """Return which operations each ACL operation answers, per resource type."""
    return _frame(spark, list(_covers()), COVER_DDL)


def operations(spark: SparkSession) -> DataFrame:
    """Return the operations of each resource type."""
    rows = [(kind, op) for kind, known in OPERATIONS_OF_TYPE.items() for op in known]
    return _frame(spark, rows, "resource_type STRING, operation STRING")


def _covers() -> Iterable[tuple[str, str, bool, str, int, int, int]]:
    orders = dense_rank(AclOperation.__members__, str)
    for resource_type, known in OPERATIONS_OF_TYPE.items():
        for acl_operation in AclOperation.__members__:
            for permission in ("ALLOW", "DENY"):
                for asked in known:
                    cover = coverage(acl_operation, permission, asked)
                    if cover is not None:
                        rank = AclOperation.ordinal(acl_operation)
                        is_allow = permission == "ALLOW"
                        order = orders[acl_operation]
                        yield resource_type, acl_operation, is_allow, asked, cover, rank, order


def _frame(spark: SparkSession, rows: Sequence[tuple[Any, ...]], ddl: str) -> DataFrame:
    return local_frame(spark, rows, ddl)
