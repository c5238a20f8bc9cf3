"""What a run has before it, as far as it is known without Spark → how long it will be."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aclkit.errors import AclkitError, UsageError
from aclkit.warehouse.published import open_warehouse

if TYPE_CHECKING:
    from aclkit.pipeline.replay.intake import Intake
    from aclkit.runtime.spark import Length

TINY: Final = 3_000
SHORT: Final = 70_000
"""ACLs and names: up to this many, a run ends before compiling its plans pays off.

The sample has some 1,000, B1 25,000, B2 112,500. Walking plans takes a tenth to a fifth of the CPU
time off a run of the sample, and adds a tenth at 8,600. With 53,000 the quick compiler alone
still takes a quarter off a cold materialize; at B2 it adds an eighth.
"""
_BYTES_OF_RECORD: Final = 80
_BYTES_OF_NAME: Final = 20
_COUNTED: Final = ("principal", "host", "resource")
_PAIRS: Final = ("explain_pair", "explain_class_pair")
_PAIRS_OF_ENTRY: Final = 50
"""So many rows of the decisions weigh as much as an ACL: few ACLs may reach all there is."""


def length_of(*, stored: int, read_bytes: int = 0, named_bytes: int = 0) -> Length:
    """Return how long a run will be.

    Args:
        stored: ACLs and names that the warehouse holds. A log mostly repeats them.
        read_bytes: of logs and listings.
        named_bytes: of files that name who and what is asked about.
    """
    entries = max(stored, read_bytes // _BYTES_OF_RECORD) + named_bytes // _BYTES_OF_NAME
    if entries > SHORT:
        return "long"
    return "short" if entries > TINY else "tiny"


def length_of_run(
    warehouse: str, intake: Intake | None = None, named: Iterable[str] = ()
) -> Length:
    """Return how long a run on a warehouse will be; what is not known is taken for much.

    Args:
        warehouse: where; of one at a URI nothing is known before Spark reads it.
        intake: what is read.
        named: inventory files; a folder may hold anything.
    """
    stored = _stored(warehouse)
    try:
        listed = [Path(item.path) for item in intake.items] if intake else []
        files = [Path(path) for path in named]
        if stored is None or any(path.is_dir() for path in files):
            return "long"
        read, named_bytes = _bytes_of(listed), _bytes_of(files)
    except OSError:  # at a URI, or gone: who reads it will tell
        return "long"
    rows = len(intake.listing.rows) if intake and intake.listing else 0
    return length_of(
        stored=stored, read_bytes=read + rows * _BYTES_OF_RECORD, named_bytes=named_bytes
    )


def _bytes_of(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def _stored(warehouse: str) -> int | None:
    """Return how much all clusters of a warehouse have, in ACLs; None where it is unknown."""
    try:
        published = open_warehouse(warehouse)
    except UsageError:  # nothing is published yet
        return 0
    except AclkitError:  # who opens it for the run will tell
        return None
    total = 0
    for cluster in published.clusters:
        counts = published.last_run(cluster).counts
        decided = published.last_materialize(cluster)
        acls = counts.get("acls_alive", counts.get("acls"))
        if acls is None:
            return None
        total += acls
        if decided is not None:
            total += sum(decided.counts.get(name, 0) for name in _COUNTED)
            total += sum(decided.counts.get(name, 0) for name in _PAIRS) // _PAIRS_OF_ENTRY
    return total
