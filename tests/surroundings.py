"""The environment of a shell → that of tests: what is listed here stays, and nothing else is seen.

Whoever runs the tests has a home with settings, variables that set options of aclkit, and in the
checkout a warehouse and an ``aclkit.toml``. Tests say what they want of these themselves.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

KEPT: Final = (
    # Of the tests themselves.
    "ACLKIT_BROWSER", "ACLKIT_FUZZ", "ACLKIT_HYPOTHESIS", "ACLKIT_WRITER_ROUNDS",
    # Where jars lie, and where they are fetched.
    "ACLKIT_BROKER_JARS", "ACLKIT_JARS", "ACLKIT_KAFKA_JARS", "ACLKIT_S3_JARS",
    "ACLKIT_MAVEN_REPOSITORY",
    # Programs, scratch, zone and language, which the tests must bear whatever they are.
    "PATH", "LD_LIBRARY_PATH", "JAVA_HOME", "PYENV_*", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_*",
    # Python, and what measures it.
    "PYTHON*", "PYTEST_*", "COV_*", "COVERAGE_*",
    # Where packages are fetched, and by which way.
    "PIP_*", "UV_*", "[hH][tT][tT][pP]*_[pP][rR][oO][xX][yY]", "[nN][oO]_[pP][rR][oO][xX][yY]",
    "SSL_CERT_*", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
)  # fmt: skip
"""Names of variables that tests see, as patterns of a shell."""


def kept(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that tests see."""
    return {
        name: value
        for name, value in env.items()
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in KEPT)
    }


def enter() -> Callable[[], None]:
    """Leave this process the listed variables and an empty home; return what removes the home."""
    env = kept(os.environ)
    home = Path(tempfile.mkdtemp(prefix="aclkit-home-"))
    # pip may know its index from the home alone.
    of_pip = Path(os.environ.get("HOME", "/")) / ".config" / "pip" / "pip.conf"
    if of_pip.is_file():
        env.setdefault("PIP_CONFIG_FILE", str(of_pip))
    os.environ.clear()
    os.environ.update(env | {"HOME": str(home)})
    return lambda: shutil.rmtree(home, ignore_errors=True)
