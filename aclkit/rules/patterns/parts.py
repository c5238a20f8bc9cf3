"""Names in ranges → which patterns may match a name of which range.

A worker that handles one range of names needs the patterns of that range alone. The first letters
of a pattern's names determine in which ranges they can lie; the index decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from aclkit.model.groups import grouped
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import start_of_names


class NameRange(NamedTuple):
    """Names of one type between two names, both included, and the part that looks after them."""

    part: int
    resource_type: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of names by their type; those of a type may overlap."""

    of_type: dict[str, list[NameRange]]

    @classmethod
    def of(cls, names: Iterable[tuple[int, str, str]]) -> Ranges:
        """Make ranges of (part, resource type, name): one for each part and type.

        >>> ranges = Ranges.of([(0, "TOPIC", "a"), (0, "TOPIC", "c"), (1, "TOPIC", "d")])
        >>> ranges.of_type["TOPIC"][0]
        NameRange(part=0, resource_type='TOPIC', first='a', last='c')
        """
        found: dict[tuple[str, int], tuple[str, str]] = {}
        for part, resource_type, name in names:
            first, last = found.get((resource_type, part), (name, name))
            found[resource_type, part] = min(first, name), max(last, name)
        ranges = ((kind, NameRange(part, kind, *ends)) for (kind, part), ends in found.items())
        return cls(grouped(ranges))

    def parts_of(
        self, resource_type: str, pattern_type: str, text: str, semantics: Semantics
    ) -> Iterator[int]:
        """Yield the parts in whose ranges names may lie that the pattern matches."""
        start, is_whole = start_of_names(pattern_type, text, semantics)
        for one in self.of_type.get(resource_type, ()):
            below = one.first <= start or (one.first.startswith(start) and not is_whole)
            if below and start <= one.last:
                yield one.part
