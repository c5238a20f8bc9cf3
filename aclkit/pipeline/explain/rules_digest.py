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


@cache
def rules_digest() -> str:
    """Return the digest of this aclkit."""
    return digest_of(files("aclkit"))


def digest_of(root: Traversable) -> str:
    """Return the digest of an aclkit whose source lies in a folder, or in a zip."""
    return source_digest(root, DECIDING, f"format {FORMAT}")
