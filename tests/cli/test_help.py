"""Help: -h fits a screen, --help has everything, and every first line is whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import aclkit
from aclkit.cli import cli
from aclkit.cli.help import RARE, walk

COMMANDS = dict(walk(cli, click.Context(cli)))
MOST_LINES = 30
"""Of a screen of 80 columns; most commands take fewer."""


def printed(*words: str) -> str:
    result = CliRunner().invoke(cli, words, prog_name="aclkit", terminal_width=80)
    assert result.exit_code == 0, result.output
    return result.output


def test_short_help_fits_a_screen_and_names_every_command():
    lines = printed("-h").splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    words = re.findall(r"[\w-]+", "\n".join(lines))
    shown = [name for name, command in COMMANDS.items() if not command.hidden]
    assert [name for name in shown if " " not in name and name not in words] == []
    for heading in ("Ask", "Change", "Audit", "Run", "Share"):
        assert any(line.startswith(heading) for line in lines)


@pytest.mark.parametrize("name", COMMANDS)
def test_short_help_of_a_command_fits_a_screen(name):
    text = printed(*name.split(), "-h")
    assert len(text.splitlines()) <= MOST_LINES
    assert "Example:" in text
    assert f"aclkit {name} --help" in text


def test_short_help_leaves_out_the_rare_options_and_the_details():
    short, whole = printed("why", "-h"), printed("why", "--help")
    assert "--host" in short
    assert "--columns" in whole
    assert "--columns" not in short
    assert len(short.splitlines()) * 3 < len(whole.splitlines()) * 2


def test_every_rare_option_exists():
    known = {opt for command in (cli, *COMMANDS.values()) for p in command.params for opt in p.opts}
    assert known >= RARE


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_line_is_whole_within_52_characters(name):
    first = COMMANDS[name].get_short_help_str(limit=1_000)
    assert len(first) <= 52
    assert not first.endswith("...")


def test_whole_help_has_the_commands_in_groups_each_with_its_line():
    text = printed("--help")
    assert "..." not in text.partition("\nAsk:")[2]
    headings = re.findall(r"^([A-Z]\w+):$", text, re.MULTILINE)
    assert headings == ["Options", "Ask", "Change", "Audit", "Run", "Share"]


@pytest.mark.parametrize("words", [(), ("why",), ("prove", "no-more"), ("help",)])
def test_the_command_help_prints_what_the_option_does(words):
    assert printed("help", *words) == printed(*words, "--help")


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("whi",), "Did you mean why?"),
        (("why", "not"), "aclkit why has no subcommands."),
        (("prove", "no-mor"), "Did you mean 'no-more'?"),
    ],
)
def test_help_about_what_does_not_exist_is_refused(words, wrong):
    result = CliRunner().invoke(cli, ["help", *words], prog_name="aclkit")
    assert (result.exit_code, wrong in result.stderr) == (2, True), result.stderr


def test_the_index_of_commands_is_read_from_an_archive_too(tmp_path):
    """So does a job that spark-submit gets by --py-files."""
    root = Path(aclkit.__file__).parent
    with zipfile.ZipFile(tmp_path / "aclkit.zip", "w") as archive:
        for path in root.rglob("*"):
            if path.suffix in (".py", ".json"):
                archive.write(path, path.relative_to(root.parent))
    program = "import aclkit; from aclkit.cli.help import read_index; read_index()['run'];"
    program += "print(aclkit.__file__)"
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "aclkit.zip")}
    told = subprocess.run(
        [sys.executable, "-c", program], env=env, cwd=tmp_path, check=True, capture_output=True
    )
    assert "aclkit.zip" in told.stdout.decode()
