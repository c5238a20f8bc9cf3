"""A job's arguments → one aclkit command, for spark-submit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aclkit.cli.main import cli

DECIDING: Final = ("run", "replay", "materialize", "usage")
"""The commands that say where their work is done."""


def run_command(command: str, arguments: Sequence[str]) -> int:
    """Run a command with a job's arguments; return its exit code.

    The shared options (``--warehouse``, ``--cluster``, ``--config``) may stand anywhere. A job is
    Spark's work unless its arguments say otherwise.
    """
    own = ["--decide-with", "spark"] if command in DECIDING else []
    try:
        cli([command, *own, *arguments], prog_name="aclkit")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0
