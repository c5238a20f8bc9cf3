r"""A list of plain shell commands → the words of each. Pure.

Nothing is executed or expanded. Quotes are read as POSIX shells read them; ``shlex`` would keep
the backslash of ``"\$"`` and forget what stood in quotes. What is more than words has a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

BRACES: Final = "braces, which shells expand"
"""The reason of a word that may become several."""

_VARIABLE: Final = (
    r"(?P<variable>\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]"
    r"|\{[A-Za-z0-9_@*]+(?:[:#%+?=-][^}'\"\\$`\n]*)?\}))"
)
_OUTSIDE: Final = re.compile(
    rf"""(?P<plain>[^ \t\n'"\\$`;&|()<>*?\[~{{\#]+)|(?P<blank>[ \t]+)|(?P<end>\n)
    |'(?P<quoted>[^']*)'|(?P<open>")|\\\n|\\(?P<escaped>.)|{_VARIABLE}|(?P<special>[*?\[~{{\#])
    |(?P<other>\$[('"]?|`|<<-?|&&|\|\||\(\)|[;&|()<>])""",
    re.VERBOSE | re.DOTALL,
)
_INSIDE: Final = re.compile(
    rf"""(?P<plain>[^"\\$`]+)|(?P<close>")|\\\n|\\(?P<escaped>[$`"\\])|(?P<kept>\\.)
    |\$\(printf[ ]'(?P<printed>(?:[A-Za-z0-9 ._:,=/@*?\#<>()\[\]{{}}|&;~+^]
    |\\(?!000)[0-3][0-7][0-7])+)'\)|{_VARIABLE}|(?P<other>\$\(?|`)""",
    re.VERBOSE | re.DOTALL,
)
"""What is printed is what aclkit writes for letters that do not show (``quoting.shell_word``)."""

_NAME: Final = re.compile(r"\$\{?([A-Za-z0-9_]+|.)")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")
_OTHERS: Final = {
    "$(": "a command substitution",
    "`": "a command substitution",
    "$'": "quotes of the form $'…'",
    '$"': 'quotes of the form $"…"',
    "<<": "a here-document",
    "<<-": "a here-document",
    "<": "a redirection",
    ">": "a redirection",
    "|": "a pipe",
    "()": "a function",
}


@dataclass(slots=True)
class Word:
    """A word of a command.

    Attributes:
        text: what is certain of it: the letters that a shell does not replace.
        why: what a shell replaces in it; empty if nothing.
        is_assignment: before a command it sets a variable.
    """

    text: str = ""
    why: str = ""
    is_assignment: bool = False

    def put(self, kind: str, piece: str) -> None:
        """Add a piece."""
        if kind == "variable":
            name = _NAME.match(piece)
            self.why = self.why or f"the variable ${name[1][:60] if name else ''}"
        elif kind == "special" and piece == "{":
            self.why = BRACES
        elif kind == "special" and piece == "~":
            self.why = self.why or ("" if self.text else "a ~ outside of quotes")
        elif kind == "special" and piece != "#":
            why = f"a {piece} outside of quotes, which shells replace by file names"
            self.why = self.why or why
        elif kind == "printed":
            piece = _OCTAL.sub(lambda octal: chr(int(octal[1], 8)), piece)
            piece = piece.encode("latin-1").decode("utf-8", "surrogateescape").rstrip("\n")
        self.text += "" if kind in ("variable", "open", "close") else piece


@dataclass(slots=True)
class Command:
    """A line of a script, or several that quotes or a backslash join.

    Attributes:
        line: where it begins.
        words: its words.
        found: what is more than words, if anything: then words of the line are missing.
        is_last: where the text goes on after it is unknown, so no more of it is read.
    """

    line: int
    words: list[Word] = field(default_factory=list)
    found: str = ""
    is_last: bool = False


def read_commands(text: str, line: int = 1) -> Iterator[Command]:
    """Yield the commands of a text that begins on a line; comments are passed over."""
    at = 0
    while at < len(text):
        command = Command(line)
        end = _read(command, text, at)
        if command.words or command.found:
            yield command
        if command.is_last:
            return
        line += text.count("\n", at, end)
        at = end


def _read(command: Command, text: str, at: int) -> int:
    """Read a command, and return where the next one begins."""
    word, pattern = None, _OUTSIDE
    while at < len(text):
        match = pattern.match(text, at)
        kind = match.lastgroup if match else "other"
        piece = match[kind] if match and kind else ""
        if match is None or kind == "other":
            command.found = _OTHERS.get(piece, f"'{piece}'") if piece else _OPEN
            command.is_last = match is None or piece.startswith("<<")
            return _after_line(text, at)
        at = match.end()
        if kind == "end":
            return at
        if kind == "blank":
            word = None
        elif kind == "special" and piece == "#" and word is None:
            at = _after_line(text, at) - 1
        elif kind:
            if word is None:
                is_plain = kind == "plain" and _ASSIGNMENT.match(piece)
                word = Word(is_assignment=bool(is_plain))
                command.words.append(word)
            word.put(kind, piece)
            pattern = {"open": _INSIDE, "close": _OUTSIDE}.get(kind, pattern)
    if pattern is _INSIDE:
        command.found, command.is_last = _OPEN, True
    return at


_OPEN: Final = "a quote or a backslash that ends nowhere"


def _after_line(text: str, at: int) -> int:
    return (text.find("\n", at) + 1) or len(text) + 1
