"""Random ACL sets and requests → aclkit's decisions and Kafka's own, which must be the same.

``python -m tests.tools.benchmarks.differential --decisions 1000000 --seed 1`` ends with exit code 1
where one decision, rule or deciding ACL differs.

The worlds are small and full of collisions: names are pieces of each other, ACLs share
principals and hosts, and most requests are made from an ACL by changing it a little. ACLs with an
empty name are left aside, since no broker accepts one.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import click

from aclkit.kafka.verify.compare import Cell, Mismatch, Oracle, compare
from aclkit.kafka.verify.jars import NEWEST, VERSIONS, class_path
from aclkit.kafka.verify.kafka import Kafka
from aclkit.kafka.verify.wire import Reply
from aclkit.model.acl import Acl, Request
from aclkit.model.enums import AclOperation
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, BrokerSettings

PIECES = ("a", "b", "ab", "-", ".", "*", "?", "é", "\U0001f511", "\ue000", "\t")
FIRST_PIECES = (*PIECES, "#", "$D", "!", " ", "#")
"""What sorts below ``*`` makes Kafka search twice."""

OPERATIONS = tuple(AclOperation.__members__)[3:]
TYPES = tuple(OPERATIONS_OF_TYPE)
HOSTS = ("10.0.0.1", "10.0.0.2", "0:0:0:0:0:0:0:1", "2001:db8:0:0:0:0:0:a")
ACL_HOSTS = (*HOSTS, "*", "*", "*", "*", "::1", "", "10.0.0.*", "localhost")
PRINCIPALS = ("User:a", "User:b", "User:ab", "Group:a", ":a", "User:", "User:CN=a:b,O=c", "User:é")
ACL_PRINCIPALS = (*PRINCIPALS, "User:a", "User:b", "User:*", "User:*", "User:a*", "*:*")
SUPER_USERS = ("User:root", "User:CN=x, O=y", "Group:a")


@dataclass(frozen=True, slots=True)
class World:
    """The ACLs of a cluster, its brokers' configuration, and what is asked."""

    acls: list[Acl]
    settings: BrokerSettings
    requests: list[Request]


def make_world(rng: random.Random, most_acls: int = 60, requests: int = 1_000) -> World:
    """Make a world; the same state of ``rng`` makes the same one."""
    acls = [make_acl(rng, number) for number in range(rng.randint(0, most_acls))]
    super_users = rng.sample(SUPER_USERS, rng.randint(0, len(SUPER_USERS)))
    settings = BrokerSettings(super_users=frozenset(super_users), allow_everyone=rng.random() < 0.5)
    return World(acls, settings, [make_request(rng, acls, settings) for _ in range(requests)])


def make_acl(rng: random.Random, number: int) -> Acl:
    """Make an ACL of any kind that a log can hold."""
    resource_type = rng.choice(TYPES)
    kind = rng.random()
    is_wildcard = kind < 0.12
    name = "*" if is_wildcard else make_name(rng, resource_type)
    chance = rng.random()
    return Acl(
        acl_id=f"acl-{number:03}",
        resource_type=resource_type,
        resource_name=name,
        pattern_type=_rarely(
            rng, "LITERAL" if is_wildcard or kind < 0.55 else "PREFIXED", ("GLOB", "UNKNOWN(9)")
        ),
        principal=_rarely(rng, rng.choice(ACL_PRINCIPALS), ("bob",), 0.002),
        host=rng.choice(ACL_HOSTS),
        operation=_rarely(
            rng, "ALL" if chance < 0.2 else _operation(rng, resource_type), ("UNKNOWN(77)",)
        ),
        permission_type=_rarely(rng, "DENY" if rng.random() < 0.3 else "ALLOW", ("UNKNOWN(5)",)),
    )


def make_request(rng: random.Random, acls: Sequence[Acl], settings: BrokerSettings) -> Request:
    """Make a request: out of the blue, or near to one of the ACLs."""
    acl = rng.choice(acls) if acls and rng.random() < 0.85 else None
    resource_type = acl.resource_type if acl else rng.choice(TYPES)
    name = _near(rng, acl.resource_name) if acl else make_name(rng, resource_type)
    principal, host = rng.choice(PRINCIPALS), rng.choice(HOSTS)
    operation = _operation(rng, resource_type)
    if acl and rng.random() < 0.6:
        principal = acl.principal if acl.principal in PRINCIPALS else principal
        host = acl.host if acl.host in HOSTS else host
        operation = acl.operation if acl.operation in OPERATIONS else operation
    if settings.super_users and rng.random() < 0.03:
        principal = rng.choice(sorted(settings.super_users))
    return Request(
        principal=_rarely(rng, principal, ("User:*",), 0.003),
        host=host,
        operation=operation,
        resource_type=resource_type,
        resource_name=name,
    )


