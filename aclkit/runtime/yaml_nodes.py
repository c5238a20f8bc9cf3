"""YAML of strangers → nodes that keep each text as it was written, with its line. Pure.

A plain ``no`` or ``007`` keeps its letters, and ``kind`` tells what YAML makes of it: readers that
want a text then refuse it, because the tool that owns the file would read something else. Aliases
share their nodes, so a small file stays small in memory, and what they stand for is counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from itertools import accumulate
from typing import Final, Literal, Protocol

Kind = Literal["text", "number", "boolean", "null"]

MOST_NESTED: Final = 100
"""Mappings and lists within each other."""

MOST_EXPANDED: Final = 100_000
"""Nodes of a file for which aliases stand, beyond those that are written."""

MOST_WRITTEN: Final = 2_000_000
"""Nodes that are written in a file; each takes some 150 bytes of memory."""

_CORE: Final = "tag:yaml.org,2002:"
_SCALAR_TAGS: Final[dict[str | None, Kind | None]] = {
    None: None,
    "!": "text",
    f"{_CORE}str": "text",
    f"{_CORE}null": "null",
    f"{_CORE}bool": "boolean",
    f"{_CORE}int": "number",
    f"{_CORE}float": "number",
}
_MAPPING_TAGS: Final = (None, "!", f"{_CORE}map")
_SEQUENCE_TAGS: Final = (None, "!", f"{_CORE}seq")

_TOO_DEEP: Final = f"Nested too deeply: at most {MOST_NESTED} levels are read. Flatten it"
_TOO_MANY: Final = f"More than {MOST_WRITTEN:,} values in one file. Split it"
_NULLS: Final = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS: Final = frozenset(
    form
    for word in ("y", "n", "yes", "no", "on", "off", "true", "false")
    for form in (word, word.capitalize(), word.upper())
)
"""Of YAML 1.1; PyYAML has no ``y`` and ``n``, the parser of kubectl has."""

_NUMBER: Final = re.compile(
    r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+"
    r"|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?"
    r"|\.[0-9_]+(?:[eE][-+]?[0-9]+)?"
    r"|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
    r"|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)"
)
_FORBIDDEN: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_PAIR: Final = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)
_OTHER_LINE_ENDS: Final = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_STAR_KEY: Final = re.compile(r"(?:(?<=[\s,{\[])|^)\*(?=:(?:\s|$))")
_ESCAPED: Final = re.compile(r"\\(?:u|U0000)([0-9a-fA-F]{4})")
_PRIVATE: Final = range(0xE000, 0xF900)
"""Letters that Unicode leaves to each of us; one that a text has not stands for a star there."""

_TEMPLATE: Final = re.compile(r"\{\{|\{%")

TEMPLATE: Final = (
    "A template ({{ … }}) is not rendered. Pass the rendered file, such as the output of "
    "helm template"
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, and what YAML makes of it.

    Attributes:
        text: its letters, without quotes.
        line: 1-based, where it begins.
        is_plain: written without quotes.
        tag: the kind that a tag gives it.
        is_template: it holds ``{{``, written as such and not as an escape.
    """

    text: str
    line: int
    is_plain: bool = False
    tag: Kind | None = None
    is_template: bool = False

    @property
    def kind(self) -> Kind:
        """What a parser of YAML 1.1 reads; a date is a text to the parsers of the tools."""
        return self.tag or (_resolved(self.text) if self.is_plain else "text")


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in the order of the file; no key twice."""

    pairs: tuple[tuple[Scalar, Node], ...]
    line: int

    def get(self, key: str) -> Node | None:
        """Return the value of a key."""
        return next((value for name, value in self.pairs if name.text == key), None)

    def line_of(self, key: str) -> int:
        """Return the line of a key; of one that is missing, that of the mapping."""
        return next((name.line for name, _ in self.pairs if name.text == key), self.line)


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    line: int


Node = Scalar | Mapping | Sequence


def read_nodes(text: str, refuse: Callable[[int, str], object], stars: list[int]) -> Iterator[Node]:
    """Yield the documents of a text, one after the other; an empty one is a null.

    It is read to its end, or to where its grammar breaks. A key ``*`` without quotes, which YAML
    forbids and kafka-gitops writes, is read.

    Args:
        text: the text.
        refuse: receives what is wrong: the line, 0 if it is unknown, and why.
        stars: receives the lines with a key ``*``.
    """
    text = _without_pairs(text)
    building = _Building(text, refuse)
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        refuse(text.count("\n", 0, forbidden.start()) + 1, _control(forbidden[0]))
        return
    try:
        yield from building.documents(_events(text, stars))
    except _RefusedError as error:
        refuse(error.line, error.why)
    except Exception as error:
        if not _is_of_yaml(error):
            raise
        refuse(*_grammar(error, building))


def _without_pairs(text: str) -> str:
    r"""Write letters beyond U+FFFF of JSON, which are two escapes there, as YAML does.

    >>> _without_pairs('{"a": "\\ud83d\\udd11"}')
    '{"a": "\\U0001f511"}'
    """
    return _PAIR.sub(_as_yaml, text) if text.lstrip().startswith(("{", "[")) else text


def _as_yaml(found: re.Match[str]) -> str:
    high, low = int(found[2], 16), int(found[3], 16)
    return f"{found[1]}\\U{0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF):08x}"


def _control(letter: str) -> str:
    if "\ud800" <= letter <= "\udfff":
        return "This line has bytes that are not UTF-8. Write the file as UTF-8"
    return f"This line has the control character U+{ord(letter):04X}, which YAML forbids. Remove it"


class _Mark(Protocol):
    """Where an event of PyYAML begins or ends."""

    line: int
    index: int


class _Event(Protocol):
    """An event of PyYAML; what follows the marks is of some events only."""

    start_mark: _Mark
    end_mark: _Mark
    anchor: str | None
    tag: str | None
    value: str
    style: str | None


class _RefusedError(Exception):
    """A text that YAML's grammar takes, and this reader does not; nothing after it is read."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line, self.why = line, why


