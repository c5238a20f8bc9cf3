"""Print conf/requirements.lock without hashes, or the part of it that an installation needs.

``locked.py versions LOCK`` prints constraints for pip. ``locked.py part LOCK REPORT`` prints the
entries, with their hashes, of the packages that pip's ``--report`` names.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path


def entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield each package of a lock with its entry, as pip compares names."""
    for entry in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE):
        if found := re.match(r"[A-Za-z0-9._-]+(?===)", entry):
            yield canonical(found[0]), entry


def canonical(name: str) -> str:
    """Return the name of a package as PEP 503 spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def versions(lock: str) -> str:
    """Return the entries of a lock without their hashes."""
    return "".join(entry.partition("\\\n")[0].strip() + "\n" for _, entry in entries(lock))


def part(lock: str, report: str) -> str:
    """Return the entries of the packages that pip would install.

    Raises:
        SystemExit: a package is not in the lock.
    """
    wanted = {canonical(each["metadata"]["name"]) for each in json.loads(report)["install"]}
    wanted.discard("aclkit")
    # A package has an entry for each Python that needs another version.
    found = [(name, entry) for name, entry in entries(lock) if name in wanted]
    if missing := sorted(wanted - {name for name, _ in found}):
        raise SystemExit(f"Error: not in the lock: {', '.join(missing)}. Run make lock.")
    return "".join(entry for _, entry in found)


if __name__ == "__main__":
    kind, *paths = sys.argv[1:]
    texts = [Path(path).read_text(encoding="utf-8") for path in paths]
    sys.stdout.write(versions(*texts) if kind == "versions" else part(*texts))
