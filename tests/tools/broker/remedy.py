"""Bad ACLs of a real broker, and the steps of ``remedy``: does the broker ever allow more?

Each command of each step is run by Kafka's own kafka-acls. After each of them users send requests,
and none passes that did not pass before. After each step exactly those are refused in addition
that the step's own preview has as lost.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from aclkit.model.acl import ANY_OTHER, BINDING, Acl
from aclkit.model.resource import CLUSTER_NAME
from tests.tools.broker.asked import ASKED, PLAIN, Asked, new_topic
from tests.tools.broker.client import Client, connect
from tests.tools.broker.messages import request
from tests.tools.broker.running import Difference, expect_equal, known_acls, run_aclkit
from tests.tools.broker.server import Broker
from tests.tools.broker.tools import Tools

USERS: Final = {
    "admin": "admin-secret", "ops": "ops-secret", "app": "app-secret", "etl": "etl-secret",
    "eve": "eve-secret",
}  # fmt: skip
_ADMINS: Final = ("admin", "ops")
SUPER_USERS: Final = "User:ANONYMOUS;User:admin;User:ops"
PROPERTIES: Final = {"super.users": SUPER_USERS}
_HOST: Final = "127.0.0.1"
_GONE: Final = "orders.gone"
_TOPICS: Final = ("orders.a", "orders.b", "secret.x", "app.log", _GONE)
_GROUPS: Final = ("g1", "g2")
_SECONDS: Final = 30.0

_SENT: Final[Mapping[str, tuple[str, str]]] = {
    "Produce": ("WRITE", "TOPIC"),
    "Fetch": ("READ", "TOPIC"),
    "ListOffsets": ("DESCRIBE", "TOPIC"),
    "DeleteRecords": ("DELETE", "TOPIC"),
    "CreatePartitions": ("ALTER", "TOPIC"),
    "DescribeConfigs of a topic": ("DESCRIBE_CONFIGS", "TOPIC"),
    "AlterConfigs of a topic": ("ALTER_CONFIGS", "TOPIC"),
    "FindCoordinator of a group": ("DESCRIBE", "GROUP"),
    "Heartbeat": ("READ", "GROUP"),
    "DescribeLogDirs": ("DESCRIBE", "CLUSTER"),
    "ListConfigResources": ("DESCRIBE_CONFIGS", "CLUSTER"),
    "AlterReplicaLogDirs": ("ALTER", "CLUSTER"),
}
"""Requests with one check each, and what it is."""
_NAMES: Final = {"TOPIC": _TOPICS, "GROUP": _GROUPS, "CLUSTER": (CLUSTER_NAME,)}

Access = tuple[str, str, str, str]
"""A principal, an operation, and a resource's type and name."""


def _acl(name: str, principal: str, **other: str) -> Acl:
    fields = {
        "acl_id": "", "resource_type": "TOPIC", "resource_name": name, "pattern_type": "LITERAL",
        "principal": principal, "host": _HOST, "operation": "READ", "permission_type": "ALLOW",
    }  # fmt: skip
    return Acl(**(fields | other))


_PREFIXED: Final = {"pattern_type": "PREFIXED"}
_PLANTED: Final = (
    _acl("orders.", "User:*", host="*", **_PREFIXED),  # public; it covers the next two
    _acl("orders.a", "User:app"),
    _acl("orders.a", "User:app", operation="DESCRIBE"),
    _acl(CLUSTER_NAME, "User:eve", resource_type="CLUSTER", operation="ALTER"),
    _acl("app.", "User:app", operation="ALL", **_PREFIXED),
    _acl("app.log", "User:app", operation="WRITE"),
    _acl("app.log", "User:app", host="broker.example"),
    _acl(_GONE, "User:etl", permission_type="DENY", host="*"),  # it restrains the public one
    _acl(_GONE, "User:etl", operation="WRITE"),
    _acl("secret.x", "User:etl"),
    _acl("secret.", "User:*", operation="ALL", permission_type="DENY", host="*", **_PREFIXED),
    _acl("secret.x", "User:eve", operation="WRITE", permission_type="DENY", host="*"),
    _acl("app.", "Group:analysts", **_PREFIXED),
    _acl("g1", "User:app", resource_type="GROUP"),
)


