"""A job's arguments → one aclkit command, for spark-submit."""

from __future__ import annotations

from collections.abc import Sequence

from aclkit.cli.main import cli


def run_command(command: str, arguments: Sequence[str]) -> int:
    """Run a command with a job's arguments; return its exit code.

    The shared options (``--warehouse``, ``--cluster``, ``--config``) may stand anywhere.
    """
    try:
        cli([command, *arguments], prog_name="aclkit")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0
