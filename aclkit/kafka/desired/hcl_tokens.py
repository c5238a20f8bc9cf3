r"""A text in Terraform's language → its tokens, each with its line. Pure.

Only what is needed to find blocks and their plain texts is told apart. Expressions are tokens that
nobody reads. Each character is visited once.

Source: HCL Native Syntax Specification. Texts are in Unicode's form NFC, as HCL makes them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["word", "text", "template", "mark", "line", "other", "broken"]
"""``text``: a quoted string without templates; ``template``: another one, or a heredoc;
``line``: the end of a line; ``broken``: what is not ended or has an unknown escape."""

_TOKEN: Final = re.compile(
    r"(?P<space>[ \t\r]+)|(?P<line>\n)|(?P<comment>(?:\#|//)[^\n]*)|(?P<long>/\*)"
    r'|(?P<text>")|(?P<heredoc><<-?(?P<end>[A-Za-z_][\w-]*)[ \t\r]*(?=\n))'
    r"|(?P<word>[^\W\d][\w-]*)|(?P<mark>[{}=\[\]()])|(?P<other>.)"
)
_IN_TEXT: Final = re.compile(r'["\\\n]|\$\$?\{|%%?\{')
_IN_TEMPLATE: Final = re.compile(r'["{}]')
_ESCAPE: Final = re.compile(
    r'\\(?P<plain>[nrt"\\])|\\u(?P<short>[0-9a-fA-F]{4})|\\U(?P<long>[0-9a-fA-F]{8})'
    r"|(?P<wrong>\\)|\$(?P<dollar>\$\{)|%(?P<percent>%\{)"
)
_PLAIN: Final = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


@dataclass(frozen=True, slots=True)
class Token:
    """A part of the text.

    Attributes:
        kind: see ``Kind``.
        text: of a quoted string its value; otherwise as written, and shortened.
        line: where it begins.
    """

    kind: Kind
    text: str
    line: int


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text; a broken one is the last."""
    at, line = 0, 1
    while (found := _TOKEN.match(text, at)) is not None:
        kind = found.lastgroup if found.lastgroup != "end" else "heredoc"
        token, end = _token(text, found, kind or "other", line)
        if token is not None:
            yield token
            if token.kind == "broken":
                return
        line += text.count("\n", at, end)
        at = end


def _token(text: str, found: re.Match[str], kind: str, line: int) -> tuple[Token | None, int]:
    """Return the token that begins here, None for a comment or space, and where it ends."""
    end = found.end()
    if kind in ("space", "comment"):
        return None, end
    if kind == "long":
        close = text.find("*/", end)
        return (Token("broken", "/*", line), end) if close < 0 else (None, close + 2)
    if kind == "text":
        return _string(text, end, line)
    if kind == "heredoc":
        last = re.compile(rf"\n[ \t]*{re.escape(found['end'])}[ \t\r]*(?=\n|\Z)").search(text, end)
        if last is None:
            return Token("broken", "<<", line), end
        return Token("template", "<<", line), last.end()
    names: dict[str, Kind] = {"line": "line", "word": "word", "mark": "mark"}
    return Token(names.get(kind, "other"), found[0][:60], line), end


def _string(text: str, at: int, line: int) -> tuple[Token, int]:
    """Return a quoted string: strings and braces inside a template are of it."""
    begin, open_ones, is_template = at, ['"'], False
    while open_ones:
        in_text = open_ones[-1] == '"'
        found: re.Match[str] | None = (_IN_TEXT if in_text else _IN_TEMPLATE).search(text, at)
        if found is None or found[0] == "\n":
            return Token("broken", '"', line), at
        mark, at = found[0], found.end() + (found[0] == "\\")
        if mark in ("${", "%{"):
            is_template = True
        if mark in ("}", '"') and (in_text or mark == "}"):
            open_ones.pop()
        elif mark in ("${", "%{", "{", '"'):
            open_ones.append('"' if mark == '"' else "{")
    if is_template:
        return Token("template", '"', line), at
    value = _value(text[begin : at - 1])
    return (Token("broken", "\\", line) if value is None else Token("text", value, line)), at


def _value(written: str) -> str | None:
    """Return what a quoted string without templates means; None for an unknown escape."""
    if _ESCAPE.search(written) is None:
        return unicodedata.normalize("NFC", written)
    parts, at = list[str](), 0
    for found in _ESCAPE.finditer(written):
        parts.append(written[at : found.start()])
        at = found.end()
        letter = _letter(found)
        if letter is None:
            return None
        parts.append(letter)
    return unicodedata.normalize("NFC", "".join((*parts, written[at:])))


def _letter(found: re.Match[str]) -> str | None:
    """Return what an escape means."""
    kind = found.lastgroup
    if kind == "plain":
        return _PLAIN[found["plain"]]
    if kind in ("short", "long"):
        code = int(found[kind], 16)
        return chr(code) if code <= 0x10FFFF else None
    return found[kind] if kind in ("dollar", "percent") else None
