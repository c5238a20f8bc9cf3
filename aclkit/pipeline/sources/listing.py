"""A complete list of ACLs: its rows, and other facts of its source about the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aclkit.model.acl import BINDING
from aclkit.model.broker_settings import BrokerConfig
from aclkit.model.facts import ADD_ACL, FACT, LISTING, NOTE, SourceRow
from aclkit.model.unread import ANY_USER, Unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A complete list of ACLs.

    Attributes:
        rows: the ACLs, what is listed in addition to them, and rejects.
        told: the parts whose rows are complete; of other parts the rows are some, or none.
        unread: the parts of which something could not be read, and why.
        filtered: the parts in which the source silently leaves out what the user cannot DESCRIBE.
        brokers: the brokers' configurations, as far as the source has them.
        metadata_version: the finalized ``metadata.version``, where the source has it.
        cluster_id: where the source names its cluster.
        notes: what is missing, and why.
        asked_by: the principal that asked a live cluster, as far as it is known.
    """

    rows: tuple[SourceRow, ...]
    told: frozenset[str] = frozenset()
    unread: tuple[Unread, ...] = ()
    filtered: frozenset[str] = frozenset()
    brokers: tuple[BrokerConfig, ...] = ()
    metadata_version: int | None = None
    cluster_id: str | None = None
    notes: tuple[str, ...] = ()
    asked_by: str = ANY_USER

    @property
    def authorizer(self) -> str | None:
        """Whose authorizer decides by these ACLs; None where the source does not tell."""
        return next((row.fact for row in self.rows if row.kind == NOTE), None)


def acl_row(source: str, *binding: str) -> SourceRow:
    """Return the row of a listed ACL, of its seven fields in Kafka's order (``Acl.binding``)."""
    columns: dict[str, Any] = dict(zip(BINDING, binding, strict=True))
    return SourceRow(kind=FACT, source=source, fact=LISTING, record_type=ADD_ACL, **columns)
