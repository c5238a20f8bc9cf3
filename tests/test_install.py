"""What is installed where: the slim install answers questions, the lock holds every package."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.questions.query import small_warehouse as small

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SLIM = ROOT / "conf" / "requirements-slim.txt"
USERS = ROOT / "tests" / "data" / "desired" / "strimzi" / "users.yaml"
LOCK = (ROOT / "conf" / "requirements.lock").read_text(encoding="utf-8")
SPARK = {"delta", "py4j", "pyspark"}

# Python imports a module of this name when it starts, in processes that aclkit starts too.
WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            return None
        return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""

ANSWER_BY_API = """
from aclkit.api import Resource, connect, explain_why, history_sentence, open_warehouse
from aclkit.api import read_history, who_can, why_sentence

published = open_warehouse({warehouse!r})
topic = Resource("TOPIC", "payments")
with connect(published) as connection:
    asked = connection, published, published.run.cluster_id
    for row in who_can(*asked, "READ", topic).rows:
        print(*row[:4])
    print(why_sentence(explain_why(*asked, "User:alice", "READ", topic)))
    print(history_sentence(read_history(*asked, "User:alice", "READ", topic)))
"""

RUN_COMMANDS = """
import json
import sys
from click.testing import CliRunner
from aclkit.cli import cli

for words in json.loads(sys.argv[1]):
    result = CliRunner().invoke(cli, words, prog_name="aclkit")
    print(json.dumps([result.exit_code, result.stdout, result.stderr]))
"""

POLICY = """
[[never]]
name = "carol alters nothing"
principals = ["User:carol"]
operations = ["ALTER"]
resources = ["topic:payments"]
"""

QUESTIONS = [
    (("who-can", "READ", "topic:payments"), "User:alice"),
    (("what-can", "User:alice"), "topic:payments"),
    (("why", "User:alice", "READ", "topic:payments"), "can READ topic:payments from any host"),
    (("history", "User:alice", "READ", "topic:payments"), "ACL added"),
    (("sql", "SELECT count(*) AS cells FROM explain"), "cells"),
    (("acls", "list"), "User:alice"),
    (("export", "acls", "--format", "csv"), "User:alice"),
    (("report", "--format", "html"), "<html"),
    (("audit",), "No findings."),
    (("preview", "add-topic", "x"), "topic:x (does not exist yet; 1 ACL applies)"),
    (("diff", "1", "3"), "0 gained, 19 lost. Accesses of known names: 954 lost (5 principals,"),
    (("changes",), "No access changed since the first run."),
    (("assert", "ASSERTIONS"), "carol alters nothing"),
    (("export", "explain", "--format", "csv"), "User:alice"),
    (("completion", "bash"), "_aclkit_completion"),
    (("desired", "show", str(USERS)), "User:"),
    (("doctor",), "Spark is not installed"),
    (("--help",), "materialize  Compute every decision"),
]

NEED_SPARK = [
    "verify --seed 1",
]

IMPORT_QUESTIONS = """
import sys
import click
import aclkit.api, aclkit.cli.sandbox_worker, aclkit.runtime.reachable
import aclkit.warehouse.published_files
from aclkit.cli import cli
from aclkit.cli.help import walk

from click.testing import CliRunner

from aclkit.answer.render import render_rows

shown = CliRunner().invoke(cli, ["desired", "show", sys.argv[1]])
assert shown.exit_code == 0, shown.output
list(walk(cli, click.Context(cli)))
list(render_rows(["a name in wide letters"], [["\\u6771"]]))
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def packages(lines):
    """Return requirements by the name of the package, as pip compares names."""
    found = (Requirement(line) for line in lines)
    return {canonicalize_name(one.name): one for one in found}


DEPENDENCIES = packages(PROJECT["dependencies"])
MODULES = {name: name for name in DEPENDENCIES} | {
    "delta-spark": "delta", "google-re2": "re2", "kafka-python": "kafka", "python-snappy": "snappy",
    "pyyaml": "yaml",
}  # fmt: skip
"""Package → the module that it brings."""

BROUGHT = {
    "anyio": "starlette", "markupsafe": "jinja2", "mcp_types": "mcp", "py4j": "pyspark",
    "pydantic_core": "pydantic", "_typeshed": "a checker of types",
}  # fmt: skip
"""Module → the package that brings it, by whose leave alone it is there."""


def slim():
    lines = SLIM.read_text(encoding="utf-8").splitlines()
    return packages(line for line in lines if not line.startswith("#"))


