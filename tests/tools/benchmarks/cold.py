"""``python -m tests.tools.benchmarks.cold``: what commands cost that start cold.

A nightly job, a first try and a CI run pay for a JVM that knows nothing yet. Each case is run
several times, on a fresh copy of its warehouse: wall time, CPU time of all its processes and the
number of Spark jobs. With ``--against FOLDER``, another checkout, both take turns, for one machine
differs from itself an hour later, and the ratio of each pair is told too. Beside B1 Kafka's own
loop decides for some seconds behind each run, for the same reason. Progress goes to stderr, stdout
gets Markdown.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import click

from tests.tools.benchmarks.clusters import build
from tests.tools.benchmarks.cold_cases import CASES, Case, Replayed
from tests.tools.benchmarks.cold_process import Cost, measure
from tests.tools.benchmarks.shapes import Shape

ROOT = Path(__file__).parents[3]
_LOOP_SECONDS = 6.0
_CLI = "from aclkit.cli import cli; cli(prog_name='aclkit')"


def aclkit(words: Sequence[str], warehouse: Path) -> list[str]:
    """Return the arguments by which Python runs a command of aclkit."""
    return ["-c", _CLI, "--warehouse", str(warehouse), *words]


@dataclass(slots=True)
class Tree:
    """A checkout that is measured.

    Attributes:
        name: how the table calls it.
        root: its folder.
        scratch: for its warehouses.
        costs: case → what each run of it cost.
        loops: case → behind each run, how many decisions a second Kafka's loop made on one core.
    """

    name: str
    root: Path
    scratch: Path
    costs: dict[str, list[Cost]] = field(default_factory=dict)
    loops: dict[str, list[float]] = field(default_factory=dict)

    def run(self, words: Sequence[str], warehouse: Path) -> Cost:
        """Run a command of this checkout."""
        return self.python(aclkit(words, warehouse))

    def python(self, arguments: Sequence[str]) -> Cost:
        """Run this checkout's Python code, in its folder."""
        return measure([sys.executable, *arguments], self.env(), self.root, self.scratch)

    def env(self) -> dict[str, str]:
        """Return the environment in which its code is found."""
        return {**os.environ, "PYTHONPATH": str(self.root)}

    def make_archive(self) -> None:
        """Make the archive of classes, where the checkout knows of one: its second start."""
        if (self.root / "aclkit" / "runtime" / "class_archive_maker.py").is_file():
            self.python(["-m", "aclkit.runtime.class_archive_maker"])

    def prepare(self, case: Case, inputs: Path) -> Path | None:
        """Make the warehouse that a case begins with, once; None where it begins with none."""
        if case.before is None:
            return None
        warehouse = self.scratch / f"before-{case.before.name}"
        if not warehouse.exists():
            click.echo(f"{self.name}: {case.before.name}, once …", err=True)
            for step in case.before.steps:
                if isinstance(step, Replayed):
                    self.python(step.program(warehouse))
                else:
                    self.run([word.format(inputs=inputs) for word in step], warehouse)
        return warehouse

    def once(self, case: Case, inputs: Path) -> Cost:
        """Run a case on a copy of its warehouse."""
        before, warehouse = self.prepare(case, inputs), self.scratch / "warehouse"
        if before is not None:
            shutil.copytree(before, warehouse)
        try:
            cost = self.run([word.format(inputs=inputs) for word in case.words], warehouse)
        finally:
            shutil.rmtree(warehouse, ignore_errors=True)
        self.costs.setdefault(case.name, []).append(cost)
        return cost


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([case.name for case in CASES]))
@click.option("--times", type=click.IntRange(1), default=5, show_default=True)
@click.option("--against", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(names: tuple[str, ...], times: int, against: Path | None) -> None:
    """Measure some cases, all but the large ones where none is named."""
    cases = [case for case in CASES if case.name in names or (not names and not case.is_large)]
    with tempfile.TemporaryDirectory(prefix="aclkit-cold-") as name:
        folder = Path(name)
        trees = [Tree("now", ROOT, folder / "now")]
        if against is not None:
            trees.insert(0, Tree("before", against.resolve(), folder / "before"))
        for tree in trees:
            tree.scratch.mkdir()
            tree.make_archive()
        for case in cases:
            case.write_inputs(folder)
            _measure(case, trees, folder, times)
    _print(cases, trees)


def _measure(case: Case, trees: Sequence[Tree], inputs: Path, times: int) -> None:
    for tree in trees:
        tree.prepare(case, inputs)
    for number in range(times):
        for tree in trees if number % 2 == 0 else reversed(trees):
            cost = tree.once(case, inputs)
            click.echo(f"{case.name}, {tree.name}: {cost}", err=True)
            if case.beside is not None:
                tree.loops.setdefault(case.name, []).append(_loop(case.beside))


def _loop(shape: Shape) -> float:
    """Let Kafka's own authorizer decide for some seconds: decisions a second."""
    # Here, for it loads Spark.
    from tests.tools.benchmarks.measure import loop_rate

    return loop_rate(build(shape), _LOOP_SECONDS)


def _print(cases: Sequence[Case], trees: Sequence[Tree]) -> None:
    now = datetime.now(UTC)
    click.echo(f"{machine()}, {now:%Y-%m-%d}. Seconds: median (range).\n")
    click.echo("| case | checkout | wall | CPU | GiB | Spark jobs | wall, ratio | CPU, ratio |")
    click.echo("|---|---|---|---|---|---|---|---|")
    for case in cases:
        for tree in trees:
            costs, base = tree.costs[case.name], trees[0].costs[case.name]
            cells = [
                case.name,
                tree.name,
                _spread([cost.wall for cost in costs]),
                _spread([cost.cpu for cost in costs]),
                _spread([cost.memory / (1 << 30) for cost in costs]),
                str(costs[-1].jobs) if costs[-1].java else "no Java",
                *(_ratio(costs, base, of) if tree is not trees[0] else "" for of in _PARTS),
            ]
            click.echo(f"| {' | '.join(cells)} |")
    for case, tree in ((case, tree) for case in cases for tree in trees if case.beside):
        click.echo(f"\n{_beside(case, tree)}")


def _beside(case: Case, tree: Tree) -> str:
    """Return how a case's decisions a second compare with those of Kafka's loop behind each run."""
    assert case.beside is not None
    loops, decisions = tree.loops[case.name], case.beside.decisions
    runs = zip(tree.costs[case.name], loops, strict=True)
    times = [decisions / cost.wall / loop for cost, loop in runs]
    return (
        f"{case.name}, {tree.name}: {_spread(times)} times Kafka's loop, "
        f"which made {_spread(loops)} decisions a second on one core behind each run."
    )


_PARTS: Sequence[Callable[[Cost], float]] = (lambda cost: cost.wall, lambda cost: cost.cpu)


def _spread(numbers: Sequence[float]) -> str:
    return f"{statistics.median(numbers):.1f} ({min(numbers):.1f}–{max(numbers):.1f})"


def _ratio(costs: Sequence[Cost], base: Sequence[Cost], of: Callable[[Cost], float]) -> str:
    pairs = [of(now) / of(before) for now, before in zip(costs, base, strict=True)]
    return f"{statistics.median(pairs):.2f} ({min(pairs):.2f}–{max(pairs):.2f})"


def machine() -> str:
    """Return how many cores this machine has, and which."""
    info: Mapping[str, str] = {}
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        lines = (line.partition(":") for line in cpuinfo.read_text(encoding="utf-8").splitlines())
        info = {key.strip(): value.strip() for key, _, value in lines}
    processor = info.get("model name") or platform.processor() or platform.machine()
    return f"{os.cpu_count()} cores, {processor}"


if __name__ == "__main__":
    main()
