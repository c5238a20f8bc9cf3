"""Options, assertions and mutes in TOML: whatever is written there, reading ends well."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest
from click.testing import CliRunner

from aclkit.audit.findings.baseline import parse_mutes
from aclkit.cli import cli
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.runtime.safe_read import read_text
from tests.fuzz.mutating import VALUES, check_message, ends_well, noted, rounds

CONFIG = {
    "cluster": "c",
    "lock-timeout": 5.5,
    "super_users": "User:a;User:b",
    "allow_everyone": False,
    "verbose": False,
    "principals": "staff.csv",
    "run": {
        "source": ["records:x"],
        "at": "2026-01-01T00:00:00Z",
        "broad-share": 0.5,
        "high_watermark": 7,
        "report-formats": "html",
        "alert-retries": 2,
    },
    "who-can": {"host": ["10.0.0.1"], "format": "json", "at-offset": 3},
    "maintain": {"keep-days": 3.5, "keep-runs": 4},
    "audit": {"fail-on": "low"},
}
ASSERTIONS = {
    "super_users": True,
    "never": [
        {
            "name": "n",
            "why": "w",
            "principals": ["User:*", {"prefixed": "Svc:"}],
            "operations": ["READ"],
            "resources": ["topic:a.*"],
            "hosts": ["10.0.0.1"],
        }
    ],
    "at_most": [
        {
            "name": "m",
            "limit": 3,
            "resources": "topic:x",
            "principal_attributes": {"team": ["red", "b*"]},
        }
    ],
    "separate": [{"name": "s", "duties": [{"operations": "WRITE"}, {"operations": "ALTER"}]}],
}
MUTES = {
    "mute": [
        {
            "finding": "public-access",
            "subject": "*x*",
            "until": date(2026, 12, 31),
            "owner": "o",
            "reason": "r",
        },
        {
            "fingerprint": "f",
            "until": datetime(2026, 1, 1, tzinfo=UTC),
            "owner": "o",
            "reason": "r",
        },
    ],
}


def toml(value):
    """Write a value as TOML, all tables inline but the outermost; None as a text."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | date):
        return str(value).replace(" ", "T")
    return json.dumps(value, ensure_ascii=False)


def document(content):
    if not isinstance(content, dict):
        content = {"run": content}
    return "".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in content.items())


def read_config(path, *command):
    """Start a command that stops for want of a warehouse, at the latest."""
    result = CliRunner().invoke(cli, ["--config", str(path), *command])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    lines = [
        line for line in result.stderr.splitlines() if not line.startswith(("Usage: ", "Try '"))
    ]
    check_message("\n".join(line for line in lines if line), result.exit_code)
    assert result.exit_code == 2, result.output


COMMANDS = (("run",), ("who-can", "READ", "topic:t"), ("maintain",), ("audit",))


@pytest.fixture
def toml_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACLKIT_WAREHOUSE", raising=False)
    return tmp_path / "c.toml"


def test_options_of_other_values_end_well(toml_file):
    for mutants in rounds("config values", 200):
        content = document(mutants.value_of(CONFIG))
        toml_file.write_bytes(content.encode("utf-8", "surrogatepass"))
        ends_well(lambda: read_config(toml_file, *mutants.chance.choice(COMMANDS)), content)  # noqa: B023 - at once


def test_each_option_takes_each_value_or_refuses_it(toml_file):
    for section, options in [("run", CONFIG["run"]), ("maintain", CONFIG["maintain"])]:
        for key in options:
            for value in VALUES:
                content = f"[{section}]\n{key} = {toml(value)}\n"
                toml_file.write_bytes(content.encode("utf-8", "surrogatepass"))
                with noted(content[:300]):
                    read_config(toml_file, section)


def test_options_of_other_bytes_end_well(toml_file):
    for mutants in rounds("config bytes", 200):
        content = mutants.bytes_of(document(CONFIG).encode())
        toml_file.write_bytes(content)
        ends_well(lambda: read_config(toml_file, *mutants.chance.choice(COMMANDS)), content)  # noqa: B023 - at once


@pytest.mark.parametrize(
    ("parse", "sound"),
    [(parse_assertions, ASSERTIONS), (parse_mutes, MUTES)],
    ids=["assertions", "mutes"],
)
def test_policies_of_other_bytes_and_values_end_well(toml_file, parse, sound):
    codes = set()
    for mutants in rounds(parse.__name__, 500):
        if mutants.chance.random() < 0.5:
            content = mutants.bytes_of(document(sound).encode())
        else:
            content = document(mutants.value_of(sound)).encode("utf-8", "surrogatepass")
        toml_file.write_bytes(content)
        codes.add(ends_well(lambda: parse(read_text(str(toml_file)), "c.toml"), content))
    assert codes == {0, 2}
