"""Python source → its mutants: the same text with one small mistake in it. Pure.

Mistakes are made in the text and not in the tree, so that a difference shows one of them and
nothing else. Docstrings, annotations, decorators and imports stay as they are.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff

_COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_CALCULATED: Mapping[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.BitAnd: "|", ast.BitOr: "&",
    ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
_NAMES: Mapping[str, str] = {
    "min": "max", "max": "min", "any": "all", "all": "any", "least": "greatest",
    "greatest": "least", "bisect_left": "bisect_right", "startswith": "endswith",
    "bitwiseXOR": "bitwiseOR", "isNull": "isNotNull", "isNotNull": "isNull", "lag": "lead",
}  # fmt: skip
_TEXTS: tuple[tuple[str, str], ...] = (
    (r"\bLEFT JOIN\b", "JOIN"), (r"\bFULL JOIN\b", "LEFT JOIN"), (r"\bAND\b", "OR"),
    (r"\bOR\b", "AND"), (r"\bIS NOT NULL\b", "IS NULL"), (r"\bIS NULL\b", "IS NOT NULL"),
    (r"\bUNION ALL\b", "EXCEPT"), (r"\bNOT IN\b", "IN"), (r"\bmax\(", "min("),
    (r"\bmin\(", "max("), (r" = ", " <> "), (r" < ", " >= "), (r" > ", " <= "),
    (r"\bDISTINCT ", ""), (r"\bEXCEPT\b", "UNION ALL"), (r"^left$", "inner"),
    (r"^inner$", "left"),
)  # fmt: skip
"""Mistakes in SQL and in the words of a join."""

Edit = tuple[ast.expr | ast.stmt, str, str]
"""A node, the text to put in its place, and what that is called."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one mistake in it.

    Attributes:
        path: the module, from the root of the project.
        line: where the mistake begins.
        mistake: what was done.
        before: the module's text.
        after: the mutant's.
    """

    path: str
    line: int
    mistake: str
    before: str
    after: str

    def difference(self) -> str:
        """Return what was changed, as a diff without its heading."""
        lines = unified_diff(self.before.splitlines(), self.after.splitlines(), lineterm="", n=1)
        return "\n".join(list(lines)[3:])


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """Yield the mutants of a module that are Python.

    >>> [m.after for m in mutants_of("x.py", "y = a < b or not c")]
    ['y = a < b and (not c)', 'y = a <= b or not c', 'y = a < b or c']
    """
    encoded = source.encode()
    starts = [0]
    for line in encoded.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    seen = {source}
    for node, text, mistake in _edits(ast.parse(source)):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        after = (encoded[:begin] + text.encode() + encoded[end:]).decode()
        if after not in seen and _is_python(after):
            seen.add(after)
            yield Mutant(path, node.lineno, mistake, source, after)


def draw(mutants: Iterable[Mutant], seed: int, count: int) -> list[Mutant]:
    """Draw lines by a seed, each as likely as any other, and one mutant of each."""
    of_line: dict[tuple[str, int], list[Mutant]] = {}
    for mutant in mutants:
        of_line.setdefault((mutant.path, mutant.line), []).append(mutant)
    chance = random.Random(seed)
    lines = chance.sample(sorted(of_line), min(count, len(of_line)))
    return [chance.choice(of_line[line]) for line in lines]


def _edits(tree: ast.Module) -> Iterator[Edit]:
    for node in _code(tree):
        kind = type(node)
        if kind in _EDITS:
            yield from _EDITS[kind](node)


def _joined(node: ast.BoolOp) -> Iterator[Edit]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield node, _text(ast.BoolOp(other, node.values)), "and for or"


def _signed(node: ast.UnaryOp) -> Iterator[Edit]:
    if isinstance(node.op, ast.Not):
        yield node, _text(node.operand), "not left out"


def _calculated(node: ast.BinOp) -> Iterator[Edit]:
    if sign := _CALCULATED.get(type(node.op)):
        yield node, f"{_in(node.left)} {sign} {_in(node.right)}", "another operator"


def _tested(node: ast.If | ast.While | ast.IfExp) -> Iterator[Edit]:
    yield node.test, f"not ({_text(node.test)})", "condition negated"


def _kept(node: ast.comprehension) -> Iterator[Edit]:
    for test in node.ifs:
        yield test, f"not ({_text(test)})", "condition negated"


def _left_out(node: ast.stmt) -> Iterator[Edit]:
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call):
        yield node, "pass", "statement left out"


def _code(tree: ast.Module) -> Iterator[ast.AST]:
    """Walk over what runs: no docstrings, annotations, decorators and imports."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases"):
                continue
            parts = value if isinstance(value, list) else [value]
            waiting += [part for part in parts if isinstance(part, ast.AST) and _runs(part)]


def _runs(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    return not isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr)


def _compared(node: ast.Compare) -> Iterator[Edit]:
    if len(node.ops) == 1:
        sign = _COMPARED[type(node.ops[0])]
        yield node, f"{_in(node.left)} {sign} {_in(node.comparators[0])}", "another comparison"


def _constants(node: ast.Constant) -> Iterator[Edit]:
    if isinstance(node.value, bool):
        yield node, str(not node.value), "the other truth"
    elif isinstance(node.value, int):
        yield node, str(node.value + 1), "one more"
        yield node, str(node.value - 1), "one less"
    elif isinstance(node.value, str):
        for wrong, instead in _TEXTS:
            for found in re.finditer(wrong, node.value):
                text = node.value[: found.start()] + instead + node.value[found.end() :]
                yield node, _quoted(text), f"{found[0].strip()} → {instead.strip() or 'nothing'}"


def _calls(node: ast.Call) -> Iterator[Edit]:
    if len(node.args) >= 2 and not any(isinstance(arg, ast.Starred) for arg in node.args[:2]):
        first, second, *rest = node.args
        swapped = ast.Call(node.func, [second, first, *rest], node.keywords)
        yield node, _text(swapped), "arguments swapped"
    name = node.func
    if isinstance(name, ast.Name) and name.id in _NAMES:
        yield name, _NAMES[name.id], f"{name.id} → {_NAMES[name.id]}"
    elif isinstance(name, ast.Attribute) and name.attr in _NAMES:
        other = ast.Attribute(name.value, _NAMES[name.attr])
        yield name, _text(other), f"{name.attr} → {other.attr}"


_EDITS: dict[type[ast.AST], Callable[..., Iterator[Edit]]] = {
    ast.Compare: _compared, ast.BoolOp: _joined, ast.UnaryOp: _signed, ast.BinOp: _calculated,
    ast.If: _tested, ast.While: _tested, ast.IfExp: _tested, ast.comprehension: _kept,
    ast.Constant: _constants, ast.Call: _calls, ast.Expr: _left_out, ast.AugAssign: _left_out,
    ast.Raise: _left_out, ast.Continue: _left_out,
}  # fmt: skip


def _quoted(text: str) -> str:
    if "\n" not in text:
        return repr(text)
    return '"""' + text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + '"""'


def _text(node: ast.expr) -> str:
    return ast.unparse(node)


def _in(node: ast.expr) -> str:
    """Return an operand: in parentheses, unless it is one thing."""
    plain = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript)
    return _text(node) if isinstance(node, plain) else f"({_text(node)})"


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
