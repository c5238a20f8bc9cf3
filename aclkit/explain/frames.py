"""Small driver-side values → the DataFrames that the explain transforms join with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from aclkit.explain.rank import rank_hosts, rank_patterns, rank_principals
from aclkit.frame import local_frame
from aclkit.inventory.survey import Texts
from aclkit.model.enums import AclOperation
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.semantics import Semantics

PATTERN_DDL: Final = (
    "pattern_id INT, resource_type STRING, pattern_type STRING, resource_name STRING, "
    "pattern_rank INT"
)
COVER_DDL: Final = (
    "resource_type STRING, operation STRING, is_allow BOOLEAN, asked STRING, cover INT, "
    "operation_rank INT"
)


def pattern_rows(texts: Texts, semantics: Semantics) -> list[tuple[int, str, str, str, int]]:
    """Number the patterns and rank them."""
    ranks = rank_patterns(texts.patterns, semantics)
    return [(n, *pattern, ranks[pattern]) for n, pattern in enumerate(texts.patterns)]


def principal_ranks(spark: SparkSession, texts: Texts, semantics: Semantics) -> DataFrame:
    """Return ACL principals with their rank."""
    ranks = rank_principals(texts.principals, semantics)
    return _frame(spark, list(ranks.items()), "principal STRING, principal_rank INT")


def host_ranks(spark: SparkSession, texts: Texts, semantics: Semantics) -> DataFrame:
    """Return ACL hosts with their rank."""
    ranks = rank_hosts(texts.hosts, semantics)
    return _frame(spark, list(ranks.items()), "host STRING, host_rank INT")


def covers(spark: SparkSession) -> DataFrame:
    """Return which operations each ACL operation answers, per resource type."""
    return _frame(spark, list(_covers()), COVER_DDL)


def operations(spark: SparkSession) -> DataFrame:
    """Return the operations of each resource type."""
    rows = [(kind, op) for kind, known in OPERATIONS_OF_TYPE.items() for op in known]
    return _frame(spark, rows, "resource_type STRING, operation STRING")


def _covers() -> Iterable[tuple[str, str, bool, str, int, int]]:
    for resource_type, known in OPERATIONS_OF_TYPE.items():
        for acl_operation in AclOperation.__members__:
            for permission in ("ALLOW", "DENY"):
                for asked in known:
                    cover = coverage(acl_operation, permission, asked)
                    if cover is not None:
                        rank = AclOperation.ordinal(acl_operation)
                        is_allow = permission == "ALLOW"
                        yield resource_type, acl_operation, is_allow, asked, cover, rank


def _frame(spark: SparkSession, rows: Sequence[tuple[Any, ...]], ddl: str) -> DataFrame:
    return local_frame(spark, rows, ddl)
