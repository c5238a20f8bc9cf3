"""What a command loads before it answers: all the time of a cold answer is in that list.

``tests/data/golden/cold-imports.txt`` has each module of aclkit with the commands that load it. A
command that loads more fails here: either it needs that, or the chain of imports is to be cut
(``python -X importtime`` shows it). One that loads less does not; ``--update-golden`` writes anew.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CALL = "from aclkit.cli import cli; cli(prog_name='aclkit')"
ASKED = {
    "can": ["can", "User:alice", "READ", "topic:payments"],
    "show": ["show", "User:alice"],
    "sql": ["sql", "SELECT count(*) FROM acl_history"],
    "what-can": ["what-can", "User:alice"],
    "who-can": ["who-can", "READ", "topic:payments"],
    "why": ["why", "User:alice", "READ", "topic:payments"],
}
UNANSWERED = ("-h", "completion")

NEVER = (
    "numpy", "pandas", "pyarrow", "pyspark", "py4j", "delta", "kafka", "obstore", "sqlglot", "yaml",
    "aclkit.kafka.client", "aclkit.nightly", "aclkit.pipeline.explain", "aclkit.runtime.spark",
    "aclkit.warehouse.commits", "aclkit.warehouse.lease", "aclkit.warehouse.lock",
    "aclkit.warehouse.new_files", "aclkit.warehouse.reader", "aclkit.warehouse.run",
    "aclkit.warehouse.store", "aclkit.warehouse.watch_state",
)  # fmt: skip
"""What no question is to load: what writes, other engines, and what only some formats need."""

NOT_FOR_HELP = (*NEVER, "duckdb", "deltalake", "fsspec", "aclkit.questions")


@pytest.fixture(scope="module")
def loaded(root):
    """Return what each command loads, in its own process and in those that it starts."""
    found = {name: modules(["--warehouse", str(root), *words]) for name, words in ASKED.items()}
    asks = {"_ACLKIT_COMPLETE": "bash_complete", "COMP_WORDS": "aclkit wh", "COMP_CWORD": "1"}
    return {**found, "-h": modules(["-h"]), "completion": modules([], asks)}


def modules(words: list[str], more: dict[str, str] | None = None) -> set[str]:
    env = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1", **(more or {})}
    done = subprocess.run(
        [sys.executable, "-c", CALL, *words], env=env, capture_output=True, encoding="utf-8"
    )
    assert done.returncode in (0, 1), done.stderr  # of can, 1 is an answer
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize("name", [*ASKED, *UNANSWERED])
def test_a_command_loads_nothing_that_only_others_need(loaded, name):
    unwanted = NEVER if name in ASKED else NOT_FOR_HELP
    assert {
        one
        for one in loaded[name]
        if one in unwanted or one.startswith(tuple(f"{each}." for each in unwanted))
    } == set()


@pytest.mark.parametrize("name", sorted([*ASKED, *UNANSWERED]))
def test_a_command_loads_no_more_modules_than_it_did(loaded, data_dir, request, name):
    path = data_dir / "golden" / "cold-imports.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(written(loaded), encoding="utf-8")
    known = {line.split()[0] for line in path.read_text().splitlines() if name in line.split()[1:]}
    assert sorted(ours(loaded[name]) - known) == []


def is_of(module: str, packages: tuple[str, ...]) -> bool:
    return module in packages or module.startswith(tuple(f"{one}." for one in packages))


def ours(found: set[str]) -> set[str]:
    return {one for one in found if one.partition(".")[0] == "aclkit"}


def written(loaded: dict[str, set[str]]) -> str:
    every = sorted(set[str]().union(*map(ours, loaded.values())))
    lines = (f"{one} {' '.join(n for n in sorted(loaded) if one in loaded[n])}" for one in every)
    return "".join(f"{line}\n" for line in lines)
