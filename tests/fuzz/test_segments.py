"""A batch whose header lies costs that batch: nothing sound is lost, misnamed or poisoned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field

from aclkit.model import facts as rows
from aclkit.model.facts import SourceRow
from aclkit.pipeline.replay.ranges import merge_ranges, readable_again, without_offsets
from aclkit.pipeline.replay.spans import END, Range
from aclkit.pipeline.sources.batches import Neighbour
from aclkit.pipeline.sources.segment import read_segment
from tests.cli.running import split_batches
from tests.fuzz.mutants import Lie, each, lie
from tests.pipeline.sources.log_bytes import KRAFT
from tests.truncated import files_of

LOGS = [
    [batch for data in files_of("whole").values() for batch in split_batches(data)],
    list(split_batches((KRAFT / "00000000000000000000.log").read_bytes())),
]


@dataclass(frozen=True)
class Mutant:
    """A segment with a lie, what is known to follow it, and the rows of it, sound and not."""

    lie: Lie
    behind: Neighbour | None
    true: list[SourceRow]
    found: list[SourceRow]

    def __str__(self) -> str:
        return f"{self.lie.fields} of {self.lie.first}..{self.lie.stop}, then {self.behind}"

    @property
    def has_no_witness(self) -> bool:
        """Whether nothing follows the batch that lies."""
        return self.lie.is_last and self.behind is None


def read(name: str, data: bytes, behind: Neighbour | None) -> list[SourceRow]:
    return list(read_segment(data, name, behind))


def offsets(found: Iterable[SourceRow], fact: str) -> set[int]:
    ranges = (row for row in found if row.kind == rows.RANGE and row.fact == fact)
    return {
        offset
        for row in ranges
        for offset in range(row.from_offset, min(row.to_offset, row.from_offset + 5_000))
    }


def facts(found: Iterable[SourceRow]) -> dict[int, tuple[object, ...]]:
    return {row.log_offset: astuple(row) for row in found if row.kind == rows.FACT}


def mutants(name: str, count: int) -> Iterator[Mutant]:
    """Cut some batches out of a real log, as a segment, and let one of their headers lie."""
    for rng in each(name, count):
        log = rng.choice(LOGS)
        start = rng.randrange(len(log) - 1)
        stop = min(start + rng.choice([1, 2, 3, 5, 30]), len(log) - 1)
        file = f"{log[start][0]:020}.log"
        # Of two batches and nothing else nobody can say which one lies.
        is_followed = stop - start == 2 or rng.random() < 0.6
        behind = Neighbour.of(*log[stop]) if is_followed else None
        data = b"".join(content for _, content in log[start:stop])
        changed = lie(data, rng)
        yield Mutant(changed, behind, read(file, data, None), read(file, changed.data, behind))


def test_a_header_that_lies_costs_its_own_batch_and_no_other():
    for mutant in mutants("lies", 150):
        own = set(range(mutant.lie.first, mutant.lie.stop))
        whole = offsets(mutant.true, rows.RECORD)
        sound = whole - own
        assert sound <= offsets(mutant.found, rows.RECORD), str(mutant)
        lost = offsets(mutant.found, rows.UNREADABLE)
        named = {row.log_offset for row in _of(mutant.found, rows.REJECT)} - {None}
        assert not (lost | named) & sound, str(mutant)
        expected, seen = facts(mutant.true), facts(mutant.found)
        assert {o: f for o, f in seen.items() if o in sound} == {
            o: f for o, f in expected.items() if o in sound
        }, str(mutant)
        beyond = (offsets(mutant.found, rows.RECORD) | lost | named) - whole
        assert not beyond or mutant.has_no_witness, f"{mutant}: {sorted(beyond)[:9]}"


@dataclass
class Known:
    """What a warehouse knows, by the rules of the replay, without Spark."""

    facts: dict[int, tuple[object, ...]] = field(default_factory=dict)
    ranges: tuple[Range, ...] = ()
    rejects: frozenset[SourceRow] = frozenset()

    def take_in(self, found: list[SourceRow]) -> bool:
        """Read a source; False where it contradicts what is known."""
        incoming = [
            Range(r.from_offset, r.to_offset, r.epoch, r.fact, r.follows)
            for r in _of(found, rows.RANGE)
        ]
        new = frozenset(_of(found, rows.REJECT))
        gone = [r.log_offset for r in self.rejects - new if r.log_offset is not None]
        left = [r.log_offset for r in new if r.log_offset is not None]
        known = readable_again(self.ranges, gone, left)
        merged = merge_ranges(known, incoming)
        mine = {o: f for o, f in self.facts.items() if _stands(f, merged.lineage.cuts)}
        theirs = {o: f for o, f in facts(found).items() if _stands(f, merged.lineage.cuts)}
        old, now = _read(known, merged.lineage.cuts), _read(incoming, merged.lineage.cuts)
        for offset in mine.keys() | theirs.keys():
            mixed = offset in mine and offset in theirs and not _same(mine[offset], theirs[offset])
            missed = (offset not in mine and offset in old) or (
                offset not in theirs and offset in now
            )
            if mixed or missed:
                return False
        self.facts = theirs | mine
        self.ranges, self.rejects = merged.ranges, new
        return True

    def forget_all(self) -> None:
        self.ranges = tuple(without_offsets(self.ranges, [(0, END)], ()))
        self.facts, self.rejects = {}, frozenset()


def _of(found: Iterable[SourceRow], kind: str) -> list[SourceRow]:
    return [row for row in found if row.kind == kind]


EPOCH = SourceRow.__slots__.index("epoch")
CONTENT = slice(EPOCH + 2, None)


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return one[CONTENT] == other[CONTENT]


def _stands(fact: tuple[object, ...], cuts: dict[int, int]) -> bool:
    return not (fact[EPOCH] in cuts and fact[3] >= cuts[fact[EPOCH]])


def _read(ranges: Iterable[Range], cuts: dict[int, int]) -> set[int]:
    return {
        o
        for r in ranges
        if r.fact == rows.RECORD
        for o in range(r.from_offset, min(r.to_offset, r.from_offset + 5_000))
        if o < cuts.get(r.epoch, END)
    }


def test_the_undamaged_log_read_afterwards_leaves_what_a_fresh_warehouse_has():
    """But for a last batch that nobody contradicts, without a word of the user's."""
    for mutant in mutants("healed", 150):
        fresh, known = Known(), Known()
        assert fresh.take_in(mutant.true)
        assert known.take_in(mutant.found), str(mutant)
        is_heard = known.take_in(mutant.true)
        if not is_heard or known != fresh:
            assert mutant.has_no_witness, str(mutant)
            known.forget_all()
            assert known.take_in(mutant.true), str(mutant)
        assert known == fresh, str(mutant)