@dataclass
class _World:
    """A broker with bad ACLs, and those who ask."""

    broker: Broker
    tools: Tools
    admin: Client
    clients: Mapping[str, Client]
    names: dict[str, Any] = field(default_factory=dict)

    def fill(self, admins: Sequence[Client]) -> None:
        """Make topics and ACLs, by two administrators in turn; then a topic goes."""
        self.admin.send(
            request(
                "CreateTopics", topics=[new_topic(name) for name in _TOPICS], timeout_ms=5000,
                validate_only=False,
            )
        )  # fmt: skip
        for acl, client in zip(_PLANTED, cycle(admins), strict=False):
            if not client.create([acl]):
                raise Difference(f"the broker does not take {acl}")
        self.admin.send(request("DeleteTopics", 5, topic_names=[_GONE], timeout_ms=5000))
        self.until({acl.binding for acl in _PLANTED})

    def until(self, wanted: Collection[tuple[str, ...]]) -> None:
        """Wait until the broker has some ACLs and no others."""
        end = time.monotonic() + _SECONDS
        while self.admin.acls() != set(wanted):
            if time.monotonic() > end:
                expect_equal("the broker", self.admin.acls(), set(wanted))
            time.sleep(0.05)

    def passing(self) -> set[Access]:
        """Send each request as each user, and return those that pass."""
        return {
            access
            for access, asked, names in self.drawn()
            if asked.passed(self.clients[access[0]].send(asked.make(names)), names)
        }

    def drawn(self) -> Iterator[tuple[Access, Asked, dict[str, Any]]]:
        """Yield each access that is asked for, with its request and the names in it."""
        by_title = {each.title: each for each in ASKED if each.ways == PLAIN}
        for user in self.clients:
            for title, (operation, kind) in _SENT.items():
                for name in _NAMES[kind]:
                    names = {"topic": _TOPICS[0], "group": "g1", kind.lower(): name, "txn": "t"}
                    yield (user, operation, kind, name), by_title[title], names

    def run(self, words: Sequence[str]) -> None:
        """Run a command of a script by kafka-acls, and wait until the authorizer follows."""
        action, *options = words
        forced = ("--force",) if action == "remove" else ()
        before, end = self.admin.acls(), time.monotonic() + _SECONDS
        self.tools.acls(self.broker, f"--{action}", *forced, *options)
        while self.admin.acls() == before:
            if time.monotonic() > end:
                raise Difference(f"{words} changes nothing")
            time.sleep(0.05)


def compare_remedy(broker: Broker, tools: Tools, folder: Path, say: Callable[[str], None]) -> None:
    """Apply the steps one by one, and insist that nothing opens and that what is lost is told."""
    warehouse = folder / "remedy"
    with ExitStack() as stack:
        admins = [stack.enter_context(connect(broker, "SASL_PLAINTEXT", each)) for each in _ADMINS]
        clients = {
            f"User:{user}": stack.enter_context(connect(broker, "SASL_PLAINTEXT", user))
            for user in USERS if user not in _ADMINS
        }  # fmt: skip
        world = _World(broker, tools, stack.enter_context(connect(broker)), clients)
        world.fill(admins)
        _read(broker, warehouse)
        plan = _plan(warehouse)
        first = before = world.passing()
        commands = sent = 0
        has = world.admin.acls()
        for step in plan["steps"]:
            lost = _lost(json.loads(_remedy(warehouse, step, "json")))
            script = _remedy(warehouse, step, "kafka-acls")
            allowed = before
            for words in _commands(script):
                world.run(words)
                commands += 1
                now = world.passing()
                sent += len(list(world.drawn()))
                if opened := now - allowed:
                    raise Difference(f"{step['kind']}: {words} opens {sorted(opened)}")
                allowed = now
            _expect_lost(step["kind"], before - allowed, lost & before)
            before = allowed
            has = has - _bindings(step["remove"]) | _bindings(step["add"])
            world.until(has)
            _read(broker, warehouse)
            expect_equal("after a step, aclkit", known_acls(warehouse), world.admin.acls())
            left = json.loads(run_aclkit(warehouse, "remedy", *_WINDOW, "--format", "json"))[
                "steps"
            ]
            later = {each["step"] for each in plan["steps"][step["position"] :]}
            if not later <= {each["step"] for each in left}:
                raise Difference(f"after {step['kind']}, the next run advises {left}")
        whole = _lost(plan)
        _expect_lost("the whole", first - before, whole & first)
        steps = [step["kind"] for step in plan["steps"]]
        say(f"{len(steps)} steps of {commands} commands: {', '.join(dict.fromkeys(steps))}")
        say(
            f"{sent} requests of {len(clients)} users between them: none passes that did not "
            f"before; {len(first - before)} of {len(first)} are refused now, as previewed"
        )
        _insist(plan, first, before)


