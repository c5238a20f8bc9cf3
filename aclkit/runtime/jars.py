"""A Maven coordinate → its jars in the folder where they are looked for, byte for byte.

``aclkit jars`` does it once for Delta, with Spark's own resolver in a throw-away cache, so that no
later session needs the network. To use a mirror, set ``ACLKIT_MAVEN_REPOSITORY`` to its
address; without any network copy the jars into a folder and set ``ACLKIT_JARS`` to it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aclkit.errors import SurroundingsError
from aclkit.runtime.child import bound
from aclkit.runtime.environment import DELTA_COORDINATE, jar_folder, not_installed, require_java
from aclkit.runtime.permissions import FOR_EVERYBODY
from aclkit.runtime.scratch import scratch


@dataclass(frozen=True, slots=True, kw_only=True)
class Jars:
    """Jars that are needed together.

    Attributes:
        name: whose they are.
        coordinate: what Spark's resolver is asked for; with a comma between several.
        foreign: what else it would bring, as ``--exclude-packages`` takes it: Spark has it, or
            nothing that runs here needs it.
        digests: SHA-256 of each jar, by the file name that the resolver gives it.
        megabytes: how much is fetched.
        beside_delta: the name of their folder, next to that of Delta's.
        variable: names another folder for them, in the environment.
        command: what fetches them.
        beside: names of jars that may lie in the same folder: those of other versions.
    """

    name: str
    coordinate: str
    foreign: str
    digests: Mapping[str, str]
    megabytes: int
    beside_delta: str
    variable: str
    command: str
    beside: Collection[str] = ()

    @property
    def version(self) -> str:
        """Whose jars they are, as the coordinate ends."""
        return self.coordinate.rpartition(":")[2]

    def folder(self, env: Mapping[str, str] = os.environ) -> Path:
        """Return where they are looked for."""
        given = env.get(self.variable, "")
        return Path(given) if given else jar_folder(env).parent / self.beside_delta


_OF_DELTA: Final = {
    "kernel-api": "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11",
    "kernel-defaults": "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b",
    "kernel-unitycatalog": "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa",
    "spark_4.2_2.13": "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
    "storage": "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
}

DELTA: Final = Jars(
    name="Delta's jars",
    coordinate=DELTA_COORDINATE,
    foreign="com.*:*,commons-*:*,io.airlift:*,io.unitycatalog:*,javax.*:*,org.*:*",
    digests={f"io.delta_delta-{name}-4.4.0.jar": digest for name, digest in _OF_DELTA.items()},
    megabytes=13,
    beside_delta="jars",
    variable="ACLKIT_JARS",
    command="aclkit jars delta",
)

_SECONDS = 600
_MISSING: Final = "missing"
_LAST_LINES = 15
_PASSWORD: Final = re.compile(r"//[^/\s]*@")


def fetch_jars(
    jars: Jars, folder: Path | None = None, say: Callable[[str], None] | None = None
) -> tuple[Path, ...]:
    """Put jars into ``folder``; nothing is done where they already are.

    Args:
        jars: which.
        folder: where to; without it where they are looked for.
        say: called with every step that takes time.

    Raises:
        SurroundingsError: No Java, no network, no place, or a jar is not the expected one.
    """
    folder = folder or jars.folder()
    if wrong_jars(jars, folder):
        require_java()
        with tempfile.TemporaryDirectory(prefix="ivy-", dir=scratch()) as cache:
            if say is not None:
                size = f"{jars.megabytes} MB, about a minute"
                say(f"Downloading {jars.name} with Spark's resolver ({size})")
            _resolve(jars, Path(cache))
            _install(jars, Path(cache) / "jars", folder)
    return _paths(jars, folder)


def _paths(jars: Jars, folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in jars.digests)


def checked_jars(jars: Jars, say: Callable[[str], None] | None = None) -> tuple[Path, ...]:
    """Return jars that are about to be loaded, each byte for byte the expected one.

    They are read for that every time, some milliseconds: a note of an earlier look could be forged
    by any user who can change a jar. Where they are missing they are fetched. What else lies in the
    folder is not loaded, as the jars of an older release do after an update.

    Raises:
        SurroundingsError: one is another, or they cannot be fetched.
    """
    folder = jars.folder().resolve()
    missing = missing_jars(jars, folder)
    known = {*jars.digests, *jars.beside}
    others = sorted({path.name for path in folder.glob("*.jar")} - known)
    if others and say is not None:
        say(f"{folder} contains jars that are not loaded: {', '.join(others)}")
    return fetch_jars(jars, folder, say) if missing else _paths(jars, folder)


def missing_jars(jars: Jars, folder: Path) -> list[str]:
    """Return the jars that are missing from a folder.

    Raises:
        SurroundingsError: one that is there is not the expected one.
    """
    wrong = wrong_jars(jars, folder)
    for name, what in wrong.items():
        if what != _MISSING:
            raise SurroundingsError(
                f"{folder / name} is not the expected jar ({what}). Nothing was loaded. To "
                f"download it again: {jars.command}"
            )
    return [*wrong]


def wrong_jars(jars: Jars, folder: Path) -> dict[str, str]:
    """Return the jars that are missing from a folder, or are not the expected ones, and how."""
    wrong = {}
    for name, digest in jars.digests.items():
        path = folder / name
        if not path.is_file():
            wrong[name] = _MISSING
        elif (found := _digest(path)) != digest:
            wrong[name] = f"sha-256 {found}, expected {digest}"
    return wrong


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SurroundingsError(f"Cannot read {path}: {error.strerror or error}") from error


def spark_home() -> Path:
    """Return where Spark is: ``SPARK_HOME``, else the folder of the package.

    Raises:
        SurroundingsError: there is none.
    """
    given = os.environ.get("SPARK_HOME", "")
    if given:
        return Path(given)
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise not_installed("starting Java", "pyspark")
    return Path(found.origin).parent


def _resolve(jars: Jars, cache: Path) -> None:
    """Run an empty program with ``spark-submit``, which asks for the packages."""
    program = cache / "nothing.py"
    program.write_text("")
    home = spark_home()
    environ = {
        **os.environ,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [str(home / "bin" / "spark-submit"), *_arguments(jars, cache), str(program)]
    try:
        done = subprocess.run(  # noqa: S603 - Spark's own launcher, arguments made here
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
            preexec_fn=bound(),
        )
    except OSError as error:
        raise SurroundingsError(f"Cannot start Spark's resolver: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise SurroundingsError(
            f"{jars.name} were not downloaded within {_SECONDS} seconds. {_advice(jars)}"
        ) from error
    if done.returncode:
        raise SurroundingsError(f"{_tail(done.stdout)}\n{jars.name}: {_advice(jars)}")


def _arguments(jars: Jars, cache: Path) -> list[str]:
    arguments = ["--master", "local[1]", "--packages", jars.coordinate]
    arguments += ["--exclude-packages", jars.foreign, "--conf", f"spark.jars.ivy={cache}"]
    repository = os.environ.get("ACLKIT_MAVEN_REPOSITORY", "")
    return [*arguments, "--repositories", repository] if repository else arguments


def _install(jars: Jars, fetched: Path, folder: Path) -> None:
    wrong = wrong_jars(jars, fetched)
    if wrong:
        found = "; ".join(f"{name}: {what}" for name, what in wrong.items())
        raise SurroundingsError(f"The resolver did not download the expected jars: {found}")
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True)
            folder.chmod(0o755)
        for name in jars.digests:
            # A copy under another name first: who is killed half way leaves no half jar.
            part = folder / f".{name}.part"
            shutil.copyfile(fetched / name, part)
            part.chmod(FOR_EVERYBODY)  # as the package itself, whose users may be several
            part.replace(folder / name)
    except OSError as error:
        raise SurroundingsError(f"Cannot copy {jars.name} to {folder}: {error}") from error


def _tail(output: bytes) -> str:
    """Return the last lines, without the password that a mirror's address may hold."""
    lines = _PASSWORD.sub("//***@", output.decode(errors="replace")).splitlines()
    return "\n".join(lines[-_LAST_LINES:])


def _advice(jars: Jars) -> str:
    return (
        "Spark's resolver needs the network once. Behind a mirror, set "
        "ACLKIT_MAVEN_REPOSITORY to its address. Without a network, copy the jars to a folder "
        f"and set {jars.variable} to that folder."
    )
