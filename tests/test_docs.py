"""The documentation says what the program does: references, examples, outputs and links."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import click
import pytest
from click.testing import CliRunner

from aclkit import api
from aclkit.cli import cli
from aclkit.cli.help import described, walk
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
    headings,
    links,
    tables_markdown,
)

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in DOCUMENTS}
README = TEXTS["README.md"]
CHANGES, CHANGE_SET = TEXTS["docs/changes.md"], TEXTS["docs/comparing.md"]
GENERATED = ("docs/cli.md", "docs/tables.md", "docs/findings.md")
MOST_LINES = {
    "README.md": 160,
    "docs/DESIGN.md": 330,
    "docs/comparing.md": 430,
    "CHANGELOG.md": None,
}
"""Of the pages that people write; any other has at most 200 lines."""
COMMANDS = commands(cli)
SHOWN = [(name, shown) for name, text in TEXTS.items() for shown in console_commands(text)]
PYTHON = [(name, block) for name, text in TEXTS.items() for block in code_blocks(text, "python")]
WRITTEN = [
    *(line for name in COMMANDS for line in examples(COMMANDS[name])),
    *(line for text in TEXTS.values() for line in command_lines(text)),
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


def test_index_of_the_commands_is_that_of_the_commands(generated):
    found = described([("", cli), *walk(cli, click.Context(cli))])
    said = {words: asdict(command) for words, command in found.items()}
    generated("../aclkit/cli/data/commands.json", json.dumps(said, indent=1) + "\n")


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


def test_reference_of_the_tables_has_every_view():
    views = view_sql(set(TABLES) - {"explain"})
    assert [view for view in views if f"| `{view}` |" not in TEXTS["docs/tables.md"]] == []


@pytest.mark.parametrize("name", sorted(set(TEXTS) - set(GENERATED)))
def test_a_page_that_people_write_is_short(name):
    most = MOST_LINES.get(name, 200)
    assert most is None or len(TEXTS[name].splitlines()) <= most


def test_readme_is_narrow():
    assert [line for line in README.splitlines() if len(line) > 100] == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/*.md")), ids=lambda path: path.name)
def test_readme_leads_to_every_page(path):
    assert path in [target.absolute() for target, _ in links(ROOT / "README.md")]


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
def test_readme_mentions_every_command_and_a_page_every_command_of_a_group(name):
    pages = [text for page, text in TEXTS.items() if page != "docs/cli.md"]
    text = "\n".join(pages) if " " in name else README
    assert f"`{name}`" in text or f"aclkit {name}" in text


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
    assert [target for target, _ in links(path) if not target.exists()] == []
    named = [(target, heading) for target, heading in links(path) if heading]
    assert [link for link in named if link[1] not in headings(link[0].read_text("utf-8"))] == []


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of ``make docs``, made without any network, or the reason why it is not."""
    folder = tmp_path_factory.mktemp("site") / "site"
    config = ROOT / "docs" / "site" / "mkdocs.yml"
    words = ["-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(config), "-d", str(folder)]
    done = subprocess.run(
        [sys.executable, *words],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.mark.slow
def test_the_site_has_every_page_and_what_they_link_to(site):
    pages = {path.relative_to(ROOT / "docs").with_suffix("") for path in ROOT.glob("docs/**/*.md")}
    made = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}
    assert {path for path in pages if path.name != "README"} <= made
    for path, _ in links(ROOT / "docs" / "operations.md"):
        if path.suffix == ".toml":
            assert (site / "files" / path.resolve().relative_to(ROOT)).read_bytes()


@pytest.mark.slow
def test_links_of_the_site_lead_to_files_and_headings_in_it(site):
    """Also those that mkdocs does not look at: of menus, and in HTML."""
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    names = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    broken = [
        (page.name, target)
        for page, text in pages.items()
        if page.name != "404.html"  # its links begin at the root of a server
        for target in re.findall(r'\b(?:href|src)="([^"]+)"', text)
        if not re.match(r"[a-z]+:", target) and not leads(page, unescape(unquote(target)), names)
    ]
    assert broken == []


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site):
    loaded = [
        address
        for page in site.rglob("*.html")
        for address in re.findall(
            r'<(?:script|img|link)\b[^>]*?\b(?:src|href)="(?:https?:)?//[^"]+',
            page.read_text(encoding="utf-8"),
        )
    ]
    assert loaded == []


def leads(page: Path, target: str, names: dict[Path, set[str]]) -> bool:
    """Whether a link of a page leads to a file, and to a heading where it names one."""
    path, _, heading = target.partition("#")
    found = (page.parent / path).resolve() if path else page
    return found.exists() and (not heading or heading in names.get(found, set()))