def _expect_lost(what: str, lost: set[Access], previewed: set[Access]) -> None:
    """Insist that a preview has what is lost; it may leave out a topic that was deleted."""
    if not previewed <= lost or any(access[-1] != _GONE for access in lost - previewed):
        raise Difference(f"{what} takes {sorted(lost)}, its preview has {sorted(previewed)}")


def _insist(plan: Mapping[str, Any], first: set[Access], last: set[Access]) -> None:
    """Insist that the cases for which ACLs were planted did occur."""
    deny = next(step for step in plan["steps"] if step["needs"])
    if deny["remove"][0]["permission_type"] != "DENY":
        raise Difference("no DENY waits for the ALLOW that it restrains")
    own = ("User:app", "READ", "TOPIC", "orders.a")
    if own not in first & last:
        raise Difference(f"{own} has gone with the public ACL")
    for gone in (("User:eve", "READ", "TOPIC", "orders.a"), ("User:eve", "ALTER", "CLUSTER",
                                                             CLUSTER_NAME)):  # fmt: skip
        if gone not in first - last:
            raise Difference(f"{gone} is not lost")


def _read(broker: Broker, warehouse: Path) -> None:
    run_aclkit(
        warehouse, "run", "--source", f"metadata-log:{broker.metadata_log}",
        "--super-users", SUPER_USERS, "--no-allow-everyone", "--fail-on", "never",
    )  # fmt: skip
    log = warehouse.with_name(f"{uuid4()}.log")
    log.write_text(
        "".join(_quiet_lines(datetime.now(UTC) + timedelta(seconds=2))), encoding="utf-8"
    )
    run_aclkit(warehouse, "usage", "--authorizer-log", log, *_WINDOW)


def _quiet_lines(at: datetime) -> Iterator[str]:
    """Yield a log of the broker, which is the controller too, in which no ACL is used."""
    for operation, resource, name in (
        ("CLUSTER_ACTION", "Cluster:LITERAL:kafka-cluster", "BrokerHeartbeat"),
        ("WRITE", "Topic:LITERAL:quiet", "Produce"),
    ):
        yield (
            f"[{at:%Y-%m-%d %H:%M:%S},000] DEBUG Principal = User:ANONYMOUS is Allowed operation = "
            f"{operation} from host = 127.0.0.1 on resource = {resource} for request = {name} "
            "with resourceRefCount = 1 based on rule SuperUser (kafka.authorizer.logger)\n"
        )


_WINDOW: Final = ("--unused-days", "0.00001")
"""The window begins after the ACLs came, so that no use of theirs is in it."""


def _plan(warehouse: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        run_aclkit(warehouse, "remedy", *_WINDOW, "--format", "json")
    )
    return found


def _remedy(warehouse: Path, step: Mapping[str, Any], form: str) -> str:
    return run_aclkit(warehouse, "remedy", *_WINDOW, "--step", step["step"], "--format", form)


def _commands(script: str) -> Iterator[list[str]]:
    for line in script.splitlines():
        if line.startswith(("add --", "remove --")):
            yield shlex.split(line)


def _bindings(rows: Sequence[Mapping[str, str]]) -> set[tuple[str, ...]]:
    return {tuple(row[name] for name in BINDING) for row in rows}


def _lost(found: Mapping[str, Any]) -> set[Access]:
    """Return what a preview has as lost, for the host of the clients."""
    hosts = {row["host"] for row in found["lost"]}
    host = _HOST if _HOST in hosts else ANY_OTHER
    return {
        (row["principal"], row["operation"], row["resource_type"], row["resource_name"])
        for row in found["lost"]
        if row["host"] == host
    }
