"""A DataFrame of ACLs → the ACLs of one cluster, each row of it sound."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.errors import DataError, UsageError
from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.runtime.arrow import rows_of
from aclkit.spark.columns import has_column, require_texts
from aclkit.warehouse.codecs import ACL_COLUMNS, acl_of

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
    if has_column(acls, _CLUSTER):
        if cluster is not None:
            acls = acls.where(F.col(_CLUSTER) == cluster)
        found = [row[0] for row in acls.select(_CLUSTER).distinct().limit(2).collect()]
        if len(found) > 1:
            raise UsageError("The ACLs are of several clusters. Pass cluster, the id of one.")
    elif cluster is not None:
        raise UsageError(f"The ACLs have no column {_CLUSTER}. Leave cluster out.")
    rows = acls.select(*ACL_COLUMNS).toArrow()
    for name, column in zip(ACL_COLUMNS, rows.columns, strict=True):
        if column.null_count:
            raise DataError(f"Expected ACLs without null, found one in {name}")
    return [_sound(acl_of(row)) for row in rows_of(rows.columns)]


def _sound(acl: Acl) -> Acl:
    for name, enum in _WORDS.items():
        word = getattr(acl, name)
        if not enum.is_word(word):
            raise DataError(f"ACL {acl.acl_id!r} has an unknown {name} {word[:40]!r}")
    return acl
