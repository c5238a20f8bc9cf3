"""A large warehouse in a bucket, asked from cold shells → what that takes of the store.

Where they run there is no Java, so that what they answer they answer without a JVM.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.object_store.bench import ROOT, Bucket
from tests.tools.benchmarks.cold import Tree
from tests.tools.benchmarks.cold_cases import CASES
from tests.tools.benchmarks.shapes import B1

_SECONDS: Final = 300
_CLI: Final = "import sys; from aclkit.cli import cli; sys.exit(cli(prog_name='aclkit'))"
_TOPIC, _PRINCIPAL = "topic:team07.domain3.app05-0", "User:app-00042"
QUESTIONS: Final = (
    ("who-can", "READ", _TOPIC),
    ("what-can", _PRINCIPAL),
    ("why", _PRINCIPAL, "READ", _TOPIC),
    ("changes",),
    ("acls", "list", "--principal", _PRINCIPAL),
    ("audit", "--fail-on", "never"),
    ("report", "--format", "json"),
    ("sql", "SELECT count(*) FROM explain_pair"),
    ("sql", "SELECT decision, count(*) FROM explain GROUP BY ALL"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question took: seconds, requests to the store and bytes that came of them."""

    question: str
    seconds: float
    requests: int
    sent: int

    def __str__(self) -> str:
        return (
            f"| `{self.question}` | {self.seconds:.2f} | {self.requests} | {self.sent / 1e6:.1f} |"
        )


HEAD: Final = "| question | seconds | requests | MB |\n|---|---|---|---|"


def decide_b1(folder: Path) -> Path:
    """Make B1's warehouse in a folder: its ACLs, and every decision."""
    (case,) = (case for case in CASES if case.name == B1.name)
    folder.mkdir(parents=True, exist_ok=True)
    case.write_inputs(folder)
    tree = Tree("B1", ROOT, folder)
    warehouse = tree.prepare(case, folder)
    assert warehouse is not None
    tree.run([word.format(inputs=folder) for word in case.words], warehouse)
    return warehouse


def ask(bucket: Bucket, uri: str, no_java: Path) -> Iterator[Asked]:
    """Ask all questions of a warehouse in a bucket, where Java is an empty folder.

    Raises:
        SystemExit: a question failed.
    """
    env = {**os.environ, **bucket.env, "JAVA_HOME": str(no_java), "PATH": str(no_java)}
    for words in QUESTIONS:
        bucket.store.reset()
        began = time.perf_counter()
        _run(["--warehouse", uri, *words], env)
        yield Asked(" ".join(words), time.perf_counter() - began, *bucket.store.read())


def _run(words: Sequence[str], env: dict[str, str]) -> None:
    told = subprocess.run(
        [sys.executable, "-c", _CLI, *words],
        env=env, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS,
        check=False,
    )  # fmt: skip
    if told.returncode:
        sys.exit(f"{' '.join(words)}: exit {told.returncode}\n{told.stderr.decode()[-2000:]}")
