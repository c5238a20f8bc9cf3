"""JSON, TOML and YAML that a user wrote → its values, or what is wrong with it. Pure.

Read strictly: no key stands twice, each number is one that others can hold, each text one that can
be written, and nothing is nested more deeply than a person writes. The depth is checked before the
parsers run, because their time grows with its square.

Of YAML every scalar is a text: a plain ``yes``, ``on`` or ``017`` stays what the user wrote, and
what it means is known to the reader of its key.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.model.phrases import few
from aclkit.runtime import yaml_nodes

MOST_NESTED: Final = 32
"""Lists and objects within each other."""

MOST_PARTS: Final = 16
"""Parts of a dotted key of TOML."""

MOST_VALUES: Final = 10_000_000
"""Values of a document; each takes some 100 bytes of memory, however short it is written."""

MOST_DIGITS: Final = 1_000
"""Digits of a number of JSON."""

_TOO_DEEP: Final = "nested too deeply"
_JSON: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{\]}]', re.DOTALL)
_TOML: Final = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5}|\Z)'''
    r"""|'''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)"""
    r"""|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?|\#[^\n]*+|[\[{\]}.=,\n]""",
    re.DOTALL,
)
"""What counts for depth, and what may only look as if it did: texts and comments."""

_LONG: Final = 2**63
_LONGEST_SHOWN: Final = 200
"""Letters of a key that a message shows."""
_PLAIN_KEY: Final = re.compile(r"[\w.-]+")


def parse_json(text: str, source: str, line: int | None = None) -> Any:  # noqa: ANN401 -- JSON holds anything
    """Read JSON.

    Args:
        text: one document.
        source: what the file is called in errors.
        line: where the document stands, of a file that has one on each line.

    Raises:
        UsageError: it is none, or none that is read strictly.
    """
    where = source if line is None else f"{source}, line {line}"
    try:
        return _load_json(text)
    except json.JSONDecodeError as error:
        if line is None:
            where = f"{source}:{error.lineno}"
        said = f"{error.msg} at column {error.colno}"
    except UnicodeEncodeError:
        said = "a text contains half a surrogate pair"
    except (ValueError, RecursionError) as error:
        said = str(error)
    raise UsageError(f"{where}: not valid JSON: {said}")


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Read TOML; ``source`` is what it is called in errors.

    Raises:
        UsageError: it is none, it is nested too deeply, or a number does not fit into 64 bits.
    """
    nested, parts = _depth(_TOML, text)
    if nested > MOST_NESTED:
        raise UsageError(f"{source}: not valid TOML: {_TOO_DEEP}, over {MOST_NESTED} levels")
    if parts > MOST_PARTS:
        raise UsageError(f"{source}: not valid TOML: a key has more than {MOST_PARTS} parts")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source}: not valid TOML: {error}") from None
    except RecursionError:
        raise UsageError(f"{source}: not valid TOML: {_TOO_DEEP}") from None
    except ValueError:  # Python reads no number of thousands of digits
        raise _not_a_long(source) from None
    _refuse_large_numbers(content, source)
    return content


def parse_tables(
    text: str, source: str, name: str, *, is_needed: bool = False
) -> dict[str, dict[str, Any]]:
    """Read TOML that holds nothing but tables ``[[name]]``: where each stands, and the table.

    Raises:
        UsageError: as ``parse_toml``, or it holds something else, or no table where one is needed.
    """
    content = parse_toml(text, source)
    tables = content.pop(name, [])
    if content:
        raise UsageError(f"{source}: unknown {few(map(shown_key, content))}, expected [[{name}]]")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{source}: {name}: expected tables [[{name}]]")
    if is_needed and not tables:
        raise UsageError(f"{source}: expected at least one table [[{name}]]")
    return {f"{source}: [[{name}]] {n}": table for n, table in enumerate(tables, start=1)}


def require_texts(values: Mapping[str, object], where: str) -> None:
    """Insist that all values of a table are texts, none of them blank.

    Raises:
        UsageError: one is not.
    """
    for key, value in values.items():
        if not (isinstance(value, str) and value.strip()):
            raise UsageError(f"{where}: {key}: expected a text, found {value!r}")


def refuse_unknown(
    table: Iterable[str], keys: Collection[str], where: str, expected: str | None = None
) -> None:
    """Insist that a table has no other keys; ``expected`` is how these are listed in the error.

    Raises:
        UsageError: it has.
    """
    for key in table:
        if key not in keys:
            known = expected or f"some of {', '.join(keys)}"
            raise UsageError(f"{where}: unknown {shown_key(key)}, expected {known}")


def shown_key(key: str) -> str:
    """Return a key for a message: a plain one as it is, any other one quoted, in one line and cut.

    >>> shown_key("lock-timeout"), shown_key("a b")
    ('lock-timeout', "'a b'")
    """
    if len(key) > _LONGEST_SHOWN:
        return f"{key[:_LONGEST_SHOWN]!r}…"
    return key if _PLAIN_KEY.fullmatch(key) else repr(key)


def refuse_constant(name: str) -> object:
    """Refuse NaN and Infinity, which Python's parser takes; a hook of ``json.loads``."""
    raise ValueError(f"{name} is not a JSON number")


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of pairs; a hook of ``json.loads``.

    Raises:
        ValueError: a key occurs twice.
    """
    if (key := key_twice(pairs)) is not None:
        raise ValueError(f"the key {key[:_LONGEST_SHOWN]!r} occurs twice in one object")
    return dict(pairs)


def key_twice(pairs: Sequence[tuple[str, object]]) -> str | None:
    """Return the first key that occurs twice; None where each is unique."""
    if len(dict(pairs)) == len(pairs):
        return None
    return next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)


def _depth(tokens: re.Pattern[str], text: str) -> tuple[int, int]:
    """Return how deep a text nests, and the most parts that a key has; linear in its length."""
    nested = parts = most_nested = most_parts = 0
    for token in tokens.finditer(text):
        mark = token[0]
        if mark == ".":
            parts += 1
            most_parts = max(most_parts, parts + 1)
        elif mark in "[{":
            nested, parts = nested + 1, 0
            most_nested = max(most_nested, nested)
        elif mark in "]}=,\n":
            nested, parts = nested - (mark in "]}"), 0
    return most_nested, most_parts


def _load_json(text: str) -> Any:  # noqa: ANN401 -- JSON holds anything
    _refuse_too_much(text)
    value = json.loads(
        text,
        object_pairs_hook=unique,
        parse_constant=refuse_constant,
        parse_float=_finite,
        parse_int=_whole,
    )
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _refuse_too_much(text: str) -> None:
    """Raise a ValueError where a text of JSON is nested too deeply, or makes too many objects."""
    opened = text.count("[") + text.count("{")
    if opened > MOST_NESTED < _depth(_JSON, text)[0]:
        raise ValueError(_TOO_DEEP)
    if most_values(text) > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES:,} values")


def most_values(text: str) -> int:
    """Return how many values a text of JSON can hold at most, without reading it."""
    return sum(map(text.count, "[{,"))


def _refuse_large_numbers(content: dict[str, Any], source: str) -> None:
    """Insist on what TOML asks for: a number that does not fit into 64 bits is an error."""
    rest: list[object] = [content]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
        elif isinstance(value, int) and not -_LONG <= value < _LONG:
            raise _not_a_long(source)


def _not_a_long(source: str) -> UsageError:
    return UsageError(f"{source}: not valid TOML: a number does not fit into 64 bits")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number has more than {MOST_DIGITS:,} digits")
    return int(text)


Value = str | None | list[Any] | dict[str, Any]
"""A text, nothing, a list or a mapping of such values."""


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

    def refuse(line: int, why: str) -> None:
        raise UsageError(f"{source}{f':{line}' if line else ''}: {why}")

    def value(node: yaml_nodes.Node) -> Value:
        if isinstance(node, yaml_nodes.Scalar):
            if node.tag not in (None, "text"):
                refuse(node.line, "A tag is not read here. Remove it")
            return None if node.kind == "null" else node.text
        if isinstance(node, yaml_nodes.Mapping):
            pairs = ((value(key), value(each)) for key, each in node.pairs)
            return {str(key or ""): each for key, each in pairs}
        return [value(each) for each in node.items]

    stars: list[int] = []
    documents = [value(node) for node in yaml_nodes.read_nodes(text, refuse, stars)]
    for line in stars:
        refuse(line, 'A key * has no quotes. Write "*":')
    return documents
