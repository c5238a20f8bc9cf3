"""Where a test lets a run die, as by SIGKILL: what ``ACLKIT_FAIL_POINT`` names."""

from __future__ import annotations

import itertools
import os
import signal

_commits = itertools.count(1)


def fail_point(name: str) -> None:
    """Die here when a test asks for it by this name."""
    if os.environ.get("ACLKIT_FAIL_POINT") == name:
        die()


def after_commit() -> None:
    """Die here when a test asks for it as ``commit-N``: after this process's N-th commit.

    Commits are counted over all tables, those that take back what a killed run left too.
    """
    fail_point(f"commit-{next(_commits)}")


def die() -> None:
    """End this process at once; nothing is tidied up."""
    os.kill(os.getpid(), signal.SIGKILL)
