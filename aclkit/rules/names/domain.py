"""What names there are: those that a broker can be asked about. Pure.

Every question is about the names of one domain. A domain is a small automaton over letters, which
also reports which letters it treats alike. A walk then tries one of them for all that no pattern
asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import field
from functools import cache
from itertools import chain
from typing import Any, Final

from aclkit.model.acl import ANY_OTHER
from aclkit.model.resource import CLUSTER_NAME
from aclkit.model.values import dataclass

_State = Any
"""A state of a domain's automaton: any value that can be hashed."""
Ways = tuple[tuple[str, Hashable], ...]
"""Letters, each with the state that it leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A set of names.

    Attributes:
        start: the automaton's state before the first letter.
        step: state and letter → the next state, or None where no name goes on so.
        accepts: whether a name may end in a state.
        tried: the letters that make a difference to the domain in a state.
        alike: the letters that make none, those first that make names easy to read.
        longest: the most letters that a name may have, or None.
    """

    start: Hashable
    step: Callable[[_State, str], Hashable | None]
    accepts: Callable[[_State], bool]
    tried: Callable[[_State], str]
    alike: Callable[[_State], Iterable[str]]
    longest: int | None = None
    _tried: dict[Hashable, Ways] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def ways(self, state: _State, letters: Iterable[str]) -> Ways:
        """Return those of some letters that lead on, and where each leads."""
        steps = ((letter, self.step(state, letter)) for letter in letters)
        return tuple((letter, after) for letter, after in steps if after is not None)

    def tried_ways(self, state: _State) -> Ways:
        """Return ``ways`` of the letters that make a difference, looked up once for each state."""
        if (known := self._tried.get(state)) is None:
            known = self._tried[state] = self.ways(state, self.tried(state))
        return known

    def holds(self, name: str) -> bool:
        """Whether a name is one of the domain."""
        state: Hashable | None = self.start
        for letter in name:
            state = self.step(state, letter)
            if state is None:
                return False
        return self.accepts(state) and (self.longest is None or len(name) <= self.longest)


def domain_of(resource_type: str) -> Domain:
    """Return the names that resources of a type can be asked about by.

    Topics as Topic.validate has them; the cluster has one name; a user is a principal; what
    Kafka checks no further is any text.
    """
    return _OF_TYPE.get(resource_type, ANYTHING)


_TOPIC_LETTERS: Final = "zxqjkvwybfghmpcunlodrtsieaZXQJKVWYBFGHMPCUNLODRTSIEA0123456789-_."
_LEGAL: Final = frozenset(_TOPIC_LETTERS)
_EASY: Final = "zxqjkvwybfghmpcunlodrtsieaZXQJKVWYBFGHMPCUNLODRTSIEA0123456789-_./@#%&+=~,;:"
_HEX: Final = "1234567890abcdef"
_ZONE: Final = "".join(
    sorted(map(chr, {*range(0x21, 0x7F)} - {*map(ord, "%,/")}), key=lambda c: (not c.isalnum(), c))
)


def _any_letter(_: _State) -> Iterator[str]:
    """Yield all letters; what is no character of its own (a surrogate) is none."""
    return chain(_EASY, map(chr, range(0x4E00, 0xD800)), map(chr, range(0xE000, 0x110000)))


def _topic_step(state: int, letter: str) -> int | None:
    """States are the number of dots that are all there is yet, and 3 where a name is one."""
    if letter not in _LEGAL:
        return None
    return state + 1 if letter == "." and state < 2 else 3


TOPICS: Final = Domain(
    start=0,
    step=_topic_step,
    accepts=lambda state: state == 3,
    tried=lambda state: "." if state < 2 else "",
    alike=lambda _: _TOPIC_LETTERS,
    longest=249,
)
# ``<any-other>`` stands for names of no inventory, so it is no name itself: the rule reads it
# otherwise. A state counts how many of its letters are all there is yet; -1 is any other text.
_LENGTH: Final = len(ANY_OTHER)


def _spell(at: int, letter: str) -> int:
    return at + 1 if 0 <= at < _LENGTH and ANY_OTHER[at] == letter else -1


def _next_letter(at: int) -> str:
    return ANY_OTHER[at : at + 1] if at >= 0 else ""


ANYTHING: Final = Domain(
    start=0,
    step=_spell,
    accepts=lambda at: at != _LENGTH,
    tried=_next_letter,
    alike=_any_letter,
)


def _principal_step(state: tuple[bool, int], letter: str) -> tuple[bool, int] | None:
    """A state is whether the colon is there, and the spelling of the part that is written."""
    has_colon, at = state
    if letter == ":" and not has_colon:
        return None if at == _LENGTH else (True, 0)
    return has_colon, _spell(at, letter)


