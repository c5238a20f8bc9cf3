"""The command mcp: what it lacks and what makes no sense end it before it serves anything."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from tests.questions.query import small_warehouse as small


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("mcp") / "warehouse"
    small.build(path)
    return path


def test_without_the_extra_it_says_what_to_install(warehouse, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("aclkit.audit.mcp.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    result = CliRunner().invoke(cli, ["--warehouse", str(warehouse), "mcp"])
    assert result.exit_code == 4
    assert "which is not installed. Install it: pip install 'aclkit[mcp]'" in result.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--http", "8378"], "Invalid --http '8378'. Pass ADDRESS:PORT"),
        (["--http", "127.0.0.1:99999"], "Invalid --http"),
        (["--http", "127.0.0.1:0", "--token-file", "/nowhere"], "Cannot read the token"),
        (["--cluster", "other"], "Cluster 'other' is not in"),
        (["--token-file", "x"], "--token-file needs --http."),
    ],
)
def test_what_makes_no_sense_ends_before_anything_is_served(warehouse, words, says):
    result = CliRunner().invoke(cli, ["--warehouse", str(warehouse), "mcp", *words])
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_warehouse_without_a_run_is_refused(tmp_path):
    result = CliRunner().invoke(cli, ["--warehouse", str(tmp_path / "none"), "mcp"])
    assert result.exit_code == 2
    assert "has no data yet" in result.stderr