def _is_of_yaml(error: Exception) -> bool:
    import yaml

    # A broken escape such as "\UFFFFFFFF" is no letter to Python.
    return isinstance(error, (yaml.YAMLError, ValueError, OverflowError))


def _events(text: str, stars: list[int]) -> Iterator[_Event]:
    """Return the events of the fast parser, to which ``*`` before a colon is a plain text."""
    import yaml

    mark = _mark_for(text) if _STAR_KEY.search(text) else ""
    if mark:
        text = _STAR_KEY.sub(mark, text)
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        yield _with_stars(event, mark, stars) if mark else event


def _mark_for(text: str) -> str:
    """Return a letter that a text has neither written nor escaped; "" if it has all of them."""
    escaped = {int(code, 16) for code in _ESCAPED.findall(text)}
    return next(
        (chr(code) for code in _PRIVATE if code not in escaped and chr(code) not in text), ""
    )


def _with_stars(event: _Event, mark: str, stars: list[int]) -> _Event:
    """Put the stars back into an event, and note the line of a plain one."""
    if mark in (getattr(event, "value", None) or ""):
        if event.value == mark and not event.style:
            stars.append(event.start_mark.line + 1)
        event.value = event.value.replace(mark, "*")
    return event


def _grammar(error: Exception, building: _Building) -> tuple[int, str]:
    """Return line and reason of an error of the parser."""
    text = building.text
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = min(building.line_of(mark), text.count("\n") + 1) if mark else 0
    reason = getattr(error, "problem", None) or getattr(error, "context", None)
    reason = reason or getattr(error, "reason", None) or "a character cannot be read"
    template = _template_line(text, line)
    if template:
        return template, TEMPLATE
    if "nesting depth" in str(reason):
        return line, _TOO_DEEP
    said, content = f"Not valid YAML: {str(reason)[:120]}", _line(text, line)
    if content.lstrip(" ").startswith("\t"):
        return line, f"{said}. Indent with spaces, not with tabs"
    if _STAR_KEY.search(content):
        return line, f'{said}. Quote the key: "*":'
    return line, f"{said}. Correct it here or on the lines before"


def _template_line(text: str, stop: int) -> int:
    """Return the first line with a template, up to a line; 0 if there is none."""
    for number, line in enumerate(_lines(text), 1):
        if number > stop:
            return 0
        if _TEMPLATE.search(line) and not line.lstrip().startswith("#"):
            return number
    return 0


def _line(text: str, number: int) -> str:
    return next((line for at, line in enumerate(_lines(text), 1) if at == number), "")


def _lines(text: str) -> StringIO:
    """Return the lines of a text; only a line feed ends one."""
    return StringIO(text, newline="\n")


