"""The documentation says what the program does: references, examples, outputs and links."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.views import view_sql
from tests.documents import (
    CommandLine,
    Shown,
    code_blocks,
    command_lines,
    commands,
    console_commands,
    examples,
    links,
    prose,
    tables_markdown,
)

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
COMMANDS = commands(cli)
SHOWN = list(console_commands(README))
WRITTEN = [
    *(line for name in COMMANDS for line in examples(COMMANDS[name])),
    *(line for path in DOCUMENTS for line in command_lines(path.read_text(encoding="utf-8"))),
]
"""Every command line that the help or a document shows."""


@pytest.fixture
def generated(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a generated file of docs/; ``--update-golden`` writes it."""

    def check(name: str, wanted: str) -> None:
        path = ROOT / "docs" / name
        if request.config.getoption("--update-golden"):
            path.write_text(wanted, encoding="utf-8")
        assert path.is_file(), f"no docs/{name}; write it with pytest --update-golden"
        assert path.read_text(encoding="utf-8") == wanted, f"docs/{name} is stale"

    return check


def test_reference_of_the_tables_is_that_of_the_schemas(generated):
    generated("tables.md", tables_markdown())


def test_reference_of_the_command_line_is_its_help(generated):
    # In a process of its own: click remembers how another test has called a command.
    program = "from aclkit.cli import cli; from tests.documents import *; print(cli_markdown(cli))"
    result = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    generated("cli.md", result.stdout)


@pytest.mark.parametrize("name", TABLES)
def test_readme_lists_every_table(name):
    assert re.search(rf"^\| `{name}` \| {re.escape(prose(TABLES[name].comment))} \|", README, re.M)


def test_readme_lists_every_view():
    for view in view_sql(set(TABLES) - {"explain"}, "duckdb"):
        assert f"| `{view}` |" in README


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name):
    command = COMMANDS[name]
    assert (command.help or "").strip(), f"{name} has no help"
    lines = examples(command)
    assert lines, f"the help of {name} has no Example: block with a line of aclkit"
    if name != "aclkit":
        wanted = set(name.split())
        assert all(wanted <= set(line.words) for line in lines), (
            f"an example of {name} runs another"
        )


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "aclkit"])
def test_readme_mentions_every_command(name):
    assert f"`{name}`" in README or f"aclkit {name}" in README


@pytest.mark.parametrize("line", WRITTEN, ids=str)
def test_every_command_line_shown_has_options_that_exist(line: CommandLine):
    problem = line.problem(cli)
    assert problem is None, f"{line}: {problem}"


@pytest.mark.parametrize(
    ("line", "is_good"),
    [
        ("aclkit run --source metadata-log:DIR", True),
        ("aclkit --warehouse W run --strict", True),
        ("aclkit run --warehouse W --dense=never", True),
        ("aclkit who-can READ topic:a --all", True),
        ("aclkit acls list --cluster", True),
        ("aclkit --cluster c acls add --cluster --topic a --operation All", True),
        ("aclkit acls lists", False),
        ("aclkit acls show --topic a", False),
        ("aclkit why-not User:a READ topic:a", False),
        ("aclkit run --sources x", False),
        ("aclkit --nowhere W run", False),
        ("aclkit materialize --source x", False),
    ],
)
def test_wrong_command_lines_are_recognised(line, is_good):
    assert (CommandLine.of(line).problem(cli) is None) is is_good


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path):
    missing = [target for target in links(path) if not target.exists()]
    assert not missing


@pytest.fixture(scope="session")
def shown_place(demo_warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks as the reader's after the commands of the README."""
    place = tmp_path_factory.mktemp("reader")
    (place / "warehouse").mkdir()
    (place / "warehouse" / "demo").symlink_to(demo_warehouse)
    shutil.copytree(demo_warehouse, place / "warehouse" / "next")
    (record,) = re.findall(r'^\{"offset":1020,.*\n', README, re.MULTILINE)
    (place / "next.jsonl").write_text(record, encoding="utf-8")
    settings = ["--config", str(ROOT / "conf" / "demo.toml"), "--dense", "never"]
    settings += ["--warehouse", str(place / "warehouse" / "next")]
    source = f"records:{place / 'next.jsonl'}"
    result = CliRunner().invoke(cli, ["run", *settings, "--source", source])
    assert result.exit_code == 0, result.output
    return place


@pytest.mark.slow
@pytest.mark.timeout(1_200)  # the first one makes two warehouses
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("shown", SHOWN, ids=str)
def test_readme_shows_what_the_commands_print(shown: Shown, shown_place, monkeypatch):
    monkeypatch.chdir(shown_place)
    result = CliRunner().invoke(cli, shown.arguments, env={"ACLKIT_WAREHOUSE": "warehouse/demo"})
    assert result.output.splitlines() == shown.output.splitlines()


@pytest.mark.slow
@pytest.mark.timeout(1_200)  # it may be the first that asks for the warehouse
@pytest.mark.usefixtures("spark")
def test_python_of_the_readme_runs(shown_place, monkeypatch, capsys):
    monkeypatch.chdir(shown_place)
    for block in code_blocks(README, "python"):
        exec(compile(block, "README.md", "exec"), {})
    assert "ALLOWED" in capsys.readouterr().out


def test_readme_shows_outputs():
    assert len(SHOWN) >= 8
