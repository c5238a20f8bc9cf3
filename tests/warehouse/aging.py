"""A warehouse → the same one as if it were older; a run → one that is killed on its way."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from aclkit.runtime import fail_points
from aclkit.warehouse import commits, run
from aclkit.warehouse.formats import OLDEST, STEPS
from aclkit.warehouse.schemas import TABLES

SECONDS_OF_A_DAY = 86_400
_TIMES = {
    "commitInfo": ("timestamp", "inCommitTimestamp"),
    "add": ("modificationTime",),
    "remove": ("deletionTimestamp",),
    "metaData": ("createdTime",),
    "txn": ("lastUpdated",),
}
"""Where the actions of a commit note a time, in milliseconds."""


def age(warehouse: Path, days: float) -> None:
    """Let every commit and file of a warehouse on a local disk be older by so many days.

    The times within the commits, and those of the files of the log and of the data; a checkpoint
    tells no times of commits.
    """
    for path in warehouse.glob("*/_delta_log/*.json"):
        mark = path.stat()
        actions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for action in actions:
            _age_action(action, int(days * SECONDS_OF_A_DAY * 1_000))
        path.write_text("".join(f"{json.dumps(action)}\n" for action in actions), encoding="utf-8")
        os.utime(path, (mark.st_atime, mark.st_mtime))
        # What Hadoop noted of the file's content holds no longer.
        (path.parent / f".{path.name}.crc").unlink(missing_ok=True)
    for path in (file for file in warehouse.rglob("*") if file.is_file()):
        then = path.stat().st_mtime - days * SECONDS_OF_A_DAY
        os.utime(path, (then, then))


def _age_action(action: dict[str, dict[str, object]], milliseconds: int) -> None:
    for kind, names in _TIMES.items():
        said = action.get(kind, {})
        for name in names:
            if isinstance(time := said.get(name), int):
                said[name] = time - milliseconds


def be_older_aclkit(patch: pytest.MonkeyPatch, lacking: Collection[str] = ()) -> None:
    """Write tables as aclkit 0.3.0 did: see ``aclkit.warehouse.formats``.

    Args:
        patch: undoes it.
        lacking: tables that are written without the columns which came later; what a test reads
            while it is older has them.
    """
    for step in STEPS:
        for table in step.columns.keys() & lacking:
            columns = step.columns[table]
            stays = tuple(c for c in TABLES[table].columns if c[0] not in columns)
            patch.setitem(TABLES, table, replace(TABLES[table], columns=stays))
    patch.setattr(run, "FORMAT", OLDEST)
    patch.setattr(run, "migrate", lambda _: None)
    patch.setattr(commits, "description_of", lambda _: None)
    patch.setattr(commits, "columns_of_new", lambda _, columns: columns)


class Killed(BaseException):
    """A run that ended here, with nothing tidied up but its lock."""


def kill_at(patch: pytest.MonkeyPatch, point: str) -> None:
    """Let the next run of this process end at a fail point, as if it were killed there."""
    patch.setattr(fail_points, "_commits", itertools.count(1))
    patch.setattr(fail_points, "die", _die)
    patch.setenv("ACLKIT_FAIL_POINT", point)


def _die() -> NoReturn:
    raise Killed
