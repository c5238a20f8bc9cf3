"""The Arrow UDF: the index's answer for every row."""

from __future__ import annotations

from aclkit.model.semantics import KIP_1042
from aclkit.rules.patterns.columns import with_matched_patterns
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.runtime.frame import local_frame

PATTERNS = [
    (0, "TOPIC", "LITERAL", "*"),
    (1, "TOPIC", "PREFIXED", "pay-"),
    (2, "TOPIC", "GLOB", "*-in?"),
    (3, "GROUP", "LITERAL", "pay-in1"),
]


def test_every_name_gets_the_ids_of_all_patterns_that_match_it(spark):
    names = [
        ("TOPIC", "pay-in1"),
        ("TOPIC", "x"),
        ("GROUP", "pay-in1"),
        ("USER", "x"),
        ("TOPIC", None),
    ]
    frame = local_frame(spark, names, "resource_type STRING, resource_name STRING")
    matched = with_matched_patterns(frame, PatternIndex.build(PATTERNS, KIP_1042))
    assert matched.columns == ["resource_type", "resource_name", "pattern_ids"]
    expected = [[0, 1, 2], [0], [3], [], None]
    assert sorted(map(tuple, matched.collect()), key=repr) == sorted(
        ((*name, ids) for name, ids in zip(names, expected, strict=True)), key=repr
    )


def test_a_broadcast_index_answers_like_the_index_itself(spark):
    rows = [(at, "TOPIC", "GLOB", f"team-{at}-*-{at % 97}") for at in range(20_000)]
    index = PatternIndex.build(rows, KIP_1042)
    names = [f"team-{at}-orders-{at % 97}" for at in range(0, 20_000, 40)]
    frame = local_frame(
        spark, [("TOPIC", name) for name in names], "resource_type STRING, resource_name STRING"
    )
    matched = with_matched_patterns(frame, index).collect()
    assert {row.resource_name: row.pattern_ids for row in matched} == {
        name: index.matches("TOPIC", name) for name in names
    }
