"""What pages name in `code` is there: options, files, and the names of functions and constants."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import click
import pytest

from aclkit.cli import cli
from aclkit.cli.help import walk

ROOT = Path(__file__).parent.parent
MADE = {"cli.md", "tables.md", "findings.md"}
PAGES = [
    path
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    if path.name not in {*MADE, "CHANGELOG.md"}
]
CODE = ("aclkit", "jobs", "conf", "tests", "notebooks", ".ci")
FOREIGN = {
    # Words of Kafka, Confluent and others that no code needs.
    "ClusterAuthorizationException", "DelegationTokenAuthorizationException",
    "GroupAuthorizationException", "KAFKA_LOG_DIRS", "TopicAuthorizationException",
    "TransactionalIdAuthorizationException", "UserV2", "claude_desktop_config", "kraftMetadata",
    "pull_request_target", "readStream",
}  # fmt: skip

_BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"`([^`\n]+)`")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
_PATH = re.compile(r"(?<![\w.:/…*-])[\w.-]+(?:/[\w.-]+)*(?![\w*{…])")
_WORD = re.compile(r"(?<![\w-])[A-Za-z_]\w*(?![\w-])")


def spans(text):
    """The pieces of code in the sentences of a page; its blocks are tested where they are run."""
    return _SPAN.findall(_BLOCK.sub("", text))


@cache
def sources():
    """The files of the project that are code; sample data and what is made aside."""
    return [
        path
        for folder in CODE
        for path in (ROOT / folder).rglob("*")
        if path.suffix not in {".pyc", ".ipynb", ".gz", ".png"}
        and not path.is_relative_to(ROOT / "tests" / "data")
        and path.name != Path(__file__).name
    ]


@cache
def words():
    """All names in the code."""
    plain = [path for path in sources() if path.is_file()]
    plain += [ROOT / "Makefile", ROOT / "pyproject.toml"]
    return {
        word
        for path in plain
        for word in re.findall(r"[A-Za-z_]\w*", path.read_text(encoding="utf-8", errors="replace"))
    }


@cache
def options():
    """Options of all commands, and those that the code of aclkit or a tool of the tests writes."""
    folders = ROOT / "aclkit", ROOT / "tests" / "tools"
    written = (path for folder in folders for path in folder.rglob("*.py"))
    return {
        option
        for _, command in [("", cli), *walk(cli, click.Context(cli))]
        for parameter in command.params
        for option in [*parameter.opts, *parameter.secondary_opts]
    } | {
        option
        for path in [*written, ROOT / "tests" / "conftest.py"]
        for option in _OPTION.findall(path.read_text(encoding="utf-8"))
    }


def is_there(path):
    """Whether a path names a file or folder, from the root on or from a folder on."""
    return any(f"/{each.relative_to(ROOT)}".endswith(f"/{path}") for each in sources())


def is_ours(path):
    """Whether a path is that of code: users have other files."""
    folders = {*CODE, *(each.name for each in (ROOT / "aclkit").iterdir() if each.is_dir())}
    return path.endswith((".py", ".j2")) or ("/" in path and path.partition("/")[0] in folders)


def unknown(text):
    """What a page names and the project does not have."""
    for span in spans(text):
        yield from (each for each in _OPTION.findall(span) if each not in options())
        paths = (each.rstrip("/.") for each in _PATH.findall(span))
        yield from (each for each in paths if is_ours(each) and not is_there(each))
        for word in _WORD.findall(span):
            is_name = "_" in word.strip("_") or re.search(r"[a-z][A-Z]", word)
            if is_name and not word.startswith("ACLKIT_") and word not in words():
                yield word


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_names_only_what_is_there(page):
    assert {*unknown(page.read_text(encoding="utf-8"))} - FOREIGN == set()


def test_no_foreign_word_is_kept_that_no_page_names():
    named = {each for page in PAGES for each in unknown(page.read_text(encoding="utf-8"))}
    assert named >= FOREIGN


@pytest.mark.parametrize(
    "gone",
    ["--no-such-option", "`pipeline/explain/broadcast.py`", "`broadcast.py`", "`_MOST_BROADCAST`",
     "`scope.take_gone_names()`", "`GoneClass`"],
)  # fmt: skip
def test_what_is_gone_is_found(gone):
    text = gone if gone.startswith("`") else f"`aclkit why {gone}`"
    assert [*unknown(f"A page says {text}.")] != []
