"""The command demo: what it leaves on the screen, and the second time."""

from __future__ import annotations

import shlex
import shutil
import sys

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.cli.nightly import PAGE
from aclkit.runtime import spark as sessions

COLUMNS, LINES = 80, 24


@pytest.fixture
def again(demo_warehouse, tmp_path, monkeypatch):
    """The demo once more, in a folder that is short enough for a line."""
    shutil.copytree(demo_warehouse, tmp_path / "warehouse" / "demo")
    for name in (PAGE, "report.html"):
        (tmp_path / "warehouse" / "demo" / name).unlink()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sessions, "build_session", lambda *_, **__: pytest.fail("Spark was started")
    )
    monkeypatch.setattr(sys, "argv", ["aclkit"])
    result = CliRunner().invoke(cli, ["demo"], env={"ACLKIT_WAREHOUSE": None})
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)  # it may be the first that asks for the warehouse
@pytest.mark.usefixtures("spark")
def test_the_second_demo_brings_nothing_new_and_ends_in_a_screenful(again, tmp_path):
    report = tmp_path / "warehouse" / "demo" / "report.html"
    lines = again.splitlines()
    assert len(lines) < LINES  # the shell's own takes the last one
    assert [x for x in lines if len(x) > COLUMNS and str(report) not in x] == []
    assert [x for x in lines if x.endswith(f" {report}")]
    assert report.read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    assert (report.parent / PAGE).is_file()

    at = lines.index("Three questions to try")
    setting, *questions = lines[at + 1 :]
    _, _, warehouse = setting.partition("=")
    assert len(questions) == 3
    for question in questions:
        words = shlex.split(question)[1:]
        result = CliRunner().invoke(cli, words, env={"ACLKIT_WAREHOUSE": warehouse})
        assert (result.exit_code, result.stdout != "") in {(0, True), (1, True)}, result.output
