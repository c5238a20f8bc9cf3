"""``make spark-versions``: docs/spark.md with the oldest and the newest Spark, as a user runs it.

For each the wheel is installed into a new environment with what it asks for alone, Delta's jars are
fetched, a night is decided by Spark and by the process, and the page's blocks run on the demo: by a
classic session first, then, with the extra ``connect``, by Spark Connect. VERSIONS choose others.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from tests.documents import code_blocks
from tests.tools.installed import ROOT, FailedError, new_environment, run, uv

OLDEST, NEWEST = "4.1.0", "4.2.0"
PAGE: Final = ROOT / "docs" / "spark.md"
DECISIONS: Final = "SELECT * EXCLUDE cluster_id FROM explain ORDER BY ALL"
CONNECT: Final = {"SPARK_REMOTE": "local[2]"}
CLIENT: Final = """
client = type(spark).__module__.split(".")[2]
print(f"{spark.version} {client}")
spark.stop()
"""
LOG: Final = """
from pyspark.sql import SparkSession
from aclkit.spark import register
spark = SparkSession.builder.getOrCreate()
register(spark)
rows = spark.read.format("kafka_metadata_log").load({path!r})
assert rows.where("kind = 'fact'").count() > 0
"""


@dataclass(frozen=True, slots=True)
class Tried:
    """An environment with one Spark, and the folder that is current in it."""

    spark: str
    python: Path
    work: Path

    def install(self, wheel: Path, extra: str = "") -> None:
        """Install the wheel and this Spark, and nothing that they do not ask for."""
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        uv("pip", "install", "--quiet", "--python", self.python, wanted, f"pyspark=={self.spark}")
        uv("pip", "check", "--quiet", "--python", self.python)

    def aclkit(self, *words: str) -> str:
        """Run a command of aclkit; it must succeed."""
        program = self.python.parent / "aclkit"
        return run(program, *words, cwd=self.work, HOME=str(self.work))[0]

    def program(self, code: str, **env: str) -> str:
        """Run Python as a user does, and return what it prints."""
        (self.work / "program.py").write_text(code, encoding="utf-8")
        home = {"HOME": str(self.work), "SPARK_LOCAL_IP": "127.0.0.1"}
        python = str(self.python.parent)
        env = {"PATH": f"{python}:/usr/local/bin:/usr/bin:/bin", **home, **env}
        return run(self.python, "program.py", cwd=self.work, **env)[0]


def _page(tried: Tried, connect: dict[str, str]) -> str:
    """Run each block in a process of its own, and return whose session it was."""
    blocks = code_blocks(PAGE.read_text(encoding="utf-8"), "python")
    log = ROOT / "tests" / "data" / "kraft-4.1" / "__cluster_metadata-0"
    delta, *_ = blocks[0].partition("explain = ")
    found = []
    for block in (*blocks, LOG.format(path=str(log))):
        printed = tried.program(delta + block + CLIENT, **connect).splitlines()
        found.append(printed[-1])
        if block in blocks and not any("ALLOWED" in line or "DENIED" in line for line in printed):
            raise FailedError(f"no decision was shown: {printed}")
    wanted = f"{tried.spark} {'connect' if connect else 'session'}"
    if {*found} != {wanted}:
        raise FailedError(f"the page ran in {', '.join(found)}, expected {wanted}")
    return f"{len(found)} blocks in {wanted}"


def _try(tried: Tried, wheel: Path) -> Iterator[str]:
    tried.install(wheel)
    yield "installed"
    tried.aclkit("jars", "delta")
    yield "its jars of Delta are there"
    tried.aclkit("demo")
    read = ("sql", DECISIONS, "--format", "csv", "--timeout", "600")
    here = tried.aclkit("--warehouse", "warehouse/demo", *read)
    source = f"metadata-log:{ROOT / 'aclkit' / 'cli' / 'data' / 'sample'}"
    again = ("run", "--config", str(ROOT / "conf" / "demo.toml"), "--source", source)
    tried.aclkit("--warehouse", "by-spark", *again, "--decide-with", "spark")
    if here != tried.aclkit("--warehouse", "by-spark", *read):
        raise FailedError("Spark decides otherwise than the process")
    yield f"{len(here.splitlines()) - 1:,} decisions by Spark are those of the process"
    yield _page(tried, {})
    tried.install(wheel, "connect")
    yield _page(tried, CONNECT)


@click.command()
@click.argument("versions", nargs=-1)
def main(versions: tuple[str, ...]) -> None:
    """Try the wheel in ``dist``; each step says what was seen."""
    (wheel,) = (ROOT / "dist").glob("aclkit-*.whl")
    for spark in versions or (OLDEST, NEWEST):
        with tempfile.TemporaryDirectory(prefix="aclkit-spark-") as name:
            work = Path(name) / "work"
            work.mkdir()
            tried = Tried(spark, new_environment(Path(name) / "env"), work)
            try:
                for seen in _try(tried, wheel):
                    click.echo(f"{time.strftime('%H:%M:%S')} pyspark {spark}: {seen}")
            except FailedError as error:
                sys.exit(f"Error: pyspark {spark}: {error}")
    click.echo(f"{wheel.name} works.")


if __name__ == "__main__":
    main()