class Slim:
    """A Python in which some modules are not installed, and a small warehouse."""

    def __init__(self, folder, modules):
        (folder / "python").mkdir()
        text = WITHOUT.format(modules=sorted(modules))
        (folder / "python" / "sitecustomize.py").write_text(text, encoding="utf-8")
        self.warehouse = folder / "warehouse"
        small.build(self.warehouse)
        self._env = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(folder / "python"), str(ROOT)]),
            "ACLKIT_WAREHOUSE": str(self.warehouse),
        }

    def python(self, *words):
        return subprocess.run(
            [sys.executable, *words],
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def aclkit(self, *commands):
        """Run commands in one process; return exit code, stdout and stderr of each."""
        done = self.python("-c", RUN_COMMANDS, json.dumps(commands))
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def no_spark(tmp_path_factory):
    return Slim(tmp_path_factory.mktemp("no-spark"), SPARK)


def test_the_public_module_answers_without_spark(no_spark):
    done = no_spark.python("-c", ANSWER_BY_API.format(warehouse=str(no_spark.warehouse)))
    assert done.returncode == 0, done.stderr
    assert "User:alice * READ ALLOWED" in done.stdout
    assert "User:alice can READ topic:payments from any host" in done.stdout
    assert "was added (2026-11-21 12:00:00 UTC, offset 2)." in done.stdout


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """What the questions give without any package that the slim install leaves out."""
    left_out = {MODULES[name] for name in DEPENDENCIES.keys() - slim().keys()}
    python = Slim(tmp_path_factory.mktemp("slim"), left_out | SPARK)
    policy = tmp_path_factory.mktemp("policy") / "assertions.toml"
    policy.write_text(POLICY, encoding="utf-8")
    given = {"ASSERTIONS": str(policy)}
    return python.aclkit(*([given.get(word, word) for word in words] for words, _ in QUESTIONS))


@pytest.mark.parametrize("number", range(len(QUESTIONS)), ids=lambda n: QUESTIONS[n][0][0])
def test_questions_are_answered_by_the_slim_install(answered, number):
    code, stdout, stderr = answered[number]
    assert code == 0, stderr
    assert QUESTIONS[number][1] in stdout + stderr


def test_a_night_waits_for_no_spark_and_no_client_where_it_needs_none(no_spark):
    told = no_spark.python("-c", "import sys, aclkit.cli.nightly; print(*sys.modules)").stdout
    assert "aclkit.cli.replay" in told.split()
    assert not {*SPARK, "kafka", "cryptography"} & {*told.split()}


@pytest.fixture(scope="module")
def refused(no_spark):
    return no_spark.aclkit(*(words.split() for words in NEED_SPARK))


@pytest.mark.parametrize("number", range(len(NEED_SPARK)), ids=lambda n: NEED_SPARK[n])
def test_what_needs_spark_says_so_and_how_to_install_it(refused, number):
    code, stdout, stderr = refused[number]
    told = stderr.splitlines()[-1]
    assert told.startswith("Error: ")
    assert told.endswith(
        " needs pyspark, which is not installed. Install aclkit with everything that it needs: "
        "pip install aclkit"
    )
    assert (code, stdout) == (4, "")


def test_settings_of_what_is_not_installed_leave_questions_alone(no_spark, tmp_path):
    config = tmp_path / "aclkit.toml"
    config.write_text('source = ["metadata-log:DIR"]\n[run]\nstrict = true\n', encoding="utf-8")
    ((code, _, told),) = no_spark.aclkit(
        ["--config", str(config), "who-can", "READ", "topic:payments"]
    )
    assert code == 0, told


def test_the_slim_list_is_what_questions_import(no_spark):
    imported = no_spark.python("-c", IMPORT_QUESTIONS, str(USERS)).stdout.split()
    assert slim() == {
        name: line for name, line in DEPENDENCIES.items() if MODULES[name] in imported
    }


def imports_of(path):
    """Yield the packages that a module imports, whenever that is."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_the_package_imports_nothing_that_pip_does_not_install_with_it():
    extras = PROJECT["optional-dependencies"].items()
    wanted = packages(line for extra, lines in extras if extra != "dev" for line in lines)
    asked_for = {MODULES.get(name, name) for name in wanted | DEPENDENCIES}
    imported = {name for path in (ROOT / "aclkit").rglob("*.py") for name in imports_of(path)}
    assert imported - asked_for - sys.stdlib_module_names - {"aclkit", *BROUGHT} == set()


LOCKED = dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", LOCK, re.MULTILINE))


@pytest.mark.parametrize(
    "line",
    [
        *PROJECT["dependencies"],
        *(line for lines in PROJECT["optional-dependencies"].values() for line in lines),
    ],
)
def test_the_lock_holds_each_package_at_a_version_that_the_project_admits(line):
    wanted = Requirement(line)
    if wanted.name == "aclkit":  # an extra of its own
        return
    assert wanted.specifier.contains(LOCKED[canonicalize_name(wanted.name)])


def test_the_lock_gives_hashes_and_names_no_index():
    pinned = re.split(r"^(?=\S)", LOCK, flags=re.MULTILINE)
    assert not [one for one in pinned if "==" in one and "--hash=sha256:" not in one]
    assert not re.search(r"://|--(?:extra-)?index|--find-links|--trusted-host", LOCK)


UNREACHABLE = re.compile("NewConnectionError|NameResolutionError|ProxyError|ConnectTimeout")


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_the_wheel_and_the_slim_list_answer_in_an_environment_of_their_own(tmp_path):
    """As docs/python.md says it. Packages come from where pip takes them."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*words):
        return subprocess.run(
            words, cwd=ROOT, env=env, capture_output=True, encoding="utf-8", check=False
        )

    def pip(python, *words):
        done = run(python, "-m", "pip", *words)
        if done.returncode and UNREACHABLE.search(done.stdout + done.stderr):
            pytest.skip("no network: pip reaches no packages")
        assert done.returncode == 0, done.stderr

    pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), ".")
    (wheel,) = tmp_path.glob("aclkit-*.whl")
    assert "aclkit/py.typed" in zipfile.ZipFile(wheel).namelist()
    assert run(sys.executable, "-m", "venv", str(tmp_path / "venv")).returncode == 0
    python = str(tmp_path / "venv" / "bin" / "python")
    pip(python, "install", "-r", str(SLIM))
    pip(python, "install", "--no-deps", str(wheel))
    small.build(tmp_path / "warehouse")
    aclkit = str(tmp_path / "venv" / "bin" / "aclkit")
    place = ("--warehouse", str(tmp_path / "warehouse"))
    answered = run(aclkit, *place, "who-can", "READ", "topic:payments")
    assert "User:alice" in answered.stdout, answered.stderr
    refused = run(aclkit, *place, "verify", "--seed", "1")
    assert (refused.returncode, "needs pyspark" in refused.stderr) == (4, True)
