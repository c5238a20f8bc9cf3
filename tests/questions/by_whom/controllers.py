"""Three controllers, their elections, brokers and administrators: the truth, and what it leaves.

All times are microseconds. A controller stamps its lines and records by its own clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from aclkit.questions.by_whom.match import ADDED, REMOVED, AclChange, ControllerLog, Sent

MS = 1_000
SECOND = 1_000_000
PRINCIPALS = ("User:admin", "User:alice", "User:operator")
NODES = 3
SKEW = SECOND
LAST_TO_LEARN = 3.9
"""Seconds until every broker has found a new controller."""


@dataclass(frozen=True)
class Term:
    """A time in which a controller is active."""

    node: int
    epoch: int
    start: int
    end: int


@dataclass
class World:
    """What happened, and what is left of it.

    Attributes:
        lines: node → its log, as requests and heartbeats.
        changes: what the metadata log has.
        truth: offset → who did it.
        epoch_began: epoch → its first record that aclkit keeps.
    """

    terms: Sequence[Term]
    requests: dict[int, list[Sent]] = field(default_factory=dict)
    heartbeats: dict[int, list[int]] = field(default_factory=dict)
    changes: list[AclChange] = field(default_factory=list)
    truth: dict[int, str] = field(default_factory=dict)
    epoch_began: Mapping[int, int] = field(default_factory=dict)

    def log(self, lost: Iterable[tuple[int, int, int]] = ()) -> ControllerLog:
        """Return the logs without some files: node, and the first and last time of each.

        Next to a lost file another one ends, or begins.
        """
        gone = list(lost)

        def is_left(node: int, time: int) -> bool:
            return not any(node == n and start <= time <= end for n, start, end in gone)

        doubts: list[tuple[int, int]] = []
        for node, start, end in gone:
            times = [*(sent.first for sent in self.requests[node]), *self.heartbeats[node]]
            before = max((at for at in times if at < start), default=None)
            after = min((at for at in times if at > end), default=None)
            doubts += [(at, at) for at in (before, after) if at is not None]
        return ControllerLog(
            requests=[s for n, sent in self.requests.items() for s in sent if is_left(n, s.first)],
            heartbeats=[b for n, beats in self.heartbeats.items() for b in beats if is_left(n, b)],
            doubts=doubts,
        )


def make_world(
    random: Random, count: int = 200, seconds: int = 1_200, shortest: float = 3
) -> World:
    """Let administrators change ACLs ``count`` times."""
    terms = _terms(random, seconds * SECOND, shortest)
    world = World(terms)
    clocks = [random.randint(-400, 400) * MS for _ in range(NODES)]
    world.requests = {node: [] for node in range(NODES)}
    world.heartbeats = {node: [] for node in range(NODES)}
    _beat(random, world, clocks)
    records = [*_requests(random, world, clocks, count), *_other_records(random, terms, clocks)]
    records.sort(key=lambda record: record[0])
    began: dict[int, int] = {}
    for offset, (_, stamp, epoch, who, kind) in enumerate(records):
        began.setdefault(epoch, stamp)
        if who:
            world.truth[offset] = who
            change = AclChange(
                acl_id=f"id-{offset}", change=kind, log_offset=offset, time=stamp, epoch=epoch
            )
            world.changes.append(change)
    world.epoch_began = began
    return world


def _terms(random: Random, end: int, shortest: float) -> list[Term]:
    terms: list[Term] = []
    at, node = 0, 0
    while at < end:
        length = random.choice([random.uniform(shortest, 12), random.uniform(30, 200)])
        until = at + int(max(length, shortest) * SECOND)
        terms.append(Term(node, len(terms) + 1, at, until))
        at, node = until, (node + random.randint(1, NODES - 1)) % NODES
    return terms


def _active(terms: Sequence[Term], at: int) -> Term:
    return next(term for term in reversed(terms) if term.start <= at)


def _known(random: Random, terms: Sequence[Term], at: int) -> int:
    """Return the controller that a broker takes for the active one."""
    term = _active(terms, at)
    learned = term.start + int(random.uniform(0, LAST_TO_LEARN) * SECOND)
    return term.node if at >= learned or term.epoch == 1 else terms[term.epoch - 2].node


def _beat(random: Random, world: World, clocks: Sequence[int]) -> None:
    for _ in range(3):
        at = -random.randint(0, 2_000) * MS
        while at < world.terms[-1].end:
            node = _known(random, world.terms, max(at, 0))
            world.heartbeats[node].append(at + clocks[node])
            at += random.randint(2_000, 2_040) * MS


_Record = tuple[int, int, int, str, str]
"""When it was appended, its time, epoch, and who changed what; nobody for other records."""


def _requests(random: Random, world: World, clocks: Sequence[int], count: int) -> Iterable[_Record]:
    """Yield the records of requests; a request may leave none, or several."""
    end = world.terms[-1].end
    times = [random.randrange(0, end) for _ in range(count)]
    times += [at + random.randint(0, 900) * MS for at in random.sample(times, count // 4)]
    left = count
    for at in sorted(times, key=lambda _: random.random()):
        who, kind = random.choice(PRINCIPALS), random.choice((ADDED, REMOVED))
        node, term = _known(random, world.terms, at), _active(world.terms, at)
        for seen in {node, term.node}:
            line = Sent(
                first=at + clocks[seen], last=at + clocks[seen], change=kind, principal=who,
                host="10.0.0.9",
            )  # fmt: skip
            world.requests[seen].append(line)
        appended = at + random.choice([random.randint(0, 50), random.randint(0, 6_500)]) * MS
        if appended >= term.end or left <= 0 or random.random() < 0.2:
            continue
        for _ in range(random.choice((1, 1, 1, 4))):
            left -= 1
            # The batch may have been begun for an earlier request.
            stamp = appended - random.choice((0, 0, 25)) * MS
            yield appended, stamp + clocks[term.node], term.epoch, who, kind


def _other_records(
    random: Random, terms: Sequence[Term], clocks: Sequence[int]
) -> Iterable[_Record]:
    for term in terms:
        at = term.start + random.randint(0, 60) * SECOND
        while at < term.end:
            yield at, at + clocks[term.node], term.epoch, "", ""
            at += random.randint(1, 90) * SECOND
