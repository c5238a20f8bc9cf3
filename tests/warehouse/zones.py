"""A warehouse in the zone of this process: three nights, a ``--forget`` and maintenance.

``python -m tests.warehouse.zones FOLDER`` does them in one process, so that one Spark does.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cli.running import SEGMENT, SYNTHETIC, UPGRADE, Warehouse, split_batches, write_segment

WHOLE = (UPGRADE / "__cluster_metadata-0" / SEGMENT).read_bytes()
NIGHTS = (113, 180, 230)
"""Of the log each night knows the batches below such an offset."""

ASKED = ("--super-users", "User:admin", "--fail-on", "never")
LISTED = """\
Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)`:
\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)
"""


def live(folder: Path) -> None:
    """Let a warehouse live through all that reads tables and writes them again."""
    warehouse = Warehouse(folder / "warehouse")
    log, listing = folder / "log", folder / "listing.txt"
    for number, stop in enumerate(NIGHTS):
        write_segment(log, [batch for batch in split_batches(WHOLE) if batch[0] < stop])
        source = ("--source", f"metadata-log:{log}")
        if number == 1:
            warehouse.run("replay", *source, "--forget", "60-69", cluster="log")
        warehouse.run("run", *source, *ASKED, cluster="log")
        listing.write_text(LISTED.replace("User:a", f"User:{number}"), encoding="utf-8")
        listed = ("--source", f"acls-list:{listing}", "--at", f"2026-11-{number + 1:02}T00:00:00Z")
        warehouse.run("run", *listed, *ASKED, cluster="listing")
        warehouse.run("maintain")
    # A transaction whose end comes later moves records that are known.
    txn = (SYNTHETIC / "txn" / SEGMENT).read_bytes()
    batches = list(split_batches(txn))
    for stop in range(1, len(batches) + 1):
        write_segment(folder / "txn", batches[:stop])
        warehouse.replay(f"metadata-log:{folder / 'txn'}", cluster="txn")


if __name__ == "__main__":
    live(Path(sys.argv[1]))
