"""What is read of a document, up to its ``Part``: the base of the readers of formats. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from aclkit.kafka.desired.model import (
    DesiredAcl,
    Document,
    Part,
    Problem,
    Reach,
    ResourceChange,
)


@dataclass(slots=True)
class Reading:
    """What was read of a document up to here; the fields are those of ``Part``."""

    document: Document
    acls: list[DesiredAcl] = field(default_factory=list)
    changes: list[ResourceChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)

    def refuse(self, line: int, text: str, address: str = "") -> None:
        """Add a problem; the line is 0 where it is unknown."""
        self.problems.append(Problem(self.document.place(line, address), text))

    def take(self, found: DesiredAcl | Iterable[Problem]) -> None:
        """Add an ACL, or why it is none."""
        if isinstance(found, DesiredAcl):
            self.acls.append(found)
        else:
            self.problems += found

    def part(self, form: str, reach: Reach) -> Part:
        """Return what was read, each problem once."""
        return Part(
            document=self.document.name,
            form=form,
            reach=reach,
            acls=self.acls,
            changes=self.changes,
            problems=list(dict.fromkeys(self.problems)),
            notes=self.notes,
            unread=self.unread,
        )
