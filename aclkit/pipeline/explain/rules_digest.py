"""The package's own source → a digest of what decides, finds and writes.

A run keeps it among its settings. Where it is another one, an aclkit of another source decided:
everything is decided again, and audited again, however little else changed. A changed comment does
that too, once per upgrade; a number that somebody has to count up could be forgotten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

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
    digest = hashlib.sha256(f"format {FORMAT}".encode())
    for package in DECIDING:
        for name, content in _sources(root.joinpath(package), package):
            digest.update(f"\0{name}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def _sources(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    """Yield the modules of a package by name, compiled ones where no others are there."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = f"{path}/{entry.name}"
        if entry.name.endswith((".py", ".pyc")):
            yield name, entry.read_bytes()
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from _sources(entry, name)
