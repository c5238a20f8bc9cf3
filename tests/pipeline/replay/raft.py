"""A small simulator of Raft as Kafka's controllers run it: what their disks hold, and the truth.

Leaders come and go, also ones that the others no longer follow; logs are cut, followed, rolled, and
begin later than at 0; snapshots are made of what is committed, and loaded by nodes that are far
behind. A copy is what a node's folder, or some files of it, hold at a moment.
"""

from __future__ import annotations

import base64
import random
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aclkit.model.facts import SourceRow
from aclkit.pipeline.sources.batches import Neighbour
from aclkit.pipeline.sources.metadata_log import EPOCHS_FILE, read_leader_epochs
from aclkit.pipeline.sources.segment import read_segment
from aclkit.pipeline.sources.snapshot import read_snapshot
from tests.factories import acl
from tests.pipeline.sources.log_bytes import acl_record, batch, control_batch

LEADER_CHANGE = (b"\0\0\0\2", b"\0")
MOST_EPOCHS_AT_ONCE = 2


class Entry(NamedTuple):
    """A record: it adds an ACL (+n), removes it (-n), or is a leader's first (0)."""

    epoch: int
    change: int
    batch: int


Copy = Mapping[str, bytes]
"""File name → content."""


def fold(entries: Iterable[Entry]) -> frozenset[int]:
    """The ACLs in force after records."""
    alive: set[int] = set()
    for entry in entries:
        if entry.change > 0:
            alive.add(entry.change)
        alive.discard(-entry.change)
    return frozenset(alive)


def id_of(number: int) -> str:
    """The id of an ACL."""
    return base64.urlsafe_b64encode(number.to_bytes(16, "big")).decode().rstrip("=")


@dataclass
class Node:
    """A controller: ``entries`` is its whole log, of which its disk has those from ``start`` on."""

    entries: list[Entry] = field(default_factory=list)
    term: int = 0
    leads: int = 0
    known: int = 0
    start: int = 0
    snapshots: list[int] = field(default_factory=list)
    rolls: set[int] = field(default_factory=set)

    @property
    def rank(self) -> tuple[int, int]:
        """How far its log is; who votes for a candidate has none that is further."""
        return (self.entries[-1].epoch if self.entries else 0, len(self.entries))

    def hear(self, term: int) -> None:
        """Follow a newer leader."""
        if term > self.term:
            self.term, self.leads = term, 0

    def cut(self, end: int) -> None:
        """Drop what another leader has not."""
        del self.entries[end:]
        self.rolls = {roll for roll in self.rolls if roll <= end}

    def copy(self) -> dict[str, bytes]:
        """What its folder holds."""
        bases = sorted(
            {self.start, *(r for r in self.rolls if self.start < r <= len(self.entries))}
        )
        ends = [*bases[1:], len(self.entries)]
        files = {
            f"{a:020}.log": _segment(self.entries, a, b) for a, b in zip(bases, ends, strict=True)
        }
        files[EPOCHS_FILE] = _epochs(self.entries, self.start)
        for end in self.snapshots:
            epoch = self.entries[end - 1].epoch
            files[f"{end:020}-{epoch:010}.checkpoint"] = _snapshot(fold(self.entries[:end]), epoch)
        return files


