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
