"""A client that a real broker refuses: does ``denials`` say why, and does its command mend it?"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aclkit.model.acl import Acl
from aclkit.questions.denials.causes import (
    ALLOWED_NOW,
    DENIED_BY,
    LISTING,
    NO_ACL,
    NO_NAME,
    REMOVED,
)
from tests.tools.broker.asked import kind_named, new_topic
from tests.tools.broker.client import Client, connect
from tests.tools.broker.messages import request
from tests.tools.broker.running import SUPER_USERS, Difference, run_aclkit
from tests.tools.broker.server import Broker
from tests.tools.broker.tools import Tools

USERS: Final = {"app": "app-secret"}
_APP: Final = "User:app"
_SECONDS: Final = 30.0

_EXPECTED: Final[Mapping[tuple[str, str], str]] = {
    ("WRITE", "orders"): REMOVED,
    ("WRITE", "invoices"): NO_ACL,
    ("WRITE", "secret"): DENIED_BY,
    ("WRITE", "nowhere"): NO_NAME,
    ("DESCRIBE", "hidden"): LISTING,
    ("WRITE", "late"): ALLOWED_NOW,
}
"""Operation and topic → why it is refused."""


@dataclass(frozen=True)
class _Work:
    """An administrator, and a client that asks for what it may not do."""

    admin: Client
    app: Client

    def work(self) -> None:
        """Refuse the client for each of the causes."""
        topics = {topic for _, topic in _EXPECTED} - {"nowhere"}
        made = request(
            "CreateTopics", topics=[new_topic(name) for name in sorted(topics)], timeout_ms=5000,
            validate_only=False,
        )  # fmt: skip
        self.admin.send(made)
        removed = _acl("orders")
        self.admin.create(
            [removed, _acl("secret"), _acl("secret", operation="ALL", permission_type="DENY")]
        )
        self.until("orders", is_allowed=True)
        self.admin.delete([removed])
        for topic in topics - {"hidden"} | {"nowhere"}:
            self.until(topic, is_allowed=False)
        self.app.send(kind_named("Metadata").make({"topic": "hidden"}))
        self.admin.create([_acl("late")])
        self.until("late", is_allowed=True)

    def until(self, topic: str, *, is_allowed: bool) -> None:
        """Produce to a topic until the broker takes it, or refuses it."""
        end = time.monotonic() + _SECONDS
        produce = kind_named("Produce")
        while produce.passed(self.app.send(produce.make({"topic": topic})), {}) is not is_allowed:
            if time.monotonic() > end:
                wanted = "allows" if is_allowed else "refuses"
                raise Difference(f"the broker never {wanted} WRITE on {topic}")
            time.sleep(0.2)


def compare_denials(broker: Broker, tools: Tools, folder: Path, say: Callable[[str], None]) -> None:
    """Insist on the cause of each refusal, and that what is advised lets the client in."""
    warehouse = folder / "denials"
    with ExitStack() as stack:
        work = _Work(
            stack.enter_context(connect(broker)),
            stack.enter_context(connect(broker, "SASL_PLAINTEXT", "app")),
        )
        work.work()
        run_aclkit(
            warehouse, "run", "--source", f"metadata-log:{broker.metadata_log}",
            "--super-users", SUPER_USERS, "--fail-on", "never",
        )  # fmt: skip
        run_aclkit(warehouse, "usage", "--authorizer-log", broker.authorizer_log)
        out = run_aclkit(warehouse, "denials", "--all", "--format", "jsonl")
        rows: list[dict[str, Any]] = [json.loads(line) for line in out.split("\n") if line]
        mine = {(row["operation"], row["resource_name"]): row for row in rows}
        found = {place: row["cause"] for place, row in mine.items() if place in _EXPECTED}
        if found != _EXPECTED or {row["principal"] for row in rows} != {_APP}:
            raise Difference(f"found {found}, expected {dict(_EXPECTED)}")
        say(
            f"{len(rows)} refused accesses, the cause of each is right: {', '.join(found.values())}"
        )
        for topic in ("orders", "invoices"):
            _, *words = shlex.split(mine["WRITE", topic]["command"])
            tools.acls(broker, *_without_server(words))
            work.until(topic, is_allowed=True)
        say("the commands that denials prints let the client in")


def _without_server(words: list[str]) -> list[str]:
    """Leave out the address: the tools have that of the broker."""
    if "--bootstrap-server" not in words:
        return words
    at = words.index("--bootstrap-server")
    return words[:at] + words[at + 2 :]


def _acl(topic: str, **other: str) -> Acl:
    fields = {
        "acl_id": "", "resource_type": "TOPIC", "resource_name": topic, "pattern_type": "LITERAL",
        "principal": _APP, "host": "*", "operation": "WRITE", "permission_type": "ALLOW",
    }  # fmt: skip
    return Acl(**(fields | other))
