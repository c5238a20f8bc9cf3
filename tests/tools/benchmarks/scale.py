"""``python -m tests.tools.benchmarks.scale S10 …``: what large runs cost, each a process.

The ACLs are in a warehouse before; what is measured is ``aclkit materialize``, cold: wall and CPU
seconds, what its processes hold in memory, looked at twice a second, and what it spills. A run that
takes more memory or time than it may is killed, and its row says so. Rows are appended to
``build/scale.jsonl``; stdout gets the table of the last row of each case.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from aclkit.runtime.memory import DEFAULT_HEAP
from aclkit.warehouse.published import open_warehouse
from tests.tools.benchmarks.cold import ROOT, Tree, aclkit, machine
from tests.tools.benchmarks.cold_cases import decide
from tests.tools.benchmarks.cold_process import Ended, run
from tests.tools.benchmarks.scale_picture import picture
from tests.tools.benchmarks.scale_table import Row, latest, replaced, table
from tests.tools.benchmarks.shapes import B1, B2, S10, S30, S100, Shape
from tests.tools.benchmarks.warehouse import CLUSTER_ID
from tests.tools.benchmarks.watching import Peaks, held, kill_family, stored

SHAPES = {shape.name: shape for shape in (B1, B2, S10, S30, S100)}
ROWS = ROOT / "build" / "scale.jsonl"
PAGE, PICTURE = ROOT / "docs" / "speed.md", ROOT / "docs" / "images" / "scale.svg"
_WRITE_INPUTS = """
import sys
from pathlib import Path
from tests.tools.benchmarks.scale import SHAPES, decide
decide(SHAPES[sys.argv[1]]).write_inputs(Path(sys.argv[2]))
"""
_TASK = '{"Event":"SparkListenerTaskEnd"'


@dataclass(slots=True)
class Limits:
    """What a run may take at most, and why it was killed, if it was."""

    memory: float
    seconds: float
    began: float = field(default_factory=time.monotonic)
    reason: str | None = None

    def look(self, pid: int, temporary: Path) -> Mapping[str, int]:
        """Return what a process and all below it hold; they are killed if that is too much."""
        found = held(pid)
        took = time.monotonic() - self.began
        if found["memory"] > self.memory:
            self.reason = f"more than {self.memory / 2**30:.4g} GiB of memory after {took:,.0f} s"
        elif took > self.seconds:
            self.reason = f"more than {self.seconds:,.0f} s"
        if self.reason is not None:
            kill_family(pid)
        duckdb = sum(stored(each / "duckdb") for each in temporary.iterdir())
        return {**found, "temporary": stored(temporary), "duckdb": duckdb}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(SHAPES)))
@click.option("--gib", type=float, default=16.0, show_default=True, help="Memory at most.")
@click.option("--hours", type=float, default=6.0, show_default=True, help="Time at most.")
@click.option("--docs", is_flag=True, help="Write table and picture into docs/ too.")
def main(names: tuple[str, ...], gib: float, hours: float, *, docs: bool) -> None:
    """Measure some cases, one after the other; none: only say what was measured before.

    Exit code 1 if one of them was stopped.
    """
    if not names and not ROWS.exists():
        raise click.UsageError(f"nothing was measured yet: name some of {', '.join(SHAPES)}")
    ROWS.parent.mkdir(exist_ok=True)
    is_whole = True
    for name in names:
        row = measure(SHAPES[name], Limits(gib * 2**30, hours * 3600))
        with ROWS.open("a") as file:
            file.write(f"{json.dumps(asdict(row))}\n")
        is_whole = is_whole and row.stopped is None
    rows = latest(Row(**json.loads(line)) for line in ROWS.read_text(encoding="utf-8").splitlines())
    click.echo(table(rows))
    if docs:
        _write(rows)
    sys.exit(0 if is_whole else 1)


def _write(rows: Sequence[Row]) -> None:
    """Write the table into its page, and the picture if there is anything to be seen in it."""
    shown = table(rows)
    if any(row.stopped is None for row in rows):
        PICTURE.write_text(picture(rows), encoding="utf-8")
        shown += f"\n\n![What a decision, a ruling and an ACL cost](images/{PICTURE.name})"
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), shown), encoding="utf-8")


def measure(shape: Shape, limits: Limits) -> Row:
    """Make the warehouse of a shape and decide it, each in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="aclkit-scale-") as name:
        folder = Path(name)
        tree = Tree("now", ROOT, folder)
        tree.make_archive()
        tree.python(["-c", _WRITE_INPUTS, shape.name, str(folder)])
        case = decide(shape)
        warehouse = tree.prepare(case, folder)
        assert warehouse is not None
        words = [word.format(inputs=folder) for word in case.words]
        click.echo(f"{shape.name}: deciding …", err=True)
        ended, most = _run(tree, [sys.executable, *aclkit(words, warehouse)], limits)
        reason = (limits.reason or f"exit code {ended.code}") if ended.code else None
        click.echo(f"{shape.name}: {reason or 'published'}, {ended.cost}", err=True)
        click.echo(ended.said if reason else "", nl=False, err=True)
        memory, disk = spilled(_lines(folder / "events"))
        return Row(
            **_known(shape),
            **{of: most[of] for of in _PEAKS},
            rulings=None if reason else _rulings(warehouse),
            wall=round(ended.cost.wall, 2),
            cpu=round(ended.cost.cpu, 2),
            jobs=ended.cost.jobs,
            spilled_memory=memory,
            spilled_disk=disk,
            stopped=reason,
        )