PRINCIPALS: Final = Domain(
    start=(False, 0),
    step=_principal_step,
    accepts=lambda state: state[0] and state[1] != _LENGTH,
    tried=lambda state: f"{_next_letter(state[1])}{'' if state[0] else ':'}",
    alike=_any_letter,
)


def users() -> Domain:
    """Return the principals that begin with ``User:`` and go on after it."""
    start = "User:"
    end = len(start)

    def step(state: tuple[int, int], letter: str) -> tuple[int, int] | None:
        written, at = state
        if written >= end:
            return end + 1, _spell(at, letter)
        return (written + 1, 0) if letter == start[written] else None

    return Domain(
        start=(0, 0),
        step=step,
        accepts=lambda state: state[0] > end and state[1] != _LENGTH,
        tried=lambda state: start[state[0]] if state[0] < end else _next_letter(state[1]),
        alike=lambda state: _any_letter(state) if state[0] >= end else "",
    )


USERS: Final = users()


def only(name: str) -> Domain:
    """Return the domain of one name."""
    return Domain(
        start=0,
        step=lambda at, letter: at + 1 if name[at : at + 1] == letter else None,
        accepts=lambda at: at == len(name),
        tried=lambda at: name[at : at + 1],
        alike=lambda _: "",
    )


# Hosts. A state is what is being written (0: either, 4 or 6: the kind of address, "%": a zone),
# how many groups are complete, what of the current group matters, and how an IPv6 address could
# still be an IPv4-mapped one, which Java writes as IPv4.
_Host = tuple[int | str, int, int | str, bool]

_OCTETS: Final = {
    "": 0,
    "0": 1,
    "1": 1,
    "2": 1,
    "3-9": 1,
    "10-24": 2,
    "25": 2,
    "26-99": 2,
    "100-": 3,
}
"""What is written of a group that may be IPv4's, by what can follow, and how many digits it has."""


def _octet(group: str, letter: str) -> str | None:
    """Return what a decimal group becomes with one more digit, or None where it is none."""
    if group == "":
        return letter if letter in "012" else "3-9"
    if group == "1" or (group == "2" and letter < "5"):
        return "10-24"
    if group == "2" and letter == "5":
        return "25"
    if group in ("2", "3-9"):
        return "26-99"
    return "100-" if group == "10-24" or (group == "25" and letter < "6") else None


@cache
def _host_step(state: _Host, letter: str) -> _Host | None:
    kind, groups, group, may_map = state
    if kind == "%":
        return ("%", 0, "zone", False) if letter in _ZONE else None
    if letter == "%":
        return ("%", 0, "", False) if _is_whole_ipv6(state) else None
    if letter == ".":
        is_next = kind != 6 and isinstance(group, str) and group != "" and groups < 3
        return (4, groups + 1, "", False) if is_next else None
    if letter == ":":
        if kind == 4 or group == "" or groups == 7:
            return None
        may_map = may_map and group == ("0" if groups < 5 else "ffff" if groups == 5 else group)
        return (6, groups + 1, "", may_map)
    if letter not in _HEX or group == "0":
        return None
    return _with_digit(state, letter)


def _with_digit(state: _Host, letter: str) -> _Host | None:
    """Write one more digit of a group; a number of digits stands for one that only IPv6 has."""
    kind, groups, group, may_map = state
    if kind != 6 and isinstance(group, str) and letter.isdigit():
        octet = _octet(group, letter)
        if octet is not None:
            return (kind, groups, octet, may_map)
    if kind == 4:
        return None
    if group == "" and letter == "0":
        return (kind, groups, "0", may_map)
    if may_map and groups == 5 and letter == "f" and group in ("", "f", "ff", "fff"):
        return (kind, groups, f"{group}f", may_map)
    length = group if isinstance(group, int) else _OCTETS.get(group, len(group))
    return None if length == 4 else (kind, groups, length + 1, may_map)


def _is_whole_ipv6(state: _Host) -> bool:
    kind, groups, group, may_map = state
    return kind == 6 and groups == 7 and group != "" and not may_map


def _host_ends(state: _Host) -> bool:
    kind, groups, group, _ = state
    is_whole_ipv4 = kind == 4 and groups == 3 and group != ""
    return (kind == "%" and group != "") or is_whole_ipv4 or _is_whole_ipv6(state)


HOSTS: Final = Domain(
    start=(0, 0, "", True),
    step=_host_step,
    accepts=_host_ends,
    tried=lambda state: "" if state[0] == "%" else f"{_HEX}.:%",
    alike=lambda state: _ZONE if state[0] == "%" else "",
)
"""Addresses as ``canonical_host`` writes them: IPv4, IPv6 in eight groups, a zone after ``%``."""

_OF_TYPE: Final[dict[str, Domain]] = {
    "TOPIC": TOPICS,
    "CLUSTER": only(CLUSTER_NAME),
    "USER": PRINCIPALS,
}
