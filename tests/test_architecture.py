"""House rules that no linter knows, as tests."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_LINES = 450
MOST_SUPPRESSIONS = 75

SUPPRESSION = re.compile(
    r"#\s*(?:noqa|type:\s*ignore|nosec)|pytest\.(?:mark\.)?(?:skip|skipif|xfail)\b"
)
WITH_REASON = re.compile(
    r"""
      \#\ noqa:\ [A-Z]+\d+(?:,\ ?[A-Z]+\d+)*\W+\w.{4,}               # noqa: CODE - why
    | \#\ type:\ ignore\[[a-z-]+(?:,\ ?[a-z-]+)*\]\s+\#\W*\w.{4,}     # type: ignore[code]  # why
    | pytest\.(?:mark\.)?(?:skip|skipif|xfail)\b.*(?:reason=|\(f?")  # skip("why"), reason="why"
    """,
    re.VERBOSE,
)
# Addresses and paths of the place where something was written are of no use elsewhere.
PLACES = re.compile(
    r"https?://[^/\s\"')]*(?:registry|mirror|proxy|artifactory|nexus)[^/\s]*"
    r"|(?<![\w.~$}/-])/(?:home|Users|root|work|workspace)/\w"
)


def tracked(*endings: str) -> list[Path]:
    """Files of the project: what git knows or would take, sample data aside."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:  # an unpacked archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.glob("[!.]*/**/*")]
    else:
        names = listed.stdout.splitlines()
    paths = [ROOT / name for name in names if not name.startswith("tests/data/")]
    return sorted(path for path in paths if path.is_file() and path.suffix in endings)


PYTHON = tracked(".py")
CODE = [path for path in PYTHON if path.relative_to(ROOT).parts[0] in {"aclkit", "jobs"}]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def suppressions(path: Path) -> list[tuple[int, str]]:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    return [(number, line) for number, line in lines if SUPPRESSION.search(line)]


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_every_suppression_names_its_reason(path: Path) -> None:
    if path == Path(__file__):
        return
    marked = suppressions(path)
    bare = [f"{name_of(path)}:{n}: {line}" for n, line in marked if not WITH_REASON.search(line)]
    assert not bare, "\n".join(bare)


def test_suppressions_stay_few() -> None:
    assert sum(len(suppressions(path)) for path in CODE) <= MOST_SUPPRESSIONS


@pytest.mark.parametrize(
    ("line", "has_reason"),
    [
        ("x()  # noqa: S603 - our own program", True),
        ("x()  # noqa: S603  (our own program)", True),
        ("x()  # noqa: S603", False),
        ("x()  # noqa", False),
        ("x()  # type: ignore[arg-type]  # the stub is wrong", True),
        ("x()  # type: ignore[arg-type]", False),
        ("x()  # type: ignore", False),
        ('@pytest.mark.skipif(x, reason="no Kafka here")', True),
        ('pytest.skip("no Kafka here")', True),
        ("@pytest.mark.skip", False),
    ],
)
def test_reasons_are_recognised(line: str, has_reason: bool) -> None:
    assert SUPPRESSION.search(line)
    assert bool(WITH_REASON.search(line)) is has_reason


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_no_module_is_longer_than_it_may_be(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_modules_and_public_names_have_docstrings(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not tree.body:
        return
    assert ast.get_docstring(tree), f"{name_of(path)} does not say what flows in and out"
    assert not list(undocumented(tree, "")), "public, but without docstring"


def undocumented(scope: ast.Module | ast.ClassDef, prefix: str) -> list[str]:
    """Public functions and classes of a scope without docstring; overrides may go without."""
    names = []
    for node in scope.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if node.name.startswith("_"):
            continue
        marks = {ast.unparse(mark).split("(")[0] for mark in node.decorator_list}
        if not ast.get_docstring(node) and not marks & {"override", "overload"}:
            names.append(prefix + node.name)
        if isinstance(node, ast.ClassDef):
            names += undocumented(node, f"{prefix}{node.name}.")
    return names


@pytest.mark.parametrize(
    "path",
    tracked(".py", ".md", ".toml", ".conf", ".properties", ".yaml", ".yml", ".cfg", ".txt", ""),
    ids=name_of,
)
def test_no_file_names_a_place_that_exists_only_once(path: Path) -> None:
    found = PLACES.findall(path.read_text(encoding="utf-8"))
    assert not found, f"{name_of(path)}: {found}"
