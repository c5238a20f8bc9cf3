"""The command init: what it asks, what it writes, and what it leaves alone."""

from __future__ import annotations

import tomllib

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from aclkit.cli import cli
from aclkit.cli import init as command
from aclkit.cli.init import settings_text

LIVE = ("--source", "live:h:9092")


@pytest.fixture
def init(tmp_path, monkeypatch):
    """Return what init prints to stderr and writes, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACLKIT_WAREHOUSE", raising=False)

    def call(*words, code=0, answers=None):
        monkeypatch.setattr(command, "is_asking", lambda: answers is not None)
        result = CliRunner().invoke(cli, ["init", *words], input=answers)
        assert result.exit_code == code, result.output
        return result.stderr

    return call


def settings(path):
    return tomllib.loads((path / "aclkit.toml").read_text(encoding="utf-8"))


def test_options_say_all_and_the_rest_has_defaults(init, tmp_path):
    client = ("--command-config", "c.properties")
    told = init(*LIVE, *client, "--warehouse", "w", "--super-users", "User:a")
    assert settings(tmp_path) == {
        "warehouse": "w", "source": ["live:h:9092"], "command_config": "c.properties",
        "super_users": "User:a",
    }  # fmt: skip
    assert "note: aclkit cannot read the source from here: " in told
    init("--source", "records:x", "--force")
    assert settings(tmp_path) == {"warehouse": "warehouse", "source": ["records:x"]}


def test_a_terminal_is_asked_until_the_answer_makes_sense(init, tmp_path):
    (tmp_path / "log").mkdir()
    told = init(answers="nonsense\nlog\nadmin\nUser:admin\n\n")
    assert "expected KIND:PATH" in told
    assert settings(tmp_path) == {
        "warehouse": "warehouse", "source": ["metadata-log:log"], "super_users": "User:admin",
    }  # fmt: skip
    assert "Super users are unknown" not in told


@pytest.mark.parametrize(("answer", "users"), [("none", ""), ("", None)])
def test_that_there_are_no_super_users_is_another_answer_than_none(init, tmp_path, answer, users):
    (tmp_path / "log").mkdir()
    told = init(answers=f"log\n{answer}\n\n")
    assert settings(tmp_path).get("super_users") == users
    assert ("note: Super users are unknown" in told) == (users is None)


@pytest.mark.parametrize("words", [("--no-super-users",), ("--super-users", "")])
def test_no_super_users_are_written_down_and_nobody_is_asked(init, tmp_path, words):
    init(*LIVE, "--command-config", "", *words, answers="\n")
    assert settings(tmp_path)["super_users"] == ""


def test_a_brokers_file_that_cannot_be_used_is_said(init, tmp_path):
    (tmp_path / "s").write_text("super.users=User:a\n", encoding="utf-8")
    told = init(*LIVE, "--server-properties", "s")
    assert "note: aclkit cannot use the broker's file from here: s: the broker has no" in told
    assert "Super users are unknown" not in told


def test_where_nobody_can_be_asked_the_source_must_be_said(init, tmp_path):
    assert "pass --source KIND:PATH." in init(code=2)
    assert not (tmp_path / "aclkit.toml").exists()


@pytest.mark.parametrize("words", [("--source", "x:y"), (*LIVE, "--super-users", "admin")])
def test_an_option_that_makes_no_sense_writes_nothing(init, tmp_path, words):
    assert "Error: " in init(*words, code=2)
    assert not (tmp_path / "aclkit.toml").exists()


@pytest.mark.parametrize("is_link", [False, True])
def test_a_file_that_is_there_stays_without_force(init, tmp_path, is_link):
    file = tmp_path / "aclkit.toml"
    if is_link:
        file.symlink_to("nowhere")
    else:
        file.write_text("mine", encoding="utf-8")
    assert "aclkit.toml exists" in init(*LIVE, code=2)
    assert file.is_symlink() if is_link else file.read_text(encoding="utf-8") == "mine"


def test_what_it_writes_every_command_takes(init, tmp_path):
    init(*LIVE, "--cluster", "c", "--server-properties", "s")
    result = CliRunner().invoke(cli, ["--config", "aclkit.toml", "run"])
    assert (result.exit_code, "s: " in result.stderr) == (2, True), result.stderr


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_can_be_said_in_toml(text):
    found = tomllib.loads("".join(settings_text(warehouse=text, source=[text])))
    assert found == {"warehouse": text, "source": [text]}
