"""The command watch for some turns, each after a step of a test, by a clock of the test's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aclkit.cli import cli
from aclkit.nightly.watching import Watcher
from aclkit.warehouse.published import open_warehouse
from tests.cli.running import Warehouse
from tests.pipeline.sources.growing_log import GrowingLog

START = 1_795_737_600.0
"""2026-11-27 00:00 UTC."""

Step = Callable[[Watcher], object]


def new_log(folder: Path) -> GrowingLog:
    """Make a log with one ACL."""
    log = GrowingLog(folder / "__cluster_metadata-0")
    log.add()
    return log


class Turns:
    """Runs ``aclkit watch`` for as many turns as there are steps; then it is killed."""

    def __init__(self, warehouse: Path | str, *options: str) -> None:
        self.warehouse, self.options = warehouse, options
        self.now = START
        self.env: dict[str, str | None] = {}
        self.watcher: Watcher | None = None

    def __call__(
        self, *steps: Step | None, options: Sequence[str] = (), code: int | None = None
    ) -> Result:
        """Do each step, if it is one, and a turn after it; a code is that of an earlier end."""

        def watch(watcher: Watcher) -> None:
            self.watcher = watcher
            watcher.clock, watcher.chance = (lambda: self.now), (lambda: 0.5)
            for step in steps:
                if step is not None:
                    step(watcher)
                self.now += watcher.turn()
            raise Killed

        words = ["--warehouse", str(self.warehouse), "watch", *self.options, *options]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Watcher, "watch", watch)
            result = CliRunner().invoke(cli, words, env=self.env or None)
        if code is None:
            assert isinstance(result.exception, Killed), (result.exception, result.output)
        else:
            assert result.exit_code == code, (result.exception, result.output)
        return result

    @property
    def place(self) -> Warehouse:
        return Warehouse(Path(self.warehouse))

    @property
    def runs(self) -> list[int]:
        """The numbers of the published runs."""
        return [run.run_number for run in open_warehouse(str(self.warehouse)).runs]


class Killed(Exception):
    """The watcher is no more."""


def tables(warehouse: Path) -> dict[str, tuple[int, int]]:
    """Every file of the tables, with what would change if it was written."""
    return {
        path.relative_to(warehouse).as_posix(): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in warehouse.rglob("*")
        if path.is_file() and "_aclkit" not in path.parts and not path.name.startswith(".aclkit")
    }


@contextmanager
def quiet() -> Iterator[None]:
    """Let brokers have no super users: unknown ones would be a finding."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACLKIT_NO_SUPER_USERS", "1")
        patch.setenv("ACLKIT_ALLOW_EVERYONE", "0")
        yield
