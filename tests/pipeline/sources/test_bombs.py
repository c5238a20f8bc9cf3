"""Small files that unpack to much, or hold a line without an end: each reader says so and ends."""

from __future__ import annotations

import bz2
import gzip
import resource
import sys

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.pipeline.sources import files, text_lines
from aclkit.runtime.safe_read import MIB

LIMIT = MIB
DATA = b"a" * (LIMIT + 1)
PACKED = {".gz": gzip.compress(DATA), ".bz2": bz2.compress(DATA)}

READERS = {
    "dump-log": ["replay", "--source", "dump-log:{file}"],
    "records": ["replay", "--source", "records:{file}"],
    "acls-list": ["replay", "--source", "acls-list:{file}"],
    "desired": ["desired", "show", "{file}"],
    "csv": ["desired", "show", "--from", "csv", "{file}"],
    "jikkou": ["desired", "show", "--from", "jikkou", "{file}"],
    "plan": ["desired", "show", "--from", "terraform-plan", "{file}"],
    "state": ["desired", "show", "--from", "terraform-state", "{file}"],
    "script": ["desired", "show", "--from", "script", "{file}"],
    "base": ["preview", "apply", "--base", "{file}", "{file}"],
    "prove": ["prove", "same", "{file}", "{file}"],
    "policies": ["prove", "never", "{file}", "{file}"],
}
"""Each command that reads a stranger's text, as it is called."""


@pytest.fixture
def limited(monkeypatch):
    """The limits as small as they can be for a test."""
    monkeypatch.setattr(files, "LARGEST_UNPACKED", LIMIT)
    monkeypatch.setattr(text_lines, "LONGEST_LINE", LIMIT // 2)


def told(tmp_path, reader, file):
    words = [word.replace("{file}", str(file)) for word in READERS[reader]]
    result = CliRunner().invoke(cli, ["--warehouse", str(tmp_path / "w"), *words])
    assert isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("reader", ["dump-log", "records", "acls-list"])
def test_what_unpacks_to_too_much_is_refused(limited, tmp_path, reader, ending):
    file = tmp_path / f"bomb{ending}"
    file.write_bytes(PACKED[ending])
    result = told(tmp_path, reader, file)
    assert result.exit_code in {2, 3}, result.output
    assert "unpacked: expected a file of at most 1 MiB, found a larger one" in result.stderr


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "content",
    [DATA, b"\0" * LIMIT, b"[" * LIMIT, b'{"a":' * 9_999, b'"' * 9_999, gzip.compress(DATA)[:99]],
    ids=["letters", "nul", "brackets", "objects", "quotes", "cut"],
)
def test_a_text_without_an_end_is_refused_in_words(limited, tmp_path, reader, content):
    file = tmp_path / ("cut.gz" if content.startswith(b"\x1f\x8b") else "text")
    file.write_bytes(content)
    before = peak()
    result = told(tmp_path, reader, file)
    assert result.exit_code in {2, 3, 4}, result.output
    assert "\nError: " in f"\n{result.stderr}"
    assert len(result.stderr) < 5_000
    assert peak() - before < 600 * MIB


def peak():
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found * 1_024


@pytest.mark.parametrize("reader", ["dump-log", "records", "acls-list"])
def test_a_line_that_is_far_too_long_is_named(limited, tmp_path, reader):
    file = tmp_path / "text"
    file.write_bytes(b"\n" + DATA)
    result = told(tmp_path, reader, file)
    assert result.exit_code == 3
    assert "text:2: a line of more than" in result.stderr
