"""Entries of authorizer logs → rows of ``access_log``: each request is decided once, by Spark."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import astuple
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, cast

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined] # not in the stubs
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclkit.model.acl import Request
from aclkit.questions.usage.check import UNDETERMINED, UNREADABLE, Verdict, check
from aclkit.questions.usage.line import Statement
from aclkit.questions.usage.past import ClusterPast, Rulings, rulings_of
from aclkit.questions.usage.source import COLUMNS, REQUEST, STATEMENT
from aclkit.runtime.arrow import rows_of
from aclkit.warehouse.schemas import TABLES


def judge(entries: DataFrame, past: ClusterPast, cluster_id: str, skew: int) -> DataFrame:
    """Check entries against the past: one column, ``line``, with a row of ``access_log``.

    The lines of one request, whatever its host, come together, so that it is decided once for
    all of them.
    """
    payload = pickle.dumps(past, protocol=pickle.HIGHEST_PROTOCOL)
    ddl = TABLES["access_log"].ddl
    struct = pa.struct(to_arrow_schema(_struct_type(ddl), timezone="UTC"))

    @arrow_udf(f"struct<{ddl}>")  # type: ignore[untyped-decorator] # not in the stubs
    def judged(*columns: pa.Array) -> pa.Array:
        judge_row = _judging(payload, cluster_id, skew)
        found = zip(*map(judge_row, rows_of(columns)), strict=True)
        arrays = [pa.array(c, type=f.type) for c, f in zip(found, struct, strict=True)]
        return pa.StructArray.from_arrays(arrays, fields=list(struct))

    alike = [name for name in REQUEST if name != "host"]
    together = entries.repartition(*alike).sortWithinPartitions(*alike, "host")
    return together.select(judged(*COLUMNS).alias("line"))


def uses(requests: DataFrame, past: ClusterPast) -> DataFrame:
    """Return which grants could have allowed requests too: acl_id, and when last (``at``).

    Args:
        requests: the columns of a request, and ``at``, microseconds of its last ALLOWED line.
        past: the cluster's.
    """
    payload = pickle.dumps(past, protocol=pickle.HIGHEST_PROTOCOL)

    @arrow_udf("array<string>")  # type: ignore[untyped-decorator] # not in the stubs
    def granting(*columns: pa.Array) -> pa.Array:
        loaded = _load(payload)
        found = (loaded.granting(_request(own), at) for *own, at in rows_of(columns))
        ids = [[life.acl.acl_id for life in lives] for lives in found]
        return pa.array(ids, pa.list_(pa.string()))

    pairs = requests.select("at", F.explode(granting(*REQUEST, "at")).alias("acl_id"))
    return pairs.groupBy("acl_id").agg(F.max("at").alias("at"))


def collect_rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Collect a small frame; times come in UTC without a zone, whatever the driver's is."""
    return [tuple(map(_without_zone, row)) for row in rows_of(frame.toArrow().columns)]


def _without_zone(value: Any) -> Any:  # noqa: ANN401 -- whatever a table holds
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _struct_type(ddl: str) -> StructType:
    """Return the type of Spark's DDL; only the driver can read it."""
    return cast(StructType, StructType.fromDDL(ddl))


@lru_cache(maxsize=1)
def _judging(
    payload: bytes, cluster_id: str, skew: int
) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return what makes a row of ``access_log`` out of an entry."""
    past = _load(payload)

    @lru_cache(maxsize=_MOST_HOSTS)
    def rulings(request: Request) -> Rulings:
        return rulings_of(past, request)

    def judged(row: tuple[Any, ...]) -> tuple[Any, ...]:
        source, position, line_id, first, last, *said, problem, is_ambiguous, raw = row
        where = (cluster_id, line_id, source, position, first)
        if problem is not None:
            verdict = UNDETERMINED if is_ambiguous else UNREADABLE
            nothing = (None,) * (len(REQUEST) + _SAID)
            return (*where, *nothing, verdict, None, None, None, problem, raw)
        request = _request(said[: len(REQUEST)])
        own = dict(zip(STATEMENT, said[len(REQUEST) :], strict=True))
        statement = Statement(request=request, **own)
        found = check(statement, (first, last), past, rulings(past.representative(request)), skew)
        return (*where, *_judged_columns(statement, found), raw)

    return judged


def _judged_columns(statement: Statement, found: Verdict) -> tuple[Any, ...]:
    expected = found.held.ruling if found.held else None
    return (
        *astuple(statement.request),
        statement.request_name,
        statement.resource_ref_count,
        statement.decision,
        statement.rule,
        found.acl_id,
        found.verdict,
        expected.decision if expected else None,
        expected.rule if expected else None,
        expected.acl.acl_id if expected and expected.acl else None,
        found.reason,
    )


def _request(values: list[str]) -> Request:
    return Request(**dict(zip(REQUEST, values, strict=True)))


@lru_cache(maxsize=1)
def _load(payload: bytes) -> ClusterPast:
    past: ClusterPast = pickle.loads(payload)  # noqa: S301 -- this job pickled it itself
    return past


_MOST_HOSTS: Final = 64
"""Rulings that are kept: of one request from the hosts that ACLs name, and from any other."""
_SAID: Final = 5
"""Columns from ``request_name`` to ``deciding_acl_id``."""
