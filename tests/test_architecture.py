"""House rules that no linter knows, as tests."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.tools.house import thresholds

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "aclkit"
CODE = {"aclkit", "jobs"}
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


@cache
def tracked(*endings: str) -> list[Path]:
    """Files of the project: what git knows or would take, sample data aside."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if listed.returncode:  # an unpacked archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.glob("[!.]*/**/*")]
    else:
        names = listed.stdout.splitlines()
    paths = [ROOT / name for name in names if not name.startswith("tests/data/")]
    return sorted(path for path in paths if path.is_file() and path.suffix in endings)


def code() -> list[Path]:
    """Python that is no test."""
    return [path for path in tracked(".py") if path.relative_to(ROOT).parts[0] in CODE]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def suppressions(path: Path) -> list[tuple[int, str]]:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    return [(number, line) for number, line in lines if SUPPRESSION.search(line)]


def assert_none(offenders: Iterable[str]) -> None:
    """Fail with all that breaks a rule, each with its file."""
    found = sorted(offenders)
    assert not found, "\n".join(found)


def test_every_suppression_names_its_reason() -> None:
    assert_none(
        f"{name_of(path)}:{number}: {line}"
        for path in tracked(".py")
        if path != Path(__file__)
        for number, line in suppressions(path)
        if not WITH_REASON.search(line)
    )


def test_suppressions_stay_few() -> None:
    assert sum(len(suppressions(path)) for path in code()) <= MOST_SUPPRESSIONS


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


def test_no_module_is_longer_than_it_may_be() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in tracked(".py")}
    assert_none(f"{name_of(p)}: {lines}" for p, lines in lengths.items() if lines > MOST_LINES)


def test_modules_and_public_names_have_docstrings() -> None:
    trees = {name_of(path): ast.parse(path.read_text("utf-8")) for path in code()}
    assert_none(
        [
            *(name for name, tree in trees.items() if tree.body and not ast.get_docstring(tree)),
            *(f"{name}: {what}" for name, tree in trees.items() for what in undocumented(tree, "")),
        ]
    )


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


def test_every_duckdb_is_made_where_it_is_told_to_count_in_utc() -> None:
    made_in = ROOT / "aclkit" / "warehouse" / "duck_beside.py"
    makes = {"duckdb.connect", "duckdb.sql", "duckdb.query", "duckdb.execute"}
    calls = {
        path: {ast.unparse(n.func) for n in ast.walk(ast.parse(path.read_text("utf-8")))
               if isinstance(n, ast.Call)}
        for path in code()
    }  # fmt: skip
    assert calls[made_in] & makes == {"duckdb.connect"}
    assert_none(name_of(p) for p, found in calls.items() if found & makes and p != made_in)


def test_no_file_names_a_place_that_exists_only_once() -> None:
    endings = (".py", ".md", ".toml", ".conf", ".properties", ".yaml", ".yml", ".cfg", ".txt", "")
    assert_none(
        f"{name_of(path)}: {place}"
        for path in tracked(*endings)
        for place in PLACES.findall(path.read_text("utf-8"))
    )


NO_ENGINE = {
    "pipeline/explain/arrays.py: _BITS_OF_A_NUMBER": "columns that one number holds",
    "pipeline/explain/counted.py: _MOST_KEYS": "keys that are sorted at once",
    "pipeline/explain/materialize.py: DENSE_LIMIT": "what --dense auto writes",
    "pipeline/explain/on_spark.py: _BLOCKS": "of how many blocks of names Spark counts the entries",
    "pipeline/explain/pairing.py: NO_SET": "no number of a set",
    "pipeline/explain/pairing.py: _FEW_SUBJECTS": "which patterns make kinds",
    "pipeline/explain/ranked_acls.py: MOST_ACLS": "ACLs that can be told apart",
    "pipeline/replay/following.py: _YOUNG": "how young a file's time proves nothing",
    "pipeline/replay/forget.py: MOST_NAMED": "names in a message",
    "pipeline/replay/record.py: _MOST_NAMED": "names in a message",
    "pipeline/replay/spans.py: FOLLOWS_NONE": "no epoch",
}
"""Numbers that something is compared with, and what for."""


def test_only_the_plan_chooses_an_engine() -> None:
    found = {name for name in thresholds(PACKAGE) if not name.startswith("pipeline/plan.py")}
    assert found <= NO_ENGINE.keys(), found - NO_ENGINE.keys()
    assert found >= NO_ENGINE.keys(), NO_ENGINE.keys() - found


TEXT_FILES = {"read_text", "write_text", "fdopen", "open"}
TEXT_MODES = {"r", "w", "x", "a", "r+", "w+", "a+", "rt", "wt"}


def is_of_some_locale(call: ast.Call) -> bool:
    """Whether a call opens a file as text and leaves its encoding to the machine's locale."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in TEXT_FILES:
        return False
    values = {arg.value for arg in call.args if isinstance(arg, ast.Constant)}
    is_said = "encoding" in {word.arg for word in call.keywords} or values & {"utf-8"}
    is_text = call.func.attr.endswith("_text") or values & TEXT_MODES
    return not is_said and bool(is_text) and ast.unparse(call.func) != "formatter.write_text"


def test_no_file_is_read_or_written_by_the_locale() -> None:
    assert_none(
        f"{name_of(path)}:{call.lineno}: {ast.unparse(call)}"
        for path in code()
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and is_of_some_locale(call)
    )


SUPER_BY_NAME = re.compile(r"\b(principal|name|user|asked_by) (not )?in \S*settings\.super_users")


def test_who_is_a_super_user_is_asked_in_one_place() -> None:
    """A symbol that ``super.users`` names is none: ``BrokerSettings.makes_super``."""
    assert_none(
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in code()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if SUPER_BY_NAME.search(line) and "acl.principal" not in line and " for " not in line
    )
