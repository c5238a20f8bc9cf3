"""A DataFrame of requests and ACLs → each request with its decision, its rule and the deciding ACL.

The plan has no exchange: the ACLs, indexed, travel once to each worker, and an Arrow UDF decides
batches of requests where they are. Within a worker the distinct names are looked up once each.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, cast

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined] # not in the stubs
from pyspark.sql.types import StringType, StructField, StructType

from aclkit.errors import UsageError
from aclkit.model.acl import Acl
from aclkit.model.moment import parse_moment
from aclkit.model.semantics import AskedReading, BrokerSettings, Semantics, read_as
from aclkit.questions.preview.read import read_moment
from aclkit.rules.decide.many import ASKED, RULED, ManyRequests
from aclkit.runtime.arrow import rows_of
from aclkit.warehouse.codecs import ACL_COLUMNS, acl_of

log = logging.getLogger(__name__)

_OURS: Final = "aclkit_ruling"


def decide(
    requests: DataFrame,
    warehouse: str | None = None,
    *,
    cluster: str | None = None,
    at: int | datetime | str | None = None,
    acls: DataFrame | None = None,
    super_users: Collection[str] | None = None,
    allow_everyone: bool | None = None,
    semantics: str | None = None,
    prefix: str = "",
) -> DataFrame:
    """Return requests with ``decision``, ``rule`` and ``deciding_acl_id``, as ``explain`` has them.

    A request is a concrete one: principal ``User:alice``, host as a broker writes it
    (``10.0.0.1``, ``0:0:0:0:0:0:0:1``), operation and resource type in Kafka's words. Names that
    no inventory has are decided as any other. Where one of the five columns is null, or Kafka
    knows no such operation or type, all three are null: that is no request.

    Args:
        requests: with the columns principal, host, operation, resource_type and resource_name, and
            any others; a stream too.
        warehouse: decide by its ACLs, settings and reading, those of the published decisions.
        cluster: its id; None where the warehouse has one only.
        at: decide as of this offset or time of the log, not as of the published decisions.
        acls: decide by the rows of this frame, with the columns of ``acl_current``, ids unlike;
            they are collected.
        super_users: in place of the warehouse's; of a frame none by default.
        allow_everyone: the same; of a frame false by default.
        semantics: how ACLs are read where that is not as the warehouse does, in the words of
            ``--semantics``: ``kafka,4.4``. Of a frame as Kafka does, or by KIP-1042 if it has a
            GLOB.
        prefix: stands before the names of the three columns.

    Raises:
        UsageError: not one of warehouse and acls was given, a column is missing or there already,
            or the warehouse does not know what held then.
        DataError: two ACLs of a frame have the same id.
    """
    if (warehouse is None) == (acls is None):
        raise UsageError("Pass a warehouse, or a frame of ACLs: one of them.")
    _require_texts(requests, ASKED)
    made = [f"{prefix}{field.name}" for field in RULED]
    if taken := sorted({*made} & {*requests.columns}):
        raise UsageError(f"The requests have {', '.join(taken)} already. Pass a prefix.")
    if acls is not None:
        known, settings, read = _of_frame(acls)
    else:
        known, settings, read = _of_warehouse(warehouse, cluster, at)
    if super_users is not None:
        settings = replace(settings, super_users=frozenset(super_users))
    if allow_everyone is not None:
        settings = replace(settings, allow_everyone=allow_everyone)
    if semantics is not None:
        read = read_as(semantics, read)
    decided = requests.select(
        "*", _ruling(ManyRequests(known, settings, read))(*ASKED).alias(_OURS)
    )
    ruled = [F.col(f"{_OURS}.{field.name}").alias(f"{prefix}{field.name}") for field in RULED]
    return decided.select("*", *ruled).drop(_OURS)


_Held = tuple[Collection[Acl], BrokerSettings, Semantics]


def _of_warehouse(
    warehouse: str | None, cluster: str | None, at: int | datetime | str | None
) -> _Held:
    held = read_moment(warehouse, cluster, parse_moment(at) if isinstance(at, str) else at)
    for note in held.notes:
        log.warning("%s", note)
    return held.acls, held.settings, held.semantics


def _of_frame(acls: DataFrame) -> _Held:
    _require_texts(acls, ACL_COLUMNS)
    rows = acls.select(*ACL_COLUMNS).toArrow()
    if nulls := [name for name in ACL_COLUMNS if rows[name].null_count]:
        raise UsageError(f"Expected ACLs without null, found one in {', '.join(nulls)}")
    known = [acl_of(row) for row in rows_of(rows.columns)]
    has_glob = any(acl.pattern_type == "GLOB" for acl in known)
    return known, BrokerSettings(), AskedReading().taken(has_glob=has_glob)


def _require_texts(frame: DataFrame, names: Collection[str]) -> None:
    texts = [field.name for field in frame.schema if isinstance(field.dataType, StringType)]
    if lacking := [name for name in names if texts.count(name) != 1]:
        raise UsageError(f"Expected text columns {', '.join(names)}; missing: {', '.join(lacking)}")


def _ruling(judge: ManyRequests) -> Callable[..., Column]:
    """Return the function of the columns of a request that gives its ruling."""
    payload = pickle.dumps(judge, protocol=pickle.HIGHEST_PROTOCOL)

    @arrow_udf(StructType([StructField(field.name, StringType()) for field in RULED]))  # type: ignore[untyped-decorator] # not in the stubs
    def ruling(
        principal: pa.Array,
        host: pa.Array,
        operation: pa.Array,
        resource_type: pa.Array,
        resource_name: pa.Array,
    ) -> pa.Array:
        return _load(payload).decide([principal, host, operation, resource_type, resource_name])

    # Else Spark decides twice where rulings are filtered: below the filter, and above it again.
    once: Callable[..., Column] = cast(Any, ruling).asNondeterministic()
    return once


@lru_cache(maxsize=2)
def _load(payload: bytes) -> ManyRequests:
    judge: ManyRequests = pickle.loads(payload)  # noqa: S301 -- the driver pickled it itself
    return judge