def make_name(rng: random.Random, resource_type: str) -> str:
    """Make a name; of topics none sorts below ``*``, as Kafka has it."""
    first = PIECES if resource_type == "TOPIC" else FIRST_PIECES
    return rng.choice(first) + "".join(rng.choices(PIECES, k=rng.choice((0, 0, 1, 1, 2, 3))))


def _near(rng: random.Random, name: str) -> str:
    """Return the name itself, one that it begins, or a piece of it."""
    chance = rng.random()
    if chance < 0.5 and name != "*":
        return name
    if chance < 0.85:
        return name + rng.choice(PIECES)
    if chance < 0.95:
        return name[: rng.randint(0, len(name))]
    return rng.choice(FIRST_PIECES)


def _operation(rng: random.Random, resource_type: str) -> str:
    """Choose one that the type knows, now and then any."""
    return rng.choice(OPERATIONS_OF_TYPE[resource_type] if rng.random() < 0.8 else OPERATIONS)


def _rarely(rng: random.Random, usual: str, others: Sequence[str], chance: float = 0.02) -> str:
    return rng.choice(others) if rng.random() < chance else usual


@dataclass(slots=True)
class Result:
    """What came of all worlds."""

    worlds: int = 0
    asked: int = 0
    answers: Counter[tuple[str | None, str]] = field(default_factory=Counter)
    mismatches: list[tuple[World, Mismatch]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Counting:
    """Kafka, and a count of what it answers."""

    kafka: Oracle
    answers: Counter[tuple[str | None, str]]

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        answers = self.kafka.ask(requests)
        self.answers.update((answer.decision, answer.rule) for answer in answers)
        return answers


def run(kafka: Kafka, worlds: Iterator[World], decisions: int) -> Result:
    """Compare worlds until so many decisions were asked of Kafka."""
    result = Result()
    while result.asked < decisions:
        world = next(worlds)
        kafka.load(world.acls, world.settings)
        report = compare(
            [[Cell(request, request, None, None, None) for request in world.requests]],
            {acl.acl_id: acl for acl in world.acls},
            world.settings,
            _Counting(kafka, result.answers),
            again=KAFKA,
        )
        result.worlds += 1
        result.asked += report.asked
        result.mismatches += [(world, mismatch) for mismatch in report.mismatches]
        result.left_out.update(left.reason.partition(":")[0] for left in report.left_out)
    return result


def random_worlds(seed: int) -> Iterator[World]:
    """Yield worlds without end, the same for the same seed."""
    rng = random.Random(seed)
    while True:
        yield make_world(rng)


@click.command()
@click.option("--decisions", default=1_000_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--kafka", "version", default=NEWEST, type=click.Choice(VERSIONS), show_default=True)
def main(decisions: int, seed: int, version: str) -> None:
    """Compare aclkit's decisions on random ACL sets with Kafka's own."""
    started = time.monotonic()
    with Kafka(class_path(version, lambda text: click.echo(text, err=True))) as kafka:
        result = run(kafka, random_worlds(seed), decisions)
    seconds = time.monotonic() - started
    click.echo(
        f"Kafka {version}, {result.asked:,} decisions on {result.worlds:,} ACL sets in "
        f"{seconds:.0f} s: {len(result.mismatches):,} mismatches"
    )
    for (decision, rule), count in result.answers.most_common():
        click.echo(f"{count:>12,}  {decision or ''} {rule}")
    for reason, count in result.left_out.most_common():
        click.echo(f"{count:>12,}  left out: {reason}")
    for world, mismatch in result.mismatches[:5]:
        of_type = [a for a in world.acls if a.resource_type == mismatch.asked.resource_type]
        click.echo(f"{mismatch}\n  {world.settings}\n  {of_type}", err=True)
    sys.exit(bool(result.mismatches))


if __name__ == "__main__":
    main()
