"""Real requests of SCRAM users, and whether ``why`` says of each what the broker does with it.

Many ACLs have ranges as hosts: a broker of 4.4 reads them, and to an older one they are texts.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aclkit.kafka.verify.jars import RANGES_SINCE
from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import CLUSTER_NAME, Resource
from aclkit.model.semantics import OFF, ON
from aclkit.questions.query.why import Why, explain_why
from aclkit.rules.decide.handlers import REQUESTS
from aclkit.rules.decide.requests import KafkaRequest, Result, Tried
from aclkit.rules.decide.rules import ALLOWED, DENIED
from aclkit.warehouse.duck import open_tables
from aclkit.warehouse.published import resolve_cluster
from tests.tools.broker.asked import (
    ANY,
    ASKED,
    SPECIAL,
    Asked,
    consumer_heartbeat,
    kind_named,
    new_topic,
    share_heartbeat,
    streams_heartbeat,
)
from tests.tools.broker.client import Client, connect, error_codes
from tests.tools.broker.jars import VERSIONS
from tests.tools.broker.messages import request
from tests.tools.broker.running import SUPER_USERS, Difference, run_aclkit
from tests.tools.broker.server import Broker

COUNT: Final = 500
USERS: Final = {f"u{number}": f"secret-{number}" for number in range(8)}
PROPERTIES: Final = {
    "auto.create.topics.enable": "true",
    # InitProducerId of version 6 is not released yet.
    "unstable.api.versions.enable": "true",
    "transaction.two.phase.commit.enable": "true",
    # A member that sends no second heartbeat stays.
    **{
        f"group.{kind}.{bound}session.timeout.ms": "3600000"
        for kind in ("consumer", "share", "streams")
        for bound in ("", "max.")
    },
}
_HOST: Final = "127.0.0.1"
_HOSTS: Final = (
    "*", _HOST, "10.0.0.7", "127.0.0.0/8", "127.0.0.1/32", "126.1.2.3/07", "0.0.0.0/0", "::/0",
    "127.0.0.2/31", "128.0.0.0/1", "10.0.0.0/8",
)  # fmt: skip
"""Half of them are that of the clients, where ranges are read."""

_TOPICS: Final = ("pay.a", "pay.b", "pay", "orders.eu", "orders.us", "x")
_GROUPS: Final = ("pay.group", "pay.g", "orders", "x")
_CONSUMED, _SHARED = "pay.a", "pay.share"
_ASSIGNED: Final = f"topic_name='{_CONSUMED}'"
_JOINED: Final = {
    "members": ("pay.members", consumer_heartbeat),
    "sharers": ("pay.sharers", share_heartbeat),
    "streamers": ("orders.streamers", streams_heartbeat),
}
_TXNS: Final = ("pay-1", "pay-2", "orders-1")
_PREFIXES: Final = ("pay", "pay.", "orders", "orders.", "p")
_ACLS: Final = 260
_MOST_SECONDS: Final = 30.0

Names = Mapping[str, Any]
Ask = Callable[[str, str, Resource], Why]
_BY_TITLE: Final = {request.title: request for request in REQUESTS}


def compare_requests(broker: Broker, folder: Path, say: Callable[[str], None]) -> None:
    """Send requests of all kinds, and insist that ``why`` told the fate of each."""
    with ExitStack() as stack:
        clients = {
            f"User:{user}": stack.enter_context(connect(broker, "SASL_PLAINTEXT", user))
            for user in USERS
        }
        admin = stack.enter_context(connect(broker))
        world = _World(admin, clients, random.Random(14))
        world.fill()
        run_aclkit(
            folder / "requests", "run", "--source", f"metadata-log:{broker.metadata_log}",
            "--semantics", "kafka", "--cidr-hosts", _reading(broker),
            "--super-users", SUPER_USERS, "--fail-on", "never",
        )  # fmt: skip
        published, tables = stack.enter_context(open_tables(str(folder / "requests")))
        cluster = resolve_cluster(published, None)

        def ask(principal: str, operation: str, resource: Resource) -> Why:
            return explain_why(
                tables, published, cluster, principal, operation, resource, host=_HOST
            )

        different = list(filter(None, (world.compare(ask, asked) for asked in world.draw(COUNT))))
        if different:
            told = "\n".join(different[:20])
            raise Difference(f"{len(different)} of {COUNT} requests differ:\n{told}")
        kinds = len({title for title, _ in world.fates})
        passed = sum(count for (_, has_passed), count in world.fates.items() if has_passed)
        say(
            f"{COUNT} requests of {kinds} kinds by {len(USERS)} users: {passed} passed, "
            f"{COUNT - passed} were refused, as why says; {world.all_the_same} passed although "
            "the access itself is DENIED"
        )


def _reading(broker: Broker) -> str:
    """Whether ranges decide on a broker, as ``--cidr-hosts`` takes it."""
    return ON if VERSIONS.index(broker.version) >= VERSIONS.index(RANGES_SINCE) else OFF


@dataclass(slots=True)
class _World:
    """What is on the broker to ask about, and who asks.

    Attributes:
        admin: a super user.
        clients: the users, by principal.
        chance: what is asked by whom.
        ids: topics and their ids.
        tokens: of each its id, hmac, owner, and who may renew it.
        fates: how many requests of which kind passed and did not.
        all_the_same: how many passed although the access is DENIED.
    """

    admin: Client
    clients: Mapping[str, Client]
    chance: random.Random
    ids: dict[str, Any] = field(default_factory=dict)
    tokens: list[dict[str, Any]] = field(default_factory=list)
    fates: Counter[tuple[str, bool]] = field(default_factory=Counter)
    all_the_same: int = 0

    def fill(self) -> None:
        """Make topics, groups, transactional ids, tokens and ACLs."""
        for name in _TOPICS:
            self._make_topic(name)
        for name in _GROUPS:
            self._until_done(kind_named("FindCoordinator of a group").make({"group": name}))
            self._until_done(kind_named("OffsetCommit").make({"group": name, "topic": "x"}))
        for group, heartbeat in _JOINED.values():
            self._until_done(kind_named("FindCoordinator of a group").make({"group": group}))
            self._join(group, heartbeat)
        shared = {"shared": _SHARED, "topic": _CONSUMED}
        self._until_done(kind_named("AlterShareGroupOffsets").make(shared))
        for name in _TXNS:
            self._until_done(
                kind_named("FindCoordinator of a transactional id").make({"txn": name})
            )
            self._until_done(kind_named(_WITH_ID).make({"txn": name}))
        for owner, client in self.clients.items():
            self.tokens.append(self._make_token(owner, client))
        acls = list(self._acls())
        assert len(self.admin.create(acls)) == len(acls)

    def draw(self, count: int) -> Iterator[Asked]:
        """Draw kinds of requests, all of them about equally often."""
        rounds = -(-count // len(ASKED))
        kinds = [kind for _ in range(rounds) for kind in self.chance.sample(ASKED, len(ASKED))]
        yield from kinds[:count]

    def compare(self, ask: Ask, asked: Asked) -> str | None:
        """Send a request and say how its fate differs from what ``why`` says, if it does."""
        user, names = self.chance.choice(list(self.clients)), self._names()
        if asked.topic == "spare":
            names |= {"spare_id": self._make_topic(names["spare"])}
        expected, is_denied = _predict(ask, asked, user, names)
        answer = self.clients[user].send(asked.make(names))
        found = asked.passed(answer, names)
        self.fates[asked.title, found] += 1
        self.all_the_same += found and is_denied
        if found == expected:
            return None
        told = "passes" if expected else "is refused"
        shown = {name: value for name, value in names.items() if name != "hmac"}
        return f"{asked.title} of {user} on {shown}: why says it {told}; answer {answer}"

    def _names(self) -> dict[str, Any]:
        topic, group = self.chance.choice(_TOPICS), self.chance.choice(_GROUPS)
        fresh = f"{self.chance.choice(_TOPICS)}.{self.chance.randrange(1 << 40)}"
        return {
            "topic": topic, "topic_id": self.ids[topic], "new": fresh, "spare": f"{fresh}.s",
            "group": group, "gone": f"{group}.gone", "shared": _SHARED,
            **{name: group for name, (group, _) in _JOINED.items()},
            "consumed": _CONSUMED, "txn": self.chance.choice(_TXNS),
            "user": self.chance.choice(list(self.clients)), **self.chance.choice(self.tokens),
        }  # fmt: skip

    def _acls(self) -> Iterator[Acl]:
        groups = (*_GROUPS, _SHARED, *(group for group, _ in _JOINED.values()))
        named = {"TOPIC": _TOPICS, "GROUP": groups, "TRANSACTIONAL_ID": _TXNS, "CLUSTER":
                 (CLUSTER_NAME,), "USER": tuple(self.clients),
                 "DELEGATION_TOKEN": tuple(token["token"] for token in self.tokens)}  # fmt: skip
        for _ in range(_ACLS):
            kind = self.chance.choice(list(named))
            pattern_type = self.chance.choice(("LITERAL", "LITERAL", "PREFIXED"))
            name = self.chance.choice((*named[kind], "*"))
            if kind == "CLUSTER":
                pattern_type, name = "LITERAL", CLUSTER_NAME
            elif pattern_type == "PREFIXED":
                name = self.chance.choice(_PREFIXES)
            yield Acl(
                acl_id="",
                resource_type=kind,
                resource_name=name,
                pattern_type=pattern_type,
                principal=self.chance.choice((*self.clients, "User:*")),
                host=self.chance.choice(_HOSTS),
                operation=self.chance.choice(("ALL", *OPERATIONS_OF_TYPE[kind])),
                permission_type=self.chance.choice(("ALLOW",) * 5 + ("DENY",)),
            )

    def _make_topic(self, name: str) -> Any:
        """Make a topic, wait until the broker knows it, and return its id."""
        (made,) = self._until_done(
            request("CreateTopics", topics=[new_topic(name)], timeout_ms=5000, validate_only=False)
        ).topics
        self._until_done(kind_named("Metadata").make({"topic": name}))
        self.ids[name] = made.topic_id
        return made.topic_id

    def _join(self, group: str, heartbeat: Callable[[str, str, int], Any]) -> None:
        """Make a group with a member; a share group assigns a topic to one that comes again."""
        self._until_done(heartbeat(group, _CONSUMED, 0))
        describe = kind_named("ShareGroupDescribe").make({"sharers": group})
        end = time.monotonic() + _MOST_SECONDS
        while heartbeat is share_heartbeat and _ASSIGNED not in str(self.admin.send(describe)):
            if time.monotonic() > end:
                raise Difference(f"the broker assigns nothing to a member of {group}")
            time.sleep(0.2)
            self._until_done(heartbeat(group, _CONSUMED, 0))

    def _make_token(self, owner: str, client: Client) -> dict[str, Any]:
        renewer = self.chance.choice(list(self.clients))
        _, _, name = renewer.partition(":")
        answer = client.send(
            request(
                "CreateDelegationToken", owner_principal_type=None, owner_principal_name=None,
                renewers=[{"principal_type": "User", "principal_name": name}], max_lifetime_ms=-1,
            )
        )  # fmt: skip
        assert not answer.error_code, answer
        return {"token": answer.token_id, "hmac": answer.hmac, "owner": owner,
                "owners": {owner, renewer}}  # fmt: skip

    def _until_done(self, message: Any) -> Any:
        """Send as a super user, again while the broker makes its internal topics."""
        end = time.monotonic() + _MOST_SECONDS
        while error_codes(answer := self.admin.send(message)) - {0}:
            if time.monotonic() > end:
                raise Difference(f"the broker does not do it: {answer}")
            time.sleep(0.1)
        return answer


def _predict(ask: Ask, asked: Asked, user: str, names: Names) -> tuple[bool, bool]:
    """Whether a request passes, and whether the access that it is about is DENIED."""
    kind = _BY_TITLE[asked.title]
    operation, resource_type = kind.about or _access(kind)
    why = ask(user, operation, _resource(resource_type, asked, names))
    (passage,) = (each for each in why.passages if each.request == kind)
    ways = [
        each
        for each in passage.tried
        if asked.ways == ANY or bool(each.way.when) == (asked.ways == SPECIAL)
    ]
    has_passed = any(_is_open(ask, asked, user, names, each) for each in ways)
    return has_passed, why.ruling.decision == DENIED


def _is_open(ask: Ask, asked: Asked, user: str, names: Names, tried: Tried) -> bool:
    """Whether a way is open, asking about the names that ``why`` was not told."""
    if tried.result != Result.DEPENDS:
        return tried.result == Result.PASSES
    if tried.way.fact:
        return user in names["owners"]
    unknown = [
        check
        for check, ruling in zip(tried.way.checks, tried.rulings, strict=True)
        if ruling is None
    ]
    return all(
        ask(user, check.operation, _resource(check.resource_type, asked, names)).ruling.decision
        == ALLOWED
        for check in unknown
    )


def _access(kind: KafkaRequest) -> tuple[str, str]:
    """Return the access that somebody would ask about who has such a request in mind."""
    return next(check.access for way in kind.ways for check in way.checks if not check.aside)


def _resource(resource_type: str, asked: Asked, names: Names) -> Resource:
    name = {
        "TOPIC": names[asked.topic], "GROUP": names[asked.group], "CLUSTER": CLUSTER_NAME,
        "TRANSACTIONAL_ID": names["txn"], "DELEGATION_TOKEN": names["token"],
        "USER": names["user"] if asked.title == "CreateDelegationToken" else names["owner"],
    }[resource_type]  # fmt: skip
    return Resource(resource_type, name)


_WITH_ID: Final = "InitProducerId with a transactional id"
