"""``make class-list``: the classes that aclkit's commands load → ``aclkit/runtime/classes.lst.gz``.

Of this list a user's machine makes its archive. It follows the versions of Spark and Delta; a
class that another Java does not have is passed over there, one that is missing is loaded from its
jar.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from aclkit.runtime.class_archive import VARIABLE
from tests.benchmarks.cold_cases import SAMPLE

LIST = Path(__file__).parents[1] / "aclkit" / "runtime" / "classes.lst.gz"
_SETTINGS = ("--super-users", "User:ANONYMOUS;User:admin")
COMMANDS = (
    ("demo",),
    ("run", *_SETTINGS, "--fail-on", "never", "--source", f"metadata-log:{SAMPLE}"),
    ("--cluster", "other", "run", *_SETTINGS, "--fail-on", "never", "--source",
     f"metadata-log:{SAMPLE}"),
    ("--cluster", "sample", "materialize", "--full", "--super-users", "User:admin"),
    ("--cluster", "sample", "who-can", "READ", "topic:payments.v1.events", "--engine", "spark"),
    ("maintain",),
)  # fmt: skip


def main() -> None:
    """Run commands on the packaged sample, and write the list of what they loaded."""
    with tempfile.TemporaryDirectory(prefix="aclkit-classes-") as name:
        lines = dict.fromkeys(line for line in _loaded(Path(name)) if not line.startswith("#"))
    with LIST.open("wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        packed.write("".join(f"{line}\n" for line in lines).encode())
    sys.stderr.write(f"{LIST}: {len(lines):,} lines\n")


def _loaded(folder: Path) -> Iterator[str]:
    """Yield what each command's JVM loads, in that order."""
    for number, words in enumerate(COMMANDS):
        listed = folder / f"{number}.lst"
        told = {"SPARK_SUBMIT_OPTS": f"-XX:DumpLoadedClassList={listed}", VARIABLE: "0"}
        program = "from aclkit.cli import cli; cli()"
        subprocess.run(
            [sys.executable, "-c", program, "--warehouse", str(folder / "w"), *words],
            env={**os.environ, **told}, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        yield from listed.read_text().splitlines()


if __name__ == "__main__":
    main()
