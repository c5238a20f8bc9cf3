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

USERS: Final = {"app": "app-secret", "reader": "reader-secret", "writer": "writer-secret"}
_APP: Final = "User:app"
_SECONDS: Final = 30.0

_EXPECTED: Final[Mapping[tuple[str, str], str]] = {
    ("WRITE", "orders"): REMOVED,
    ("WRITE", "invoices"): NO_ACL,
    ("WRITE", "secret"): DENIED_BY,
    ("WRITE", "nowhere"): NO_NAME,
    ("DESCRIBE", "looked-up"): NO_ACL,
    ("DESCRIBE", "txn-listed"): LISTING,
    ("WRITE", "late"): ALLOWED_NOW,
}
"""Operation and name → why it is refused to app."""


@dataclass(frozen=True)
class _Kind:
    """A client that has no ACL, and what it should be granted.

    Attributes:
        names: its topic, and its group or transactional id.
        first: what it sends at once.
        then: what it sends after that.
        needs: the operation and the name of each ACL that it needs.
    """

    names: Mapping[str, str]
    first: tuple[str, ...]
    then: tuple[str, ...]
    needs: frozenset[tuple[str, str]]


_CLIENTS: Final = {
    "reader": _Kind(
        {"topic": "input", "group": "readers"},
        ("Metadata", "FindCoordinator of a group"),
        ("JoinGroup", "OffsetFetch", "ListOffsets", "Fetch", "OffsetCommit"),
        frozenset({("Read", "input"), ("Read", "readers")}),
    ),
    "writer": _Kind(
        {"topic": "output", "txn": "txn-1"},
        ("Metadata", "FindCoordinator of a transactional id"),
        (
            "InitProducerId with a transactional id",
            "Produce in a transaction",
            "EndTxn",
        ),
        frozenset({("Write", "output"), ("Write", "txn-1")}),
    ),
}


@dataclass(frozen=True)
class _Work:
    """An administrator, and clients that ask for what they may not do."""

    admin: Client
    app: Client
    others: Mapping[str, Client]

    def work(self) -> None:
        """Refuse app for each of the causes, and the others at their first step."""
        topics = {"orders", "invoices", "secret", "looked-up", "late", "input", "output"}
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
        for topic in ("orders", "invoices", "secret", "late", "nowhere"):
            self.until(topic, is_allowed=False)
        self.app.send(kind_named("Metadata").make({"topic": "looked-up"}))
        self.until_listed("txn-listed")
        self.app.send(kind_named("ListTransactions").make({}))
        self.admin.create([_acl("late")])
        self.until("late", is_allowed=True)
        for name, client in _CLIENTS.items():
            if passed := [title for title in client.first if self.passes(name, title)]:
                raise Difference(f"the broker lets {name} send {passed}")

    def passes(self, name: str, title: str) -> bool:
        """Whether the broker lets another client send a request."""
        asked, names = kind_named(title), _CLIENTS[name].names
        return asked.passed(self.others[name].send(asked.make(names)), names)

    def until_all_pass(self, name: str) -> None:
        """Send all requests of another client until the broker lets each pass."""
        end = time.monotonic() + _SECONDS
        for title in (*_CLIENTS[name].first, *_CLIENTS[name].then):
            while not self.passes(name, title):
                if time.monotonic() > end:
                    raise Difference(f"the broker still refuses {title} of {name}")
                time.sleep(0.2)

    def until_listed(self, txn: str) -> None:
        """Begin a transactional id until the administrator finds it in the list."""
        end = time.monotonic() + _SECONDS
        names, listing = {"txn": txn}, kind_named("ListTransactions")
        first = [kind_named(title) for title in _CLIENTS["writer"].first[1:]]
        begin = kind_named("InitProducerId with a transactional id")
        while not listing.passed(self.admin.send(listing.make({})), names):
            if time.monotonic() > end:
                raise Difference(f"the broker never lists {txn}")
            for each in (*first, begin):  # looking for it makes the broker's own topic
                self.admin.send(each.make(names))
            time.sleep(0.2)

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
    """Insist on the cause of each refusal, and that what is advised lets the clients in."""
    warehouse = folder / "denials"
    with ExitStack() as stack:
        work = _Work(
            stack.enter_context(connect(broker)),
            stack.enter_context(connect(broker, "SASL_PLAINTEXT", "app")),
            {
                name: stack.enter_context(connect(broker, "SASL_PLAINTEXT", name))
                for name in _CLIENTS
            },
        )
        work.work()
        run_aclkit(
            warehouse, "run", "--source", f"metadata-log:{broker.metadata_log}",
            "--super-users", SUPER_USERS, "--fail-on", "never",
        )  # fmt: skip
        run_aclkit(warehouse, "usage", "--authorizer-log", broker.authorizer_log)
        shown = _rows(run_aclkit(warehouse, "denials", "--format", "jsonl"))
        rows = _rows(run_aclkit(warehouse, "denials", "--all", "--format", "jsonl"))
        _compare_app([row for row in rows if row["principal"] == _APP], tools, broker, work, say)
        for name, client in _CLIENTS.items():
            mine = [row for row in shown if row["principal"] == f"User:{name}"]
            _compare_client(name, client, mine, tools, broker)
            work.until_all_pass(name)
            say(f"{name}, who had no ACL, is let in by {len(mine)} commands of denials")


def _compare_app(
    rows: list[dict[str, Any]],
    tools: Tools,
    broker: Broker,
    work: _Work,
    say: Callable[[str], None],
) -> None:
    mine = {(row["operation"], row["resource_name"]): row for row in rows}
    found = {place: row["cause"] for place, row in mine.items()}
    if found != _EXPECTED:
        raise Difference(f"found {found}, expected {dict(_EXPECTED)}")
    say(f"{len(rows)} refused accesses, the cause of each is right: {', '.join(found.values())}")
    for topic in ("orders", "invoices"):
        _add(mine["WRITE", topic]["command"], tools, broker)
        work.until(topic, is_allowed=True)
    say("the commands that denials prints let the client in")


def _compare_client(
    name: str, client: _Kind, rows: list[dict[str, Any]], tools: Tools, broker: Broker
) -> None:
    """Add what is proposed, which must be what such a client needs and no more."""
    found = {(row["command"].rpartition(" ")[2], row["resource_name"]) for row in rows}
    if found != client.needs:
        raise Difference(f"{name} needs {set(client.needs)}, denials proposes {found}")
    for row in rows:
        _add(row["command"], tools, broker)


def _rows(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.split("\n") if line]


def _add(command: str, tools: Tools, broker: Broker) -> None:
    _, *words = shlex.split(command)
    tools.acls(broker, *_without_server(words))


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
