"""All English of the project as data: texts for people, the documents, docstrings and comments.

``python -m tests.tools.english [FOLDER …]`` counts the banned words of each folder;
``python -m tests.tools.english --list [PATH …]`` prints each with its place.
``tests/test_english.py`` is the test of the texts for people.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

ROOT: Final = Path(__file__).parents[2]
Kind = Literal["people", "docs", "inside"]
"""``people``: what the program prints; ``docs``: pages and settings; ``inside``: for developers."""
KINDS: Final[tuple[Kind, ...]] = ("people", "docs", "inside")

BANNED: Final = {
    name: re.compile(pattern)
    for name, pattern in {
        "may not": r"\bmay not\b",
        "who may": r"\b[Ww]ho(?:ever)? may\b|\bmay (?:do|[A-Z]{4,}(?:_[A-Z]+)*)\b",
        "nobody": r"\b(?:[Nn]o|[Aa]ny|[Ee]very)body\b",
        "whoever": r"\b[Ww]hoever\b",
        "behind": r"\b[Bb]ehind\b",
        "beside": r"\b[Bb]esides?\b",
        "of then": r"\bof then\b",
        "is told": r"\b(?:is|are|was|were|be|been|being|not|never) told\b|\btold (?:of|in|by)\b",
        "says": r"\b[Ss]a(?:y|ys|id)\b",
        "fares": r"\bfares?\b",
        "mend": r"\bmend(?:s|ed)?\b",
        "the night": r"\b(?:the|a|last|one|per|quiet) nights?\b(?!ly)",
        "Java's text of an ACL": r"ResourcePattern\(",
        "hold against": r"\b(?:hold|holds|held) (?:\w+ ){0,4}against\b",
        "what there is": r"\bwhat there is\b|\ball that there is\b",
        "makes no sense": r"\bmakes? no sense\b",
        "surroundings": r"\b[Ss]urroundings\b",
        "the run before": r"\bthe run before\b",
        "is there no more": r"\bthere no more\b|\bno more there\b",
        "for = because": r", for (?:it|they|there|this|that|no|its|the) (?:\w+ ){0,3}(?:is|are)\b",
        "in no inventory": r"\bin no inventory\b|\bnamed nowhere\b|\bto come too\b",
        "may be given": r"\bmay be given\b|\bgiven again\b",
        "gives and takes": r"\b(?:gives?|gave) and (?:takes?|took)\b|\btakes away\b",
        "bad": r"^[Bb]ad \w+|\bbad [a-z]+ \{\}",
    }.items()
}
"""A name for each → what is found."""
_ANY: Final = re.compile("|".join(pattern.pattern for pattern in BANNED.values()))


@dataclass(frozen=True, slots=True)
class Text:
    """One text, and where it stands."""

    path: str
    line: int
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A banned word in a text."""

    word: str
    at: Text

    def __str__(self) -> str:
        return f"{self.at.path}:{self.at.line}: {self.word!r} in: {' '.join(self.at.text.split())}"


@cache
def texts_for_people() -> tuple[Text, ...]:
    """Return what the program prints and what documents and settings hold, in this checkout."""
    return tuple(text for text in all_texts(ROOT) if text.kind != "inside")


def all_texts(root: Path) -> Iterator[Text]:
    """Yield every text of a checkout."""
    for pattern, read in _READERS:
        for path in sorted(root.glob(pattern)):
            name = str(path.relative_to(root))
            if name not in _GENERATED:
                yield from read(name, path.read_text(encoding="utf-8"))


def banned(texts: Iterable[Text]) -> Iterator[Found]:
    """Yield the banned words of texts, exempt ones too."""
    for text in texts:
        if _ANY.search(text.text):
            for word, pattern in BANNED.items():
                yield from (Found(word, text) for _ in pattern.finditer(text.text))


# -- Python ---------------------------------------------------------------------------------------

_SQL = re.compile(
    r"\b(?:SELECT|WHERE|CASE WHEN|GROUP BY|ORDER BY|JOIN|CREATE (?:OR|VIEW))\b|\\[bsSwd]"
)
_WORDS = re.compile(r"[A-Za-z]{2,}\W*\s\W*[A-Za-z{]")


def _python(path: str, source: str) -> Iterator[Text]:
    tree = ast.parse(source)
    inside = _docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(map(_is_command, node.decorator_list)):
            first = node.body[0]
            if isinstance(first, ast.Expr):
                inside.discard(id(first.value))
    yield from _strings(path, tree, inside)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(path, token.start[0], "inside", token.string)


