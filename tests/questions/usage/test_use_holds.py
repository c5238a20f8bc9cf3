"""Random clusters whose logs are lost, split, rotated or at INFO: nothing used is ever taken.

The cluster is simulated line by line, and an oracle that knows all lines, the lost ones too, judges
what comes of it. ``ACLKIT_FUZZ=N`` tries N times as many clusters.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from aclkit.model.acl import Acl, Request
from aclkit.model.findings import fingerprint_of
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.questions.narrow.propose import Asked, own_principals, propose_narrow
from aclkit.questions.remedy.by_use import by_use, narrower
from aclkit.questions.remedy.change_set import Proposal
from aclkit.questions.remedy.prove import make_remedy
from aclkit.questions.usage.clock import to_datetime, to_micros
from aclkit.questions.usage.coverage import (
    HEARTBEAT,
    Activities,
    AuthorizerLog,
    Broker,
    FileDay,
    Needed,
    Stretch,
    Unread,
)
from aclkit.questions.usage.line import Statement
from aclkit.questions.usage.read_use import name_brokers
from aclkit.questions.usage.use import Unused, Use, Used, UseOfAcls
from aclkit.questions.usage.whole_log import judge_log
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from tests.factories import acl
from tests.fuzz.mutating import TIMES

DAYS = 3
END = datetime.fromisoformat("2026-11-26T12:00:00")
BEGIN = END - timedelta(days=DAYS, hours=6)
STEP = timedelta(minutes=25)
NAMES = ("a", "ab", "b")
PRINCIPALS = ("User:x", "User:y", "User:z")
OF_BROKERS, OF_CONTROLLERS = ("READ", "WRITE"), ("CREATE", "DELETE")
SUPER = "User:admin"


@dataclass(frozen=True)
class Line:
    """A line that a node wrote, or would have written at DEBUG."""

    at: datetime
    request: Request
    api: str
    is_allowed: bool = True


@dataclass
class World:
    """A cluster, what its nodes logged, and what was read of that.

    Attributes:
        acls: in force.
        brokers: the numbers of the brokers.
        truth: all requests of clients that were allowed.
        files: path → its lines.
        option: what the user said of brokers.
        read_at: when the ACLs were read.
        new: ids of ACLs that came within the window.
        unread: lines that cannot be read.
        is_whole: nothing was lost in any way.
    """

    acls: Sequence[Acl]
    brokers: Sequence[int]
    truth: list[Line] = field(default_factory=list)
    files: dict[str, list[Line]] = field(default_factory=dict)
    option: int | None = None
    read_at: datetime = END
    new: set[str] = field(default_factory=set)
    unread: int = 0
    is_whole: bool = True


def request(principal: str, operation: str, name: str, kind: str = "TOPIC") -> Request:
    return Request(
        principal=principal, host="10.0.0.1", operation=operation, resource_type=kind,
        resource_name=name,
    )  # fmt: skip


def grants(one: Acl, asked: Request) -> bool:
    """The naive rule."""
    is_name = one.resource_name == asked.resource_name or (
        one.pattern_type == "PREFIXED" and asked.resource_name.startswith(one.resource_name)
    )
    return (
        one.principal in ("User:*", asked.principal)
        and one.operation in ("ALL", asked.operation)
        and one.resource_type == asked.resource_type
        and is_name
    )


def times(begin: datetime = BEGIN, end: datetime = END) -> Iterator[datetime]:
    while begin <= end:
        yield begin
        begin += STEP


def drawn(chance: random.Random) -> World:
    """Draw a cluster, its clients and its logs."""
    acls = {}
    for number in range(chance.randint(1, 6)):
        one = acl(
            chance.choice(NAMES),
            principal=chance.choice(("User:x", "User:y", "User:*")),
            operation=chance.choice(("READ", "WRITE", "CREATE", "DELETE", "ALL")),
            pattern_type=chance.choice(("LITERAL", "PREFIXED")),
        )
        acls[one.binding] = replace(one, acl_id=f"acl-{number}")
    world = World(acls=list(acls.values()), brokers=range(1, chance.choice((1, 1, 2, 3)) + 1))
    logs = {f"broker-{each}": list(_background(each)) for each in world.brokers}
    logs |= {"controller-100": [], "controller-101": []}
    active = [chance.choice(("controller-100", "controller-101")) for _ in range(DAYS + 2)]
    for at in times():
        beat = request(SUPER, "CLUSTER_ACTION", "kafka-cluster", "CLUSTER")
        logs[active[(at - BEGIN).days]].append(Line(at, beat, HEARTBEAT))
    for _ in range(chance.randint(0, 4)):
        _use(chance, world, logs, active)
    if chance.random() < 0.2:
        world.new.add(chance.choice(world.acls).acl_id)
    _lose(chance, world, logs)
    return world


def _background(broker: int) -> Iterator[Line]:
    for at in times():
        yield Line(at, request(SUPER, "READ", "of.others"), "Fetch")
        probe = request("User:probe", "DESCRIBE", f"probe-{broker}")
        yield Line(at + STEP / 2, probe, "ListOffsets", is_allowed=False)


def _use(
    chance: random.Random, world: World, logs: dict[str, list[Line]], active: list[str]
) -> None:
    asked = request(
        chance.choice(PRINCIPALS), chance.choice((*OF_BROKERS, *OF_CONTROLLERS)),
        chance.choice(NAMES),
    )  # fmt: skip
    if not any(grants(one, asked) for one in world.acls):
        return
    at = BEGIN + (END - BEGIN) * chance.random()
    if asked.operation in OF_CONTROLLERS:
        node, api = active[(at - BEGIN).days], "CreateTopics"
    else:
        node, api = f"broker-{chance.choice(world.brokers)}", "Produce"
    line = Line(at, asked, api)
    world.truth.append(line)
    logs[node].append(line)


def _lose(  # noqa: C901 - one branch for each way to lose lines
    chance: random.Random, world: World, logs: dict[str, list[Line]]
) -> None:
    """Write files of the lines, and lose some of them."""
    ways = chance.choices(
        ("whole", "info", "file", "node", "nameless", "garbled", "old", "short", "three"),
        (6, 2, 2, 2, 2, 1, 1, 1, 2),
    )
    way = ways[0]
    world.is_whole = way == "whole"
    names = {node: node for node in logs}
    if way == "nameless" and len(world.brokers) > 1:
        names = {node: f"log-{n}" for n, node in enumerate(logs)}
        world.option = chance.choice((None, len(world.brokers)))
    elif way == "three":  # the log of one broker in three files, without a name
        lines = sorted(logs["broker-1"], key=lambda line: line.at)
        logs = {f"part-{n}": [] for n in "abc"}
        for n, line in enumerate(lines):
            logs[f"part-{'abc'[n // 2 % 3]}"].append(line)
        names = {node: node for node in logs}
    lossy = chance.choice([*logs])
    begin = BEGIN + (END - BEGIN) * chance.random() * 0.9
    hole = begin, begin + timedelta(hours=chance.choice((3, 8, 30)))
    for node, lines in logs.items():
        if way == "node" and node == lossy:
            continue
        kept = sorted(lines, key=lambda line: line.at)
        if way == "info" and node == lossy:
            kept = [e for e in kept if not (e.is_allowed and hole[0] <= e.at < hole[1])]
        elif way == "file" and node == lossy:
            kept = [e for e in kept if not hole[0] <= e.at < hole[1]]
        elif way == "garbled" and node == lossy:
            gone = chance.sample(kept, min(3, len(kept)))
            world.unread = len(gone)
            kept = [e for e in kept if e not in gone]
        elif way == "short":
            kept = [e for e in kept if e.at > BEGIN + timedelta(hours=30)]
        _write(chance, world, f"/logs/{names[node]}", kept, is_split=way == "whole")
    if way == "old":
        world.read_at = END + timedelta(days=9)


def _write(
    chance: random.Random, world: World, place: str, lines: list[Line], *, is_split: bool
) -> None:
    """Write the log of a node as one file, rotated ones, or parts that overlap."""
    count = chance.choice((1, 1, 3))
    if is_split and count > 1 and chance.random() < 0.5 and "broker" in place:
        chunks = [lines[n::count] for n in range(count)]
    else:
        size = len(lines) // count + 1
        chunks = [lines[n * size : (n + 1) * size] for n in range(count)]
    for number, chunk in enumerate(chunks):
        if chunk:
            world.files[f"{place}/kafka-authorizer.log.{number}"] = chunk


def read(world: World) -> UseOfAcls:
    """Read the files as ``usage`` does, without tables."""
    talks = {path: Activities() for path in world.files}
    days: dict[tuple[str, object], list[int]] = {}
    for path, lines in world.files.items():
        for line in lines:
            said = Statement(
                request=line.request, pattern_type="LITERAL", request_name=line.api,
                resource_ref_count=1, decision="ALLOWED" if line.is_allowed else "DENIED",
                rule=None, rule_text=None,
            )  # fmt: skip
            talks[path].of(said).note(to_micros(line.at))
            found = days.setdefault((path, line.at.date()), [0, 0, 0])
            found[0] += line.is_allowed
            found[1] += line.api == HEARTBEAT
            found[2] += line.api in ("Produce", "ListOffsets")
    log = AuthorizerLog(
        days=[FileDay(path, day, *counts) for (path, day), counts in days.items()],  # type: ignore[arg-type]  # the key's date
        stretches=[each for path in talks for each in _stretches(path, talks[path].spoke)],
        allowed=[each for path in talks for each in _stretches(path, talks[path].allowed)],
        beats=[each for path in talks for each in _stretches(path, talks[path].beats)],
        unread=[Unread("x", None, world.unread)] if world.unread else [],
        brokers=name_brokers({path: path for path in talks}, {}, world.brokers),
    )
    needed = Needed(
        days=DAYS, registered=[Broker(each) for each in world.brokers], brokers=world.option,
        read_at=world.read_at,
    )  # fmt: skip
    lines = [(path, line) for path, some in world.files.items() for line in some]
    rules = Rules(
        acls=tuple(world.acls),
        settings=BrokerSettings(super_users=frozenset({SUPER})),
        semantics=KAFKA,
    )
    return UseOfAcls(
        rules=rules,
        log=judge_log(log, needed),
        added_at={a.acl_id: END if a.acl_id in world.new else BEGIN for a in world.acls},
        uses=[
            Use(request=e.request, last_at=e.at, broker=path, is_allowed=e.is_allowed)
            for path, e in lines
        ],
    )


def _stretches(path: str, found: object) -> Iterator[Stretch]:
    starts, ends = found.starts, found.ends  # type: ignore[attr-defined]  # Stretches
    for first, last in zip(starts, ends, strict=True):
        yield Stretch(path, *(to_datetime(each).replace(tzinfo=None) for each in (first, last)))


def in_window(world: World, use: UseOfAcls) -> list[Request]:
    """What clients used in the window, whether a line of it was read or not."""
    start = use.log.window_from
    return [line.request for line in world.truth if start is not None and line.at >= start]


@pytest.mark.parametrize("seed", range(60 * TIMES))
def test_what_was_used_is_never_unused_and_a_whole_log_leaves_nothing_unknown(seed: int) -> None:
    world = drawn(random.Random(seed))
    use = read(world)
    truth = in_window(world, use)
    for one in world.acls:
        found = use.of(one)
        is_used = any(grants(one, asked) for asked in truth)
        assert not (is_used and isinstance(found, Unused)), (one, found)
        if world.is_whole:
            expected = Used if is_used else Unused
            assert isinstance(found, expected) or one.acl_id in world.new, (one, found)


@pytest.mark.parametrize("seed", range(30 * TIMES))
def test_no_step_and_no_narrower_set_takes_what_was_used(seed: int) -> None:
    chance = random.Random(seed)
    world = drawn(chance)
    use = read(world)
    truth = in_window(world, use)
    advice = [
        Proposal(
            step_id=fingerprint_of("x", one.acl_id), kind="x", severity="low", subject=one.acl_id,
            reason="r", remove=(one,), revokes=True,
        )
        for one in world.acls
        if chance.random() < 0.7
    ]  # fmt: skip
    asked = Asked(use=use)
    proven = propose_narrow(asked, sorted(own_principals(asked.rules)), Budget())
    proposals = [each for each in by_use(advice, use, {}) if isinstance(each, Proposal)]
    remedy = make_remedy(use.rules, [*proposals, *narrower(proven)], Budget(), used=use.requests())
    for request_ in truth:
        assert any(grants(one, request_) for one in remedy.plan.final.acls), request_
    for each in proven:
        after = each.narrowed.after(world.acls)
        assert all(any(grants(one, asked) for one in after) for asked in truth)
