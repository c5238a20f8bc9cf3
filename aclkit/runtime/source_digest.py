"""The package's own source → a digest of a part of it: another digest means other code.

A changed comment changes the digest too, once per upgrade. A number that a developer has to
increase could be forgotten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from importlib.resources.abc import Traversable


def source_digest(root: Traversable, packages: Iterable[str], more: str) -> str:
    """Return the digest of packages of an aclkit whose source lies in a folder, or in a zip.

    Args:
        root: the folder of the package ``aclkit``.
        packages: as paths in it.
        more: what else makes it another one.
    """
    digest = hashlib.sha256(more.encode())
    for package in packages:
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
