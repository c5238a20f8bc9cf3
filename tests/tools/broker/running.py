"""``aclkit`` as a user runs it, and the ACLs that it then tells of."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

SUPER_USERS: Final = "User:ANONYMOUS;User:admin"
_SECONDS: Final = 240


class Difference(Exception):
    """aclkit and Kafka do not say the same."""


def run_aclkit(warehouse: Path, *arguments: object, codes: Iterable[int] = (0,)) -> str:
    """Run a command and return what it writes to stdout.

    Raises:
        Difference: it ended with another exit code.
    """
    command = [sys.executable, "-c", "from aclkit.cli import cli; cli()"]
    command += ["--warehouse", str(warehouse), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    if done.returncode not in codes:
        told = done.stderr.decode(errors="replace")[-3000:]
        raise Difference(f"aclkit {arguments[0]} ended with {done.returncode}:\n{told}")
    return done.stdout.decode()


def known_acls(warehouse: Path) -> set[tuple[str, ...]]:
    """All ACLs alive in a warehouse, without ids (``Acl.binding``)."""
    # Not splitlines: names have other letters that end a line.
    lines = run_aclkit(warehouse, "acls", "list", "--format", "jsonl").split("\n")
    rows = map(json.loads, filter(None, lines))
    return {
        (
            row["resource_type"], row["resource_name"], row["pattern_type"], row["principal"],
            row["host"], row["operation"], row["permission_type"],
        )
        for row in rows
    }  # fmt: skip


def expect_equal(what: str, found: set[tuple[str, ...]], expected: set[tuple[str, ...]]) -> None:
    """Insist that two sets of ACLs are one.

    Raises:
        Difference: with some examples.
    """
    if found != expected:
        raise Difference(
            f"{what}: {len(found)} ACLs, expected {len(expected)}; "
            f"only found {sorted(found - expected)[:3]}; not found {sorted(expected - found)[:3]}"
        )
