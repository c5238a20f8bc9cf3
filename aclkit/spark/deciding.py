"""A DataFrame of requests and ACLs → each request with its decision, its rule and the deciding ACL.

The plan has no exchange: the ACLs, indexed, travel once to each worker, and an Arrow UDF decides
batches of requests where they are. Within a worker the distinct names are looked up once each.
Spark finds a column whatever its case, unless the session sets ``spark.sql.caseSensitive``.
"""

from __future__ import annotations

import logging
import os
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

from aclkit.errors import DataError, UsageError
from aclkit.model.acl import Acl
from aclkit.model.brokers import ranges_by_broker, require_known_reading
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.moment import parse_moment
from aclkit.model.semantics import AskedReading, BrokerSettings, Semantics, read_as
from aclkit.model.super_users import given_super_users
from aclkit.questions.read_state import Warehouse, read_state
from aclkit.rules.decide.many import ASKED, RULED, ManyRequests
from aclkit.runtime.arrow import rows_of
from aclkit.warehouse.codecs import ACL_COLUMNS, acl_of

log = logging.getLogger(__name__)

_Place = str | os.PathLike[str]
"""Folder or URI of a warehouse."""


def decide(
    requests: DataFrame,
    warehouse: _Place | None = None,
    *,
    cluster: str | None = None,
    at: int | datetime | str | None = None,
    acls: DataFrame | None = None,
    super_users: Collection[str] | str | None = None,
    allow_everyone: bool | None = None,
    semantics: str | None = None,
    prefix: str = "",
) -> DataFrame:
    """Return requests with ``decision``, ``rule`` and ``deciding_acl_id``, as ``explain`` has them.

    A request is a concrete one: principal ``User:alice``, host as a broker writes it
    (``10.0.0.1``, ``0:0:0:0:0:0:0:1``), operation and resource type in Kafka's words. Names that
    no inventory has are decided as any other. Where one of the five columns is null, or Kafka
    knows no such operation or type, all three are null: that is no request. So they are where a
    name is a symbol as ``<any-other>``, which stands for many names.

    Args:
        requests: with the columns principal, host, operation, resource_type and resource_name, and
            any others; a stream too.
        warehouse: decide by its ACLs, settings and reading, those of the published decisions.
        cluster: its id; None where the warehouse, or the frame of ACLs, has one only.
        at: decide as of this offset or time of the log, not as of the published decisions; a time
            without a zone is UTC.
        acls: decide by the rows of this frame, with the columns of ``acl_current``, ids unlike;
            they are collected.
        super_users: in place of the warehouse's; of a frame none by default. One text is read as
            ``super.users``, with ``;`` between several.
        allow_everyone: the same; of a frame false by default.
        semantics: how ACLs are read where that is not as the warehouse does, in the words of
            ``--semantics``: ``kafka,4.4``. Of a frame as Kafka does, or by KIP-1042 if it has a
            GLOB; where a host is a range, pass ``kafka,4.4`` or ``kafka,4.3``.
        prefix: stands before the names of the three columns.

    Raises:
        UsageError: not one of warehouse and acls was given, a column is missing or there already,
            or the warehouse does not know what held then.
        DataError: two ACLs of a frame have the same id, or one has null or a word that Kafka does
            not know, or a range as its host where it is unknown how brokers read it.
    """
    _require_one_kind(warehouse, acls, at, allow_everyone)
    require_texts(requests, ASKED)
    made = [f"{prefix}{field.name}" for field in RULED]
    if taken := [name for name in made if has_column(requests, name)]:
        raise UsageError(f"The requests have {', '.join(taken)} already. Pass a prefix.")
    if acls is None:
        known, settings, read = _of_warehouse(warehouse, cluster, at)
    else:
        known, settings, read = _of_frame(acls, cluster, is_read=semantics is not None)
    if super_users is not None:
        settings = replace(settings, super_users=_given(super_users))
    if allow_everyone is not None:
        settings = replace(settings, allow_everyone=allow_everyone)
    if semantics is not None:
        read = read_as(semantics, read)
    ours = free_name(requests, "aclkit_ruling")
    ruling = _ruling(ManyRequests(known, settings, read))(*ASKED)
    decided = requests.select("*", ruling.alias(ours))
    ruled = [F.col(f"{ours}.{field.name}").alias(f"{prefix}{field.name}") for field in RULED]
    return decided.select("*", *ruled).drop(ours)


def _require_one_kind(
    warehouse: _Place | None, acls: DataFrame | None, at: object, allow_everyone: object
) -> None:
    """Refuse what would be passed over in silence, or taken for something else."""
    if (warehouse is None) == (acls is None):
        raise UsageError("Pass a warehouse, or a frame of ACLs: one of them.")
    if acls is not None and at is not None:
        raise UsageError("A frame of ACLs has no past: pass at with a warehouse only.")
    if allow_everyone is not None and not isinstance(allow_everyone, bool):
        raise UsageError(f"Expected True or False as allow_everyone, found {allow_everyone!r}.")


