"""What a user wrote as kinds of findings → nothing, or an error that names the nearest kind."""

from __future__ import annotations

from collections.abc import Iterable

from aclkit.audit.findings.registry import KINDS
from aclkit.errors import UsageError
from aclkit.model.phrases import most_like


def check_kinds(kinds: Iterable[str], *others: str) -> None:
    """Refuse what is no kind of finding.

    Args:
        kinds: what was written.
        others: words that are valid too.

    Raises:
        UsageError: a word is none.
    """
    known = (*KINDS, *others)
    for kind in kinds:
        if kind not in known:
            near = most_like(kind, known)
            meant = f" Did you mean {near}?" if near else ""
            raise UsageError(
                f"Unknown kind of finding {kind!r}.{meant} All kinds: docs/findings.md."
            )