class Cluster:
    """The nodes, and what is committed.

    Attributes:
        committed: it only grows, or the simulator is wrong.
    """

    def __init__(self, rng: random.Random) -> None:
        """Begin with nodes that have nothing."""
        self.rng = rng
        self.nodes = [Node() for _ in range(rng.choice([3, 3, 5]))]
        self.committed: list[Entry] = []
        self._number = self._batch = self._term = 0

    def live(self, moments: int) -> None:
        """Let so many things happen."""
        steps = (
            [self.elect] * 3 + [self.append] * 5 + [self.follow] * 9
            + [self.roll, self.snapshot, self.snapshot, self.clean]
        )  # fmt: skip
        for _ in range(moments):
            self.rng.choice(steps)()

    def elect(self) -> None:
        """A node asks for votes, and gets those of a majority that is no further."""
        candidate, *others = self.rng.sample(self.nodes, len(self.nodes))
        term = max(self._term, candidate.term) + self.rng.randint(1, MOST_EPOCHS_AT_ONCE)
        voters = [node for node in others if node.rank <= candidate.rank]
        majority = len(self.nodes) // 2
        if len(voters) < majority:
            return
        self._term = term
        for node in (candidate, *voters[:majority]):
            node.hear(term)
        candidate.leads = term
        self._write(candidate, [0])

    def append(self) -> None:
        """A leader writes a batch, also one that others follow no more."""
        leaders = [node for node in self.nodes if node.leads]
        if not leaders:
            return
        leader = self.rng.choice(leaders)
        changes: list[int] = []
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            alive = sorted(fold([*leader.entries, *(Entry(0, c, 0) for c in changes)]))
            if alive and self.rng.random() < 0.4:
                changes.append(-self.rng.choice(alive))
            else:
                self._number += 1
                changes.append(self._number)
        self._write(leader, changes)

    def follow(self) -> None:
        """A node takes over some of what a leader has that it still listens to."""
        leaders = [node for node in self.nodes if node.leads]
        if not leaders:
            return
        leader = self.rng.choice(leaders)
        node = self.rng.choice([node for node in self.nodes if node is not leader])
        if node.term > leader.leads:
            return
        node.hear(leader.leads)
        same = next(
            (
                i
                for i, (a, b) in enumerate(zip(leader.entries, node.entries, strict=False))
                if a != b
            ),
            min(len(leader.entries), len(node.entries)),
        )
        node.cut(same)
        if same < leader.start:
            end = leader.snapshots[-1]
            node.entries = leader.entries[:end]
            node.start, node.snapshots, node.rolls = end, [end], set()
        end = min(len(leader.entries), len(node.entries) + self.rng.choice([1, 3, 9]))
        while (
            end < len(leader.entries) and leader.entries[end].batch == leader.entries[end - 1].batch
        ):
            end += 1
        node.entries += leader.entries[len(node.entries) : end]
        self._commit(leader)
        node.known = max(node.known, min(leader.known, len(node.entries)))

    def roll(self) -> None:
        """A node begins another file."""
        node = self.rng.choice(self.nodes)
        if len(node.entries) > node.start:
            node.rolls.add(len(node.entries))

    def snapshot(self) -> None:
        """A node writes down what is committed as far as it knows."""
        node = self.rng.choice(self.nodes)
        first = max([0, *node.snapshots]) + 1
        ends = [end for end in range(first, node.known + 1) if _is_border(node.entries, end)]
        if ends:
            node.snapshots.append(self.rng.choice(ends[-3:]))

    def clean(self) -> None:
        """A node deletes files that a snapshot covers, and old snapshots."""
        node = self.rng.choice(self.nodes)
        newest = max([0, *node.snapshots])
        node.start = max([node.start, *(roll for roll in node.rolls if roll <= newest)])
        node.snapshots = [
            end
            for end in node.snapshots
            if end == newest or (end >= node.start and self.rng.random() < 0.5)
        ]

    def copy(self) -> Copy:
        """Copy a node's folder, or some files of it."""
        files = self.rng.choice(self.nodes).copy()
        if self.rng.random() < 0.7:
            return files
        some = self.rng.sample(sorted(files), self.rng.randint(1, len(files)))
        return {name: files[name] for name in sorted(some)}

    def _write(self, leader: Node, changes: Sequence[int]) -> None:
        self._batch += 1
        leader.entries += [Entry(leader.leads, change, self._batch) for change in changes]
        self._commit(leader)

    def _commit(self, leader: Node) -> None:
        """What a majority has is committed once a record of the leader's own epoch is."""
        majority = len(self.nodes) // 2 + 1
        for end in range(len(leader.entries), leader.known, -1):
            follow = [node for node in self.nodes if node.term == leader.leads]
            has = sum(node.entries[:end] == leader.entries[:end] for node in follow)
            if has >= majority and leader.entries[end - 1].epoch == leader.leads:
                common = min(end, len(self.committed))
                assert leader.entries[:common] == self.committed[:common]
                leader.known = end
                self.committed = max(self.committed, leader.entries[:end], key=len)
                return


def rows_of(copy: Copy) -> list[SourceRow]:
    """Read the files of a copy as aclkit does."""
    rows: list[SourceRow] = []
    logs = sorted(name for name in copy if name.endswith(".log"))
    for name, after in zip(logs, [*logs[1:], None], strict=False):
        behind = Neighbour.of(int(after[:20]), copy[after]) if after else None
        rows += read_segment(copy[name], name, behind)
    rows += (
        read_leader_epochs(copy[EPOCHS_FILE].decode(), EPOCHS_FILE) if EPOCHS_FILE in copy else []
    )
    for name in sorted(copy.keys() - {*logs, EPOCHS_FILE}):
        end, epoch = name.removesuffix(".checkpoint").split("-")
        rows += read_snapshot(copy[name], name, int(end), int(epoch))
    return rows


def _is_border(entries: Sequence[Entry], end: int) -> bool:
    return end == len(entries) or entries[end].batch != entries[end - 1].batch


def _epochs(entries: Sequence[Entry], start: int) -> bytes:
    """The file with the epochs of a log; the first one begins no earlier than the log."""
    shown = entries[start:]
    begun = [
        (entry.epoch, start + i)
        for i, entry in enumerate(shown)
        if not i or shown[i - 1].epoch != entry.epoch
    ]
    lines = ["0", str(len(begun)), *(f"{epoch} {at}" for epoch, at in begun)]
    return "".join(f"{line}\n" for line in lines).encode()


def _segment(entries: Sequence[Entry], start: int, end: int) -> bytes:
    data, at = b"", start
    while at < end:
        stop = next(n for n in range(at + 1, end + 1) if _is_border(entries, n) or n == end)
        epoch = entries[at].epoch
        if entries[at].change:
            data += batch(at, *map(_record, entries[at:stop]), epoch=epoch)
        else:
            data += control_batch(at, LEADER_CHANGE, epoch=epoch)
        at = stop
    return data


def _record(entry: Entry) -> bytes:
    if entry.change < 0:
        return b"\x01\x13\0" + (-entry.change).to_bytes(16, "big") + b"\0"
    return _acl(entry.change)


def _acl(number: int) -> bytes:
    return acl_record(acl(f"t{number}", acl_id=id_of(number)))


def _snapshot(alive: Iterable[int], epoch: int) -> bytes:
    header = (b"\0\0\0\3", struct.pack(">hq", 0, 1_700_000_000_000) + b"\0")
    acls = [_acl(number) for number in sorted(alive)]
    inner = batch(1, *acls, epoch=epoch) if acls else b""
    footer = control_batch(1 + len(acls), (b"\0\0\0\4", b"\0\0\0"), epoch=epoch)
    return control_batch(0, header, epoch=epoch) + inner + footer
