"""The ways by which a job gets aclkit, as docs/spark-cluster.md says them.

The Pythons here have what the wheel asks for, fetched as pip fetches it, and nothing of the
environment that runs the tests. One of them lacks aclkit itself: a job that runs there has it from
where the recipe says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.tools.installed import ROOT, install, new_environment, uv

_CARRIED = ("conf", "jobs", "dist")


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to submit.

    Attributes:
        name: what is carried: the zip or the wheel.
        folder: where jobs are submitted: it has ``conf``, ``jobs`` and ``dist``.
        python: of the driver and of the workers.
        words: what it adds to the words of spark-submit.
    """

    name: str
    folder: Path
    python: Path
    words: tuple[str, ...] = ()


def make_recipes(folder: Path) -> tuple[Recipe, Recipe]:
    """Return the recipe of the zip and that of the wheel, with all that they need in a folder.

    Raises:
        FailedError: the wheel cannot be installed.
        RuntimeError: aclkit is installed where only its dependencies should be.
    """
    for name in _CARRIED:
        shutil.copytree(ROOT / name, folder / name)
    (package,) = (folder / "dist").glob("aclkit-*.zip")
    (wheel,) = (folder / "dist").glob("aclkit-*.whl")
    bare, full = (new_environment(folder / name) for name in ("bare", "full"))
    for python in (bare, full):
        install(python, wheel)
    uv("pip", "uninstall", "--quiet", "--python", bare, "aclkit")
    if _has_aclkit(bare, folder):
        raise RuntimeError("the zip cannot be tried: aclkit is installed beside its dependencies")
    if not _has_aclkit(full, folder):
        raise RuntimeError(f"{wheel.name} is installed, and aclkit cannot be imported")
    carried = ("--py-files", str(package.relative_to(folder)))
    return Recipe("zip", folder, bare, carried), Recipe("wheel", folder, full)


def _has_aclkit(python: Path, folder: Path) -> bool:
    """Whether a Python can import aclkit, as it is started there."""
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    words = [str(python), "-c", "import aclkit"]
    done = subprocess.run(
        words, cwd=folder, env=environ, stderr=subprocess.DEVNULL, check=False
    )  # fmt: skip
    return done.returncode == 0
