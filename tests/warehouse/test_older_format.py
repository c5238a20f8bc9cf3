"""A warehouse of before aclkit 0.3.0 is refused by every command, and nothing in it is changed."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from aclkit.warehouse.formats import FORMAT, OLDEST, OLDEST_COMMIT, OLDEST_RELEASE, STEPS
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.store import Store
from tests.cli.running import run
from tests.untouched import left_alone

ROOT = Path(__file__).parents[2]
LISTED = """\
Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)`:
\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)
"""
SETTINGS = ("--super-users", "User:admin", "--no-allow-everyone", "--fail-on", "never")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Two nights of the present code."""
    folder = tmp_path_factory.mktemp("older")
    listing = folder / "listing.txt"
    for user in ("User:a", "User:b"):
        listing.write_text(LISTED.replace("User:a", user), encoding="utf-8")
        run("--warehouse", folder / "w", "run", "--source", f"acls-list:{listing}", *SETTINGS)
    return folder


def set_back(warehouse, number):
    """Let every run have left the tables in an older format."""
    store = Store(None, str(warehouse))
    rows = [replace(each, format_number=number).row() for each in store.all_runs()]
    store.replace(JOB_RUN, rows, None)


@pytest.fixture(scope="module", params=[0, OLDEST - 1])
def older(place, request, tmp_path_factory):
    """The same in a format that is too old; the first ones had no number."""
    folder = tmp_path_factory.mktemp("set-back") / "folder"
    shutil.copytree(place, folder)
    set_back(folder / "w", request.param)
    return folder


SOURCE = "acls-list:listing.txt"
COMMANDS = [
    ("run", "--source", SOURCE, *SETTINGS),
    ("run", "--source", SOURCE, *SETTINGS, "--rebuild"),
    ("run", "--source", SOURCE, *SETTINGS, "--rebuild", "--force"),
    ("replay", "--source", SOURCE),
    ("materialize",),
    ("materialize", "--rebuild"),
    ("maintain",),
    ("maintain", "--dry-run"),
    ("usage", "--authorizer-log", "listing.txt"),
    ("acls", "add", "--allow-principal", "User:x", "--operation", "Read", "--topic", "t"),
    ("who-can", "READ", "topic:t"),
    ("what-can", "User:a", "topic"),
    ("why", "User:a", "READ", "topic:t"),
    ("can", "User:a", "READ", "topic:t"),
    ("history", "User:a", "READ", "topic:t"),
    ("show", "topic:t"),
    ("acls", "list"),
    ("changes",),
    ("diff", "0", "1"),
    ("audit",),
    ("denials",),
    ("report",),
    ("export", "acls", "--format", "csv"),
    ("sql", "SELECT 1"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_refuses_it_in_one_line_and_changes_nothing(older, words, monkeypatch):
    monkeypatch.chdir(older)
    with left_alone(older):
        said = run("--warehouse", "w", *words, code=4)
    assert said.stdout == ""
    (line,) = [each for each in said.stderr.splitlines() if "have format" in each]
    assert said.stderr.splitlines()[-1] == line
    assert f"Run aclkit {OLDEST_RELEASE} (commit {OLDEST_COMMIT}) on it once: all is kept." in line
    assert "Or start a new warehouse from the sources: it lacks" in line
    assert line.endswith("Nothing was changed.")


def test_the_newest_run_tells_the_format_and_not_the_runs_before(place, tmp_path):
    shutil.copytree(place / "w", tmp_path / "w")
    store = Store(None, str(tmp_path / "w"))
    *before, newest = store.all_runs()
    rows = [*(replace(each, format_number=0).row() for each in before), newest.row()]
    store.replace(JOB_RUN, rows, None)
    assert open_warehouse(str(tmp_path / "w")).run.format_number == FORMAT


def test_the_oldest_format_is_read_and_gets_the_steps_after_it(place, tmp_path):
    shutil.copytree(place, tmp_path / "folder")
    where = tmp_path / "folder" / "w"
    set_back(where, OLDEST)
    assert open_warehouse(str(where)).run.format_number == OLDEST
    run("--warehouse", where, "maintain")
    assert open_warehouse(str(where)).run.format_number == FORMAT == OLDEST + len(STEPS)


def test_the_commit_that_the_refusal_names_is_the_release_with_the_oldest_format():
    if not (ROOT / ".git").exists():
        pytest.skip("no history here")

    def git(*words):
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
        )

    if git("cat-file", "-e", OLDEST_COMMIT).returncode:
        pytest.skip("a copy without its history")
    assert git("merge-base", "--is-ancestor", OLDEST_COMMIT, "HEAD").returncode == 0
    assert f'"{OLDEST_RELEASE}"' in git("show", f"{OLDEST_COMMIT}:aclkit/__init__.py").stdout
    formats = git("show", f"{OLDEST_COMMIT}:aclkit/warehouse/formats.py").stdout
    assert formats.count("    Step(") == OLDEST
