"""A published warehouse → the ACLs of a cluster, for an authorizer."""

from __future__ import annotations

from dataclasses import dataclass

from aclkit.kafka.authorizer.audit import Wording
from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.kafka.authorizer.state import AclStore, Loaded
from aclkit.model.semantics import Semantics
from aclkit.warehouse.acls_in_force import acls_in_force, level_in_force, semantics_in_force
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse, resolve_cluster, run_settings


@dataclass(frozen=True, slots=True)
class WarehouseSource:
    """The newest published state of a cluster.

    Attributes:
        path: the warehouse's folder.
        cluster: the cluster's id; None where the warehouse holds one only.
    """

    path: str
    cluster: str | None = None

    def load(self) -> Loaded:
        """Read the ACLs as of the newest run, and the settings of the newest decisions.

        The high watermark is the one passed to ``replay --high-watermark``: until a run has
        replayed up to there, the state is not caught up.

        Raises:
            UsageError: nothing is published there, or the cluster is not known.
            SurroundingsError: the tables cannot be read.
        """
        published = open_warehouse(self.path)
        cluster_id = resolve_cluster(published, self.cluster)
        run = published.last_run(cluster_id)
        settings, _ = run_settings(published.last_materialize(cluster_id) or run)
        with connect(published) as connection:
            acls = acls_in_force(connection, run)
            level = level_in_force(connection, published, cluster_id)
            semantics = semantics_in_force(connection, published, cluster_id)
        return Loaded(
            acls=tuple(acls.values()),
            offset=run.head_offset,
            high_watermark=run.high_watermark,
            settings=settings,
            semantics=semantics,
            level=level,
        )


def over_warehouse(
    path: str,
    cluster: str | None = None,
    *,
    store: AclStore | None = None,
    semantics: Semantics | None = None,
    wording: Wording = Wording.SINCE_4_2,
) -> Authorizer:
    """Make an authorizer over a published warehouse; it is ready some time after ``start``.

    It reads ACLs as the warehouse's decisions do, and takes their super users and default, until
    it is configured otherwise. It does not write, unless a store is given. ``refresh`` takes over
    what has been published since.

    Args:
        path: the warehouse's folder.
        cluster: the cluster's id; None where the warehouse holds one only.
        store: where created and deleted ACLs are kept.
        semantics: how ACLs are read, in the place of the warehouse's.
        wording: how the audit log writes ACLs.
    """
    source = WarehouseSource(path, cluster)
    return Authorizer(source, store=store, semantics=semantics, wording=wording)
