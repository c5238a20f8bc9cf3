"""Three administrators change ACLs of a real broker: does its authorizer log tell who did what?"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aclkit.model.acl import Acl
from aclkit.questions.by_whom.match import ADDED, REMOVED
from tests.tools.broker.client import Client, connect
from tests.tools.broker.running import Difference, run_aclkit
from tests.tools.broker.server import Broker

USERS: Final = {"admin": "admin-secret", "alice": "alice-secret", "terraform": "terra-secret"}
SUPER_USERS: Final = "User:ANONYMOUS;" + ";".join(f"User:{user}" for user in USERS)
PROPERTIES: Final = {"super.users": SUPER_USERS}
COUNT: Final = 200
_QUIET: Final = 10.0
_ALONE: Final = 6
_AT_ONCE: Final = 4

Truth = Mapping[tuple[str, str], str]
"""Name of a topic, and what happened to its ACL → who did it."""


@dataclass
class _Work:
    """What the administrators do."""

    clients: Mapping[str, Client]
    draw: random.Random
    truth: dict[tuple[str, str], str] = field(default_factory=dict)
    alive: list[Acl] = field(default_factory=list)

    def change(self, user: str, number: int) -> None:
        """Create ACLs, or delete some that anybody has created."""
        client = self.clients[user]
        if len(self.alive) > number and self.draw.random() < 0.4:
            gone = [self.alive.pop(self.draw.randrange(len(self.alive))) for _ in range(number)]
            client.delete(gone)
            self.truth |= {(acl.resource_name, REMOVED): f"User:{user}" for acl in gone}
            return
        made = [_acl(len(self.truth) + n) for n in range(number)]
        self.alive += client.create(made)
        self.truth |= {(acl.resource_name, ADDED): f"User:{user}" for acl in made}

    def work(self) -> None:
        """Change ``COUNT`` ACLs: some requests alone, some of several users at once."""
        time.sleep(_QUIET)
        for _ in range(_ALONE):
            self.change(self.draw.choice([*self.clients]), 10)
            time.sleep(_QUIET)
        while len(self.truth) < COUNT:
            for user in self.draw.sample([*self.clients], 2):
                if left := COUNT - len(self.truth):
                    self.change(user, min(self.draw.randint(1, 18), left))
            if self.draw.random() < 1 / _AT_ONCE:
                time.sleep(_QUIET)
        time.sleep(_QUIET)


def compare_by_whom(broker: Broker, folder: Path, say: Callable[[str], None]) -> None:
    """Let them work, and insist that nobody is named for what another one did."""
    with ExitStack() as stack:
        clients = {user: stack.enter_context(connect(broker, "SASL_PLAINTEXT", user))
                   for user in USERS}  # fmt: skip
        work = _Work(clients, random.Random(44))
        work.work()
    lines = broker.authorizer_log.read_text(encoding="utf-8").splitlines(keepends=True)
    logs = {"whole": lines, "without its middle": [*lines[: len(lines) // 3],
                                                  *lines[len(lines) * 2 // 3 :]]}  # fmt: skip
    for name, kept in logs.items():
        log = folder / f"{name.replace(' ', '-')}.log"
        log.write_text("".join(kept), encoding="utf-8")
        counts = Counter(_judge(folder / name.split()[0], broker, log, work.truth))
        told = ", ".join(f"{count} {certainty}" for certainty, count in sorted(counts.items()))
        say(f"{sum(counts.values())} changes by {len(USERS)} users, the log {name}: {told}")
        if not counts["one"]:
            raise Difference(f"with the log {name}, no change has one candidate")


def _judge(warehouse: Path, broker: Broker, log: Path, truth: Truth) -> Iterator[str]:
    """Yield how sure each change is; none is laid at the wrong door."""
    run_aclkit(
        warehouse, "run", "--source", f"metadata-log:{broker.metadata_log}", "--fail-on", "never",
        "--super-users", SUPER_USERS, "--controller-log", log,
    )  # fmt: skip
    out = run_aclkit(warehouse, "sql", _SQL, "--format", "jsonl")
    rows: list[dict[str, Any]] = list(map(json.loads, filter(None, out.split("\n"))))
    if len(rows) != len(truth):
        raise Difference(f"{len(rows)} changes, expected {len(truth)}")
    for row in rows:
        who = truth[row["resource_name"], row["acl_change"]]
        if row["certainty"] in ("one", "several") and who not in row["principals"]:
            raise Difference(f"{row['acl_change']} {row['resource_name']}: {row}, but it was {who}")
        if row["certainty"] == "none":
            raise Difference(f"no request for {row['resource_name']}, which {who} sent")
        yield row["certainty"]


def _acl(number: int) -> Acl:
    return Acl(
        acl_id="", resource_type="TOPIC", resource_name=f"topic-{number}", pattern_type="LITERAL",
        principal="User:app", host="*", operation="READ", permission_type="ALLOW",
    )  # fmt: skip


_SQL: Final = (
    "SELECT h.resource_name, b.acl_change, b.certainty, b.principals FROM acl_change_by b "
    "JOIN acl_history h ON h.acl_id = b.acl_id ORDER BY ALL"
)