@dataclass(slots=True)
class _Building:
    """Nodes that are made of events.

    Attributes:
        anchors: the node of each anchor of a document, and how many nodes it stands for.
        total: nodes up to here, those of aliases included.
        own: nodes that are written.
        line_ends: where lines end, of a text whose lines a parser counts otherwise.
    """

    text: str
    refuse: Callable[[int, str], object]
    anchors: dict[str, tuple[Node, int]] = field(default_factory=dict)
    total: int = 0
    own: int = 0
    line_ends: list[int] | None = None

    def __post_init__(self) -> None:
        if _OTHER_LINE_ENDS.search(self.text):
            self.line_ends = list(accumulate(map(len, _lines(self.text))))

    def line_of(self, mark: _Mark) -> int:
        if self.line_ends is None:
            return mark.line + 1
        return bisect_right(self.line_ends, mark.index) + 1

    def documents(self, events: Iterator[_Event]) -> Iterator[Node]:
        from yaml.events import DocumentStartEvent

        for event in events:
            if isinstance(event, DocumentStartEvent):
                self.anchors.clear()
                yield self.node(next(events), events, 0)

    def node(self, event: _Event, events: Iterator[_Event], depth: int) -> Node:
        """Make the node that begins with an event."""
        anchor, line = event.anchor, self.line_of(event.start_mark)
        if not hasattr(event, "tag"):
            return self.alias(anchor or "", line)
        tag = event.tag
        if depth > MOST_NESTED:
            raise _RefusedError(line, _TOO_DEEP)
        self.total, self.own = self.total + 1, self.own + 1
        if self.own > MOST_WRITTEN:
            raise _RefusedError(line, _TOO_MANY)
        before = self.total
        made: Node
        if hasattr(event, "value"):
            made = self.scalar(event, tag, line)
        elif type(event).__name__ == "SequenceStartEvent":
            self.check_tag(tag, _SEQUENCE_TAGS, line)
            made = Sequence(tuple(self.items(events, depth + 1)), line)
        else:
            self.check_tag(tag, _MAPPING_TAGS, line)
            made = Mapping(tuple(self.pairs(events, depth + 1)), line)
        if anchor:
            self.anchors[anchor] = made, self.total - before + 1
        return made

    def alias(self, anchor: str, line: int) -> Node:
        found = self.anchors.get(anchor)
        if found is None:
            raise _RefusedError(
                line, f"The alias *{anchor[:60]} has no anchor before it. Quote it if it is a text"
            )
        self.total += found[1]
        if self.total - self.own > MOST_EXPANDED:
            raise _RefusedError(
                line,
                f"Aliases stand for more than {MOST_EXPANDED:,} values. Write the values out",
            )
        return found[0]

    def check_tag(self, tag: str | None, known: Iterable[str | None], line: int) -> None:
        if tag not in known:
            raise _RefusedError(line, f"The tag '{str(tag)[:60]}' is not read here. Remove it")

    def scalar(self, event: _Event, tag: str | None, line: int) -> Scalar:
        self.check_tag(tag, _SCALAR_TAGS, line)
        text = event.value
        is_template = (
            "{{" in text and "{{" in self.text[event.start_mark.index : event.end_mark.index]
        )
        return Scalar(text, line, not event.style, _SCALAR_TAGS[tag], is_template)

    def items(self, events: Iterator[_Event], depth: int) -> Iterator[Node]:
        for event in events:
            if type(event).__name__ == "SequenceEndEvent":
                return
            yield self.node(event, events, depth)

    def pairs(self, events: Iterator[_Event], depth: int) -> Iterator[tuple[Scalar, Node]]:
        """Yield the pairs of a mapping; what ``<<`` brings holds for keys that it lacks."""
        own: dict[str, int] = {}
        merged: list[Node] = []
        for event in events:
            if type(event).__name__ == "MappingEndEvent":
                break
            key = self.node(event, events, depth)
            if not isinstance(key, Scalar):
                raise _RefusedError(key.line, self.no_key(key.line))
            value = self.node(next(events), events, depth)
            if key.text == "<<" and key.is_plain:
                merged += value.items if isinstance(value, Sequence) else [value]
            elif key.text in own:
                self.refuse(
                    key.line,
                    f"The key '{key.text[:60]}' occurs twice in one mapping, on lines "
                    f"{own[key.text]} and {key.line}. Remove one of them",
                )
            else:
                own[key.text] = key.line
                yield key, value
        yield from self.merged(merged, own)

    def merged(
        self, values: Iterable[Node], known: dict[str, int]
    ) -> Iterator[tuple[Scalar, Node]]:
        for each in values:
            if not isinstance(each, Mapping):
                raise _RefusedError(each.line, "<< merges a mapping. Write an alias of one")
            for key, value in each.pairs:
                if key.text not in known:
                    known[key.text] = key.line
                    yield key, value

    def no_key(self, line: int) -> str:
        if "{{" in _line(self.text, line):
            return TEMPLATE
        return "A key is a mapping or a list. Write a text, or quote the braces"


def _resolved(text: str) -> Kind:
    if text in _NULLS:
        return "null"
    if text in _BOOLEANS:
        return "boolean"
    return "number" if _NUMBER.fullmatch(text) else "text"
