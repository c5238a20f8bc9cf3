"""What is measured cold: nights of the packaged sample, a question, and large clusters decided."""

from __future__ import annotations

import csv
import json
import shutil
import struct
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from tests.cli.running import split_batches
from tests.tools.benchmarks.authorizer_benchmark import B3
from tests.tools.benchmarks.clusters import SKEWS, build
from tests.tools.benchmarks.replay import log_batch
from tests.tools.benchmarks.shapes import B1, B2, B2G, Shape
from tests.tools.benchmarks.warehouse import CLUSTER_ID

SAMPLE = Path(__file__).parents[3] / "aclkit/cli/data/sample/__cluster_metadata-0"
_SEGMENT = "00000000000000000000.log"
# In a checkout of before, too: nothing newer than what decided B1 first. So the cluster is set
# where ``write_acls`` looks for it.
_WRITE_ACLS = """
import json, sys
from aclkit.runtime.spark import build_session
try:
    from tests.tools.benchmarks import authorizer_benchmark, shapes, warehouse
except ImportError:
    from tests.benchmarks import authorizer_benchmark, shapes, warehouse
_, folder, warehouse.CLUSTER_ID, shape = sys.argv
shape = shapes.Shape(**json.loads(shape))
maker = authorizer_benchmark if shape.name.startswith("B3") else shapes
warehouse.write_acls(build_session("aclkit-bench"), folder, maker.build(shape).acls)
"""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A shape's ACLs, written into a warehouse as a replay of that cluster would."""

    shape: Shape
    cluster: str

    def program(self, warehouse: Path) -> list[str]:
        """Return the arguments by which Python writes them."""
        return ["-c", _WRITE_ACLS, str(warehouse), self.cluster, json.dumps(_said(self.shape))]


@dataclass(frozen=True, slots=True)
class Before:
    """How a warehouse is made: commands of aclkit, and ACLs that are written at once."""

    name: str
    steps: tuple[tuple[str, ...] | Replayed, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A command that is measured; ``{inputs}`` in its words is the folder of its files.

    Attributes:
        before: how the warehouse is made that it begins with; None where it begins with none.
        is_large: it takes minutes, and is measured where it is named.
        beside: the cluster that Kafka's own loop decides beside each run.
    """

    name: str
    words: tuple[str, ...]
    write_inputs: Callable[[Path], None]
    before: Before | None = None
    is_large: bool = False
    beside: Shape | None = None


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
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def decide(
    shape: Shape,
    *,
    is_large: bool = False,
    has_loop: bool = False,
    has_another: bool = False,
    semantics: str = "auto",
) -> Case:
    """Return the case that decides a shape, whose ACLs are in the warehouse.

    Args:
        shape: the cluster.
        is_large: it takes minutes.
        has_loop: Kafka's own loop decides it beside each run.
        has_another: another cluster, as large, was decided in that warehouse before.
        semantics: how ACLs are read.
    """
    name = f"{shape.name}, two clusters" if has_another else shape.name
    other = (Replayed(shape, "another"), _decide(shape, "another")) if has_another else ()
    return Case(
        name,
        (*_decide(shape, CLUSTER_ID), "--semantics", semantics),
        partial(_write_inventory, shape),
        Before(name, (*other, Replayed(shape, CLUSTER_ID))),
        is_large,
        shape if has_loop else None,
    )


def _decide(shape: Shape, cluster: str) -> tuple[str, ...]:
    given = (
        word
        for kind in ("principals", "hosts", "resources")
        for word in (f"--{kind}", f"{{inputs}}/{shape.name}-{kind}.csv")
    )
    return ("--cluster", cluster, "materialize", "--dense", "never", *given)


def _said(shape: Shape) -> dict[str, object]:
    """Return a shape's fields but for those that are as ever, which older checkouts lack."""
    usual = asdict(Shape(name="", principals=0, resources=0, acls=0))
    return {name: value for name, value in asdict(shape).items() if value != usual[name]}


_LOG, _LONGER = "{inputs}/log", "{inputs}/longer"
_OTHER = Before("another cluster", (_night(_LOG, "another"),))
_FIRST = Before("first night", (_night(_LOG),))
_BOTH = Before("two clusters", (*_OTHER.steps, *_FIRST.steps))
CASES = (
    Case("first night", _night(_LOG), _write_sample),
    Case("one new ACL", _night(_LONGER), _write_longer_sample, _FIRST),
    Case("nothing new", _night(_LOG), _write_sample, _FIRST),
    Case("first night, second cluster", _night(_LOG), _write_sample, _OTHER),
    Case("one new ACL, two clusters", _night(_LONGER), _write_longer_sample, _BOTH),
    Case("nothing new, two clusters", _night(_LOG), _write_sample, _BOTH),
    Case("who-can", ("who-can", "READ", "topic:payments.v1.events"), _write_sample, _FIRST),
    decide(B1, has_loop=True),
    decide(B1, has_loop=True, has_another=True),
    decide(B2, is_large=True),
    decide(replace(B2, name="B2, kip-1042"), is_large=True, semantics="kip-1042"),
    decide(B2G, is_large=True),
    decide(B2, is_large=True, has_another=True),
    decide(B3, is_large=True),
    decide(B3, is_large=True, has_another=True),
    *(decide(replace(B2, skew=skew, name=f"B2-{skew}"), is_large=True) for skew in SKEWS),
)
