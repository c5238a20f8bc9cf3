"""A warehouse → the ACLs that are alive in it, for the commands that print them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aclkit.cli.context import Context, tell_state
from aclkit.model.acl import Acl
from aclkit.model.semantics import Semantics
from aclkit.warehouse.acls_in_force import acls_in_force, level_in_force, semantics_in_force


@dataclass(frozen=True, slots=True, kw_only=True)
class AclsInForce:
    """What a cluster's newest run knows.

    Attributes:
        acls: alive at the head, by id.
        semantics: how they are read, see ``semantics_in_force``.
        level: the metadata.version in force, where it is known.
    """

    cluster_id: str
    acls: tuple[Acl, ...]
    semantics: Semantics
    level: int | None


def read_acls_in_force(context: Context) -> AclsInForce:
    """Read the ACLs of the selected cluster; print a note if the log had holes.

    Raises:
        UsageError: no warehouse, nothing published, or it is not clear which cluster is meant.
    """
    with context.open(_NEEDED) as opened:
        run = opened.published.last_run(opened.cluster_id)
        context.stand_on(opened.published, run)
        tell_state(opened.published, run)
        found = acls_in_force(opened.tables, run).values()
        return AclsInForce(
            cluster_id=opened.cluster_id,
            acls=tuple(sorted(found, key=lambda acl: acl.acl_id)),
            semantics=semantics_in_force(*opened.where),
            level=level_in_force(*opened.where),
        )


_NEEDED: Final[dict[str, dict[str, str]]] = {"acl_history": {}, "broker": {}}