@pytest.fixture(scope="session")
def shown_place(demo_warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks as the reader's after the commands of the pages."""
    place = tmp_path_factory.mktemp("reader")
    (place / "conf").symlink_to(ROOT / "conf")
    (place / "warehouse").mkdir()
    (place / "warehouse" / "demo").symlink_to(demo_warehouse)
    shutil.copytree(demo_warehouse, place / "warehouse" / "next")
    (record,) = re.findall(r'^\{"offset":1020,.*\n', CHANGES, re.MULTILINE)
    (place / "next.jsonl").write_text(record, encoding="utf-8")
    (users,) = (each for each in code_blocks(CHANGE_SET, "yaml") if "kind: KafkaUser" in each)
    (place / "newcomer.yaml").write_text(users, encoding="utf-8")
    (watch,) = code_blocks(CHANGE_SET, "toml")
    (place / "watch.toml").write_text(watch, encoding="utf-8")
    settings = ["--config", str(ROOT / "conf" / "demo.toml"), "--dense", "never"]
    settings += ["--warehouse", str(place / "warehouse" / "next")]
    source = f"records:{place / 'next.jsonl'}"
    result = CliRunner().invoke(cli, ["run", *settings, "--source", source])
    assert result.exit_code == 0, result.output
    return place


@pytest.mark.slow
@pytest.mark.timeout(1_200)  # the first one makes two warehouses
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("name", "shown"), SHOWN, ids=str)
def test_documents_show_what_the_commands_print(
    name, shown: Shown, shown_place, monkeypatch, request
):
    monkeypatch.chdir(shown_place)
    # A terminal of 80 columns; a pipe has none.
    env = {"ACLKIT_WAREHOUSE": "warehouse/demo", "COLUMNS": "" if shown.pipe else "80"}
    result = CliRunner().invoke(cli, shown.arguments, env=env)
    # A shell shows what comes on stderr too, and pipes stdout alone.
    text = piped(result.stdout, shown.pipe) if shown.pipe else result.output
    printed = "".join(f"{line}\n" for line in dated(text).splitlines())
    if request.config.getoption("--update-golden"):
        show_instead(ROOT / name, shown, printed)
        return
    assert printed.splitlines() == shown.output.splitlines()


def show_instead(path: Path, shown: Shown, printed: str) -> None:
    """Put what a command prints now in the place of what a document shows behind it."""
    text = path.read_text(encoding="utf-8")
    lead = "$ " + shown.command.replace("\n", "\n> ") + "\n"
    before, after = lead + shown.output, lead + printed
    assert before in text, f"{path.name} has no {before!r}"
    path.write_text(text.replace(before, after), encoding="utf-8")


def dated(text: str) -> str:
    """Write the time of the reader's run as the documents have it."""
    text = re.sub(r"\bas of \d{4}-\d\d-\d\d \d\d:\d\d UTC", "as of 2026-11-26 08:13 UTC", text)
    return re.sub(r'"(as_of(?:_time)?)": "\d{4}-[^"]*Z"', r'"\1": "2026-11-26T08:13:00Z"', text)


def piped(text: str, pipe: str) -> str:
    """Return what a shell's filters make of a text, without the blanks that they leave at ends."""
    if not pipe:
        return text
    done = subprocess.run(
        pipe, shell=True, input=text, capture_output=True, encoding="utf-8", check=True
    )
    return re.sub(r" +$", "", done.stdout, flags=re.MULTILINE)


@pytest.mark.slow
@pytest.mark.timeout(1_200)  # it may be the first that asks for the warehouse
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("name", "block"), PYTHON, ids=lambda text: text.partition("\n")[0])
def test_python_of_the_documents_runs(name, block, shown_place, monkeypatch, capsys):
    monkeypatch.chdir(shown_place)
    exec(compile(block, name, "exec"), {})
    assert "ALLOWED" in capsys.readouterr().out


def test_readme_and_the_pages_for_readers_show_outputs():
    pages = Counter(name for name, _ in SHOWN)
    assert pages["README.md"] >= 2
    assert pages["docs/questions.md"] >= 5
    assert pages["docs/sql.md"] >= 12
    for page in ("denied", "metadata-log", "managed-kafka", "audit-afternoon", "comparing"):
        assert pages[f"docs/{page}.md"] >= 2


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *PYTHON,
        *((path.name, path.read_text(encoding="utf-8")) for path in ROOT.glob("notebooks/*.py")),
    ],
    ids=lambda text: text.partition("\n")[0],
)
def test_others_import_the_public_module_alone(name, code):
    imports = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    whole = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import)]
    found = {node.module for node in imports} | {one.name for node in whole for one in node.names}
    assert {module for module in found if is_ours(module)} <= {"aclkit.api", "aclkit.spark"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_name_no_class_outside_the_public_module(path):
    """As in ``--principal-builder module:Class``."""
    named = re.findall(r"\b(aclkit[\w.]*):([A-Z]\w+)", path.read_text(encoding="utf-8"))
    assert [name for module, name in named if module != "aclkit.api"] == []
    assert [name for _, name in named if name not in api.__all__] == []


def test_the_public_module_is_documented_whole():
    assert [name for name in api.__all__ if f"`{name}`" not in TEXTS["docs/python.md"]] == []


def is_ours(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "aclkit"