def _docstrings(tree: ast.AST) -> set[int]:
    """Return the nodes of all strings that are statements: docstrings, those of names too."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.JoinedStr)
    }


def _is_command(decorator: ast.expr) -> bool:
    """Whether a decorator makes a function a command of click: its docstring is help then."""
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", None)
    return name in ("command", "group")


def _strings(path: str, node: ast.AST, inside: set[int]) -> Iterator[Text]:
    """Yield the strings below a node, an f-string as one text with ``{}`` for what varies."""
    if isinstance(node, ast.JoinedStr):
        text = "".join(_constant(part) for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    else:
        text = ""
    if id(node) in inside:
        yield Text(path, node.lineno, "inside", text)  # type: ignore[attr-defined]  # it is a string
    elif text and _WORDS.search(text) and not _SQL.search(text):
        yield Text(path, node.lineno, "people", text)  # type: ignore[attr-defined]  # it is a string
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from _strings(path, child, inside)


def _constant(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "{}"


# -- other files ----------------------------------------------------------------------------------

_JS_TEXT = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|`[^`]*`|>[^<>{}]+<')
_FENCE = re.compile(r"^```(console|text|json)\n.*?^```$", re.MULTILINE | re.DOTALL)
_JINJA_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_JINJA = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\$\{[^}]*\}", re.DOTALL)
_TAG = re.compile(r"<(?:[^<>\"]|\"[^\"]*\")*>")
_SHOWN_ATTRIBUTE = re.compile(r"\b(?:title|alt|placeholder|aria-label)=(\"[^\"]*\")")
_CODE = re.compile(r"`[^`\n]+`")


def _javascript(path: str, source: str) -> Iterator[Text]:
    for number, line in enumerate(source.splitlines(), start=1):
        code, _, comment = line.partition("//") if "://" not in line else (line, "", "")
        if comment or line.lstrip().startswith(("*", "/*")):
            yield Text(path, number, "inside", comment or line)
        if not line.lstrip().startswith(("*", "/*")):
            for found in _JS_TEXT.finditer(code):
                text = _JINJA.sub("{}", found[0])
                if " " in text:
                    yield Text(path, number, "people", text)


def _template(path: str, source: str) -> Iterator[Text]:
    for comment in _JINJA_COMMENT.findall(source):
        yield Text(path, 1, "inside", comment)
    text = _JINJA.sub(_value, _JINJA_COMMENT.sub(_lines_only, source))
    text = _TAG.sub(lambda tag: " ".join(_SHOWN_ATTRIBUTE.findall(tag[0])) + _lines_only(tag), text)
    for number, line in enumerate(text.splitlines(), start=1):
        yield Text(path, number, "people", line)


def _page(path: str, source: str) -> Iterator[Text]:
    """Yield the paragraphs of a Markdown page; what commands print there is the program's text."""
    if path == "CHANGELOG.md":
        # The newest section: what older releases said stays as it was.
        before, found, rest = source.partition("\n## ")
        source = "\n" * (before + found).count("\n") + rest.partition("\n## ")[0]
    text = _FENCE.sub(_lines_only, source)
    number = 1
    for paragraph in re.split(r"(\n\s*\n)", text):
        if paragraph.strip():
            yield Text(path, number, "docs", _CODE.sub("``", paragraph.replace("\n", " ")))
        number += paragraph.count("\n")


def _settings(path: str, source: str) -> Iterator[Text]:
    for number, line in enumerate(source.splitlines(), start=1):
        if line.lstrip().startswith("#"):
            yield Text(path, number, "docs", line)


def _value(found: re.Match[str]) -> str:
    """Return what stands for a value, with the lines and the sentences that its expression has."""
    return " ".join(["{}", *_JS_TEXT.findall(found[0])]) + _lines_only(found)


def _lines_only(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


_Reader = Callable[[str, str], Iterator[Text]]
_READERS: Final[tuple[tuple[str, _Reader], ...]] = (
    ("aclkit/**/*.py", _python),
    ("jobs/*.py", _python),
    ("aclkit/**/*.js", _javascript),
    ("aclkit/**/*.j2", _template),
    ("*.md", _page),
    ("docs/*.md", _page),
    ("docs/decisions/*.md", _page),
    ("docs/schemas/*.md", _page),
    ("conf/*.toml", _settings),
)
_GENERATED: Final = {"docs/cli.md", "docs/tables.md", "docs/findings.md"}
"""Written from strings of the program, which are read where they stand."""


# -- counting -------------------------------------------------------------------------------------


@cache
def _found(root: Path) -> tuple[Found, ...]:
    return tuple(banned(all_texts(root)))


def counted(root: Path) -> dict[str, dict[Kind, int]]:
    """Count banned words by word and kind of text, and in all."""
    counts: Counter[tuple[str, Kind]] = Counter((f.word, f.at.kind) for f in _found(root))
    rows = {word: {kind: counts[word, kind] for kind in KINDS} for word in BANNED}
    rows["all"] = {kind: sum(row[kind] for row in rows.values()) for kind in KINDS}
    return rows


def main(arguments: Sequence[str]) -> None:
    """Print the counts of folders, or each place."""
    if arguments and arguments[0] == "--list":
        for found in _found(ROOT):
            if not arguments[1:] or found.at.path.startswith(tuple(arguments[1:])):
                sys.stdout.write(f"[{found.at.kind}] {found}\n")
        return
    folders = [Path(folder) for folder in arguments or [str(ROOT)]]
    tables = [counted(folder) for folder in folders]
    heads = "".join(f"{kind:>9}" for _ in folders for kind in KINDS)
    sys.stdout.write(f"{'':24}{heads}\n")
    for word in tables[0]:
        cells = "".join(f"{table[word][kind]:>9}" for table in tables for kind in KINDS)
        sys.stdout.write(f"{word:24}{cells}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
