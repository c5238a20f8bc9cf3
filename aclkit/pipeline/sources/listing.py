"""What a whole list of ACLs is: its rows, and what else its source says of the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from aclkit.model.acl import BINDING
from aclkit.model.broker_settings import BrokerConfig
from aclkit.model.facts import ADD_ACL, FACT, LISTING, SourceRow

TOPICS: Final = "topics"
USERS: Final = "SCRAM users"
GROUPS: Final = "groups"
TRANSACTIONAL_IDS: Final = "transactional ids"
TOKENS: Final = "delegation tokens"
"""What a live cluster can tell beside its ACLs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A whole list of ACLs.

    Attributes:
        rows: the ACLs and what is told beside them, and rejects.
        told: of which of these the rows are all there is; of the others they are some, or none.
        brokers: the brokers' configurations, as far as they were told.
        metadata_version: the finalized ``metadata.version``, where it was told.
        cluster_id: where the source names its cluster.
        notes: what is missing, and why.
    """

    rows: tuple[SourceRow, ...]
    told: frozenset[str] = frozenset()
    brokers: tuple[BrokerConfig, ...] = ()
    metadata_version: int | None = None
    cluster_id: str | None = None
    notes: tuple[str, ...] = ()


def acl_row(source: str, *binding: str) -> SourceRow:
    """Return the row of a listed ACL, of its seven fields in Kafka's order (``Acl.binding``)."""
    columns: dict[str, Any] = dict(zip(BINDING, binding, strict=True))
    return SourceRow(kind=FACT, source=source, fact=LISTING, record_type=ADD_ACL, **columns)
