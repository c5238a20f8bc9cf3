"""The text of ``sasl.jaas.config`` → its login module and options, read as Kafka reads it.

Source: org.apache.kafka.common.security.JaasConfig, which cuts the text with a
java.io.StreamTokenizer: words of letters, digits, ``.-_$`` and all above U+009F; numbers; text in
single or double quotes with C's escapes; comments from ``//`` or ``/`` to the end of the line and
from ``/*`` to ``*/``. A value that begins like a number is none, so it needs quotes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aclkit.errors import UsageError


@dataclass(frozen=True, slots=True)
class JaasEntry:
    """The one entry of ``sasl.jaas.config``: the login module's class and its options."""

    module: str
    options: Mapping[str, str]


def parse_jaas(text: str) -> JaasEntry:
    r"""Read ``sasl.jaas.config``.

    Raises:
        UsageError: as Kafka would refuse it. The message names keys only, and quotes no value.

    >>> parse_jaas("a.PlainLoginModule required username=bob password='p\"w';").options
    {'username': 'bob', 'password': 'p"w'}
    """
    tokens = _tokens(text)
    entries = []
    for kind, module in tokens:
        flag = next(tokens, None)
        if flag is None:
            raise UsageError("sasl.jaas.config: expected a control flag after the login module")
        if (flag[1] or "").upper() not in _FLAGS:
            raise UsageError(
                f"sasl.jaas.config: expected one of {', '.join(_FLAGS).lower()} after the "
                "login module"
            )
        if kind not in (_WORD, *_QUOTES):
            raise UsageError("sasl.jaas.config: expected the class of a login module first")
        entries.append(JaasEntry(module or "", _options(tokens)))
    if len(entries) != 1:
        raise UsageError(f"sasl.jaas.config: expected one login module, found {len(entries)}")
    return entries[0]


_Token = tuple[str, str | None]


def _options(tokens: Iterator[_Token]) -> dict[str, str]:
    """Read ``key=value`` up to the semicolon."""
    options: dict[str, str] = {}
    for kind, key in tokens:
        if kind == ";":
            return options
        equals, value = next(tokens, None), None
        if equals is not None and equals[0] == "=":
            value = next(tokens, (_END, None))[1]
        if value is None:
            shown = f"the key {key!r}" if key and equals and equals[0] == "=" else "an option"
            raise UsageError(
                f"sasl.jaas.config: {shown} has no value that Kafka can read. Expected "
                'key="value"; a value that begins with a digit, a dot or a minus needs '
                "quotes."
            )
        if key is not None:
            options[key] = value
    raise UsageError("sasl.jaas.config: expected a semicolon at the end")


_FLAGS: Final = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")
_END, _WORD, _NUMBER = "end", "word", "number"
_QUOTES: Final = ('"', "'")
_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _tokens(text: str) -> Iterator[_Token]:
    """Cut a text into words, numbers (without a value), quoted texts and single letters."""
    at = 0
    while at < len(text):
        letter = text[at]
        if letter <= " ":
            at += 1
        elif letter in "0123456789.-":
            end = _end_of_number(text, at)
            yield (_NUMBER, None) if end > at else ("-", None)
            at = max(end, at + 1)
        elif _is_alpha(letter):
            end = at
            while end < len(text) and (_is_alpha(text[end]) or text[end] in "0123456789."):
                end += 1
            yield _WORD, text[at:end]
            at = end
        elif letter in _QUOTES:
            value, at = _quoted(text, at)
            yield letter, value
        elif letter == "/":
            at = _end_of_comment(text, at)
        else:
            yield letter, None
            at += 1


def _is_alpha(letter: str) -> bool:
    return ("a" <= letter <= "z") or ("A" <= letter <= "Z") or letter in "-_$" or letter >= "\xa0"


def _end_of_number(text: str, start: int) -> int:
    """Return where a number ends; ``start`` itself for a minus without one."""
    at = start + (text[start] == "-")
    if at > start and (at >= len(text) or text[at] not in "0123456789."):
        return start
    has_dot = False
    while at < len(text) and (text[at] in "0123456789" or (text[at] == "." and not has_dot)):
        has_dot = has_dot or text[at] == "."
        at += 1
    return at


def _end_of_comment(text: str, start: int) -> int:
    if text.startswith("/*", start):
        end = text.find("*/", start + 2)
        return len(text) if end < 0 else end + 2
    # From the second letter on: a line that ends at once takes the next one with it.
    ends = [end for mark in "\r\n" if (end := text.find(mark, start + 2)) >= 0]
    return min(ends, default=len(text))


def _quoted(text: str, start: int) -> tuple[str, int]:
    """Read a quoted text: its value, and where the next token begins. A line's end ends it."""
    quote, at, value = text[start], start + 1, []
    while at < len(text) and text[at] not in (quote, "\r", "\n"):
        if text[at] != "\\":
            value.append(text[at])
            at += 1
        elif at + 1 >= len(text):
            # Java takes the end of the text for a letter here; no value ends so.
            raise UsageError("sasl.jaas.config: a backslash at the end escapes nothing")
        elif text[at + 1] in "01234567":
            most = 3 if text[at + 1] <= "3" else 2
            end = at + 2
            while end < at + 1 + most and end < len(text) and text[end] in "01234567":
                end += 1
            value.append(chr(int(text[at + 1 : end], 8)))
            at = end
        else:
            value.append(_ESCAPES.get(text[at + 1], text[at + 1]))
            at += 2
    is_closed = at < len(text) and text[at] == quote
    return "".join(value), at + is_closed
