"""A published run → the facts that assertions are checked against: ACLs, settings, inventory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from aclkit.model.acl import Acl
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.questions.query.names import read_hosts
from aclkit.rules.names.rows import Rules
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import run_settings
from aclkit.warehouse.sql import fetch


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The facts that assertions are checked against.

    Attributes:
        connection: see ``duck.connect``.
        run: the run whose decisions are published.
        acls: the ACLs by which it decided, by id.
        settings: the broker's.
        semantics: how ACLs are read.
        principals: of the inventory, each with its attributes.
        hosts: of the inventory.
        resources: of the inventory, each with its attributes.
    """

    connection: duckdb.DuckDBPyConnection
    run: PublishedRun
    acls: Mapping[str, Acl]
    settings: BrokerSettings
    semantics: Semantics
    principals: Mapping[str, Mapping[str, str]]
    hosts: tuple[str, ...]
    resources: Mapping[Resource, Mapping[str, str]]

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection, run: PublishedRun) -> World:
        """Read the inventory and the ACLs."""
        settings, semantics = run_settings(run)
        people = fetch(connection, _PRINCIPALS, [run.cluster_id])
        things = fetch(connection, _RESOURCES, [run.cluster_id])
        return cls(
            connection=connection,
            run=run,
            acls={acl.acl_id: acl for acl in acls_in_force(connection, run).values()},
            settings=settings,
            semantics=semantics,
            principals={name: attributes or {} for name, attributes in people},
            hosts=read_hosts(connection, run.cluster_id),
            resources={Resource(*named): attributes or {} for *named, attributes in things},
        )

    @property
    def rules(self) -> Rules:
        """All that decides."""
        return Rules(acls=self.acls.values(), settings=self.settings, semantics=self.semantics)


_PRINCIPALS = "SELECT principal, attributes FROM principal WHERE cluster_id = ? ORDER BY principal"
_RESOURCES = (
    "SELECT resource_type, resource_name, attributes FROM resource WHERE cluster_id = ? "
    "ORDER BY resource_type, resource_name"
)