def _known(shape: Shape) -> Mapping[str, Any]:
    """Return what a row says of the case, the day and the machine."""
    return {
        "case": shape.name,
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine(),
        "heap": os.environ.get("ACLKIT_DRIVER_MEMORY") or DEFAULT_HEAP,
        "decisions": shape.decisions,
        "acls": shape.acls,
    }


_PEAKS = ("memory", "jvm", "driver", "workers", "temporary", "duckdb")


def _run(tree: Tree, command: list[str], limits: Limits) -> tuple[Ended, Mapping[str, int]]:
    """Run a command with Spark's event log, and return the most of what it held."""
    events, temporary = tree.scratch / "events", tree.scratch / "temporary"
    for folder in (events, temporary):
        folder.mkdir()
    options = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    told = " ".join(f"-D{key}={value}" for key, value in options.items())
    env = {**tree.env(), "TMPDIR": str(temporary), "SPARK_SUBMIT_OPTS": told}
    watched: list[Peaks] = []

    def watch(pid: int) -> Peaks:
        limits.began = time.monotonic()
        watched.append(Peaks(lambda: limits.look(pid, temporary)))
        return watched[0]

    ended = run(command, env, tree.root, tree.scratch, watch=watch)
    shutil.rmtree(temporary)
    return ended, watched[0].most


def spilled(lines: Iterable[str]) -> tuple[int, int]:
    """Return what tasks of an event log spilled: bytes as they were in memory, and as written.

    A log that breaks off, as that of a killed run does, counts as far as it goes.
    """
    memory = disk = 0
    for line in lines:
        if line.startswith(_TASK) and line.endswith("}\n"):
            metrics = json.loads(line).get("Task Metrics", {})
            memory += metrics.get("Memory Bytes Spilled", 0)
            disk += metrics.get("Disk Bytes Spilled", 0)
    return memory, disk


def _lines(events: Path) -> Iterable[str]:
    for path in sorted(path for path in events.rglob("*") if path.is_file()):
        with path.open() as file:
            yield from file


def _rulings(warehouse: Path) -> int:
    decided = open_warehouse(str(warehouse)).last_materialize(CLUSTER_ID)
    assert decided is not None
    return decided.counts["explain_ruling"]


if __name__ == "__main__":
    main()
