"""Cells of an answer → the pages that they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aclkit.audit.serve.finder import Names
from aclkit.audit.serve.page import Link


@dataclass(frozen=True, slots=True)
class Leads:
    """A known principal leads to what it can access, a known resource to who can access it.

    Attributes:
        names: the known names.
        link: makes addresses.
        access: the access that a table is about: an offset leads to why it was decided then.
    """

    names: Names
    link: Link
    access: Mapping[str, str | None] = field(default_factory=dict)

    def __call__(self, column: str, cell: object) -> str | None:
        """Return an address; None for what leads nowhere."""
        if column == "offset" and self.access:
            return self.link("/why", **self.access, at=cell)
        if not isinstance(cell, str) or cell not in map(
            str, self.names.whole.get(cell.lower(), ())
        ):
            return None
        if column == "principal":
            return self.link("/what-can", principal=cell)
        return self.link("/who-can", resource=cell) if column == "resource" else None
