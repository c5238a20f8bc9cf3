"""What is measured cold: nights of the packaged sample, B1 and B2, a question."""

from __future__ import annotations

import csv
import shutil
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.benchmarks.replay import log_batch
from tests.benchmarks.shapes import B1, B2, Shape, build
from tests.cli.running import split_batches

SAMPLE = Path(__file__).parents[2] / "aclkit/cli/data/sample/__cluster_metadata-0"
_SEGMENT = "00000000000000000000.log"
_WRITE_ACLS = """
import sys
from aclkit.runtime.spark import build_session
from tests.benchmarks import shapes
from tests.benchmarks.warehouse import write_acls
cluster = shapes.build(getattr(shapes, sys.argv[2]))
write_acls(build_session("aclkit-bench"), sys.argv[1], cluster.acls)
"""


@dataclass(frozen=True, slots=True)
class Before:
    """How a warehouse is made: by commands of aclkit, or by a program that gets their words."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    program: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A command that is measured; ``{inputs}`` in its words is the folder of its files."""

    name: str
    words: tuple[str, ...]
    write_inputs: Callable[[Path], None]
    before: Before | None = None
    is_large: bool = False


def _night(log: str, cluster: str = "sample") -> tuple[str, ...]:
    return ("--cluster", cluster, "run", "--super-users", "User:ANONYMOUS;User:admin",
            "--fail-on", "never", "--source", f"metadata-log:{log}")  # fmt: skip


def _write_sample(folder: Path) -> None:
    shutil.copytree(SAMPLE, folder / "log", dirs_exist_ok=True)


def _write_longer_sample(folder: Path) -> None:
    """Write the sample, and what it is when one ACL more was added."""
    _write_sample(folder)
    shutil.copytree(SAMPLE, folder / "longer", dirs_exist_ok=True)
    segment = folder / "longer" / _SEGMENT
    base, last = list(split_batches(segment.read_bytes()))[-1]
    epoch, delta = struct.unpack_from(">i", last, 12)[0], struct.unpack_from(">i", last, 23)[0]
    with segment.open("ab") as file:
        file.write(log_batch(base + delta + 1, 1, epoch, every=1))


def _write_inventory(shape: Shape, folder: Path) -> None:
    cluster, name = build(shape), shape.name
    topics = (("TOPIC", topic) for topic in cluster.topics)
    _write(folder / f"{name}-principals.csv", ("principal",), ((p,) for p in cluster.principals))
    _write(folder / f"{name}-hosts.csv", ("host",), ((h,) for h in cluster.hosts))
    _write(folder / f"{name}-resources.csv", ("resource_type", "resource_name"), topics)


def _write(path: Path, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def decide(shape: Shape, *, is_large: bool = False) -> Case:
    """Return the case that decides a shape of ``shapes``, whose ACLs are in the warehouse."""
    given = (
        word
        for kind in ("principals", "hosts", "resources")
        for word in (f"--{kind}", f"{{inputs}}/{shape.name}-{kind}.csv")
    )
    return Case(
        shape.name,
        ("materialize", "--dense", "never", *given),
        partial(_write_inventory, shape),
        Before(shape.name, ((shape.name,),), _WRITE_ACLS),
        is_large,
    )


_LOG, _LONGER = "{inputs}/log", "{inputs}/longer"
_OTHER = Before("another cluster", (_night(_LOG, "another"),))
_FIRST = Before("first night", (_night(_LOG),))
_BOTH = Before("two clusters", (*_OTHER.commands, *_FIRST.commands))
CASES = (
    Case("first night", _night(_LOG), _write_sample),
    Case("one new ACL", _night(_LONGER), _write_longer_sample, _FIRST),
    Case("nothing new", _night(_LOG), _write_sample, _FIRST),
    Case("first night, second cluster", _night(_LOG), _write_sample, _OTHER),
    Case("one new ACL, two clusters", _night(_LONGER), _write_longer_sample, _BOTH),
    Case("nothing new, two clusters", _night(_LOG), _write_sample, _BOTH),
    Case("who-can", ("who-can", "READ", "topic:payments.v1.events"), _write_sample, _FIRST),
    decide(B1),
    decide(B2, is_large=True),
)
