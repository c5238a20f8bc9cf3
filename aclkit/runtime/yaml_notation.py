"""YAML that a user wrote → its values, every scalar a text. Pure.

Read strictly, as ``notation`` reads JSON and TOML: no key stands twice, nothing is nested more
deeply than a person writes, and aliases cannot make a short text large. A plain ``yes``, ``on``
or ``017`` stays the text that the user wrote: what it means is known to the reader of its key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml import events

from aclkit.errors import UsageError
from aclkit.runtime.notation import MOST_NESTED

Value = str | None | list[Any] | dict[str, Any]
"""A text, nothing, a list or a mapping of such values."""

MOST_VALUES: Final = 1_000_000
"""Values of all documents; each alias counts as all that it stands for."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NOTHING: Final = ("", "~", "null", "Null", "NULL")
_TAG: Final = "tag:yaml.org,2002:"
_TAGS: Final = (None, "!", f"{_TAG}str", f"{_TAG}map", f"{_TAG}seq")
_MERGE: Final = "<<"


def parse_yaml(text: str, source: str) -> list[Value]:
    r"""Read the documents of a YAML text; an empty one is None.

    Args:
        text: the text.
        source: what the file is called in errors.

    Raises:
        UsageError: it is no YAML, or none that is read strictly.

    >>> parse_yaml("a: {on: yes, n: 017, empty: }\n---\n- &x [1, ~]\n- *x", "f")
    [{'a': {'on': 'yes', 'n': '017', 'empty': None}}, [['1', None], ['1', None]]]
    """
    try:
        return list(_documents(_Reading(yaml.parse(text, Loader=_LOADER))))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = error.problem or error.context
        where = "" if mark is None else f":{mark.line + 1}"
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        where, said = "", str(error).partition("\n")[0]
    except _Refused as error:
        where, said = f":{error.line}", error.why
    raise UsageError(f"{source}{where}: not valid YAML: {said}")


class _Refused(Exception):
    """A text that YAML's grammar takes, and this reader does not."""

    def __init__(self, event: events.Event, why: str) -> None:
        super().__init__(why)
        self.line, self.why = event.start_mark.line + 1, why


@dataclass(slots=True)
class _Node:
    """A value, and how many values it is made of; an alias counts its values each time."""

    value: Value
    size: int = 1
    is_plain: bool = False


@dataclass(slots=True)
class _Reading:
    """The events of a text that are still to be read, and what its anchors name."""

    rest: Iterator[events.Event]
    anchors: dict[str, _Node] = field(default_factory=dict)
    total: int = 0

    def count(self, event: events.Event, size: int) -> None:
        self.total += size
        if self.total > MOST_VALUES:
            raise _Refused(event, f"it has more than {MOST_VALUES:,} values, aliases included")


def _documents(reading: _Reading) -> Iterator[Value]:
    for event in reading.rest:
        if isinstance(event, events.StreamEndEvent):
            return
        if isinstance(event, events.DocumentStartEvent):
            reading.anchors.clear()
            yield _node(reading, next(reading.rest), 0).value


def _node(reading: _Reading, event: events.Event, depth: int) -> _Node:
    """Read the value that begins with an event."""
    if isinstance(event, events.AliasEvent):
        found = reading.anchors.get(event.anchor)
        if found is None:
            raise _Refused(event, f"the alias *{event.anchor} has no value before it")
        reading.count(event, found.size)
        return found
    if depth > MOST_NESTED:
        raise _Refused(event, f"nested too deeply, over {MOST_NESTED} levels")
    if getattr(event, "tag", None) not in _TAGS:
        raise _Refused(event, f"the tag {event.tag} is not supported")
    reading.count(event, 1)
    node = _content(reading, event, depth)
    if event.anchor:
        reading.anchors[event.anchor] = node
    return node


def _content(reading: _Reading, event: events.Event, depth: int) -> _Node:
    before = reading.total
    if isinstance(event, events.ScalarEvent):
        is_plain = not event.style and event.tag is None
        is_nothing = is_plain and event.value in _NOTHING
        return _Node(None if is_nothing else event.value, is_plain=is_plain)
    if isinstance(event, events.SequenceStartEvent):
        items = [node.value for node in _items(reading, depth)]
        return _Node(items, 1 + reading.total - before)
    if isinstance(event, events.MappingStartEvent):
        return _Node(_mapping(reading, depth), 1 + reading.total - before)
    raise _Refused(event, "a value is missing")


def _items(reading: _Reading, depth: int) -> Iterator[_Node]:
    while not isinstance(event := next(reading.rest), events.SequenceEndEvent):
        yield _node(reading, event, depth + 1)


def _mapping(reading: _Reading, depth: int) -> dict[str, Value]:
    """Read a mapping; what ``<<`` brings holds for the keys that it has not itself."""
    own: dict[str, Value] = {}
    merged: dict[str, Value] = {}
    while not isinstance(event := next(reading.rest), events.MappingEndEvent):
        key = _node(reading, event, depth + 1)
        value = _node(reading, next(reading.rest), depth + 1).value
        if key.is_plain and key.value == _MERGE:
            for each in value if isinstance(value, list) else [value]:
                if not isinstance(each, dict):
                    raise _Refused(event, "expected a mapping after <<")
                for name in each:
                    merged.setdefault(name, each[name])
        elif isinstance(key.value, (list, dict)):
            raise _Refused(event, "a key is not a text")
        elif (name := key.value or "") in own:
            raise _Refused(event, f"the key {name!r} occurs twice in one mapping")
        else:
            own[name] = value
    return {**merged, **own}
