"""Delta's coordinate → its jars in the folder where sessions look for them.

``python -m aclkit.jars`` does it once, with Spark's own resolver in a throw-away cache, so that
no later session needs the network. Behind a mirror set ``ACLKIT_MAVEN_REPOSITORY`` to its
address; without any network copy the jars into a folder and set ``ACLKIT_JARS`` to it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from aclkit.errors import AclkitError, SurroundingsError
from aclkit.surroundings import DELTA_COORDINATE, jar_folder, require_java

DIGESTS: Final = {
    "io.delta_delta-kernel-api-4.4.0.jar": (
        "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11"
    ),
    "io.delta_delta-kernel-defaults-4.4.0.jar": (
        "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b"
    ),
    "io.delta_delta-kernel-unitycatalog-4.4.0.jar": (
        "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa"
    ),
    "io.delta_delta-spark_4.2_2.13-4.4.0.jar": (
        "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead"
    ),
    "io.delta_delta-storage-4.4.0.jar": (
        "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc"
    ),
}
"""SHA-256 of the jars that are needed. The rest of what they ask for Spark brings itself."""

_FOREIGN = "com.*:*,commons-*:*,io.airlift:*,io.unitycatalog:*,javax.*:*,org.*:*"
_SECONDS = 600
_LAST_LINES = 15


def fetch_jars(
    folder: Path | None = None, say: Callable[[str], None] | None = None
) -> tuple[Path, ...]:
    """Put Delta's jars into ``folder``; nothing is done where they already are.

    Args:
        folder: where to; without it where sessions look.
        say: told about every step that takes time.

    Raises:
        SurroundingsError: No Java, no network, no place, or a jar is not the expected one.
    """
    say = say or _silent
    folder = folder or jar_folder()
    if not wrong_jars(folder):
        say(f"Delta's jars are in {folder}")
        return _paths(folder)
    require_java()
    with tempfile.TemporaryDirectory(prefix="aclkit-ivy-") as scratch:
        say(f"fetching {DELTA_COORDINATE} with Spark's resolver (13 MB, a minute or so)")
        _resolve(Path(scratch))
        _install(Path(scratch) / "jars", folder)
    say(f"Delta's jars are in {folder}")
    return _paths(folder)


def wrong_jars(folder: Path) -> dict[str, str]:
    """Name the jars that are missing from a folder, or are not byte for byte the expected ones."""
    wrong = {}
    for name, digest in DIGESTS.items():
        path = folder / name
        if not path.is_file():
            wrong[name] = "missing"
        elif (found := hashlib.sha256(path.read_bytes()).hexdigest()) != digest:
            wrong[name] = f"sha-256 {found}, expected {digest}"
    return wrong


def _paths(folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in DIGESTS)


def _resolve(cache: Path) -> None:
    """Let ``spark-submit`` run an empty program that asks for the packages."""
    import pyspark

    program = cache / "nothing.py"
    program.write_text("")
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    environ = {
        **os.environ,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [str(home / "bin" / "spark-submit"), *_arguments(cache), str(program)]
    try:
        done = subprocess.run(  # noqa: S603 - Spark's own launcher, arguments made here
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SurroundingsError(
            f"{DELTA_COORDINATE} was not fetched within {_SECONDS} seconds; {_advice()}"
        ) from error
    if done.returncode:
        raise SurroundingsError(f"{_tail(done.stdout)}\n{DELTA_COORDINATE}: {_advice()}")


def _arguments(cache: Path) -> list[str]:
    arguments = ["--master", "local[1]", "--packages", DELTA_COORDINATE]
    arguments += ["--exclude-packages", _FOREIGN, "--conf", f"spark.jars.ivy={cache}"]
    repository = os.environ.get("ACLKIT_MAVEN_REPOSITORY", "")
    return [*arguments, "--repositories", repository] if repository else arguments


def _install(fetched: Path, folder: Path) -> None:
    wrong = wrong_jars(fetched)
    if wrong:
        found = "; ".join(f"{name}: {what}" for name, what in wrong.items())
        raise SurroundingsError(f"the resolver did not bring the expected jars: {found}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in DIGESTS:
            # A copy under another name first: who is killed half way leaves no half jar.
            shutil.copyfile(fetched / name, folder / f".{name}.part")
            (folder / f".{name}.part").replace(folder / name)
    except OSError as error:
        raise SurroundingsError(f"Delta's jars could not be put into {folder}: {error}") from error


def _tail(output: bytes) -> str:
    lines = output.decode(errors="replace").splitlines()
    return "\n".join(lines[-_LAST_LINES:])


def _advice() -> str:
    return (
        "Spark's resolver needs the network once. Behind a mirror set ACLKIT_MAVEN_REPOSITORY to"
        " its address; without a network copy the jars to a folder and set ACLKIT_JARS to it"
    )


def _silent(_: str) -> None:
    return None


@click.command()
@click.option("--folder", type=click.Path(path_type=Path), help="Where to put the jars.")
def main(folder: Path | None) -> None:
    """Fetch Delta's jars once."""
    try:
        fetch_jars(folder, lambda text: click.echo(text, err=True))
    except AclkitError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
