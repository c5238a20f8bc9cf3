"""The numbers of written rows → proof that each key is there once and none is missing.

Rows are not held, only what is known of their keys. Pairs take a bit for each (principal,
resource), 3 MiB on 25 million of them and 298 MiB on 2.5 billion; class pairs the same for each
(class, resource), and 16 bytes for each (class, ruleset). A ruleset takes some 80 bytes, with its
hash and what ``sample`` knows of it, a host asked about 2.5 KB. A ruling of any other host takes
nothing, one of a named host eight bytes, up to ``_MOST_KEYS`` of them: of more of them the rulings
are read again for each further part of the keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from aclkit.model.acl import ANY_OTHER
from aclkit.pipeline.explain.faults import OPERATIONS
from aclkit.pipeline.explain.read_back import (
    BIT_OF_OPERATION,
    KNOWN,
    OUTCOMES,
    SUPER_TYPE,
    Few,
    Numbers,
    ReadBack,
    are_repeated,
    parts_of,
)
from aclkit.pipeline.explain.rows import default_rulesets

_BIT: Final = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))


class Bits:
    """A set of numbers below a bound, a bit for each.

    Bits are added, not set. A sum of n powers of two has n bits set only if they all differ: so
    ``count`` is the number of those added, or less if one was added twice.

    >>> bits = Bits(100)
    >>> bits.add(np.array([3, 70]))
    >>> bits.count(), bits.hold(np.array([3, 4])).tolist()
    (2, [True, False])
    >>> bits.add(np.array([70]))
    >>> bits.count()
    2
    """

    def __init__(self, bound: int) -> None:
        """Begin with an empty set."""
        self._words = np.zeros((bound >> 6) + 1, np.uint64)

    def add(self, numbers: Numbers) -> None:
        """Add numbers."""
        np.add.at(self._words, numbers >> 6, _BIT[numbers & 63])

    def count(self) -> int:
        """Count the bits that are set."""
        return int(np.bitwise_count(self._words).sum(dtype=np.int64))

    def hold(self, numbers: Numbers) -> npt.NDArray[np.bool_]:
        """Return which of some numbers were added, if none was added twice."""
        found: npt.NDArray[np.bool_] = (self._words[numbers >> 6] & _BIT[numbers & 63]) != 0
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """What the tables of pairs have: every key once, and each ruleset's pairs.

    A ruleset of a pair holds a group of its principal's ACLs, so all its pairs are of one
    principal. One of classes may be of several.

    Attributes:
        own: principal × resources + resource, of the pairs with a ruleset of their own.
        principal_of: of each ruleset, the principal whose pairs have it, or -1.
        place_of: of each of those, the least place of their resources.
        shared: (class × rulesets + ruleset) × resources + place, sorted: the least place of the
            resources where a class has a ruleset.
        counts: rows of each table.
        decided: how many decisions of a host the class pairs stand for.
    """

    own: Bits
    principal_of: Few
    place_of: Few
    shared: Numbers
    counts: dict[str, int]
    decided: int


def count_pairs(read: ReadBack, places: Few) -> Pairs:
    """Read the pairs of principals and of classes.

    Args:
        read: the tables.
        places: the resources' places in an order drawn by lot.

    Raises:
        DataError: a key occurs twice, or is missing; a pair's ruleset is none of its type, or of
            another principal; or a ruleset has no pair. It names what.
    """
    own, shared = _OwnPairs(read, places), _ClassPairs(read, places)
    for who, resource, ruleset, *_ in read.numbers("explain_pair"):
        own.add(who, resource, ruleset)
    for of, resource, ruleset, *_ in read.numbers("explain_class_pair"):
        shared.add(of, resource, ruleset)
    if any(table.rows != table.keys.count() for table in (own, shared)) or shared.lacks_some:
        read.refuse()
    found = Pairs(
        own=own.keys,
        principal_of=own.principal_of,
        place_of=own.place_of,
        shared=shared.least(),
        counts={"explain_pair": own.rows, "explain_class_pair": shared.rows},
        decided=shared.decided,
    )
    _require_used(read, found)
    return found


class _OwnPairs:
    """Takes the rows of ``explain_pair``."""

    def __init__(self, read: ReadBack, places: Few) -> None:
        self.read, self.places, self.rows = read, places, 0
        self.keys = Bits(len(read.class_of) * len(places))
        self.principal_of = np.full(len(read.rulesets), -1, np.int32)
        self.place_of = np.full(len(read.rulesets), len(places), np.int32)

    def add(self, who: Numbers, resource: Numbers, ruleset: Numbers) -> None:
        self.rows += len(who)
        self.keys.add(who * len(self.places) + resource)
        _require_types(self.read, resource, ruleset)
        differ = np.flatnonzero(self.principal_of[ruleset] != who)
        if len(differ):
            self._claim(who[differ], ruleset[differ])
        np.minimum.at(self.place_of, ruleset, self.places[resource])

    def _claim(self, who: Numbers, ruleset: Numbers) -> None:
        """Note the principals of rulesets that have none yet; refuse one that has another."""
        is_free = self.principal_of[ruleset] < 0
        self.principal_of[ruleset[is_free]] = who[is_free]
        if (self.principal_of[ruleset] != who).any():
            self.read.refuse()


class _ClassPairs:
    """Takes the rows of ``explain_class_pair``."""

    def __init__(self, read: ReadBack, places: Few) -> None:
        self.read, self.places, self.rows, self.decided = read, places, 0, 0
        self.classes = len(read.names["class"])
        self.keys = Bits(self.classes * len(places))
        self.rows_of = np.zeros(self.classes, np.int64)
        self.members = np.bincount(read.class_of[~read.is_super], minlength=self.classes)
        self._known = np.bitwise_count(KNOWN)[read.type_of_resource]
        self._parts: list[Numbers] = []
        self._held = 0

    def add(self, of: Numbers, resource: Numbers, ruleset: Numbers) -> None:
        self.rows += len(of)
        self.keys.add(of * len(self.places) + resource)
        _require_types(self.read, resource, ruleset)
        self.rows_of += np.bincount(of, minlength=self.classes)
        self.decided += int((self.members[of] * self._known[resource]).sum())
        pair = of * len(self.read.rulesets) + ruleset
        self._parts.append(pair * len(self.places) + self.places[resource])
        self._held += len(of)
        if self._held > _MOST_KEYS:
            self._parts = [self.least()]
            self._held = 2 * len(self._parts[0])

    def least(self) -> Numbers:
        """Return ``Pairs.shared``."""
        keys = np.sort(np.concatenate([np.empty(0, np.int64), *self._parts]))
        return keys[~are_repeated(keys // max(len(self.places), 1))]

    @property
    def lacks_some(self) -> bool:
        """Whether a class has no pair for a resource, though a principal needs it."""
        return bool((self.rows_of[self.members > 0] < len(self.places)).any())


class CountedRulings:
    """Takes the rows of ``explain_ruling``, and knows whether each that must be there is, once.

    Of any other host a ruleset must have a ruling for each operation of its type. Each is added
    as a power of two. The sum is the type's operations, and there are as many rulings as
    operations, only if each operation has one.
    """

    def __init__(self, read: ReadBack) -> None:
        """Begin without rulings."""
        self._read, self.rows, self._others = read, 0, 0
        self._known = KNOWN[read.type_of_ruleset]
        self._sums = np.zeros(len(read.rulesets), np.int32)
        every = np.arange(len(read.names["host"]) * len(OPERATIONS) * OUTCOMES)
        host, operation, _ = parts_of(every)
        self._bits = BIT_OF_OPERATION[operation]
        any_other = read.names["host"].index((ANY_OTHER,))
        # Named hosts add nothing: their rulings are few, and told apart by their keys.
        self._adds = np.where(host == any_other, self._bits, 0)
        self._named = _Once()

    def add(self, ruleset: Numbers, ruling: Numbers) -> None:
        """Take some rows."""
        self.rows += len(ruleset)
        adds = self._adds[ruling]
        np.add.at(self._sums, ruleset, adds)
        named = np.flatnonzero(adds == 0)
        self._others += len(ruleset) - len(named)
        if len(named):
            self._add_named(ruleset[named], ruling[named])

    def _add_named(self, ruleset: Numbers, ruling: Numbers) -> None:
        if ((self._known[ruleset] & self._bits[ruling]) == 0).any():
            self._read.refuse()
        self._named.add(self.keys(ruleset, ruling))

    def keys(self, ruleset: Numbers, ruling: Numbers) -> Numbers:
        """Return the keys of rulings: a number for each ruleset, host and operation."""
        keys: Numbers = ruleset * (len(self._adds) // OUTCOMES) + ruling // OUTCOMES
        return keys

    def require_all(self, asked: Numbers) -> npt.NDArray[np.bool_]:
        """Refuse a ruling that occurs twice, is missing or is of an operation without meaning.

        Args:
            asked: keys.

        Returns:
            which of these a ruling of a named host has.

        Raises:
            DataError: it names the ruling.
        """
        is_wrong = bool((self._sums != self._known).any())
        as_expected = self._others == int(np.bitwise_count(self._known).sum(dtype=np.int64))
        is_held, are_different = self._look_up_named(asked)
        if is_wrong or not as_expected or not are_different:
            self._read.refuse()
        return is_held

    def _look_up_named(self, asked: Numbers) -> tuple[npt.NDArray[np.bool_], bool]:
        """Return which keys a named host's ruling has, and whether no two have the same."""
        is_held, are_different = self._named.look_up(asked)
        while self._named.next_part():
            for ruleset, ruling, *_ in self._read.numbers("explain_ruling"):
                at = np.flatnonzero(self._adds[ruling] == 0)
                self._named.add(self.keys(ruleset[at], ruling[at]))
            is_held_there, differ = self._named.look_up(asked)
            is_held, are_different = is_held | is_held_there, are_different and differ
        return is_held, are_different