_Held = tuple[Collection[Acl], BrokerSettings, Semantics]


def _of_warehouse(
    warehouse: _Place | None, cluster: str | None, at: int | datetime | str | None
) -> _Held:
    # Offsets of numpy and days are read as their text; True is no offset.
    moment = at if at is None or isinstance(at, datetime) else parse_moment(str(at))
    path = None if warehouse is None else os.fspath(warehouse)
    held = read_state(Warehouse(path, cluster), moment, with_names=False)
    for note in held.notes:
        log.warning("%s", note)
    return held.acls.values(), held.settings, held.semantics


def _of_frame(acls: DataFrame, cluster: str | None, *, is_read: bool) -> _Held:
    known = read_frame(acls, cluster)
    if not is_read:
        fix = "Pass semantics='kafka,4.4', or 'kafka,4.3' for older brokers."
        require_known_reading(ranges_by_broker(()), {acl.host for acl in known}, fix)
    has_glob = any(acl.pattern_type == "GLOB" for acl in known)
    return known, BrokerSettings(), AskedReading().taken(has_glob=has_glob)


def _given(super_users: Collection[str] | str) -> frozenset[str]:
    """Read super users: each on its own, or one text as Kafka's ``super.users`` has them."""
    texts = [super_users] if isinstance(super_users, str) else super_users
    return frozenset[str]().union(*(given_super_users(str(text)) for text in texts))


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


_CLUSTER: Final = "cluster_id"
_WORDS: Final = {
    "resource_type": ResourceType,
    "pattern_type": PatternType,
    "operation": AclOperation,
    "permission_type": AclPermissionType,
}


def read_frame(acls: DataFrame, cluster: str | None) -> list[Acl]:
    """Collect the ACLs of a frame.

    Args:
        acls: with the columns of ``acl_current``; ``cluster_id`` can be missing.
        cluster: whose rows to take, of a frame with several clusters.

    Raises:
        UsageError: a column is missing, or the rows are of several clusters.
        DataError: a row has null, or a word that is none of Kafka's: acted on, ``Deny`` or
            ``read`` would deny or allow what the real ACL does not.
    """
    require_texts(acls, ACL_COLUMNS)
    names = [*ACL_COLUMNS, _CLUSTER] if has_column(acls, _CLUSTER) else [*ACL_COLUMNS]
    if cluster is not None:
        if _CLUSTER not in names:
            raise UsageError(f"The ACLs have no column {_CLUSTER}. Leave cluster out.")
        acls = acls.where(F.col(_CLUSTER) == cluster)
    found = acls.select(*names).toArrow()
    if _CLUSTER in names and len(found.columns[-1].unique()) > 1:
        raise UsageError("The ACLs are of several clusters. Pass cluster, the id of one.")
    rows = found.columns[: len(ACL_COLUMNS)]
    for name, column in zip(ACL_COLUMNS, rows, strict=True):
        if column.null_count:
            raise DataError(f"Expected ACLs without null, found one in {name}")
    return [_sound(acl_of(row)) for row in rows_of(rows)]


def _sound(acl: Acl) -> Acl:
    for name, enum in _WORDS.items():
        word = getattr(acl, name)
        if not enum.is_word(word):
            raise DataError(f"ACL {acl.acl_id!r} has an unknown {name} {word[:40]!r}")
    return acl


def require_texts(frame: DataFrame, names: Collection[str]) -> None:
    """Insist that a frame has text columns.

    Raises:
        UsageError: one is missing, of another type, or there twice.
    """
    fold = _folding(frame)
    wrong = []
    for name in names:
        kinds = [field.dataType for field in frame.schema if fold(field.name) == fold(name)]
        if not kinds:
            wrong.append(f"missing: {name}")
        elif len(kinds) > 1:
            wrong.append(f"more than once: {name}")
        elif not isinstance(kinds[0], StringType):
            wrong.append(f"{name} is {kinds[0].simpleString()}")
    if wrong:
        raise UsageError(f"Expected text columns {', '.join(names)}; {', '.join(wrong)}")


def has_column(frame: DataFrame, name: str) -> bool:
    """Whether a frame has a column of a name."""
    fold = _folding(frame)
    return fold(name) in map(fold, frame.columns)


def free_name(frame: DataFrame, name: str) -> str:
    """Return a name that no column of a frame has: this one, or a longer one."""
    return free_name(frame, f"{name}_") if has_column(frame, name) else name


def _folding(frame: DataFrame) -> Callable[[str], str]:
    """Return what makes one of names that are one in the session of a frame."""
    sensitive = frame.sparkSession.conf.get("spark.sql.caseSensitive", "false")
    return str if sensitive == "true" else str.lower
