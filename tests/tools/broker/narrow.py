"""A client of a real broker that uses half of its rights: does it still work on a narrower set?"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aclkit.model.acl import Acl, Request
from aclkit.model.principal import parse_super_users
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.decide.rules import Ruling, decide
from tests.tools.broker.asked import ASKED, Asked, new_topic
from tests.tools.broker.client import Client, connect
from tests.tools.broker.export import run_script
from tests.tools.broker.messages import request
from tests.tools.broker.running import (
    SUPER_USERS,
    Difference,
    expect_equal,
    known_acls,
    run_aclkit,
)
from tests.tools.broker.server import Broker
from tests.tools.broker.tools import Tools

USERS: Final = {"app": "app-secret", "other": "other-secret"}
_APP: Final = "User:app"
_NAMES: Final = {"topic": "orders", "group": "app-1", "gone": "app-2", "txn": "tx"}
_SECONDS: Final = 30.0
_QUIET: Final = 5.0
"""Seconds between the ACLs and the window that shows use: none of them is too new."""

_USED: Final = (
    "Metadata",
    "Produce",
    "Fetch",
    "ListOffsets",
    "FindCoordinator of a group",
    "OffsetFetch",
    "InitProducerId without a transactional id",
    "DescribeConfigs of a topic",
    "IncrementalAlterConfigs of a topic",
)
"""What the client does; the rest of its rights is not used."""

_UNUSED: Final = ("DeleteRecords", "CreatePartitions", "JoinGroup", "InitProducerId with a "
                  "transactional id")  # fmt: skip
_OTHER: Final = "Produce"


def _acl(name: str, operation: str, **other: str) -> Acl:
    fields = {
        "acl_id": "", "resource_type": "TOPIC", "resource_name": name, "pattern_type": "LITERAL",
        "principal": _APP, "host": "*", "operation": operation, "permission_type": "ALLOW",
    }  # fmt: skip
    return Acl(**(fields | other))


_ACLS: Final = (
    _acl("or", "ALL", pattern_type="PREFIXED"),
    _acl("bills", "READ"),
    _acl("secret", "ALL", permission_type="DENY"),
    _acl("public", "READ", principal="User:*"),
    _acl("app-", "ALL", resource_type="GROUP", pattern_type="PREFIXED"),
    _acl("*", "ALL", resource_type="TRANSACTIONAL_ID"),
)
_AFTER: Final = {
    _acl("or", each, pattern_type="PREFIXED").binding for each in ("READ", "WRITE", "ALTER_CONFIGS")
} | {
    _acl("app-", "DESCRIBE", resource_type="GROUP", pattern_type="PREFIXED").binding,
    _acl("secret", "ALL", permission_type="DENY").binding,
    _acl("public", "READ", principal="User:*").binding,
}


@dataclass(frozen=True)
class _Work:
    """An administrator, the client, and another one that is refused."""

    admin: Client
    app: Client
    other: Client

    def prepare(self) -> None:
        """Create topics and ACLs, and wait until they are old enough."""
        topics = [new_topic(name) for name in ("orders", "bills", "secret", "public")]
        self.admin.send(
            request("CreateTopics", topics=topics, timeout_ms=5000, validate_only=False)
        )
        taken = self.admin.create(_ACLS)
        if len(taken) != len(_ACLS):
            raise Difference(f"the broker took {len(taken)} of {len(_ACLS)} ACLs")
        self.until(self.app, "Produce", is_allowed=True)
        time.sleep(_QUIET)

    def use(self) -> None:
        """Do all that the client does, and let the other one be refused."""
        for title in _USED:
            self.until(self.app, title, is_allowed=True)
        self.until(self.other, _OTHER, is_allowed=False)

    def until(self, client: Client, title: str, *, is_allowed: bool) -> None:
        """Send a request until the broker takes it, or refuses it."""
        asked = _kind(title)
        end = time.monotonic() + _SECONDS
        while asked.passed(client.send(asked.make(_NAMES)), _NAMES) is not is_allowed:
            if time.monotonic() > end:
                raise Difference(f"{title} is never {'allowed' if is_allowed else 'refused'}")
            time.sleep(0.2)


def compare_narrow(broker: Broker, tools: Tools, folder: Path, say: Callable[[str], None]) -> None:
    """Narrow the client by its log, apply the script, and insist that what it does still works."""
    warehouse, log, script = folder / "narrow", folder / "copy.log", folder / "narrow.sh"
    with ExitStack() as stack:
        work = _Work(
            stack.enter_context(connect(broker)),
            *(stack.enter_context(connect(broker, "SASL_PLAINTEXT", user)) for user in USERS),
        )
        work.prepare()
        began = time.time()
        work.use()
        shutil.copy(broker.authorizer_log, log)
        days = (time.time() - began) / 86_400
        run_aclkit(
            warehouse, "run", "--source", f"metadata-log:{broker.metadata_log}",
            "--super-users", SUPER_USERS, "--fail-on", "never",
        )  # fmt: skip
        refused = run_aclkit(warehouse, "narrow", _APP, codes=(2,))
        if refused:
            raise Difference(f"without a log it is narrowed: {refused}")
        run_aclkit(warehouse, "usage", "--authorizer-log", log)
        run_aclkit(warehouse, "narrow", _APP, codes=(3,))
        before = known_acls(warehouse)
        options = (_APP, "--unused-days", days)
        found = json.loads(run_aclkit(warehouse, "narrow", *options, "--format", "json"))
        after = _after(before, found["changes"])
        expect_equal("the narrower set", after, _AFTER)
        lines = _judge(warehouse, before, after)
        say(f"{len(before)} ACLs become {len(after)}, and {lines} requests are decided as before")
        run_aclkit(
            warehouse, "narrow", *options, "--format", "kafka-acls", "--output", script
        )  # fmt: skip
        run_script(script, broker, tools)
        expect_equal("the broker after the script", work.admin.acls(), after)
        for title in _UNUSED:
            work.until(work.app, title, is_allowed=False)
        work.use()
        say(f"{len(_USED)} kinds of requests still pass, {len(_UNUSED)} unused ones are refused")


def _after(before: set[tuple[str, ...]], changes: Iterable[dict[str, Any]]) -> set[tuple[str, ...]]:
    """Apply what narrow proposes."""
    after = set(before)
    for row in changes:
        binding = (
            row["resource_type"], row["resource_name"], row["pattern_type"], row["principal"],
            row["host"], row["operation"], row["permission_type"],
        )  # fmt: skip
        if row["change"] == "add":
            after.add(binding)
        elif row["change"] != "keep":
            after.remove(binding)
    return after


def _judge(warehouse: Path, before: set[tuple[str, ...]], after: set[tuple[str, ...]]) -> int:
    """Let the pure rule decide each request of the log on both sets, and return how many."""
    out = run_aclkit(warehouse, "sql", _SQL, "--format", "jsonl")
    rows: list[dict[str, str]] = list(map(json.loads, filter(None, out.split("\n"))))
    for row in rows:
        asked = Request(**row)
        one, other = _decide(before, asked).decision, _decide(after, asked).decision
        if one != other:
            raise Difference(f"{asked} was {one}, and is {other} on the narrower set")
    if not any(Request(**row).principal == _APP for row in rows):
        raise Difference("the log has no request of the client")
    return len(rows)


def _decide(bindings: set[tuple[str, ...]], asked: Request) -> Ruling:
    settings = BrokerSettings(super_users=parse_super_users(SUPER_USERS), allow_everyone=False)
    acls = [
        Acl(
            acl_id=str(at), resource_type=kind, resource_name=name, pattern_type=pattern_type,
            principal=principal, host=host, operation=operation, permission_type=permission,
        )
        for at, (kind, name, pattern_type, principal, host, operation, permission) in enumerate(
            sorted(bindings)
        )
    ]  # fmt: skip
    return decide(acls, asked, settings, KAFKA)


def _kind(title: str) -> Asked:
    return next(asked for asked in ASKED if asked.title == title)


_SQL: Final = (
    "SELECT DISTINCT principal, host, operation, resource_type, resource_name FROM access_day "
    "WHERE principal IS NOT NULL ORDER BY ALL"
)
