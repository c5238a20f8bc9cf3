"""A shell script → its simple commands, each with its words and what surrounds it. Pure.

The grammar is that of POSIX sh, as far as it decides where a command begins and ends, with arrays,
``function`` and ``[[`` of bash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aclkit.kafka.desired.shell_words import (
    HERE,
    IO_NUMBER,
    LINE_END,
    REDIRECTIONS,
    WORD,
    Here,
    Lexer,
    ShellError,
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


class _Within(NamedTuple):
    """What is open: what it is, what it is in, the word that closes it, its line, its last part."""

    what: str
    named: str
    closer: str
    line: int
    part: str = ""


_OPENERS: Final = {
    "for": ("a loop", "done"),
    "select": ("a loop", "done"),
    "while": ("a loop", "done"),
    "until": ("a loop", "done"),
    "if": ("a condition", "fi"),
    "case": ("a case", "esac"),
}
_AFTER: Final = {
    "then": ("fi", ("", "elif")),
    "elif": ("fi", ("then",)),
    "else": ("fi", ("then",)),
    "fi": ("fi", ("then", "else")),
    "do": ("done", ("",)),
    "done": ("done", ("do",)),
    "esac": ("esac", ("",)),
    "}": ("}", ("",)),
}
"""A word of a loop or condition → the word that closes it, and the parts that it may follow."""

_GROUP, _FUNCTION, _CASE, _ARRAY = "", "a function", "a case", "an array"
_JOINTS: Final = {"&&": "&&", "||": "||", "|": "|", "|&": "|"}
_MUST, _MAY, _WORDS, _CLOSED = "must", "may", "words", "closed"
"""Where the parser stands: a command must follow, or may; in its words; after a closing word."""


class _Parser:
    """Makes commands of tokens, and refuses what no shell would run."""

    def __init__(self) -> None:
        self.within: list[_Within] = []
        self.command: Command | None = None
        self.stands = _MAY
        self.line = 1
        self.before = ""
        self.is_head = False
        self.is_pattern = False
        self.is_function = False
        self.is_named = False
        self.skips = 0

    def take(self, token: Token) -> Iterator[Command]:
        """Take a token; yield the command that it ends, if any.

        Raises:
            ShellError: no shell would run the script.
        """
        self.line = token.line
        if token.kind == HERE and token.here is not None:
            self._current().heres.append(token.here)
        elif self.is_pattern:
            self._pattern(token)
        elif token.kind == WORD:
            self._word(token.word)
        elif token.kind == IO_NUMBER or (token.kind != LINE_END and self._is_in_test()):
            return
        elif token.kind in REDIRECTIONS:
            self._redirect(token.kind)
        elif token.kind == "(":
            yield from self._open()
        elif token.kind == ")":
            yield from self._close()
        else:
            yield from self._operator(token.kind)

    def finish(self) -> Iterator[Command]:
        """End the script.

        Raises:
            ShellError: something is open.
        """
        yield from self._operator(LINE_END)
        if self.within:
            what = self.within[-1]
            raise ShellError(what.line, f"What begins here has no '{what.closer}'. Add it")
        if self.stands == _MUST:
            raise ShellError(self.line, "The script ends where a command must follow. Add it")

    def _unexpected(self, text: str) -> ShellError:
        name = "line end" if text == LINE_END else text[:60]
        return ShellError(
            self.line,
            f"A shell refuses '{name}' at this place. Remove it, or add what must stand before it",
        )

    def _pattern(self, token: Token) -> None:
        """Pass over the head and the patterns of a case."""
        if token.kind == ")":
            self.is_pattern, self.stands = False, _MAY
        elif token.kind == WORD and token.word.bare == "esac":
            self.is_pattern, self.stands = False, _MAY
            self._part("esac")

    def _redirect(self, kind: str) -> None:
        if self.skips:
            raise self._unexpected(kind)
        self.skips = 1
        if self.stands != _CLOSED:
            _ = self._current()
            self.stands = _WORDS

    def _operator(self, kind: str) -> Iterator[Command]:
        """Take a line end, or what stands between commands."""
        is_at_word = self.stands in (_WORDS, _CLOSED)
        is_line_end = kind == LINE_END
        ends_case = kind.startswith(";;") or kind == ";&"
        is_sound = is_at_word or is_line_end or (ends_case and self.stands == _MAY)
        if self.skips or not is_sound or (ends_case and not self._is_in(_CASE)):
            raise self._unexpected(kind)
        if self._is_in_test():
            raise ShellError(self.line, "A [[ has no ]] on its line. Write it on one line")
        if is_line_end and not is_at_word:
            return
        yield from self._end()
        self.before = _JOINTS.get(kind, "")
        self.stands = _MUST if self.before else _MAY
        self.is_pattern = ends_case

    def _end(self) -> Iterator[Command]:
        """End the command, unless it is the head of a loop."""
        command, self.command = self.command, None
        is_head, self.is_head = self.is_head, False
        if command is not None:
            self.before = ""
            if not is_head and not self._is_in(_ARRAY):
                yield command

    def _word(self, word: Word) -> None:
        if self.skips:
            self.skips -= 1
            return
        if self.command is None and not self._is_in(_ARRAY):
            if word.bare == word.text and self._is_reserved(word.text):
                return
            if self.stands == _CLOSED or self.is_function:
                raise self._unexpected(word.text)
        self._current().words.append(word)
        self.stands = _WORDS

    def _is_reserved(self, word: str) -> bool:
        """Take a reserved word; False if it is none."""
        if word in _OPENERS:
            self._push(*_OPENERS[word])
            self.is_pattern = word == "case"
            self.is_head = word in ("for", "select")
            if self.is_head:
                _ = self._current()
        elif word == "{":
            self._push_group("}")
        elif word == "function":
            self.is_function = self.is_named = True
            self.skips, self.stands = 1, _MUST
        elif word in _AFTER:
            self._part(word)
        elif word in ("!", "time"):
            self.stands = _MUST
        else:
            return False
        return True

    def _part(self, word: str) -> None:
        """Go into the next part of what is open, or out of it."""
        closer, parts = _AFTER[word]
        top = self.within[-1] if self.within else None
        is_sound = top is not None and top.closer == closer and top.part in parts
        if top is None or not is_sound or self.stands == _MUST:
            raise self._unexpected(word)
        if word == closer:
            self.within.pop()
            self.stands = _CLOSED
        else:
            self.within[-1] = top._replace(part=word)
            self.stands = _MUST

    def _push(self, what: str, closer: str) -> None:
        """Go into something; groups are in what they stand in."""
        if self.stands == _CLOSED:
            raise self._unexpected(what or "(")
        named = self.within[-1].named if self.within else ""
        self.within.append(_Within(what, what or named, closer, self.line))
        self.before = ""
        self.stands = _MUST
        self.is_function = self.is_named = False

    def _push_group(self, closer: str) -> None:
        """Go into a group: the body of a function, or what depends on the command before it."""
        joint = {"&&": "a condition", "||": "a condition", "|": "a pipe"}
        self._push(_FUNCTION if self.is_function else joint.get(self.before, _GROUP), closer)

    def _open(self) -> Iterator[Command]:
        words = self.command.words if self.command is not None else []
        if words and words[-1].bare.endswith("="):
            yield from self._end()
            self._push(_ARRAY, ")")
            self.stands = _WORDS
        elif len(words) == 1 or (self.is_function and self.is_named):
            self.command = None
            self.is_function, self.is_named, self.skips = True, False, 1
        elif words or self.skips:
            raise self._unexpected("(")
        else:
            self.command = None if self.is_head else self.command
            self._push_group(")")

    def _close(self) -> Iterator[Command]:
        if self.is_function and self.skips:
            self.skips, self.stands = 0, _MUST
            return
        top = self.within[-1] if self.within else None
        if top is None or top.closer != ")" or self.stands == _MUST or self.skips:
            raise self._unexpected(")")
        yield from self._end()
        self.within.pop()
        self.stands = _CLOSED

    def _is_in(self, what: str) -> bool:
        return bool(self.within) and self.within[-1].what == what

    def _is_in_test(self) -> bool:
        """Whether a ``[[`` is open: operators in it are its own."""
        words = self.command.words if self.command is not None else []
        return bool(words) and words[0].bare == "[[" and words[-1].bare != "]]"

    def _current(self) -> Command:
        if self.command is None:
            within = self.within[-1].named if self.within else ""
            self.command = Command(line=self.line, within=within, before=self.before)
        return self.command


def read_commands(text: str) -> Iterator[Command]:
    """Yield the simple commands of a script.

    Raises:
        ShellError: it ends within quotes or a here-document, or no shell would run it.
    """
    parser = _Parser()
    for token in Lexer(text).tokens():
        yield from parser.take(token)
    yield from parser.finish()
