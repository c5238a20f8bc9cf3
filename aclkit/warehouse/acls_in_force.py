"""A published run → the ACLs that were alive at its offset, and the metadata.version in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.semantics import AUTO, KAFKA, KIP_1042, PRESETS, AskedReading, Semantics
from aclkit.warehouse.codecs import acl_of, acl_sql, time_of
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, run_settings


def acls_in_force(
    connection: Tables, run: PublishedRun, ids: Sequence[str | None] | None = None
) -> dict[str | None, Acl]:
    """Read the ACLs by which a run decided, by id; only some of them where ids are given."""
    offset = _END if run.head_offset is None else run.head_offset
    wanted = None if ids is None else list(ids)
    rows = fetch(connection, _ACLS, [run.cluster_id, offset, offset, wanted, wanted])
    return {row[0]: acl_of(row) for row in rows}


def acls_naming(connection: Tables, run: PublishedRun, principal: str) -> list[Acl]:
    """Read the ACLs by which a run decided that may match a principal: by name, or by a wildcard.

    Of ALLOWs with the very name of a known resource there are none: what they do is known of it.
    """
    offset = _END if run.head_offset is None else run.head_offset
    rows = fetch(connection, _NAMING, [run.cluster_id, offset, offset, principal])
    return list(map(acl_of, rows))


def times_added(connection: Tables, cluster_id: str) -> dict[str, datetime | None]:
    """Return when each ACL alive at the head was added, by id; None where no time is known."""
    rows = fetch(connection, _TIMES, [cluster_id])
    return {acl_id: time_of(at) for acl_id, at in rows}


def semantics_in_force(tables: Tables, published: Published, cluster_id: str) -> Semantics:
    """Return how the newest decisions read ACLs; where nothing was decided, as it would be.

    A GLOB that was replayed after them counts where ``auto`` would take it: the ACLs are newer.
    """
    decided = published.last_materialize(cluster_id)
    has_glob = bool(fetch(tables, _A_GLOB, [cluster_id]))
    if decided is None:
        return AskedReading().taken(has_glob=has_glob)
    then = run_settings(decided)[1]
    return semantics_after_glob(decided) if has_glob else then


def semantics_after_glob(decided: PublishedRun) -> Semantics:
    """Return how the next run reads ACLs once the cluster has had a GLOB.

    ``auto`` takes KIP-1042 then; a preset that was asked for stays. Settings of their own stay too.
    """
    then, said = run_settings(decided)[1], decided.settings
    if (said.semantics_asked, said.semantics_preset) != (AUTO, _AS_KAFKA):
        return then
    own = {name: value for name, value in asdict(then).items() if value != asdict(KAFKA)[name]}
    return replace(KIP_1042, **own)


def level_in_force(tables: Tables, published: Published, cluster_id: str) -> int | None:
    """Return the level the log finalized or a live cluster reported; None if neither is known."""
    ((level,),) = fetch(tables, _FINALIZED, [cluster_id])
    if level is not None:
        return int(level)
    told = (r.settings.told for r in published.standing if r.cluster_id == cluster_id)
    levels = [each.metadata_version for each in told if each is not None]
    return levels[-1] if levels else None


_AS_KAFKA: Final = next(name for name, preset in PRESETS.items() if preset == KAFKA)
_A_GLOB: Final = (
    "SELECT acl_id FROM acl_history WHERE cluster_id = ? AND pattern_type = 'GLOB' LIMIT 1"
)
_FINALIZED: Final = "SELECT max(finalized_level) FROM broker WHERE cluster_id = ?"
"""Each broker's row holds it."""

_TIMES: Final = "SELECT acl_id, epoch_ms(added_at) FROM acl_current WHERE cluster_id = ?"
_END: Final = 2**63 - 1
_ALIVE: Final = (
    "FROM acl_history WHERE cluster_id = ? AND effective_offset < ? "
    "AND (removed_offset IS NULL OR removed_offset >= ?) "
)
_ACLS: Final = acl_sql(
    f"{_ALIVE}AND (? IS NULL OR acl_id IN (SELECT unnest(CAST(? AS VARCHAR[]))))"
)
NAMES: Final = (
    "(principal = ? OR principal LIKE '%*%' OR principal LIKE '%' || chr(63) || '%' "
    "OR principal LIKE ':%' OR principal LIKE '%:')"
)
"""Which ACLs may match a principal: under some semantics a text without a part, or with a wildcard,
stands for many. ``chr(63)`` is a question mark: one that is written stands for a value.
"""
_TELLING: Final = (
    "(permission_type <> 'ALLOW' OR pattern_type <> 'LITERAL' OR NOT EXISTS ("
    "SELECT 1 FROM resource WHERE resource.cluster_id = acl_history.cluster_id "
    "AND resource.resource_type = acl_history.resource_type "
    "AND resource.resource_name = acl_history.resource_name))"
)
_NAMING: Final = acl_sql(f"{_ALIVE}AND {NAMES} AND {_TELLING} ORDER BY acl_id")
