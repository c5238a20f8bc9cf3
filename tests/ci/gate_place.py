"""A folder in which conf/ci is run as CI runs it, and a plan to run it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CI = ROOT / "conf" / "ci"
TERRAFORM = ROOT / "tests" / "data" / "desired" / "terraform"
MARKER = "<!-- aclkit preview -->"
BEFORE = TERRAFORM / "1-after.kafka-acls-list.txt"

JAVA = """#!/bin/sh
echo "$*" >>"$JAVA_CALLS"
exit 1
"""


def plan(*, replaces=False):
    """A plan that adds an ACL and removes one; on demand it replaces one by the same."""
    content = json.loads((TERRAFORM / "2-plan.json").read_text(encoding="utf-8"))
    changes = {each["address"]: each["change"] for each in content["resource_changes"]}
    kept = changes['kafka_acl.all["baker writes"]']
    kept |= {"after": kept["before"], "after_unknown": {}}
    if not replaces:
        kept["actions"] = ["no-op"]
    return json.dumps(content)


def program(path, text):
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


class Gate:
    """A folder in which gate.sh runs, with a ``java`` that records each call and fails."""

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / "bin").mkdir()
        program(folder / "bin" / "java", JAVA)
        self.calls = folder / "java-calls"
        text = f'#!/bin/sh\nexec "{sys.executable}" -m aclkit "$@"\n'
        self.aclkit = program(folder / "bin" / "aclkit", text)

    @property
    def env(self):
        kept = {key: text for key, text in os.environ.items() if not key.startswith("ACLKIT_")}
        return kept | {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "JAVA_HOME": str(self.folder),
            "JAVA_CALLS": str(self.calls),
            "PYTHONPATH": str(ROOT),
        }

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def shell(self, *words, **variables):
        return subprocess.run(
            ["sh", *map(str, words)],
            cwd=self.folder,
            env=self.env | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def run(self, **variables):
        """Run the gate; print how long it took; return the exit code and stderr."""
        named = {f"GATE_{name.upper()}": str(value) for name, value in variables.items()}
        began = time.monotonic()
        done = self.shell(CI / "gate.sh", **named)
        took = time.monotonic() - began
        sys.stdout.write(f"gate.sh: {took:.2f} s, exit code {done.returncode}\n")
        assert done.stdout == ""
        assert not self.calls.exists(), "java was started"
        return done.returncode, done.stderr

    def summary(self, name="out.env"):
        return dict(line.split("=", 1) for line in self.read(name).splitlines())
