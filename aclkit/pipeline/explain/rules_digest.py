"""The package's own source → a digest of what decides, finds and writes.

A run keeps it among its settings. Where it is another one, an aclkit of another source decided:
everything is decided again, and audited again, however little else changed.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from aclkit.runtime.source_digest import source_digest
from aclkit.warehouse.formats import FORMAT

DECIDING: Final = (
    "model", "rules", "pipeline/inventory", "pipeline/explain", "audit/findings",
)  # fmt: skip
"""The packages of the rule, of its Spark form, of what is asked about, and of the findings."""


SAME: Final = frozenset({"43568882b418f776", "72b1252f5f93045f", "85c83b9d8784322c"})
"""Digests of sources before this one that wrote the same tables and findings, row by row: what a
run under one of them decided still holds. A change of a rule or of a finding empties it."""


def digest_after(before: str | None) -> str:
    """Return the digest of a run after another one: that one's, where nothing would differ."""
    return before if before is not None and before in SAME else rules_digest()


@cache
def rules_digest() -> str:
    """Return the digest of this aclkit."""
    return digest_of(files("aclkit"))


def digest_of(root: Traversable) -> str:
    """Return the digest of an aclkit whose source lies in a folder, or in a zip."""
    return source_digest(root, DECIDING, f"format {FORMAT}")
