"""Tests see nothing of whoever runs them: some look, and one runs those in hostile surroundings."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.cli.help import read_index
from tests.surroundings import kept

ROOT = Path(__file__).parent.parent
AT_IMPORT = dict(os.environ)
ASKED = ["can", "User:alice", "READ", "topic:payments"]

HOSTILE = {
    "ACLKIT_WAREHOUSE": "warehouse/demo",
    "ACLKIT_CONFIG": "aclkit.toml",
    "ACLKIT_CLUSTER": "none",
    "ACLKIT_FORMAT": "json",
    "ACLKIT_SUPER_USERS": "User:mallory",
    "ACLKIT_DRIVER_MEMORY": "much",
    "ACLKIT_ALERT_WEBHOOK": "https://alerts.invalid/",
    "ACLKIT_FAIL_POINT": "before-publish",
    "_ACLKIT_COMPLETE": "bash_source",
    "AWS_ENDPOINT_URL": "http://s3.invalid",
    "CI": "true",
    "COLUMNS": "20",
    "GIT_DIR": "/nowhere",
    "PYSPARK_SUBMIT_ARGS": "--master spark://nowhere:7077 pyspark-shell",
    "SPARK_HOME": "/nowhere",
    "XDG_CACHE_HOME": "/nowhere",
}
SETTINGS = 'warehouse = "warehouse/demo"\nlock-timeout = "never"\nno-such-option = 1\n'


BY_LIBRARIES = {"_RJEM_MALLOC_CONF", "SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE"}
"""What libraries put into the environment of a process that loads them."""


@pytest.mark.parametrize("env", [AT_IMPORT, os.environ], ids=["on import", "in a test"])
def test_no_variable_is_seen_that_is_not_listed(env):
    seen = env.keys() - kept(env).keys()
    assert seen <= {"HOME", *BY_LIBRARIES}


def test_no_listed_variable_sets_an_option():
    options = {name for command in read_index().values() for name in command.options}
    assert kept({f"ACLKIT_{name.upper()}": "x" for name in {*options, "config"}}) == {}


def test_the_home_is_empty():
    assert [*Path.home().iterdir()] == []


def test_the_folder_holds_no_settings_and_no_warehouse():
    assert not Path.cwd().is_relative_to(ROOT)
    assert [*Path.cwd().iterdir()] == []
    asked = CliRunner().invoke(cli, ASKED)
    assert (asked.exit_code, asked.stdout) == (2, "")
    assert "No warehouse given." in asked.stderr


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which somebody has worked, with these tests and a home full of settings."""
    (tmp_path / "tests").mkdir()
    for name in ("conftest.py", "by_file.py", "surroundings.py", "untouched.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests")
    shutil.copy(__file__, tmp_path / "tests")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "aclkit.toml").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "warehouse" / "demo" / "_aclkit").mkdir(parents=True)
    home = tmp_path / "home"
    (home / ".aws").mkdir(parents=True)
    (home / ".aws" / "config").write_text(
        "[default]\nendpoint_url = http://s3.invalid\n", encoding="utf-8"
    )
    (home / ".gitconfig").write_text("[commit]\ngpgsign = true\n", encoding="utf-8")
    (home / "aclkit.toml").write_text(SETTINGS, encoding="utf-8")
    return tmp_path


def test_hostile_surroundings_are_seen_by_no_test(checkout):
    # By a worker, as `make test` runs them: it inherits what its parent leaves it.
    command = ["-m", "pytest", "-q", "-n", "1", "-k", "not hostile", "tests"]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=checkout,
        env={**os.environ, **HOSTILE, "HOME": str(checkout / "home")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout
