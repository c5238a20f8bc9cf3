"""``.ci/run`` and ``make test`` with programs of ours in the place of those that they call."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STAGES = ["setup", "lint", "types", "imports", "demo", "test", "test-docs"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKE = """#!/bin/sh
shift
echo "$1" >>"$MADE"
echo "$1 in $TZ" >>"$MADE.zones"
echo "$1 ${ACLKIT_WAREHOUSE:-none} ${PATH%%:*}" >>"$MADE.exported"
case " $FAIL " in *" $1 "*) echo "FAILED $1.py::test_it - because"; exit 2 ;; esac
"""
PYTEST = """#!/bin/sh
echo "$*" >>"$MADE"
case "$*" in *"$FAIL"*) exit 1 ;; esac
"""


REFUSING = 'case "$2 $3" in "$FAIL") exit 1 ;; esac\n'
READ_BY_SETUP = [
    "aclkit/runtime/jars.py",
    "aclkit/kafka/verify/jars.py",
]


@pytest.fixture
def place(tmp_path):
    """A folder that looks as the project's, with a browser and a ``make`` that is none."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    for name in ("Makefile", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    for name, text in (("make", MAKE), ("chromium", MAKE), ("pytest", PYTEST)):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)
    return tmp_path


def run(place, command, fail):
    """Return the exit code, what was made, and what was told."""
    env = os.environ | {"MADE": str(place / "made"), "FAIL": fail, "CI": ""}
    done = subprocess.run(
        command, cwd=place, env=env, capture_output=True, encoding="utf-8", check=False
    )
    return (
        done.returncode,
        (place / "made").read_text(encoding="utf-8").splitlines(),
        done.stdout + done.stderr,
    )


def run_ci(place, fail=""):
    path = f"PATH={place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return run(place, ["env", path, "bash", ".ci/run"], fail)


def test_ci_runs_every_stage_and_says_that_all_passed(place):
    code, made, told = run_ci(place)
    assert (code, made, told.splitlines()[-1]) == (0, STAGES, "==> all passed")


def test_ci_runs_the_suite_in_new_york_and_make_where_its_user_is(place):
    run_ci(place)
    assert (place / "made.zones").read_text(encoding="utf-8").splitlines() == [
        f"{stage} in America/New_York" for stage in STAGES
    ]
    assert "TZ" not in (place / "Makefile").read_text(encoding="utf-8")


def test_ci_tests_behind_the_demo_with_what_readme_exports(place):
    run_ci(place)
    demo, exported = f"none {place / 'bin'}", f"warehouse/demo {place / '.venv' / 'bin'}"
    assert (place / "made.exported").read_text(encoding="utf-8").splitlines()[-3:] == [
        f"demo {demo}",
        f"test {exported}",
        f"test-docs {exported}",
    ]
    tried = README.index("make demo\nexport "), README.index("\nmake test\n")
    assert tried == tuple(sorted(tried))


def test_ci_runs_the_stages_behind_one_that_fails_and_tells_it_at_the_end(place):
    code, made, told = run_ci(place, "lint test")
    assert (code, made) == (1, STAGES)
    assert told.splitlines()[-4:] == [
        "==> make lint failed",
        "FAILED lint.py::test_it - because",
        "==> make test failed",
        "FAILED test.py::test_it - because",
    ]


def test_ci_ends_where_the_set_up_failed(place):
    code, made, told = run_ci(place, "setup")
    assert (code, made) == (1, ["setup"])
    assert told.splitlines()[-2] == "==> make setup failed"


def test_tests_that_failed_fail_make(place):
    command = ["make", "--no-print-directory", "-o", ".ready", "BIN=bin", "READY=.ready", "test"]
    (place / ".ready").touch()
    code, made, _ = run(place, command, "not slow")
    assert (code, len(made)) == (2, 1)


@pytest.mark.parametrize("fails", ["", "pip install"])
def test_what_pip_says_is_in_a_file_that_is_named_when_it_fails(place, fails):
    program = place / "venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(
        '#!/bin/sh\necho "$*" >>"$MADE"\necho "noise of $2 $3"\n' + REFUSING, encoding="utf-8"
    )
    program.chmod(0o755)
    shutil.copy(program, program.with_name("aclkit"))
    command = ["make", "--no-print-directory", "VENV=venv", f"PYTHON={program}", "setup"]
    for name in ("pyproject.toml", *READ_BY_SETUP):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).touch()
    code, _, told = run(place, command, fails)
    assert "noise of pip install" in (place / "venv" / "setup.log").read_text(encoding="utf-8")
    assert code == (2 if fails else 0)
    assert ("noise of pip install" in told) == bool(fails)
    assert ("Error: pip failed; all that it said is in venv/setup.log" in told) == bool(fails)
