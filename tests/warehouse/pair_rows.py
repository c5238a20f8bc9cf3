"""Rows of ``explain_pair`` for tests of its files."""

from __future__ import annotations

import pyarrow as pa

PAIR = ("cluster_id", "principal", "resource_type", "resource_name", "ruleset_id")
GREATEST = "\U0010ffff"


def pairs(*names, cluster="c", ruleset="r"):
    """Rows of ``explain_pair``, one for each resource."""
    rows = [(cluster, "User:a", "TOPIC", name, ruleset) for name in names]
    columns = zip(*rows, strict=True) if rows else [()] * len(PAIR)
    return pa.table(
        {n: pa.array(c, pa.string()) for n, c in zip(PAIR, map(list, columns), strict=True)}
    )


def as_dictionaries(table):
    return pa.table(
        {n: table.column(n).combine_chunks().dictionary_encode() for n in table.column_names}
    )
