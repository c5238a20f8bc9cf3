"""A wheel → an environment of its own, with what the wheel asks for alone; its commands are run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.surroundings import kept

ROOT: Final = Path(__file__).parents[2]
MOST_SECONDS: Final = 1_200


class FailedError(Exception):
    """What is installed, or installs, does not do what it should."""


def environment(**env: str) -> dict[str, str]:
    """Return the variables for programs of others: no option of aclkit, no Python's of this one."""
    inherited = kept(os.environ).items()
    mine = {name: value for name, value in inherited if not name.startswith("PYTHON")}
    return {**mine, **{name: os.environ[name] for name in ("HOME",) if name in os.environ}, **env}


def run(*words: str | Path, cwd: Path = ROOT, code: int = 0, **env: str) -> tuple[str, str]:
    """Run a program and return what it prints on stdout and on stderr.

    Raises:
        FailedError: it ends with another exit code than ``code``, or does not end.
    """
    line = " ".join(map(str, words))
    try:
        done = subprocess.run(
            list(map(str, words)),
            cwd=cwd,
            env=environment(**env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FailedError(f"{line} did not end in {MOST_SECONDS} s") from None
    if done.returncode != code:
        told = (done.stderr or done.stdout).strip().splitlines()[-8:]
        raise FailedError("\n".join([f"{line}: {done.returncode}, expected {code}", *told]))
    return done.stdout, done.stderr


def uv(*words: str | Path, **env: str) -> str:
    """Run uv and return what it prints.

    Raises:
        FailedError: it fails.
    """
    return run(sys.executable, "-m", "uv", *words, **env)[0]


def new_environment(folder: Path, python: str | Path = sys.executable) -> Path:
    """Make an environment without any package; return its Python."""
    uv("venv", "--quiet", "--no-project", "--python", python, folder)
    return folder / "bin" / "python"


def install(python: Path, wheel: Path, *extras: str) -> None:
    """Install a wheel with what it asks for, by its extras too."""
    wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
    uv("pip", "install", "--quiet", "--python", python, wanted)
    uv("pip", "check", "--quiet", "--python", python)
