"""The notebooks run from top to bottom on the sample warehouse."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.py"))


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.slow
@pytest.mark.timeout(1_200)  # it may be the first that asks for the warehouse
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, demo_warehouse, monkeypatch, capsys):
    monkeypatch.setenv("ACLKIT_WAREHOUSE", str(demo_warehouse))
    runpy.run_path(str(path))
    printed = capsys.readouterr().out
    assert "as of offset 1020, 627 ACLs alive" in printed
    assert "public-access" in printed
