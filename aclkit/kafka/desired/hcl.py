"""A file of Terraform's language → the ACLs that stand in it as plain texts.

Only the subset is read that ``export acls`` writes: resources whose attributes are quoted strings.
What a file with variables, loops or modules makes is known to Terraform alone; its plan holds it.

Only blocks and their plain texts are needed, so expressions stay a row of tokens. Each character is
visited once. Source: HCL Native Syntax Specification. Texts are in Unicode's form NFC, as HCL makes
them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from aclkit.kafka.desired.formats import Format, PartBuilder
from aclkit.kafka.desired.model import Document, Part
from aclkit.kafka.desired.terraform_kinds import KINDS, MONGEY, Kind, Side, read_acl, unread_kind
from aclkit.model.phrases import few, number_of

TokenKind = Literal["word", "text", "template", "mark", "line", "other", "broken"]
"""``text``: a quoted string without templates; ``template``: another one, or a heredoc;
``line``: the end of a line; ``broken``: what is not ended or has an unknown escape."""

_TOKEN: Final = re.compile(
    r"[ \t\r]*+(?:(?P<line>\n)|(?P<comment>(?:\#|//)[^\n]*)|(?P<long>/\*)"
    r'|(?P<text>")|(?P<heredoc><<-?(?P<end>[A-Za-z_][\w-]*)[ \t\r]*(?=\n))'
    r"|(?P<word>[^\W\d][\w-]*)|(?P<mark>[{}=\[\]()])|(?P<other>.))"
)
_LAST: Final = re.compile(r"\n[ \t]*+([\w-]++)[ \t\r]*+(?=\n|\Z)")
"""A line with one word: what can end a heredoc."""
_IN_TEXT: Final = re.compile(r'["\\\n]|\$\$?\{|%%?\{')
_IN_TEMPLATE: Final = re.compile(r'["{}]')
_ESCAPE: Final = re.compile(
    r'\\(?P<plain>[nrt"\\])|\\u(?P<short>[0-9a-fA-F]{4})|\\U(?P<long>[0-9a-fA-F]{8})'
    r"|(?P<wrong>\\)|\$(?P<dollar>\$\{)|%(?P<percent>%\{)"
)
_PLAIN_KINDS: Final[dict[str, TokenKind]] = {"line": "line", "word": "word", "mark": "mark"}
_PLAIN: Final = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


class Token(NamedTuple):
    """A part of the text.

    Attributes:
        kind: see ``TokenKind``.
        text: of a quoted string its value; otherwise as written, and shortened.
        line: where it begins.
    """

    kind: TokenKind
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
        line += 1 if kind == "line" else text.count("\n", at, end)
        at = end


def _token(text: str, found: re.Match[str], kind: str, line: int) -> tuple[Token | None, int]:
    """Return the token that begins here, None for a comment, and where it ends."""
    end = found.end()
    if kind == "comment":
        return None, end
    if kind == "long":
        close = text.find("*/", end)
        return (Token("broken", "/*", line), end) if close < 0 else (None, close + 2)
    if kind == "text":
        return _string(text, end, line)
    if kind == "heredoc":
        marks = _LAST.finditer(text, end)
        last = next((each for each in marks if each[1] == found["end"]), None)
        if last is None:
            return Token("broken", "<<", line), end
        return Token("template", "<<", line), last.end()
    return Token(_PLAIN_KINDS.get(kind, "other"), found[kind][:60], line), end


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


NAME: Final = "terraform-hcl"

_HOW: Final = "Run terraform show -json PLAN > plan.json, and pass plan.json"
_MAKERS: Final = frozenset(("module", "locals"))
"""Blocks that can make ACLs, and what they make stands elsewhere."""
_BLOCKS: Final = {
    "resource": 3, "data": 3, "ephemeral": 3, "module": 2, "provider": 2, "variable": 2,
    "output": 2, "check": 2, "terraform": 1, "locals": 1, "moved": 1, "removed": 1, "import": 1,
}  # fmt: skip
"""The blocks of Terraform, and of how many words the head of each is."""

_LEFT_OUT: Final = re.compile(r"^# the provider cannot write ", re.MULTILINE)


def holds_hcl(document: Document) -> bool:
    """Whether a document is in Terraform's language, of which most is refused."""
    if document.text.lstrip()[:1] in ("{", "["):
        return _is_json(document)
    source = _Tokens(document.text)
    first = source.next()
    while first is not None and first.kind == "line":
        first = source.next()
    header = _header(source, first) if first is not None else None
    return header is not None and header[0] in _BLOCKS and len(header) == _BLOCKS[header[0]]


def read_hcl(document: Document) -> Part:
    """Read the ACLs of a file; what is not a plain text is a problem with its line."""
    reading = _Blocks(document)
    if _is_json(document):
        reading.wrong(1, "This is a configuration in JSON")
    else:
        _read_blocks(reading, _Tokens(document.text))
    left_out = len(_LEFT_OUT.findall(document.text))
    if left_out:
        number = number_of(left_out, "ACL")
        reading.notes.append(f"{number} of {document.name} in comments only: not read.")
    return reading.part(NAME, "asked")


FORMATS: Final[tuple[Format, ...]] = (
    Format(
        name=NAME,
        title="Terraform file with plain texts only (export acls --format terraform)",
        holds=holds_hcl,
        read=read_hcl,
    ),
)


def _is_json(document: Document) -> bool:
    """Whether a document is a ``.tf.json`` with resources or modules."""
    return any(
        "format_version" not in value
        and (isinstance(value.get("module"), dict) or isinstance(value.get("resource"), dict))
        for value in document.objects[:1]
    )


