"""The commands of prove, run in this process; and two states that trying names takes for one."""

from __future__ import annotations

import json

from click.testing import CliRunner

from aclkit.cli import cli
from tests.factories import acl

DENY = acl("team-??*", pattern_type="GLOB", principal="User:dan", operation="ALL",
           permission_type="DENY")  # fmt: skip
OPENS = acl("team-", pattern_type="PREFIXED", principal="User:dan")
"""What it adds to ``DENY`` are the names that are too short for it."""


def run(*words, code=0, env=None):
    result = CliRunner().invoke(cli, [str(word) for word in words], env=env)
    assert isinstance(result.exception, SystemExit | None), repr(result.exception)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def found(*words, code=0):
    return json.loads(run("prove", *words, "--format", "json", code=code).stdout)
