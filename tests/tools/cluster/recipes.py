"""The ways by which a job gets aclkit, as docs/cluster.md says them.

The Pythons here have what aclkit needs and not aclkit itself, so a job that runs has it from
where the recipe says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
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
        RuntimeError: aclkit is installed where only its dependencies should be.
    """
    for name in _CARRIED:
        shutil.copytree(ROOT / name, folder / name)
    (package,) = (folder / "dist").glob("aclkit-*.zip")
    (wheel,) = (folder / "dist").glob("aclkit-*.whl")
    bare, full = _environment(folder / "bare"), _environment(folder / "full", wheel)
    if _has_aclkit(bare, folder):
        raise RuntimeError("the zip cannot be tried: aclkit is installed beside its dependencies")
    if not _has_aclkit(full, folder):
        raise RuntimeError(f"{wheel.name} is installed, and aclkit cannot be imported")
    carried = ("--py-files", str(package.relative_to(folder)))
    return Recipe("zip", folder, bare, carried), Recipe("wheel", folder, full)


def _environment(folder: Path, wheel: Path | None = None) -> Path:
    """Make an environment with the packages of this one, those that are linked aside."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    if wheel is not None:  # before the packages of this one are seen from there
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
        subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def _has_aclkit(python: Path, folder: Path) -> bool:
    """Whether a Python can import aclkit, as it is started there."""
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    words = [str(python), "-c", "import aclkit"]
    done = subprocess.run(
        words, cwd=folder, env=environ, stderr=subprocess.DEVNULL, check=False
    )  # fmt: skip
    return done.returncode == 0
