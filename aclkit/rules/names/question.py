"""Groups of patterns, a domain and an aim → the shortest name of each class, over all names. Pure.

A walk goes through names letter by letter, all at once: what it knows after some letters is a
state, and no state is looked at twice. A state is made of

- the domain's own state,
- where in a trie of all plain names and prefixes the letters lead, if anywhere,
- the groups that match whatever follows,
- at which places of the globs the letters may stand, as bits of one number (shift-and:
  Baeza-Yates and Gonnet, A new approach to text searching).

It goes breadth first, so the first name of a class is a shortest one. What can make no difference
any more leaves the state: a group that matches for good, a group that changes no class, a way that
leads to no class still looked for. So the walk sees decisions, not sets of patterns: some ten
states where all sets of the same patterns would be millions. It is exact; but patterns with several
runs of one group can need exponentially many states (whether a union of them matches everything is
PSPACE-hard), so a budget ends it, and then it reports that it is not complete.

A budget counts states and never seconds, so the same input gets the same answer on every machine
and under any load.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Final, NamedTuple

from aclkit.model.cidr import Range
from aclkit.model.values import dataclass
from aclkit.rules.names.domain import Domain
from aclkit.rules.names.rows import (
    MOST_ROWS,
    ONE_BUT_COLON,
    ONE_BUT_STAR,
    RUN,
    RUN_BUT_COLON,
    Symbols,
    count_rows,
    range_of,
    spelled,
)
from aclkit.rules.names.target import Target

STATES_OF_A_QUESTION: Final = 50_000
"""States of one question; a second or two where each of them has many letters."""

_NOWHERE: Final = -1
_BUT: Final = {ONE_BUT_COLON: ":", RUN_BUT_COLON: ":", ONE_BUT_STAR: "*"}
_RUNS: Final = (RUN, RUN_BUT_COLON)


class Found(NamedTuple):
    """What a walk found.

    Attributes:
        names: the shortest name of each class that has one.
        is_complete: what is not among them does not exist; otherwise the budget ended the walk.
        states: how many states it took.
    """

    names: Mapping[Hashable, str]
    is_complete: bool
    states: int


class _State(NamedTuple):
    domain: Hashable
    node: int
    flags: int
    places: int


_Steps = Mapping[_State, tuple[_State, str] | None]
"""Visited state → the one before it and the letter between them, by which a name is spelled."""


def _name_of(state: _State, steps: _Steps) -> str:
    letters: list[str] = []
    while (step := steps[state]) is not None:
        state, letter = step
        letters.append(letter)
    return "".join(reversed(letters))


@dataclass(slots=True)
class _Trie:
    """Plain names and prefixes, letter by letter; nodes are numbers, the root is 0.

    Attributes:
        children: of each node, letter → node.
        whole: the groups of which a name ends there.
        prefixes: the groups of which a prefix ends there; after ``close``, there or before.
        below: the groups of which anything is there or further on.
    """

    children: list[dict[str, int]] = field(default_factory=lambda: [{}])
    whole: list[int] = field(default_factory=lambda: [0])
    prefixes: list[int] = field(default_factory=lambda: [0])
    below: list[int] = field(default_factory=list)

    def place(self, letters: Iterable[str]) -> int:
        """Return the node of some letters; it is made where it is missing."""
        node = 0
        for letter in letters:
            after = self.children[node].get(letter)
            if after is None:
                after = self.children[node][letter] = len(self.children)
                self.children.append({})
                self.whole.append(0)
                self.prefixes.append(0)
            node = after
        return node

    def close(self) -> None:
        """Hand prefixes down and what lies below up. A node's number is above its parent's."""
        for node, children in enumerate(self.children):
            for child in children.values():
                self.prefixes[child] |= self.prefixes[node]
        self.below = [a | b for a, b in zip(self.whole, self.prefixes, strict=True)]
        for node in range(len(self.children) - 1, -1, -1):
            for child in self.children[node].values():
                self.below[node] |= self.below[child]


@dataclass(slots=True)
class _Globs:
    """All globs in one row of bits: a bit for each place between two symbols.

    Attributes:
        size: how many bits there are.
        start: the first place of each glob.
        any_one: places before a wildcard for one letter.
        runs: places where any run may stand.
        letters: letter → the places before it.
        special: letter → the places where it is not like any other letter.
        steps: such a letter → from where it leads on, and where it may stay; after ``close``.
        no_step: letter → the places before a wildcard that "but" closes to it.
        no_stay: letter → the runs where "but" forbids it to stay.
        before: place of a run → the earlier places of its glob, which it makes needless.
        ends: last places → group; ``sinks`` those that end with a run, for good.
        of_group: group → its places.
    """

    size: int = 0
    start: int = 0
    any_one: int = 0
    runs: int = 0
    plain_runs: int = 0
    end_bits: int = 0
    sink_bits: int = 0
    letters: dict[str, int] = field(default_factory=dict)
    special: dict[str, int] = field(default_factory=dict)
    steps: dict[str, tuple[int, int]] = field(default_factory=dict)
    no_step: dict[str, int] = field(default_factory=dict)
    no_stay: dict[str, int] = field(default_factory=dict)
    before: dict[int, int] = field(default_factory=dict)
    group_at: dict[int, int] = field(default_factory=dict)
    of_group: dict[int, int] = field(default_factory=dict)

    def add(self, symbols: Symbols, group: int) -> None:
        """Give a glob its places."""
        first = place = self.size
        self.start |= 1 << first
        ends_with_run = False
        for symbol in symbols:
            bit = 1 << place
            ends_with_run = symbol == RUN
            if symbol in _RUNS:
                self.runs |= bit
                if symbol == RUN and place > first:
                    self.plain_runs |= bit
                    self.before[place] = bit - (1 << first)
            else:
                if len(symbol) == 1:
                    _put(self.letters, symbol, bit)
                    _put(self.special, symbol, bit)
                else:
                    self.any_one |= bit
                place += 1
            if symbol in _BUT:
                _put(self.special, _BUT[symbol], bit)
                _put(self.no_stay if symbol in _RUNS else self.no_step, _BUT[symbol], bit)
        self.group_at[place] = group
        if ends_with_run:
            self.sink_bits |= 1 << place
        else:
            self.end_bits |= 1 << place
        self.size = place + 1
        bits = (1 << self.size) - (1 << first)
        self.of_group[group] = self.of_group.get(group, 0) | bits

    def close(self) -> None:
        """Note what each special letter does."""
        for letter in self.special:
            go = (self.any_one & ~self.no_step.get(letter, 0)) | self.letters.get(letter, 0)
            self.steps[letter] = go, self.runs & ~self.no_stay.get(letter, 0)

    def step(self, places: int, letter: str) -> int:
        """Return the places after one more letter."""
        go, stay = self.steps.get(letter) or (self.any_one, self.runs)
        return self.without_needless((places & go) << 1 | (places & stay))

    def without_needless(self, places: int) -> int:
        """Drop the places before a run that was reached: all they lead to, the run leads to."""
        runs = places & self.plain_runs
        while runs:
            place = runs.bit_length() - 1
            needless = self.before[place]
            places &= ~needless
            runs &= ~(needless | 1 << place)
        return places

    def flags(self, places: int) -> int:
        """Return the groups whose last places are among some."""
        flags = 0
        while places:
            lowest = places & -places
            flags |= 1 << self.group_at[lowest.bit_length() - 1]
            places ^= lowest
        return flags


class Question:
    """Groups of patterns over a domain, made once and asked as often as one likes.

    Ranges of addresses are spelled out for a walk only (``names.address_patterns``). One that would
    need too many rows is not walked, and its answer is not complete.
    """

    def __init__(self, groups: Sequence[Iterable[Symbols]], domain: Domain) -> None:
        """Put plain names and prefixes into a trie, and the other patterns into a row of bits."""
        self.domain = domain
        self._trie = _Trie()
        self._globs = _Globs()
        self._ranges: list[tuple[Range, int]] = []
        self._groups = [list(patterns) for patterns in groups]
        for group, patterns in enumerate(self._groups):
            for symbols in patterns:
                if found := range_of(symbols):
                    self._ranges.append((found, group))
                else:
                    self._add(symbols, group)
        self._trie.close()
        self._globs.close()
        if not self._ranges:
            self._groups.clear()

    def find(self, aim: Target, budget: int = STATES_OF_A_QUESTION) -> Found:
        """Look for the shortest name of each class of an aim.

        The same question is answered in the same number of states on every machine.
        """
        if self._ranges:
            if sum(count_rows(each) for each, _ in self._ranges) > MOST_ROWS:
                return Found({}, is_complete=False, states=0)
            return self._spelled.find(aim, budget)
        return self._walk(aim, budget)

    def _walk(self, aim: Target, budget: int) -> Found:
        domain, found = self.domain, dict[Hashable, str]()
        first = self._settled(
            aim, found, 0, self._trie.prefixes[0], self._globs.without_needless(self._globs.start)
        )
        if first is None:
            return Found(found, is_complete=True, states=0)
        start = _State(domain.start, *first)
        steps: dict[_State, tuple[_State, str] | None] = {start: None}
        ways = deque([(start, 0)])
        while ways:
            at, length = ways.popleft()
            if domain.accepts(at.domain):
                kind = aim.class_of(self._flags(at))
                if kind is not None and kind not in found:
                    found[kind] = _name_of(at, steps)
                    if aim.is_reached(found.keys()):
                        break
            if domain.longest is not None and length >= domain.longest:
                continue
            for letter, after in self._letters(at):
                state = self._step(at, letter, after, aim, found)
                if state is None or state in steps:
                    continue
                if len(steps) >= budget:
                    return Found(found, is_complete=False, states=len(steps))
                steps[state] = at, letter
                ways.append((state, length + 1))
        return Found(found, is_complete=True, states=len(steps))

    def flags_of(self, name: str) -> int:
        """Return the groups that match one name, as bits."""
        node, places = 0, self._globs.start
        flags = self._trie.prefixes[0] | self._globs.flags(places & self._globs.sink_bits)
        for each, group in self._ranges:
            flags |= each.holds(name) << group
        for letter in name:
            if node != _NOWHERE:
                node = self._trie.children[node].get(letter, _NOWHERE)
                flags |= self._trie.prefixes[node] if node != _NOWHERE else 0
            places = self._globs.step(places, letter)
            flags |= self._globs.flags(places & self._globs.sink_bits)
        return self._flags(_State(None, node, flags, places))

    @cached_property
    def _spelled(self) -> Question:
        """The same question, without ranges."""
        rows = [[row for each in group for row in spelled(each)] for group in self._groups]
        return Question(rows, self.domain)

    def _add(self, symbols: Symbols, group: int) -> None:
        *body, last = symbols or ("",)
        if all(len(symbol) == 1 for symbol in symbols):
            self._trie.whole[self._trie.place(symbols)] |= 1 << group
        elif last == RUN and all(len(symbol) == 1 for symbol in body):
            self._trie.prefixes[self._trie.place(body)] |= 1 << group
        else:
            self._globs.add(symbols, group)

    def _step(
        self,
        state: _State,
        letter: str,
        domain: Hashable,
        aim: Target,
        found: Mapping[Hashable, str],
    ) -> _State | None:
        """Return the state after one more letter, None where it leads to nothing."""
        node, flags = state.node, state.flags
        if node != _NOWHERE:
            node = self._trie.children[node].get(letter, _NOWHERE)
            if node != _NOWHERE:
                flags |= self._trie.prefixes[node]
        places = self._globs.step(state.places, letter) if state.places else 0
        settled = self._settled(aim, found, node, flags, places)
        return None if settled is None else _State(domain, *settled)

    def _settled(
        self, aim: Target, found: Mapping[Hashable, str], node: int, flags: int, places: int
    ) -> tuple[int, int, int] | None:
        """Drop what makes no difference any more; None where nothing looked for can come."""
        flags |= self._globs.flags(places & self._globs.sink_bits)
        possible = flags if node == _NOWHERE else flags | self._trie.below[node]
        of_group = self._globs.of_group
        live = [group for group, bits in of_group.items() if places & bits] if places else ()
        for group in live:
            possible |= 1 << group
        groups = aim.ahead(flags, possible, found.keys())
        if groups is None:
            return None
        idle = 0
        for group in live:
            if not groups >> group & 1:
                idle |= of_group[group]
        if idle:
            places &= ~idle
        if node != _NOWHERE and not self._trie.below[node] & groups:
            node = _NOWHERE
        return node, flags, places

    def _flags(self, state: _State) -> int:
        """Return the flags of the name that ends in a state."""
        flags = state.flags | self._globs.flags(state.places & self._globs.end_bits)
        return flags if state.node == _NOWHERE else flags | self._trie.whole[state.node]

    def _letters(self, state: _State) -> list[tuple[str, Hashable]]:
        """Return the letters to try, and where each leads in the domain.

        Each that makes a difference to a pattern, and the first of all others that lead to the
        same.
        """
        domain, at = self.domain, state.domain
        asked = {letter for letter, bits in self._globs.special.items() if bits & state.places}
        if state.node != _NOWHERE:
            asked.update(self._trie.children[state.node])
        tried, reached = domain.tried(at), set[Hashable]()
        other = next((one for one in domain.alike(at) if one not in asked and one not in tried), "")
        letters = []
        for letter, after in (*domain.ways(at, other), *domain.tried_ways(at)):
            if letter in asked or after not in reached:
                letters.append((letter, after))
            if letter not in asked:
                reached.add(after)
        return [*letters, *domain.ways(at, sorted(asked.difference(tried)))]


def _put(bits: dict[str, int], letter: str, bit: int) -> None:
    bits[letter] = bits.get(letter, 0) | bit


STATES_OF_A_COMMAND: Final = 5_000_000


@dataclass(slots=True)
class Budget:
    """What is left, and what was asked so far.

    Attributes:
        per_question: states that one question may take.
        total: states that all questions may take together.
        questions: how many were asked.
        states: how many states they took.
        ended: how many of them it ended before all was known.
        is_spent: what is for all of them together ended one.
    """

    per_question: int = STATES_OF_A_QUESTION
    total: int = STATES_OF_A_COMMAND
    questions: int = 0
    states: int = 0
    ended: int = 0
    is_spent: bool = False

    @property
    def to_raise(self) -> str:
        """The option of a command with which it would know more."""
        return "--budget-total" if self.is_spent else "--budget"

    def find(
        self, groups: Sequence[Iterable[Symbols]], domain: Domain, aim: Target, *, weight: int = 1
    ) -> Found:
        """Ask a question with what is left; each of its states counts as so many."""
        left = min(self.per_question, self.total - self.states)
        found = Question(groups, domain).find(aim, max(left, 0) // weight)
        self.questions += 1
        self.states += found.states * weight
        self.ended += not found.is_complete
        self.is_spent |= not found.is_complete and left < self.per_question
        return found