@dataclass(slots=True)
class _Once:
    """Numbers that must all differ. Of very many it holds a part at a time.

    Attributes:
        parts: into how many parts keys are cut, as their number grows.
        part: the one that is held.
    """

    parts: int = 1
    part: int = 0
    _held: list[Numbers] = field(default_factory=list)
    _count: int = 0

    def add(self, keys: Numbers) -> None:
        """Take those keys that are of the part."""
        self._held.append(self._of_part(keys))
        self._count += len(self._held[-1])
        while self.part == 0 and self._count > _MOST_KEYS:
            self.parts *= 2
            self._held = [self._of_part(np.concatenate(self._held))]
            self._count = len(self._held[0])

    def look_up(self, asked: Numbers) -> tuple[npt.NDArray[np.bool_], bool]:
        """Return which keys are in the part, and whether no key of it was taken twice."""
        keys = np.sort(np.concatenate([np.empty(0, np.int64), *self._held]))
        return np.isin(asked, keys), not are_repeated(keys).any()

    def next_part(self) -> bool:
        """Begin with the next part, to which all keys must be given again; False after the last."""
        self.part += 1
        self._held, self._count = [], 0
        return self.part < self.parts

    def _of_part(self, keys: Numbers) -> Numbers:
        if self.parts == 1:
            return keys
        spread = keys.astype(np.uint64) * _ODD >> np.uint64(32)
        found: Numbers = keys[spread % np.uint64(self.parts) == self.part]
        return found


def _require_types(read: ReadBack, resource: Numbers, ruleset: Numbers) -> None:
    """Refuse a pair whose ruleset is of another type than its resource."""
    if (read.type_of_ruleset[ruleset] != read.type_of_resource[resource]).any():
        read.refuse()


def _require_used(read: ReadBack, pairs: Pairs) -> None:
    """Refuse a ruleset that no pair has, but for the fixed ones: they are always written."""
    is_used = pairs.principal_of >= 0
    is_used[pairs.shared // max(len(read.type_of_resource), 1) % max(len(is_used), 1)] = True
    lacks_super = read.is_super.any() and SUPER_TYPE not in read.type_of_ruleset
    is_used[read.ranks_of([ruleset_id for ruleset_id, *_ in default_rulesets()])] = True
    if lacks_super or not is_used.all():
        read.refuse()


_MOST_KEYS: Final = 1 << 25
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