@dataclass(slots=True)
class _Blocks(PartBuilder):
    """What is read of one file.

    Attributes:
        names: of the ACLs' resources, to refuse a second one.
    """

    names: set[tuple[str, str]] = field(default_factory=set)

    def wrong(self, line: int, text: str) -> None:
        """Keep a problem."""
        self.refuse(line, f"{text}. {_HOW}")


class _Tokens:
    """The tokens of a file, read once."""

    def __init__(self, text: str) -> None:
        self._all: Iterator[Token] = tokens(text)
        self.line = 1

    def next(self) -> Token | None:
        """Return the next token; None at the end."""
        token = next(self._all, None)
        if token is not None:
            self.line = token.line
        return token

    def skip_block(self) -> bool:
        """Pass over the rest of a block that was opened; whether it ended."""
        depth = 1
        while depth and (token := self.next()) is not None and token.kind != "broken":
            depth += _depth(token)
        return depth == 0

    def statement(self, first: Token) -> tuple[list[Token], Token | None]:
        """Return the first tokens of a statement and what ends it: its line, block, or nothing."""
        found, depth, token = [first], max(_depth(first), 0), self.next()
        while token is not None and token.kind != "broken":
            if depth <= 0 and (token.kind == "line" or _depth(token) < 0):
                return found, token
            depth += _depth(token)
            found += [token] if len(found) <= _LONGEST else []
            token = self.next()
        return found, None


_LONGEST: Final = 3
"""Tokens of an attribute with a plain text: name, ``=`` and value."""


def _depth(token: Token) -> int:
    """Return 1 for a token that opens a block or list, -1 for one that closes it."""
    if token.kind != "mark":
        return 0
    return 1 if token.text in "{[(" else -1 if token.text in "}])" else 0


def _read_blocks(reading: _Blocks, source: _Tokens) -> None:
    while (token := source.next()) is not None:
        if token.kind == "line":
            continue
        header = _header(source, token)
        if header is None:
            reading.wrong(token.line, "This line begins no block")
            return
        if not _read_block(reading, source, header, token.line):
            reading.wrong(source.line, "The file ends inside a block or a text, or is broken here")
            return


def _header(source: _Tokens, first: Token) -> list[str] | None:
    """Return the words before the ``{`` of a block; None where none begins."""
    if first.kind != "word":
        return None
    words = [first.text]
    while (token := source.next()) is not None:
        if token.kind == "mark" and token.text == "{":
            return words
        if token.kind not in ("word", "text") or len(words) > 2:
            return None
        words.append(token.text)
    return None


def _read_block(reading: _Blocks, source: _Tokens, header: list[str], line: int) -> bool:
    """Read or pass over a block; whether it ended."""
    is_resource = header[0] == "resource" and len(header) == _BLOCKS["resource"]
    kind = KINDS.get(header[1]) if is_resource else None
    if kind is not None:
        return _read_resource(reading, source, kind, header[2], line)
    if len(header) != _BLOCKS.get(header[0]):
        reading.wrong(line, f"'{header[0][:60]}' does not begin a block of Terraform")
    elif header[0] in _MAKERS:
        reading.wrong(line, f"A block {header[0]} can make ACLs that stand elsewhere")
    elif is_resource:
        name = unread_kind(header[1])
        reading.unread.update([name] if name else [])
    return source.skip_block()


def _read_resource(reading: _Blocks, source: _Tokens, kind: Kind, name: str, line: int) -> bool:
    """Read the resource of an ACL; whether its block ended."""
    values: dict[str, str] = {}
    odd: list[Token] = []
    before = len(reading.problems)
    if (kind.name, name) in reading.names:
        reading.wrong(line, f"This {kind.name} has the name of another one")
    reading.names.add((kind.name, name))
    while (token := source.next()) is not None and token.kind != "broken":
        end: Token | None = token
        if token.kind != "line" and _depth(token) >= 0:
            statement, end = source.statement(token)
            odd += _read_attribute(reading, kind, statement, values)
        if end is None:
            return False
        if end.kind == "mark":
            if odd:
                names = few(dict.fromkeys(f"'{each.text[:60]}'" for each in odd))
                reading.wrong(odd[0].line, f"A {kind.name} holds more than plain texts: {names}")
            if len(reading.problems) == before:
                _read_values(reading, kind, values, line)
            return True
    return False


def _read_attribute(
    reading: _Blocks, kind: Kind, statement: list[Token], values: dict[str, str]
) -> list[Token]:
    """Read an attribute with a plain text; return the first token of any other statement."""
    name = statement[0]
    shape = [(each.kind, each.text if each.kind == "mark" else "") for each in statement]
    if shape != [("word", ""), ("mark", "="), ("text", "")]:
        return [name]
    if name.text not in kind.attributes.values():
        reading.wrong(name.line, f"'{name.text[:60]}' is not a field of a {kind.name}")
    elif name.text in values:
        reading.wrong(name.line, f"'{name.text[:60]}' is written twice")
    else:
        values[name.text] = statement[2].text
    return []


def _read_values(reading: _Blocks, kind: Kind, values: dict[str, str], line: int) -> None:
    """Make the ACL of a resource; Mongey's provider takes a name as literal by default."""
    defaults = {"resource_pattern_type_filter": "Literal"} if kind is MONGEY else {}
    reading.take(read_acl(kind, Side(defaults | values), reading.document.place(line)))
