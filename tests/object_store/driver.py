"""A driver of the race, in a process: words on stdin → runs on a warehouse → JSON on stdout.

``python -m tests.object_store.driver URI SECONDS`` takes the warehouse's lease for so many seconds
at a time. Each line ``{"round": n, "timeout": s, "pause": where}`` is one run, which adds one row
and publishes; it waits at ``pause`` until another line comes.
"""

from __future__ import annotations

import json
import sys
import traceback
from datetime import timedelta
from functools import partial
from typing import Any

from aclkit.errors import AclkitError
from aclkit.warehouse import lease
from aclkit.warehouse.location import Location
from aclkit.warehouse.recovery import fence_tables
from aclkit.warehouse.run import begin_run, publish

HELD, ADDED = "held", "added"
PLAINLY = "not told plainly:"
TABLE = "log_range"


def main() -> None:
    """Do one run for each line."""
    uri, seconds = sys.argv[1], float(sys.argv[2])
    say(ready=True)
    for line in sys.stdin:
        told = json.loads(line)
        try:
            say(done=run(uri, timedelta(seconds=seconds), told))
        except AclkitError as error:
            say(failed=str(error))
        except Exception as error:  # noqa: BLE001 - that a run ends without a plain message is seen
            traceback.print_exc()
            say(failed=f"{PLAINLY} {type(error).__name__}: {str(error).partition(chr(10))[0]}")


def run(uri: str, term: timedelta, told: dict[str, Any]) -> int:
    """Take the lease, add the row of the round and publish; return the lease's number."""
    place = Location(uri)
    fence = partial(fence_tables, place)
    with lease.hold(place.files, uri, told["timeout"], fence, term) as held:
        number = int(json.loads(place.files.read(lease.LEASE))["number"])
        say(number=number)
        wait(told, HELD)
        with begin_run(None, uri, "replay", lock_timeout=0, held=held) as one:
            start = told["round"]
            row = (told["name"], start, start + 1, number, "record", None)
            one.store.append(TABLE, [row])
            wait(told, ADDED)
            publish(one)
    return number


def wait(told: dict[str, Any], where: str) -> None:
    if told.get("pause") == where:
        say(paused=where)
        sys.stdin.readline()


def say(**told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
