"""A stdout that cannot hold a name is no error: people read escapes, programs read UTF-8."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from aclkit.cli import cli
from aclkit.cli.help import read_index
from aclkit.cli.output import JSON_READERS, PEOPLE, PROGRAMS, encodable, written_for
from tests.cli.running import Warehouse

NARROW = ("ascii", "latin-1")
TOPIC, GROUP, USER = "topic:t1", "group:grüße-🔑", "User:zoë-🔑"
RECORDS = [
    ("TOPIC_RECORD", {"name": "t1", "topicId": "AAAAAAAAAAAAAAAAAAAnEQ"}),
    *(
        (
            "ACCESS_CONTROL_ENTRY_RECORD",
            {
                "id": f"AAAAAAAAAAAAAAAAAAAA{number}A", "resourceType": kind, "resourceName": name,
                "patternType": form, "principal": who, "host": "*", "operation": operation,
                "permissionType": permission,
            },
        )
        for number, (kind, name, form, who, operation, permission) in enumerate([
            (2, "t1", 3, USER, 3, 3), (2, "t", 4, USER, 3, 3), (3, "grüße-🔑", 3, USER, 3, 3),
            (3, "grüße", 4, "User:é", 3, 2), (2, "é", 3, "User:é", 3, 3),
        ])
    ),
]  # fmt: skip
POLICY = '[[never]]\nname = "nie – é 🔑"\nprincipals = ["User:zoë-🔑"]\nresources = ["topic:t*"]\n'
FORMATS = ("table", "json", "jsonl", "csv")
ANSWERS = {
    "can": ("can", USER, "READ", TOPIC),
    "who-can": ("who-can", "READ", GROUP),
    "what-can": ("what-can", USER),
    "why": ("why", USER, "READ", GROUP),
    "history": ("history", USER, "READ", TOPIC),
    "changes": ("changes", "--since", "0"),
    "show": ("show", GROUP),
    "diff": ("diff", "0", "6"),
    "preview": ("preview", "add-acl", "--allow-principal", "User:ñ-🔑", "--topic", "t1"),
    "new topics": ("preview", "add-topic", "t2"),
    "tidy": ("tidy",),
    "remedy": ("remedy",),
    "audit": ("audit",),
    "assert": ("assert", "policy.toml"),
    "acls": ("acls", "list"),
    "desired": ("desired", "show", "wanted.txt"),
    "sql": ("sql", "SELECT DISTINCT principal FROM explain ORDER BY ALL"),
}
"""Commands that answer in every format."""

BYTES = {
    "raw": ("acls", "list", "--raw"),
    "raw ids": ("acls", "show", "--raw"),
    "script": ("export", "acls", "--format", "kafka-acls"),
    "records": ("export", "acls", "--format", "records"),
    "terraform": ("export", "acls", "--format", "terraform"),
    "export": ("export", "explain", "--format", "csv"),
    "remedy": ("remedy", "--format", "kafka-acls"),
    "spreadsheet": ("report", "--format", "spreadsheet"),
}
"""Commands whose output others read byte by byte."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("narrow")
    lines = (
        {"offset": at, "timestamp": 1_795_252_623_473 + at, "type": kind, "version": 0, "data": row}
        for at, (kind, row) in enumerate(RECORDS)
    )
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    Warehouse(folder / "wh").run(
        *("run", "--source", f"records:{folder / 'log.jsonl'}", "--fail-on", "never"),
        *("--super-users", "User:é", "--no-allow-everyone", "--cidr-hosts", "off"),
        cluster="K",
    )
    listing = Warehouse(folder / "wh").run("acls", "list", "--raw").stdout
    (folder / "wanted.txt").write_text(listing, encoding="utf-8")
    return folder


@pytest.fixture
def ask(place, monkeypatch):
    """Return what a command writes where streams have an encoding: exit code and bytes."""
    monkeypatch.chdir(place)

    def asked(words, encoding="utf-8"):
        result = CliRunner(charset=encoding).invoke(cli, ["--warehouse", "wh", *words])
        assert isinstance(result.exception, SystemExit | None), result.exception
        result.stderr_bytes.decode(encoding)
        return result.exit_code, result.stdout_bytes

    return asked


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_complete_in_every_format_and_encoding(ask, name):
    for form in FORMATS:
        words = (*ANSWERS[name], "--format", form)
        code, plain = ask(words)
        found, said = ask(words, "ascii")
        assert found == code, form
        if form == "table":
            assert len(said.decode("ascii")) >= len(plain.decode())
        elif form == "json":
            assert said.isascii()
            assert without_cost(json.loads(said)) == without_cost(json.loads(plain))
        else:
            assert said == plain


def without_cost(answer):
    """Leave out the seconds that an answer took."""
    return {**answer, "cost": None} if isinstance(answer, dict) else answer


@pytest.mark.parametrize("name", BYTES)
def test_what_others_read_byte_by_byte_is_utf_8(ask, name):
    plain = ask(BYTES[name])
    assert [ask(BYTES[name], encoding) for encoding in NARROW] == [plain] * len(NARROW)


def test_names_are_escaped_for_people(ask):
    _, said = ask(("who-can", "READ", TOPIC), "ascii")
    assert r"User:zo\xeb-\U0001f511" in said.decode("ascii")
    _, said = ask(("who-can", "READ", TOPIC), "latin-1")
    assert r"User:zoë-\U0001f511" in said.decode("latin-1")


@pytest.mark.parametrize("encoding", NARROW)
@pytest.mark.parametrize("words", sorted(read_index()))
def test_every_help_and_every_mistake_is_written(encoding, words):
    runner = CliRunner(charset=encoding)
    asked = words.split()
    for more, code in ((["--help"], 0), (["--é🔑"], 2)):
        result = runner.invoke(cli, [*asked, *more])
        assert result.exit_code == code, result.exception
        result.stdout_bytes.decode(encoding)
        result.stderr_bytes.decode(encoding)


def test_a_run_is_published_and_ends_well_whatever_its_page_is_written_on(ask, tmp_path):
    words = ("run", "--source", "records:log.jsonl", "--fail-on", "never", "--no-super-users")
    more = ("--report", str(tmp_path / "reports"), "--report-formats", "html")
    code, said = ask((*words, *more, "--warehouse", str(tmp_path / "wh")), "ascii")
    assert (code, "# Kafka access" in said.decode("ascii")) == (0, True)


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["ascii", "C"],
)
def test_a_process_of_its_own_writes_too(place, env):
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}

    def asked(*words):
        command = [sys.executable, "-m", "aclkit", "--warehouse", "wh", *words]
        return subprocess.run(command, cwd=place, env=kept | env, capture_output=True, check=False)

    shown = asked("acls", "list")
    assert shown.returncode == 0
    assert rb"User:zo\xeb-\U0001f511" in shown.stdout
    assert USER.encode() in asked("acls", "list", "--raw").stdout


@given(st.text(), st.sampled_from(("ascii", "latin-1", "cp1252", "utf-8")))
def test_any_text_can_be_written_for_anybody(text, encoding):
    for reader in (PEOPLE, JSON_READERS, PROGRAMS):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
        with written_for(reader, stream):
            stream.write(json.dumps(text, ensure_ascii=False) if reader == JSON_READERS else text)
        stream.flush()
        found = stream.buffer.getvalue()
        assert (stream.encoding, stream.errors) == (encoding, "strict")
        if reader == JSON_READERS:
            assert json.loads(found.decode(encoding)) == text
        elif reader == PEOPLE:
            assert found.decode(encoding) == encodable(text, stream)
        else:
            assert found == text.encode("utf-8", "backslashreplace")
