"""``python -m tests.tools.benchmarks.cold_answers``: what a question costs that starts cold.

Each of six questions about the packaged sample takes turns with the import of the two libraries
that it stands on, and help and completion with the import of click alone: CPU seconds of a process
and of those that it starts, and the ratio of each pair. With ``--against FOLDER``, another checkout
takes its turn too. Every process finds compiled modules, as an installed aclkit does. Progress goes
to stderr, stdout gets Markdown.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from tests.tools.benchmarks.cold import ROOT, aclkit, machine
from tests.tools.benchmarks.cold_cases import CASES

LIBRARIES = "import duckdb, click; duckdb.connect()"
CLICK = "import click"
_ACCESS = ("User:svc-payments-etl", "READ", "topic:payments.v1.events")
ANSWERS: Mapping[str, tuple[str, ...]] = {
    "who-can": ("who-can", *_ACCESS[1:]),
    "what-can": ("what-can", _ACCESS[0]),
    "can": ("can", *_ACCESS),
    "why": ("why", *_ACCESS),
    "show": ("show", _ACCESS[0]),
    "sql": ("sql", "SELECT count(*) FROM acl_current"),
}
_ASKS = {"_ACLKIT_COMPLETE": "bash_complete", "COMP_WORDS": "aclkit wh", "COMP_CWORD": "1"}


class Asked(NamedTuple):
    """A command that is measured, and the import that it is compared with."""

    name: str
    arguments: Sequence[str]
    plain: str = LIBRARIES
    env: Mapping[str, str] = {}


class Pair(NamedTuple):
    """CPU seconds of a command, and of its plain import right before or after it."""

    command: float
    plain: float

    @property
    def ratio(self) -> float:
        """How many times the plain import the command takes."""
        return self.command / self.plain


def asked(warehouse: Path) -> list[Asked]:
    """Return all that is measured."""
    return [
        *(Asked(name, aclkit(words, warehouse)) for name, words in ANSWERS.items()),
        Asked("-h", aclkit(["-h"], warehouse), CLICK),
        Asked("completion", aclkit([], warehouse)[:2], CLICK, _ASKS),
    ]


def cpu(arguments: Sequence[str], env: Mapping[str, str], root: Path = ROOT) -> float:
    """Run Python in a checkout, whose modules come first: CPU seconds of it and its processes."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=root,
    )
    assert process.stderr is not None
    told = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # of ``can``, 1 is an answer
        raise click.ClickException(told.decode(errors="replace"))
    return used.ru_utime + used.ru_stime


def pairs(one: Asked, root: Path, times: int) -> list[Pair]:
    """Run a command and its plain import in turns, after one of each that does not count."""
    found, env = [], _env(root)
    for number in range(times + 1):
        first = number % 2 == 0
        plain = cpu(["-c", one.plain], env, root) if first else 0.0
        command = cpu(one.arguments, {**env, **one.env}, root)
        found.append(Pair(command, plain if first else cpu(["-c", one.plain], env, root)))
    return found[1:]


@click.command()
@click.option("--times", type=click.IntRange(1), default=7, show_default=True)
@click.option("--against", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(times: int, against: Path | None) -> None:
    """Measure cold answers in pairs with the import of their libraries."""
    trees = {"now": ROOT} if against is None else {"before": against.resolve(), "now": ROOT}
    with tempfile.TemporaryDirectory(prefix="aclkit-cold-") as name:
        folder = Path(name)
        for root in trees.values():
            cpu(["-m", "compileall", "-q", str(root / "aclkit")], _env(root), root)
        warehouse = _publish(folder)
        click.echo(f"{machine()}. CPU seconds, and how many times the import: {times} pairs.\n")
        click.echo("| command | checkout | least CPU, s | plain | least | median | most |")
        click.echo("|---|---|---|---|---|---|---|")
        for one in asked(warehouse):
            for tree, root in trees.items():
                click.echo(f"{one.name}, {tree} …", err=True)
                click.echo(_line(one.name, tree, pairs(one, root, times)))


def _publish(folder: Path) -> Path:
    """Make the warehouse of the sample, as the first night of ``cold`` does."""
    night = next(case for case in CASES if case.name == "first night")
    night.write_inputs(folder)
    words = [word.format(inputs=folder) for word in night.words]
    cpu(aclkit(words, folder / "warehouse"), _env(ROOT))
    return folder / "warehouse"


def _env(root: Path) -> dict[str, str]:
    """Return an environment with a checkout's modules, of which the compiled ones are kept."""
    kept = {k: text for k, text in os.environ.items() if k not in _ELSEWHERE}
    return {**kept, "PYTHONPATH": str(root)}


_ELSEWHERE = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
"""With these, modules would be compiled each time, or those of libraries once more."""


def _line(name: str, tree: str, found: Sequence[Pair]) -> str:
    ratios = [pair.ratio for pair in found]
    cells = [
        name,
        tree,
        f"{min(pair.command for pair in found):.3f}",
        f"{min(pair.plain for pair in found):.3f}",
        *(f"{of(ratios):.2f}" for of in (min, statistics.median, max)),
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
