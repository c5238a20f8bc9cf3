"""Small driver-side values → the DataFrames that the explain transforms join with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE, every_cover
from aclkit.model.semantics import Semantics
from aclkit.pipeline.explain.rank import OF_OPERATION, OF_PATTERN, rank_columns, rank_patterns
from aclkit.pipeline.inventory.survey import Texts
from aclkit.rules.decide.order import PATTERN
from aclkit.runtime.frame import side_frame

OPERATIONS: Final = max(map(len, OPERATIONS_OF_TYPE.values()))
"""How many operations a resource type knows at most."""

ANY_HOST_NO: Final = -1
"""The number of ``<any-other>`` among hosts."""


def patterns(spark: SparkSession, texts: Texts, semantics: Semantics) -> DataFrame:
    """Number the patterns, with their rank and those of their texts.

    ``acls_before``: how many ACLs there are whose pattern has a smaller rank.
    """
    of_pattern = rank_patterns(texts.patterns, semantics)
    counts = Counter[int]()
    for pattern, count in zip(texts.patterns, texts.counts, strict=True):
        counts[of_pattern[pattern]] += count
    before = list(accumulate((counts[rank] for rank in range(len(counts))), initial=0))
    ranks = {OF_PATTERN: of_pattern}
    ranks |= rank_columns(texts.patterns, PATTERN, lambda pattern: pattern[1:], semantics)
    return side_frame(
        spark,
        [
            (n, *p, *(of[p] for of in ranks.values()), before[of_pattern[p]])
            for n, p in enumerate(texts.patterns)
        ],
        "pattern_id INT, resource_type STRING, pattern_type STRING, resource_name STRING, "
        + _integers([*ranks, "acls_before"]),
    )


def identities(
    spark: SparkSession, texts: Sequence[str], number: str, field: str, semantics: Semantics
) -> DataFrame:
    """Number the principals, or the hosts, of ACLs, with their ranks.

    ``number`` and ``field`` are the columns of a text's number and of the text.
    """
    ranks = rank_columns(texts, (field,), lambda text: (text,), semantics)
    rows = [(n, text, *(of[text] for of in ranks.values())) for n, text in enumerate(texts)]
    return side_frame(spark, rows, f"{number} INT, {field} STRING, {_integers(ranks)}")


def texts_of_acls(
    spark: SparkSession, texts: Texts, semantics: Semantics
) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Return the patterns, principals and hosts of ACLs, numbered and ranked."""
    return (
        patterns(spark, texts, semantics),
        identities(spark, texts.principals, "text_no", "principal", semantics),
        identities(spark, texts.hosts, "acl_host_no", "host", semantics),
    )


def named_hosts(
    spark: SparkSession,
    texts: Texts,
    matches: Iterable[tuple[str, str]],
    numbers: Mapping[str, int],
) -> DataFrame:
    """Return a row for each host that a host of ACLs names.

    A text that matches every host names ``<any-other>`` alone; one that matches none has no row.
    """
    text_no = {text: number for number, text in enumerate(texts.hosts)}
    universal = {text for text, host in matches if host == ANY_OTHER}
    named = [(text_no[text], numbers[host]) for text, host in matches if text not in universal]
    of_all = [(text_no[text], ANY_HOST_NO) for text in sorted(universal)]
    return side_frame(spark, [*of_all, *named], "acl_host_no INT, host_no INT")


def covers(spark: SparkSession, semantics: Semantics) -> DataFrame:
    """Return what each ACL operation answers, per resource type.

    ``answers``: for each operation that may be asked for the rank of the answer, or null.
    """
    items = list(every_cover())
    ranks = rank_columns(
        items,
        ("operation", "permission_type"),
        lambda cover: (cover.operation, cover.permission_type),
        semantics,
        operation=lambda cover: cover.asked,
    )[OF_OPERATION]
    answers: dict[tuple[str, str, bool], list[int | None]] = {}
    for c in items:
        key = (c.resource_type, c.operation, c.permission_type == "ALLOW")
        number = OPERATIONS_OF_TYPE[c.resource_type].index(c.asked)
        answers.setdefault(key, [None] * OPERATIONS)[number] = ranks[c]
    return side_frame(
        spark,
        [(*key, found) for key, found in answers.items()],
        "resource_type STRING, operation STRING, is_allow BOOLEAN, answers ARRAY<INT>",
    )


def operations(spark: SparkSession) -> DataFrame:
    """Return the operations of each resource type, numbered within it."""
    return side_frame(
        spark,
        [(kind, n, op) for kind, known in OPERATIONS_OF_TYPE.items() for n, op in enumerate(known)],
        "resource_type STRING, operation_no INT, operation STRING",
    )


def numbered(spark: SparkSession, texts: Sequence[str], number: str, text: str) -> DataFrame:
    """Return texts with their place in the sequence."""
    return side_frame(spark, list(enumerate(texts)), f"{number} INT, {text} STRING")


def _integers(columns: Iterable[str]) -> str:
    return ", ".join(f"{name} INT" for name in columns)
