"""The house in numbers: files, functions, words about them, and what travels through signatures.

``python -m tests.tools.house [FOLDER …]`` measures the Python below each folder, or ``aclkit``.
Lines of a file are those of the editor; code lines are those that hold code, docstrings, comments
and blank lines aside; a function's lines are those of its body without its docstring.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

TRAVELLERS = ("Run", "Store", "SparkSession")
"""Types that tie a function to a warehouse or to Spark."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """One file, taken apart."""

    path: Path
    lines: int
    code: frozenset[int]
    docstrings: int
    comments: int
    functions: tuple[_Function, ...]


def read_module(path: Path) -> Module:
    """Take a file apart."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    said = {line for node in ast.walk(tree) for line in _docstring(node)}
    code: set[int] = set()
    comments = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments += token.line.strip().startswith("#")
        elif token.string.strip():
            code |= {*range(token.start[0], token.end[0] + 1)}
    return Module(
        path=path,
        lines=len(text.splitlines()),
        code=frozenset(code - said),
        docstrings=len(said),
        comments=comments,
        functions=tuple(node for node in ast.walk(tree) if isinstance(node, _Function)),
    )


def _docstring(node: ast.AST) -> Iterator[int]:
    """Yield the lines of a docstring, a module's names' too."""
    body = getattr(node, "body", None)
    for part in body if isinstance(body, list) else ():
        value = part.value if isinstance(part, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield from range(value.lineno, (value.end_lineno or value.lineno) + 1)


def length_of(function: _Function) -> int:
    """Count the lines of a function's body, its docstring aside."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def parameters(function: _Function) -> list[ast.arg]:
    """Return what a caller has to give, ``self`` and ``cls`` aside."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [one for one in given if one.arg not in ("self", "cls")]


def takes(function: _Function, names: Sequence[str]) -> bool:
    """Whether a parameter's annotation names one of some types."""
    notes = (one.annotation for one in parameters(function) if one.annotation is not None)
    words = {part.id for note in notes for part in ast.walk(note) if isinstance(part, ast.Name)}
    return bool(words & {*names})


SIZED = ("pipeline/plan.py", "pipeline/explain", "pipeline/replay", "warehouse/store.py",
         "runtime/frame.py", "cli/amount.py")  # fmt: skip
"""Where sizes once chose the engine of a piece of work; a checkout of before has all of these."""


def thresholds(package: Path) -> list[str]:
    """Return the numbers that something is compared with where work may choose its engine.

    They are constants of a module, named by it: ``pipeline/plan.py: _PAIRS_HERE``.
    """
    found = []
    for place in SIZED:
        top = package / place
        for path in sorted(top.rglob("*.py")) if top.is_dir() else [top] if top.exists() else []:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            known = {name for node in tree.body for name in _number_of(node)}
            used = {
                part.id
                for node in ast.walk(tree)
                if isinstance(node, ast.Compare) or _is_bound(node)
                for part in ast.walk(node)
                if isinstance(part, ast.Name)
            }
            name = path.relative_to(package).as_posix()
            found += [f"{name}: {constant}" for constant in sorted(known & used)]
    return found


def _number_of(node: ast.stmt) -> Iterator[str]:
    """Yield the name of a constant that a statement sets, if its value is a whole number."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        parts = [*ast.walk(node.value)]
        numbers = [p for p in parts if isinstance(p, ast.Constant) and type(p.value) is int]
        others = (ast.Call, ast.Dict, ast.Tuple, ast.List)
        if numbers and not any(isinstance(part, others) for part in parts):
            yield node.target.id


def _is_bound(node: ast.AST) -> bool:
    """Whether a number is cut by another one: by ``//``, ``min`` or ``max``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("min", "max", "islice")
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)


def describe(folder: Path) -> dict[str, str]:
    """Measure all modules below a folder."""
    modules = [read_module(path) for path in sorted(folder.rglob("*.py"))]
    functions = [function for module in modules for function in module.functions]
    code = sum(len(module.code) for module in modules)
    lines = sum(module.lines for module in modules)
    tied = {
        name: [(m, f) for m in modules for f in m.functions if takes(f, (name,))]
        for name in TRAVELLERS
    }
    warehouse = {id(f): m.path for name in ("Run", "Store") for m, f in tied[name]}
    return {
        "files / lines / code lines": f"{len(modules)} / {lines:,} / {code:,}",
        "file median / p90 / max": _spread([m.lines for m in modules if m.lines > 1]),
        "function median / p90 / max": _spread([length_of(f) for f in functions]),
        "docstring share of lines": f"{sum(m.docstrings for m in modules) / lines:.0%}",
        "# lines per code line": f"{sum(m.comments for m in modules) / code:.1%}",
        "code lines of rendering": _rendering(folder, modules),
        "functions with > 5 parameters": str(sum(len(parameters(f)) > 5 for f in functions)),
        "functions that take a Run or a Store": (
            f"{len(warehouse)} in {len(set(warehouse.values()))} modules"
        ),
        "functions that take a SparkSession": str(len(tied["SparkSession"])),
        "numbers that may choose an engine": str(len(thresholds(folder))),
        "names at the first level": str(
            sum(
                path.suffix == ".py" or (path / "__init__.py").exists()
                for path in folder.iterdir()
                if not path.name.startswith("__")
            )
        ),
    }


_RENDERS = re.compile(
    r"(?:^|_)(?:output|words|answer|describe|markdown|render|table|values|objects|json|html|junit"
    r"|sarif|prometheus|spreadsheet|page|parts)(?:_|$)"
)
_OF_ANSWERS = ("answer", "cli", "questions", "audit")
_WORDS = ("rules/names/words.py", "rules/names/change_lines.py")


def _rendering(folder: Path, modules: Sequence[Module]) -> str:
    """Count the code that turns what was found into text, rows and pages, by the names of files."""
    found = []
    for module in modules:
        path = module.path.relative_to(folder)
        is_named = path.parts[0] == "answer" or _RENDERS.search(path.stem)
        if (path.parts[0] in _OF_ANSWERS and is_named) or path.as_posix() in _WORDS:
            found.append(module)
    return f"{sum(len(m.code) for m in found):,} in {len(found)} modules"


def _spread(numbers: Sequence[int]) -> str:
    ordered = sorted(numbers)
    return f"{median(ordered):.0f} / {ordered[len(ordered) * 9 // 10]} / {ordered[-1]}"


def main(folders: Sequence[str]) -> None:
    """Print a table, a column for each folder."""
    columns = [describe(Path(folder)) for folder in folders or ["aclkit"]]
    width = max(map(len, columns[0]))
    for name in columns[0]:
        cells = "  ".join(f"{column[name]:>24}" for column in columns)
        sys.stdout.write(f"{name:{width}}  {cells}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
