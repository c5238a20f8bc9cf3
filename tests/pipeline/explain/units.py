"""Works whose units do what a test needs; processes and tasks import them by name."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from aclkit.errors import SurroundingsError
from aclkit.pipeline.explain.arrays import Numbers
from aclkit.pipeline.explain.deciding import Unit


@dataclass(frozen=True)
class Sums:
    """Its units return their number, the sum of their sets and of its own, and the process."""

    own: Numbers

    def do(self, unit: Unit) -> tuple[int, int, int]:
        # The first one comes last, so that what comes back is put in order.
        time.sleep(0.2 if not unit.number else 0)
        sets = np.zeros(0, np.int64) if unit.sets is None else unit.sets
        return unit.number, int(self.own.sum() + sets.sum()), os.getpid()


@dataclass(frozen=True)
class Killed:
    """Its units end the process that does them, as the kernel does where memory runs out."""

    def do(self, unit: Unit) -> NoReturn:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError(unit)


@dataclass(frozen=True)
class Refused:
    """Its units end in an error of the environment."""

    def do(self, unit: Unit) -> NoReturn:
        raise SurroundingsError(f"The disk is full at unit {unit.number}.")


@dataclass(frozen=True)
class Slow:
    """Its units note who does them, and go on for a minute."""

    folder: Path

    def do(self, unit: Unit) -> None:
        (self.folder / f"{unit.number}.{os.getpid()}").touch()
        time.sleep(60)
