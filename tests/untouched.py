"""What several tests share and none may change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = ".aclkit.lock"


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of each file below a folder by its path, the lock aside."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != _LOCK
    }


@contextmanager
def left_alone(folder: Path) -> Iterator[None]:
    """Fail where a file below a folder comes, goes or changes."""
    before = digests(folder)
    yield
    assert digests(folder) == before, f"a test changed {folder}, which others share"
