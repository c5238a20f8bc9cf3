"""``replay`` of the metadata log of a broker that works, while its ACLs change."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.tools.broker.client import Client, connect
from tests.tools.broker.running import expect_equal, known_acls, run_aclkit
from tests.tools.broker.server import Broker
from tests.tools.broker.strange import strange_acls

PROPERTIES: Final = {
    "metadata.log.max.record.bytes.between.snapshots": "60000",
    "metadata.max.idle.interval.ms": "500",
}
"""A broker that writes a snapshot every few hundred ACLs."""

REPLAYS: Final = 3
_PAUSE: Final = 0.3


def compare_log(broker: Broker, folder: Path, say: Callable[[str], None]) -> None:
    """Replay while a writer adds and removes ACLs, and once more when it has ended."""
    warehouse = folder / "log"
    source = f"metadata-log:{broker.metadata_log}"
    with connect(broker) as client:
        with writing(client) as count:
            for number in range(1, REPLAYS + 1):
                run_aclkit(warehouse, "replay", "--source", source)
                seen = len(known_acls(warehouse))
                say(f"replay {number} beside a writer: {seen} ACLs after {sum(count)} changes")
        expected = client.acls()
    run_aclkit(warehouse, "replay", "--source", source)
    expect_equal("replay of the metadata log", known_acls(warehouse), expected)
    snapshots = len(list(broker.metadata_log.glob("*.checkpoint")))
    say(f"replay behind the writer: the broker's {len(expected)} ACLs; {snapshots} snapshots")


@contextmanager
def writing(client: Client) -> Iterator[list[int]]:
    """Change ACLs until the block is left; the list grows by the number of each step's changes."""
    end, count, problems = threading.Event(), [], []

    def work() -> None:
        draw, alive = random.Random(14), []
        spare = strange_acls(4000, seed=15)
        try:
            while not end.wait(_PAUSE):
                alive += client.create([spare.pop() for _ in range(min(20, len(spare)))])
                gone = [alive.pop(draw.randrange(len(alive))) for _ in range(len(alive) // 10)]
                count.append(20 + client.delete(gone))
                spare[:0] = gone
        except Exception as error:  # noqa: BLE001 - told where the block ends, not lost
            problems.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield count
    finally:
        end.set()
        thread.join()
    if problems:
        raise problems[0]
