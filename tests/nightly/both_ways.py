"""One command on two copies of a warehouse, once by Spark and once without: all that it told."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner, Result

from aclkit.cli import cli
from aclkit.warehouse.published import open_warehouse
from tests.cli.running import MATERIALIZED, REPLAYED, Warehouse

_CLOCKS = (
    *("aclkit.warehouse.run", "aclkit.cli.nightly"),
    *("aclkit.pipeline.replay.intake", "aclkit.audit.reports.gather"),
)
LATER = datetime.now(UTC) + timedelta(hours=1)


class Clock(datetime):
    """A clock that stands, so that two runs of one hour tell the same."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return LATER.astimezone(tz)


class SparkStarted(BaseException):
    """A command wanted Spark where it may not have it."""


class Worked(BaseException):
    """A command replayed or decided anew, where nothing is new."""


@dataclass(frozen=True)
class Told:
    """What a command told, and left.

    Attributes:
        code: its exit code.
        page: what it printed.
        run: its row of ``job_run``.
        tables: all others, at the versions that readers open.
        files: the files that it wrote.
    """

    code: int
    page: str
    run: object
    tables: dict[str, list[tuple[Any, ...]]]
    files: dict[str, bytes]


def refuse_spark(patch: pytest.MonkeyPatch) -> None:
    """Let what would start Spark end the command."""

    def started(*_args: object, **_named: object) -> NoReturn:
        raise SparkStarted

    patch.setattr("aclkit.runtime.spark.build_session", started)


def call(warehouse: Path, words: Sequence[str]) -> Result:
    return CliRunner().invoke(cli, ["--warehouse", str(warehouse), *words])


def refuse_work(patch: pytest.MonkeyPatch) -> None:
    """Let what reads a source, or decides, end the command."""

    def worked(*_args: object, **_named: object) -> NoReturn:
        raise Worked

    refuse_spark(patch)
    for place in ("pipeline.replay.job.replaying", "nightly.nightly_run._decide"):
        patch.setattr(f"aclkit.{place}", worked)


def takes_work(warehouse: Path, words: Sequence[str]) -> bool:
    """Whether a command replays or decides anew; it is stopped there."""
    with pytest.MonkeyPatch.context() as patch:
        refuse_work(patch)
        try:
            result = call(warehouse, words)
        except Worked:
            return True
    assert result.exit_code in (0, 1, 3), result.output
    return False


def both_ways(
    warehouse: Path, work: Path, words: Callable[[Path], Sequence[str]]
) -> tuple[Told, Told]:
    """Run a command by Spark, and without.

    Args:
        warehouse: what is copied.
        work: a folder for the copies; both are at the same place, one after the other.
        words: the command, which writes files below a folder.
    """
    return _one_way(warehouse, work, words, by_spark=True), _one_way(
        warehouse, work, words, by_spark=False
    )


def _one_way(
    warehouse: Path, work: Path, words: Callable[[Path], Sequence[str]], *, by_spark: bool
) -> Told:
    place, written = work / "warehouse", work / "written"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(warehouse, place)
    written.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for module in _CLOCKS:
            patch.setattr(f"{module}.datetime", Clock)
        # Of that module alone: files are named by others, each anew.
        known = SimpleNamespace(uuid4=lambda: uuid.UUID(int=7))
        patch.setattr("aclkit.warehouse.run.uuid", known)
        if by_spark:
            patch.setattr("aclkit.pipeline.replay.job.replay_unchanged", lambda *_: None)
            patch.setattr("aclkit.pipeline.plan._FACTS_REPLAYED_HERE", -1)
        else:
            refuse_work(patch)
        result = call(place, words(written))
    assert isinstance(result.exception, SystemExit | None), repr(result.exception)
    return Told(
        code=result.exit_code,
        page=result.stdout,
        run=open_warehouse(str(place)).run,
        tables=Warehouse(place).tables((*REPLAYED, *MATERIALIZED, "finding", "access_change")),
        files={
            str(file.relative_to(written)): file.read_bytes()
            for file in written.rglob("*")
            if file.is_file()
        },
    )
