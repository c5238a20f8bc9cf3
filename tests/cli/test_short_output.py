"""-o: a format of the command, or else a file; --output is always a file."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import run

QUESTION = ("who-can", "READ", "topic:payments")


@pytest.fixture
def ask(root, tmp_path, monkeypatch):
    """Ask in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *words, code=0: run("--warehouse", root, *QUESTION, *words, code=code)


def test_a_format_of_the_command_is_one(ask, tmp_path):
    assert json.loads(ask("-o", "json").stdout) == json.loads(ask("--format", "json").stdout)
    assert ask("-ocsv").stdout == ask("--format", "csv").stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out.json", "./json", "sarif", "JSON"])
def test_anything_else_is_a_file(ask, tmp_path, name):
    assert ask("-o", name).stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == [name.removeprefix("./")]


def test_the_long_option_is_a_file_whatever_its_name(ask, tmp_path):
    assert ask("--output", "json").stdout == ""
    assert (tmp_path / "json").is_file()


def test_a_format_and_a_file_go_together(ask, tmp_path):
    ask("-o", "json", "-o", "out")
    assert json.loads((tmp_path / "out").read_text(encoding="utf-8"))


def test_the_environment_gives_way_to_the_command_line(ask, monkeypatch):
    monkeypatch.setenv("ACLKIT_FORMAT", "csv")
    assert json.loads(ask("-o", "json").stdout)


def test_two_formats_are_refused(ask):
    assert (
        "Two formats: -o json and --format csv."
        in ask("-o", "json", "--format", "csv", code=2).stderr
    )
    ask("-o", "json", "--format", "json")


def test_for_an_export_it_stays_a_file(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("--warehouse", root, "export", "acls", "--format", "csv", "-o", "csv")
    assert (tmp_path / "csv").read_text(encoding="utf-8").startswith("resource_type,")
