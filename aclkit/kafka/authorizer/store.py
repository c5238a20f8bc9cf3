"""Where the ACLs of an authorizer are kept when it creates and deletes some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from aclkit.model.acl import Acl


class AclStore(Protocol):
    """Keeps ACLs: a log, a table, or nothing but this process (Kafka's AclMutator).

    - ``commit`` is called with all changes of one request, from one thread at a time.
    - Either all of them are kept or, when it raises, none.
    """

    def commit(self, adds: Sequence[Acl], removes: Sequence[Acl]) -> None:
        """Keep the added ACLs, forget the removed ones, both at once."""


class MemoryStore:
    """Keeps ACLs nowhere but in the authorizer itself."""

    def commit(self, adds: Sequence[Acl], removes: Sequence[Acl]) -> None:
        """Do nothing: the authorizer's own state is all there is."""
