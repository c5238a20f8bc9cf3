"""The commands of prove, run in this process; and two states that trying names takes for one."""

from __future__ import annotations

import json

from tests.cli.running import run
from tests.factories import acl

DENY = acl("team-??*", pattern_type="GLOB", principal="User:dan", operation="ALL",
           permission_type="DENY")  # fmt: skip
OPENS = acl("team-", pattern_type="PREFIXED", principal="User:dan")
"""What it adds to ``DENY`` are the names that are too short for it."""


def found(*words, code=0):
    return json.loads(run("prove", *words, "--format", "json", code=code).stdout)
