"""A complete list of ACLs: its rows, and other facts of its source about the cluster."""

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
"""The other parts that a live cluster can list in addition to its ACLs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A complete list of ACLs.

    Attributes:
        rows: the ACLs, what is listed in addition to them, and rejects.
        told: the parts whose rows are complete; of other parts the rows are some, or none.
        brokers: the brokers' configurations, as far as the source has them.
        metadata_version: the finalized ``metadata.version``, where the source has it.
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
