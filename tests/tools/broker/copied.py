"""A metadata log copied by ``tar`` over a pipe while the broker writes, against reading in place.

``sh -c`` stands in the place of ``ssh HOST`` and of ``kubectl exec POD --``: both run a command and
hand its output through.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.tools.broker.client import connect
from tests.tools.broker.log import writing
from tests.tools.broker.running import Difference, expect_equal, known_acls, run_aclkit
from tests.tools.broker.server import Broker

COPIES: Final = 4
_FROM: Final = "cd {folder} && tar -cf - meta.properties __cluster_metadata-0"
_RECIPE: Final = "set -o pipefail; sh -c {command!r} | tar -xf - -C {copy}"
_HISTORY: Final = "SELECT acl_id, added_offset, removed_offset FROM acl_history ORDER BY ALL"


def compare_copied(broker: Broker, folder: Path, say: Callable[[str], None]) -> None:
    """Copy and replay beside a writer, and at the end compare with a replay in place."""
    copied, in_place = folder / "copied", folder / "in-place"
    with connect(broker) as client:
        with writing(client) as count:
            for number in range(1, COPIES + 1):
                codes = _replay_copy(broker, folder / f"copy-{number}", copied)
                seen = len(known_acls(copied))
                say(f"copy {number} beside a writer: tar ended with {codes}, {seen} ACLs after "
                    f"{sum(count)} changes")  # fmt: skip
        expected = client.acls()
    _replay_copy(broker, folder / "copy-last", copied)
    run_aclkit(in_place, "replay", "--source", f"metadata-log:{broker.metadata_log}")
    expect_equal("the copied log", known_acls(copied), expected)
    both = [run_aclkit(each, "sql", _HISTORY, "--format", "csv") for each in (copied, in_place)]
    if both[0] != both[1]:
        raise Difference("the history of the copies is not that of the log in place")
    say(f"the copies' history is that of the log in place: {both[0].count(chr(10)) - 1} lifetimes, "
        f"{len(expected)} ACLs in force")  # fmt: skip


def _replay_copy(broker: Broker, copy: Path, warehouse: Path) -> int:
    """Copy the log as the recipe does, and replay the copy; return tar's exit code."""
    copy.mkdir()
    command = _FROM.format(folder=broker.metadata_log.parent)
    done = subprocess.run(
        ["bash", "-c", _RECIPE.format(command=command, copy=copy)],
        capture_output=True,
        check=False,
    )
    # 1: a file changed while it was read, which is what a log does.
    if done.returncode not in (0, 1):
        raise Difference(f"tar ended with {done.returncode}: {done.stderr.decode()}")
    source = f"metadata-log:{copy}/__cluster_metadata-0"
    run_aclkit(warehouse, "replay", "--source", source)
    return done.returncode
