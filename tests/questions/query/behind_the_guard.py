"""A process in which nothing checks what is asked: what it cannot do, the other wall forbids.

python -m tests.questions.query.behind_the_guard WAREHOUSE WALLS < statements.json

WALLS is a list of: ``landlock``, ``limits``, ``sealed``. Without one of them all succeeds.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from aclkit.runtime import confinement


def main() -> None:
    root, walls = sys.argv[1], sys.argv[2].split(",")
    statements = json.load(sys.stdin)
    if "landlock" in walls and not confinement._landlock():
        sys.stdout.write(json.dumps({"landlock": False}))
        return
    if "limits" in walls:
        confinement._landlock = bool
        confinement.confine()
    # As in the real one, nothing that starts a thread is imported before.
    import duckdb

    from aclkit.warehouse.duck import connect
    from aclkit.warehouse.published import open_warehouse

    connection = connect(open_warehouse(root), sealed="sealed" in walls)
    told = {}
    for statement in statements:
        try:
            told[statement] = str(connection.execute(statement).fetchmany(1000))
        except (duckdb.Error, UnicodeError, RuntimeError) as error:
            told[statement] = f"{type(error).__name__}: {error}"
    threads = [
        path.read_text(encoding="utf-8") for path in Path("/proc/self/task").glob("*/status")
    ]
    sys.stdout.write(json.dumps({
        "landlock": "landlock" in walls,
        "told": told,
        "free": sum("NoNewPrivs:\t1" not in status for status in threads),
        "threads": len(threads),
        "file size": resource.getrlimit(resource.RLIMIT_FSIZE)[0],
    }))  # fmt: skip


if __name__ == "__main__":
    main()
