"""Where log files were read, and names that users gave → the broker whose log each file is. Pure.

A name counts only where it is sure: the user gave it, or the path has the word broker or node with
the number of a registered broker. The number of a file that was rotated is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final, NamedTuple


class NamedPath(NamedTuple):
    """A path of ``--authorizer-log``, and the name of the broker that stands before it."""

    name: str | None
    path: str


def split_name(text: str) -> NamedPath:
    """Take the name of a broker off a path: ``NAME=PATH``.

    >>> split_name("b1=/logs/b1"), split_name("/logs/a=b")
    (NamedPath(name='b1', path='/logs/b1'), NamedPath(name=None, path='/logs/a=b'))
    """
    found = _NAMED.fullmatch(text)
    return NamedPath(None, text) if found is None else NamedPath(*found.groups())


def name_brokers(
    sources: Mapping[str, str], given: Mapping[str, str | None], registered: Collection[int]
) -> dict[str, str]:
    """Return the broker of each file of which it is sure: its number where it is registered.

    Args:
        sources: number of a file → where it was read.
        given: number of a file → the name that the user gave.
        registered: the numbers of the brokers of the cluster.
    """
    known = {str(each) for each in registered}
    there = set(sources.values())
    found = {}
    for file, source in sources.items():
        name = given.get(file)
        if name is not None:
            number = _number(name)
            found[file] = number if number in known else name
        elif (number := _in_path(source, there)) in known:
            found[file] = number
    return found


def _number(name: str) -> str:
    """Return the number of a broker that a name is: ``2``, ``broker-2``, ``kafka2``."""
    found = _NUMBERED.fullmatch(name)
    return str(int(found[1])) if found else ""


def _in_path(source: str, others: Iterable[str]) -> str:
    """Return the number of the broker in a path; empty where there is none, or several."""
    *folders, name = PurePosixPath(source.replace("\\", "/")).parts or ("",)
    found = {match[2] for part in folders for match in _IN_FOLDER.finditer(part)}
    for match in _IN_NAME.finditer(name):
        # broker-1.log next to broker.log was rotated.
        rotated_from = name[: match.start(1)].rstrip("-_.") + name[match.end(1) :]
        if not any(PurePosixPath(each.replace("\\", "/")).name == rotated_from for each in others):
            found.add(match[1])
    return str(int(next(iter(found)))) if len(found) == 1 else ""


_NAMED: Final = re.compile(r"([\w.-]+)=(.+)", re.DOTALL)
_NUMBERED: Final = re.compile(r"(?:[a-z-]*[a-z][-_.]?)?(\d{1,9})", re.IGNORECASE | re.ASCII)
_IN_FOLDER: Final = re.compile(
    r"(?<![^\W\d_])(broker|node|kafka)[-_.]?(\d{1,9})(?![^\W_])", re.IGNORECASE | re.ASCII
)
_IN_NAME: Final = re.compile(
    r"(?<![^\W\d_])(?:broker|node)[-_.]?(\d{1,9})(?![^\W_])", re.IGNORECASE | re.ASCII
)
