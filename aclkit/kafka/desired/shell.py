"""A shell script → its simple commands, each with its words and what surrounds it. Pure.

The grammar is that of POSIX sh, as far as it decides where a command begins and ends, with arrays,
``function`` and ``[[`` of bash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from aclkit.kafka.desired.shell_words import (
    HERE,
    IO_NUMBER,
    LINE_END,
    REDIRECTIONS,
    WORD,
    Here,
    Lexer,
    Token,
    Word,
)


@dataclass(slots=True, kw_only=True)
class Command:
    """A simple command.

    Attributes:
        line: where it begins.
        words: its words, assignments before it as well; redirections are left out.
        within: the loop, condition, case or function in which it stands; empty if in none.
        before: the operator between it and the command before it, ``&&``, ``||`` or ``|``.
        heres: its here-documents.
    """

    line: int
    words: list[Word] = field(default_factory=list)
    within: str = ""
    before: str = ""
    heres: list[Here] = field(default_factory=list)


_OPENERS: Final = {
    "for": "a loop",
    "select": "a loop",
    "while": "a loop",
    "until": "a loop",
    "if": "a condition",
    "case": "a case",
}
_CLOSERS: Final = frozenset(("done", "fi", "esac", "}"))
_PASSED_OVER: Final = frozenset(("then", "else", "elif", "do", "!", "in", "time"))
_WITH_HEAD: Final = frozenset(("for", "select", "case"))
_JOINTS: Final = {"&&": "&&", "||": "||", "|": "|", "|&": "|"}
_GROUP, _FUNCTION, _ARRAY = "", "a function", "an array"


class _Parser:
    """Makes commands of tokens."""

    def __init__(self) -> None:
        self.within: list[tuple[str, str]] = []
        self.command: Command | None = None
        self.before = ""
        self.is_head = False
        self.is_function = False
        self.is_named = False
        self.skips = 0

    def take(self, token: Token) -> Iterator[Command]:
        """Take a token; yield the command that it ends, if any."""
        if token.kind == WORD:
            self._word(token)
        elif token.kind == HERE and token.here is not None:
            self._current(token.line).heres.append(token.here)
        elif token.kind in REDIRECTIONS:
            self.skips += 1
        elif token.kind == "(":
            yield from self._open()
        elif token.kind == ")":
            yield from self._close()
        elif token.kind != IO_NUMBER:
            is_open = self.command is None and token.kind == LINE_END
            yield from self.end()
            joint = _JOINTS.get(token.kind, "")
            self.before = self.before if is_open else joint

    def end(self) -> Iterator[Command]:
        """End the command, unless it is the head of a loop or a case."""
        command, self.command = self.command, None
        is_head, self.is_head = self.is_head, False
        self.skips = 0
        if command is not None:
            if not is_head and not self._is_in(_ARRAY):
                yield command
            self.before = ""

    def _word(self, token: Token) -> None:
        if self.skips:
            self.skips -= 1
            return
        is_first = self.command is None
        word = token.word.bare if token.word.bare == token.word.text else ""
        if is_first and word and not self._is_in(_ARRAY) and self._reserved(word, token):
            return
        self._current(token.line).words.append(token.word)

    def _reserved(self, word: str, token: Token) -> bool:
        """Take a reserved word; False if it is none."""
        if word in _OPENERS:
            self._push(_OPENERS[word])
            if word in _WITH_HEAD:
                self._current(token.line)
                self.is_head = True
        elif word in ("{", "function"):
            self._begin_body(word)
        elif word in _CLOSERS:
            if self.within:
                self.within.pop()
        elif word not in _PASSED_OVER:
            return False
        return True

    def _begin_body(self, word: str) -> None:
        if word == "function":
            self.is_function = self.is_named = True
            self.skips = 1
        else:
            self._push_group()

    def _push(self, what: str) -> None:
        """Go into something; groups are in what they stand in."""
        named = self.within[-1][1] if self.within else ""
        self.within.append((what, what or named))
        self.before = ""

    def _push_group(self) -> None:
        """Go into a group: the body of a function, or what depends on the command before it."""
        joint = {"&&": "a condition", "||": "a condition", "|": "a pipe"}
        self._push(_FUNCTION if self.is_function else joint.get(self.before, _GROUP))
        self.is_function = self.is_named = False

    def _open(self) -> Iterator[Command]:
        words = self.command.words if self.command is not None else []
        if words and words[-1].bare.endswith("="):
            yield from self.end()
            self._push(_ARRAY)
        elif len(words) == 1 or (self.is_function and self.is_named):
            self.command, self.is_function, self.is_named = None, True, False
            self._push(_GROUP)
        else:
            yield from self.end()
            self._push_group()

    def _close(self) -> Iterator[Command]:
        if self._is_in("a case"):
            self.command, self.is_head, self.skips = None, False, 0
            return
        yield from self.end()
        if self.within:
            self.within.pop()

    def _is_in(self, what: str) -> bool:
        return bool(self.within) and self.within[-1][0] == what

    def _current(self, line: int) -> Command:
        if self.command is None:
            within = self.within[-1][1] if self.within else ""
            self.command = Command(line=line, within=within, before=self.before)
        return self.command


def read_commands(text: str) -> Iterator[Command]:
    """Yield the simple commands of a script.

    Raises:
        ShellError: it ends within quotes or a here-document.
    """
    parser = _Parser()
    for token in Lexer(text).tokens():
        yield from parser.take(token)
    yield from parser.end()
