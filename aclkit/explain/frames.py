"""Small driver-side values → the DataFrames that the explain transforms join with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from aclkit.explain.rank import dense_rank, rank_hosts, rank_patterns, rank_principals
from aclkit.frame import local_frame
from aclkit.inventory.survey import Texts
from aclkit.model.acl import ANY_OTHER
from aclkit.model.enums import AclOperation
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.semantics import Semantics

OPERATIONS: Final = max(map(len, OPERATIONS_OF_TYPE.values()))
"""How many operations a resource type knows at most."""

ANY_HOST_NO: Final = -1
"""The number of ``<any-other>`` among hosts."""


def patterns(spark: SparkSession, texts: Texts, semantics: Semantics) -> DataFrame:
    """Number the patterns, rank them, and order their names by code point."""
    ranks = rank_patterns(texts.patterns, semantics)
    orders = dense_rank(texts.patterns, lambda pattern: pattern[2])
    return local_frame(
        spark,
        [(n, *p, ranks[p], orders[p]) for n, p in enumerate(texts.patterns)],
        "pattern_id INT, resource_type STRING, pattern_type STRING, resource_name STRING, "
        "pattern_rank INT, name_order INT",
    )


def principals(spark: SparkSession, texts: Texts, semantics: Semantics) -> DataFrame:
    """Number the principals of ACLs, rank them, and order them by code point."""
    ranks = rank_principals(texts.principals, semantics)
    orders = dense_rank(texts.principals, str)
    return local_frame(
        spark,
        [(n, text, ranks[text], orders[text]) for n, text in enumerate(texts.principals)],
        "text_no INT, principal STRING, principal_rank INT, principal_order INT",
    )


def hosts(
    spark: SparkSession,
    texts: Texts,
    matches: Iterable[tuple[str, str]],
    numbers: Mapping[str, int],
    semantics: Semantics,
) -> DataFrame:
    """Return the hosts of ACLs with rank and order, a row for each host that they name.

    A text that matches every host names ``<any-other>`` alone; one that matches none has no row.
    """
    ranks = rank_hosts(texts.hosts, semantics)
    orders = dense_rank(texts.hosts, str)
    universal = {text for text, host in matches if host == ANY_OTHER}
    named = [(text, numbers[host]) for text, host in matches if text not in universal]
    return local_frame(
        spark,
        [
            (text, ranks[text], orders[text], number)
            for text, number in [*((text, ANY_HOST_NO) for text in sorted(universal)), *named]
        ],
        "host STRING, host_rank INT, host_order INT, host_no INT",
    )


def covers(spark: SparkSession) -> DataFrame:
    """Return which operations each ACL operation answers, per resource type."""
    return local_frame(
        spark,
        list(_covers()),
        "resource_type STRING, operation STRING, is_allow BOOLEAN, operation_no INT, cover INT, "
        "operation_rank INT, operation_order INT",
    )


def operations(spark: SparkSession) -> DataFrame:
    """Return the operations of each resource type, numbered within it."""
    return local_frame(
        spark,
        [(kind, n, op) for kind, known in OPERATIONS_OF_TYPE.items() for n, op in enumerate(known)],
        "resource_type STRING, operation_no INT, operation STRING",
    )


def numbered(spark: SparkSession, texts: Sequence[str], number: str, text: str) -> DataFrame:
    """Return texts with their place in the sequence."""
    return local_frame(spark, list(enumerate(texts)), f"{number} INT, {text} STRING")


def _covers() -> Iterable[tuple[str, str, bool, int, int, int, int]]:
    orders = dense_rank(AclOperation.__members__, str)
    for resource_type, known in OPERATIONS_OF_TYPE.items():
        for acl_operation in AclOperation.__members__:
            for permission in ("ALLOW", "DENY"):
                for number, asked in enumerate(known):
                    cover = coverage(acl_operation, permission, asked)
                    if cover is not None:
                        rank = AclOperation.ordinal(acl_operation)
                        is_allow = permission == "ALLOW"
                        order = orders[acl_operation]
                        yield resource_type, acl_operation, is_allow, number, cover, rank, order
