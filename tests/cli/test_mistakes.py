"""Mistakes that a new user makes: each ends with its exit code, and with what to do next."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from aclkit.cli import cli

MISTAKES = [
    ("whocan READ topic:payments", 2, "No such command 'whocan'. Did you mean who-can?"),
    ("list", 2, "No such command 'list'. Did you mean acls list?"),
    ("acls lst", 2, "No such command 'lst'. Did you mean list?"),
    ("explain User:bob READ topic:payments", 2, "No such command 'explain'. Did you mean why?"),
    ("preview add-acls --topic payments", 2, "Did you mean 'add-acl'?"),
    ("frobnicate", 2, "Try 'aclkit --help' for help."),
    ("who-can topic:payments", 2, "Did you mean: aclkit who-can ANY topic:payments"),
    ("who-can READ", 2, "Did you mean: aclkit who-can READ topic:NAME"),
    ("who-can READ topic:payments --formt json", 2, "Did you mean one of: '--format'"),
    ("who-can READ topic:payments --format yaml", 2, "'table', 'json', 'jsonl', 'csv'"),
    ("who-can topic:payments READ", 2, "Did you mean: aclkit who-can READ topic:payments"),
    (
        "why READ User:bob topic:payments",
        2,
        "Did you mean: aclkit why User:bob READ topic:payments",
    ),
    ("who-can READ payments", 2, "'payments' has no resource type. Did you mean topic:payments?"),
    ("who-can READ Topic:payments", 2, "Did you mean topic:payments?"),
    ("who-can READ topics:payments", 2, "Did you mean topic:payments?"),
    ("who-can READ consumer-group:g1", 2, "Did you mean group:g1?"),
    ("who-can READ topic:", 2, "Pass topic:NAME. For every topic: aclkit what-can"),
    ("who-can ALTER cluster:prod", 2, "Did you mean cluster?"),
    ("what-can User:alice topics", 2, "Did you mean topic?"),
    ("who-can REED topic:payments", 2, "Did you mean READ?"),
    ("who-can CONSUME topic:payments", 2, "Did you mean READ?"),
    ("who-can ALL topic:payments", 2, "Did you mean ANY?"),
    ("why User:bob ANY topic:payments", 2, "Pass one operation instead of ANY: READ"),
    ("what-can alice", 0, "Taking 'alice' as User:alice."),
    ("why bob READ topic:payments", 0, "Taking 'bob' as User:bob."),
    ("history bob READ topic:payments", 0, "Taking 'bob' as User:bob."),
    ("can bob DESCRIBE topic:payments", 0, "Taking 'bob' as User:bob."),
    ("why READ bob topic:payments", 2, "Did you mean: aclkit why bob READ topic:payments"),
    ("why bob JoinGrop group:g1", 2, "Did you mean JoinGroup?"),
    ("why bob JoinGroup topic:payments", 2, "checks no topic. Did you mean group:NAME?"),
    ("can bob READ,consume topic:payments", 2, "consume is a task. Ask about it alone."),
    ("can bob READ topic:payments --group g1", 2, "--group needs a task: consume, produce"),
    ("can bob streams payments", 2, "Did you mean group:payments?"),
    ("can bob , topic:payments", 2, "No operation given."),
    ("who-can READ topic:payments --host localhost", 2, "expected an IP address"),
    ("who-can READ topic:paymets", 0, "topic:paymets is not known. Did you mean topic:payments?"),
    ("who-can READ topic:paymets --known-only", 2, "Did you mean topic:payments? --known-only"),
    ("what-can user:Alice", 0, "user:Alice is not known. Did you mean User:alice?"),
    ("what-can User:alcie --known-only", 2, "Did you mean User:alice? --known-only"),
    ("why User:bob READ topic:oders", 0, "topic:oders is not known. Did you mean topic:orders?"),
    (
        "history User:carl READ topic:payments",
        0,
        "User:carl is not known. Did you mean User:carol?",
    ),
    (
        "why User:bob READ group:payments",
        0,
        "group:payments is not known. Did you mean topic:payments?",
    ),
    ("why User:bob READ topic:payments --at noon", 2, "ISO 8601, such as 2026-11-21T10:00:00Z"),
    ("audit --finding public", 2, "Did you mean public-access?"),
    ("changes --since yesterday", 2, "a time such as 2026-11-21T10:00:00Z"),
    ("acls show xyz", 2, "To list all: aclkit acls show"),
    ("who-can READ topic:payments --columns who", 2, "Columns: principal, host,"),
    ("why User:bob READ topic:payments --columns rank --format json", 2, "table, jsonl or csv"),
    ("--cluster prod who-can READ topic:payments", 2, "c1"),
]


def test_there_are_thirty_and_more():
    assert len({words for words, _, _ in MISTAKES}) >= 30


@pytest.mark.parametrize(("words", "code", "next_step"), MISTAKES, ids=lambda value: str(value))
def test_a_mistake_is_answered_with_the_next_step(root, words, code, next_step):
    result = CliRunner().invoke(cli, ["--warehouse", str(root), *words.split()], prog_name="aclkit")
    assert isinstance(result.exception, SystemExit | None), repr(result.exception)
    assert (result.exit_code, next_step in result.stderr) == (code, True), result.output
    assert bool(result.stdout) == (code == 0)


def test_without_a_warehouse_the_option_is_named(monkeypatch):
    monkeypatch.delenv("ACLKIT_WAREHOUSE", raising=False)
    result = CliRunner().invoke(cli, ["who-can", "READ", "topic:payments"])
    assert (result.exit_code, "Pass --warehouse DIR or set ACLKIT_WAREHOUSE." in result.stderr) == (
        2,
        True,
    )


def test_a_folder_without_tables_names_the_first_command(tmp_path):
    words = ["--warehouse", str(tmp_path / "new"), "who-can", "READ", "topic:payments"]
    result = CliRunner().invoke(cli, words)
    assert (result.exit_code, "replay --source metadata-log:DIR" in result.stderr) == (2, True)
