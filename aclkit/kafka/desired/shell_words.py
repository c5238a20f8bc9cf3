"""A shell script → its words, operators and here-documents. Pure.

Nothing is executed or expanded. A word of which a shell would make something else than stands
there has the reason why its text is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple


class ShellError(ValueError):
    """A script ends within quotes or a here-document; ``line`` is where these begin."""

    def __init__(self, line: int, text: str) -> None:
        """Keep line and reason."""
        super().__init__(text)
        self.line = line


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command.

    Attributes:
        text: what is certain of it: the letters that a shell does not replace.
        why: what a shell replaces in it; empty if nothing.
        bare: its letters outside of quotes, with a NUL for each other one.
        replaced: the texts of what a shell replaces, such as commands whose output stands there.
    """

    text: str
    why: str = ""
    bare: str = ""
    replaced: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """A here-document.

    Attributes:
        line: the line of its first line.
        mark: the word that ends it.
        is_quoted: nothing in it is replaced.
        lines: its lines.
    """

    line: int
    mark: str
    is_quoted: bool
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a here-document or an operator.

    Attributes:
        kind: ``WORD``, ``HERE``, ``IO_NUMBER``, ``LINE_END`` or the operator itself.
        line: where it stands.
        word: of a word.
        here: of a here-document; it follows the line on which it is asked for.
    """

    kind: str
    line: int
    word: Word = field(default=Word(""))
    here: Here | None = None


WORD, HERE, IO_NUMBER, LINE_END = "word", "here", "io", "\n"
"""Kinds of token. An IO_NUMBER stands before a redirection."""

_OPERATOR: Final = re.compile(r"&&|\|\||\|&|;;&?|;&|<<-|<<<|<<|&>>|&>|>>|>&|<&|<>|>\||[;&|()<>]")
REDIRECTIONS: Final = frozenset(("<<<", "&>>", "&>", ">>", ">&", "<&", "<>", ">|", "<", ">"))
_PLAIN: Final = re.compile(r"[^ \t\n'\"\\$`;&|()<>*?\[~]+")
_IN_QUOTES: Final = re.compile(r'[^"\\$`]+')
_VARIABLE: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|[0-9@*#?$!-])")
_NAME: Final = re.compile(r"[!#]?([A-Za-z_][A-Za-z0-9_]*|.)?", re.DOTALL)
_PRINTF: Final = re.compile(r"\$\(printf '((?:[^'%\\-]|\\[0-7]{3})(?:[^'%\\]|\\[0-7]{3})*)'\)")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")

BRACES: Final = "braces, which shells expand"
"""The reason of a word that becomes several."""

_SUBSTITUTION: Final = "a command substitution"
_NO_END: Final = "A quote that begins here does not end. Close it"


class _Pending(NamedTuple):
    """A here-document that begins on the next line; tabs before its lines may be removed."""

    mark: str
    is_quoted: bool
    is_stripped: bool


class Lexer:
    """Reads tokens one after the other."""

    def __init__(self, text: str) -> None:
        """Begin at the first letter."""
        self.text = text
        self.at = 0
        self.line = 1
        self.pending: list[_Pending] = []
        self.replaced: list[str] = []

    def tokens(self) -> Iterator[Token]:
        """Yield the tokens.

        Raises:
            ShellError: the script ends within quotes or a here-document.
        """
        text, is_mark = self.text, ""
        while self.at < len(text):
            letter = text[self.at]
            if letter in " \t":
                self.at += 1
            elif text.startswith("\\\n", self.at):
                self._skip(2)
            elif letter == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif letter == "\n":
                yield from self._end_line()
            elif (
                operator := _OPERATOR.match(text, self.at)
            ) and not self._is_process_substitution():
                self.at = operator.end()
                is_mark = operator[0] if operator[0].startswith("<<") else ""
                is_mark = "" if is_mark == "<<<" else is_mark
                if not is_mark:
                    yield Token(operator[0], self.line)
            else:
                token = self._word()
                if is_mark:
                    is_quoted = token.word.bare != token.word.text
                    self.pending.append(_Pending(token.word.text, is_quoted, is_mark == "<<-"))
                    is_mark = ""
                else:
                    yield token
        if self.pending:
            raise ShellError(self.line, "A here-document begins here and does not end")

    def _is_process_substitution(self) -> bool:
        return self.text[self.at] in "<>" and self.text.startswith("(", self.at + 1)

    def _skip(self, count: int) -> str:
        """Go on, and count lines."""
        piece = self.text[self.at : self.at + count]
        self.line += piece.count("\n")
        self.at += count
        return piece

    def _end_line(self) -> Iterator[Token]:
        line = self.line
        self._skip(1)
        for pending in self.pending:
            yield Token(HERE, line, here=self._here(pending))
        self.pending.clear()
        yield Token(LINE_END, line)

    def _here(self, pending: _Pending) -> Here:
        first, lines = self.line, list[str]()
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end]
            self._skip(end - self.at + 1)
            if pending.is_stripped:
                line = line.lstrip("\t")
            if line == pending.mark:
                return Here(line=first, mark=pending.mark, is_quoted=pending.is_quoted, lines=lines)
            lines.append(line)
        raise ShellError(
            first - 1, f"The here-document has no line '{pending.mark[:60]}' that ends it"
        )

    def _word(self) -> Token:
        """Read a word, up to a blank or an operator outside of quotes."""
        start, line, text = self.at, self.line, self.text
        parts: list[str] = []
        bare: list[str] = []
        why = ""
        self.replaced.clear()
        while self.at < len(text):
            letter = text[self.at]
            if letter in " \t\n" or (letter in ";&|()<>" and self.at > start):
                break
            piece, reason, is_bare = self._piece(letter, is_first=self.at == start)
            parts.append(piece)
            bare.append(piece if is_bare else "\0" * max(1, len(piece)))
            why = why or reason
        outside = "".join(bare)
        if not why and _has_braces(outside):
            why = BRACES
        word = Word("".join(parts), why, outside, "\n".join(self.replaced))
        follows = text[self.at : self.at + 1]
        is_number = word.bare.isdigit() and word.bare.isascii() and follows in ("<", ">")
        return Token(IO_NUMBER if is_number else WORD, line, word)

    def _piece(self, letter: str, *, is_first: bool) -> tuple[str, str, bool]:
        """Read a piece of a word: its letters, why they are unknown, whether it stands bare."""
        if plain := _PLAIN.match(self.text, self.at):
            self.at = plain.end()
            return plain[0], "", True
        if letter == "'":
            return self._single(), "", False
        if letter == '"':
            return (*self._double(), False)
        if letter == "\\":
            return self._escaped(), "", False
        if letter == "$" and self.text.startswith(("$'", '$"'), self.at):
            self.at += 1
            _ = self._double() if self.text[self.at] == '"' else self._ansi()
            return "", "quotes of the form $'…'", False
        if letter in "$`<>":
            return (*self._replaced(), False)
        self.at += 1
        if letter == "~":
            return letter, "a ~ outside of quotes" if is_first else "", True
        return letter, f"a {letter} outside of quotes, which shells replace by file names", True

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise ShellError(self.line, _NO_END)
        return self._skip(end + 1 - self.at)[1:-1]

    def _ansi(self) -> str:
        """Pass over quotes in which a backslash escapes."""
        line = self.line
        end = self.at + 1
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise ShellError(line, _NO_END)
        return self._skip(end + 1 - self.at)

    def _escaped(self) -> str:
        piece = self._skip(2)[1:]
        return "" if piece == "\n" else piece

    def _double(self) -> tuple[str, str]:
        """Read double quotes, with what our own script has in them."""
        line, parts, why = self.line, list[str](), ""
        self.at += 1
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == '"':
                self.at += 1
                return "".join(parts), why
            if plain := _IN_QUOTES.match(self.text, self.at):
                parts.append(self._skip(len(plain[0])))
            elif letter == "\\":
                piece = self._skip(2)
                known = piece[1:] in ("$", "`", '"', "\\", "\n")
                parts.append(piece[1:].replace("\n", "") if known else piece)
            elif (written := self._printed()) is not None:
                parts.append(written)
            else:
                piece, reason = self._replaced()
                parts.append(piece)
                why = why or reason
        raise ShellError(line, _NO_END)

    def _printed(self) -> str | None:
        """Return what printf makes of our own escapes; a shell drops line ends at its end."""
        match = _PRINTF.match(self.text, self.at)
        if match is None or r"\000" in match[1]:
            return None
        pieces = _OCTAL.split(match[1])
        codes = [int(piece, 8) for piece in pieces[1::2]]
        if any(code > 255 for code in codes):
            return None
        data = b"".join(
            plain.encode("utf-8", "surrogatepass") + bytes(code)
            for plain, code in zip(pieces[::2], [*([each] for each in codes), []], strict=True)
        )
        self._skip(len(match[0]))
        return data.decode("utf-8", "surrogateescape").rstrip("\n")

    def _replaced(self) -> tuple[str, str]:
        """Pass over what a shell replaces, and keep its text."""
        at = self.at
        found = self._pass_over()
        self.replaced.append(self.text[at : self.at])
        return found

    def _pass_over(self) -> tuple[str, str]:
        """Pass over what a shell replaces; a dollar that begins nothing is a letter."""
        text, at = self.text, self.at
        if variable := _VARIABLE.match(text, at):
            self.at = variable.end()
            return "", f"the variable {variable[0][:60]}"
        if text.startswith("${", at):
            name = _NAME.match(text, at + 2)
            self._balanced("{", "}")
            return "", f"the variable ${name[1][:60] if name and name[1] else ''}"
        if text.startswith(("$(", "<(", ">("), at):
            self._balanced("(", ")")
            return "", _SUBSTITUTION
        if text[at] == "`":
            end = at + 1
            while end < len(text) and text[end] != "`":
                end += 2 if text[end] == "\\" else 1
            if end >= len(text):
                raise ShellError(self.line, "A ` that begins here does not end. Close it")
            self._skip(end + 1 - at)
            return "", _SUBSTITUTION
        self.at += 1
        return "$", ""

    def _balanced(self, opening: str, closing: str) -> None:
        """Pass over brackets within brackets; those in quotes do not count."""
        line, depth = self.line, 0
        end = self.at + 1
        text = self.text
        while end < len(text):
            letter = text[end]
            if letter == "\\":
                end += 1
            elif letter in "'\"" and opening == "(":
                end = self._end_of_quotes(end)
            elif letter in (opening, closing):
                depth += 1 if letter == opening else -1
                if depth == 0:
                    self._skip(end + 1 - self.at)
                    return
            end += 1
        raise ShellError(
            line, f"A {text[self.at]}{opening} that begins here does not end. Close it"
        )

    def _end_of_quotes(self, at: int) -> int:
        """Return where quotes end that begin at a place, or the end of the text."""
        text, quote, end = self.text, self.text[at], at + 1
        while end < len(text) and text[end] != quote:
            end += 2 if text[end] == "\\" and quote == '"' else 1
        return end


def _has_braces(bare: str) -> bool:
    """Whether a shell may expand braces in a word, such as ``{a,b}`` and ``{1..9}``."""
    _, _, rest = bare.partition("{")
    within, closing, _ = rest.rpartition("}")
    return bool(closing) and ("," in within or ".." in within)
