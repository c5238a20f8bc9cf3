"""Every place where a Python is started: it takes no module from a stranger's folder."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.questions.query import small_warehouse as small

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "aclkit"
CONF = ROOT / "conf"

STARTS = {
    "runtime/child.py": "start: every program, with SAFE_PATH",
    "runtime/shared_work.py": "in_processes: with SAFE_PATH",
    "cli/sandbox.py": "python_module, with SAFE_PATH",
    "runtime/jars.py": "Spark's resolver, with SAFE_PATH",
    "runtime/environment.py": "java -version",
}
"""The modules that start programs by themselves, and how."""

STARTERS = re.compile(
    r"subprocess\.(?:Popen|run|call|check_call|check_output|getoutput)"
    r"|os\.(?:system|popen|exec\w+|spawn\w+|posix_spawnp?|fork)"
    r"|multiprocessing\.(?:get_context|Process|Pool)|ProcessPoolExecutor|pty\.\w+"
)


def starters(path):
    calls = (
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    )
    return {
        name for name in map(ast.unparse, (call.func for call in calls)) if STARTERS.fullmatch(name)
    }


def test_programs_are_started_in_known_places_of_the_package():
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if starters(path)}
    assert found == STARTS.keys()


@pytest.mark.parametrize("place", [name for name, how in STARTS.items() if "SAFE_PATH" in how])
def test_what_may_be_a_python_gets_the_safe_path(place):
    tree = ast.parse((PACKAGE / place).read_text(encoding="utf-8"))
    assert any(isinstance(node, ast.Name) and node.id == "SAFE_PATH" for node in ast.walk(tree))


STRANGERS = [
    "aclkit", "duckdb", "io", "json", "multiprocessing", "numpy", "os", "pickle", "pyarrow",
    "runpy", "signal", "struct", "tempfile", "types",
]  # fmt: skip

WORK = """
import os
import sys

from aclkit.runtime.shared_work import in_processes


def main():
    from aclkit.cli.sandbox import SqlQuestion, answer
    from aclkit.pipeline.inventory.parquet_file import parquet_batches

    warehouse, file = sys.argv[1:]
    with in_processes(1, max, 2, "adds") as run:
        print(*run([1, 2, 3]))
    with open(file, "rb") as stream:
        data = stream.read()
    _, batches = parquet_batches(data, file, most_rows=9, most_bytes=9_000)
    print(sum(len(batch) for batch in batches), "rows")
    asked = SqlQuestion(warehouse=warehouse, statement="SELECT 42 AS n", output_format="csv")
    print(*answer(asked, 60))


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def branch(tmp_path):
    """A folder with modules that have names of Python's own."""
    folder = tmp_path / "branch"
    folder.mkdir()
    for name in STRANGERS:
        text = f"open({str(tmp_path / 'hit')!r}, 'a').write('{name}\\n')\nraise ImportError\n"
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_no_process_of_ours_imports_from_the_current_folder(branch, tmp_path):
    (tmp_path / "program").mkdir()
    program = tmp_path / "program" / "work.py"
    program.write_text(WORK, encoding="utf-8")
    pq.write_table(pa.table({"principal": ["User:a"]}), tmp_path / "names.parquet")
    small.build(tmp_path / "warehouse")
    done = subprocess.run(
        [sys.executable, program, tmp_path / "warehouse", tmp_path / "names.parquet"],
        cwd=branch,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert not (tmp_path / "hit").exists(), (tmp_path / "hit").read_text(encoding="utf-8")
    assert done.stdout.split() == ["1", "2", "3", "1", "rows", "n", "42"], done.stderr


PYTHON = re.compile(r"(?:\bpython3?|\$\{PYTHON:-python3\}|\$PYTHON)\"?(?:\s+(?P<rest>.*)|$)")
NO_CALLS = ("#", "packages=", "slim)", "full)", "python:", "default:", "PYTHON:", "description:")


def python_lines():
    """Yield each line that starts a Python, with the arguments, which may be the next line."""
    for path in sorted(each for each in CONF.rglob("*") if each.is_file()):
        if path.name.startswith("requirements") or path.suffix in {".toml", ".csv", ".py"}:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            found = PYTHON.search(line)
            if found and not line.lstrip().startswith(NO_CALLS):
                yield path, line, found["rest"] or following.strip().removeprefix("- ")


def test_each_python_of_a_recipe_is_isolated():
    found = list(python_lines())
    assert {path.name for path, _, _ in found} >= {
        "venv.sh", "aclkit.gitlab-ci.yml", "watch-deployment.yaml",
    }  # fmt: skip
    open_ones = [(path.name, line) for path, line, rest in found if not re.match(r"\s*-I\b", rest)]
    assert open_ones == []


def test_packages_are_installed_by_venv_sh_alone_and_by_their_hashes():
    installs = [
        (path.name, line.strip())
        for path in sorted(CONF.rglob("*"))
        if path.is_file() and not path.name.startswith("requirements")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\bpip\b.*\b(?:install|wheel|download)\b", line)
        and not line.lstrip().startswith("#")
    ]
    assert [name for name, _ in installs] == ["venv.sh"]
    text = (CONF / "ci" / "venv.sh").read_text(encoding="utf-8")
    calls = re.findall(r"^install (.*)$", text, re.MULTILINE)
    assert [*map(str.split, calls)][-1][0] == "--no-index"
    assert all(call.startswith("--require-hashes ") for call in calls[:-1])
    assert "--no-deps --no-build-isolation" in text


def test_a_gate_gives_its_python_the_safe_path():
    text = (CONF / "ci" / "gate.sh").read_text(encoding="utf-8")
    assert text.index("export PYTHONSAFEPATH=1") < text.index('"$aclkit" preview apply')


@pytest.mark.parametrize("kind", ["slim", "full", "build"])
def test_a_lock_has_the_versions_of_the_whole_one_and_a_hash_for_each(kind):
    whole = versions("requirements.lock")
    part = versions(f"requirements-{kind}.lock")
    assert part
    assert {name: part[name] for name in part.keys() & whole.keys() if kind != "build"}.items() <= (
        whole.items()
    )
    assert kind == "build" or part.keys() <= whole.keys()


def versions(name):
    text = (CONF / name).read_text(encoding="utf-8")
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert all(" \\\n    --hash=sha256:" in entry for entry in entries)
    found = {}
    for entry in entries:
        package, version = re.match(r"([a-z0-9.-]+)==(\S+)", entry).groups()
        found.setdefault(package, set()).add(version)
    return {package: frozenset(each) for package, each in found.items()}
