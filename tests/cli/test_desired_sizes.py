"""Large files of a team through the command line: time and memory are bounded, and printed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.kafka.desired.terraform_files import acl, plan, resource
from tests.peak import PEAK_MIB

MIB = 2**20
MEASURED = f"""\
import resource, sys
from aclkit.cli import cli
try:
    cli(sys.argv[1:])
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, {PEAK_MIB}, file=sys.stderr)
"""
USER = """\
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata:
  name: user-{0}
  labels: {{strimzi.io/cluster: main}}
spec:
  authorization:
    type: simple
    acls:
      - resource: {{type: topic, name: topic-{0}}}
        operations: [Read, Describe]
"""
KNOWN = ("--no-super-users", "--no-allow-everyone")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    changes = (
        resource(f"kafka_acl.a[{at}]", "create", None, acl(f"t{at}", f"User:u{at % 500}"), index=at)
        for at in range(38_000)
    )
    (folder / "plan.json").write_text(json.dumps(plan(*changes)), encoding="utf-8")
    users = "".join(USER.format(at) for at in range(10_000))
    (folder / "users.yaml").write_text(users, encoding="utf-8")
    (folder / "none.txt").write_text("", encoding="utf-8")
    assert (folder / "plan.json").stat().st_size > 17 * MIB
    return folder


def measured(files, *words, code=0):
    """Run a command in a process of its own; print and return its seconds of CPU and MiB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *words],
        capture_output=True, encoding="utf-8", cwd=files, timeout=800, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr[-2_000:]
    seconds, peak = done.stderr.splitlines()[-1].split()
    sys.stdout.write(f"{' '.join(words[:3])}: {float(seconds):.1f} s of CPU, {peak} MiB\n")
    return done.stdout, float(seconds), int(peak)


@pytest.mark.parametrize(
    ("name", "count", "seconds"), [("plan.json", 38_000, 30), ("users.yaml", 20_000, 30)]
)
def test_showing_is_bounded(files, name, count, seconds):
    out, spent, peak = measured(files, "desired", "show", name, "--format", "jsonl")
    assert len(out.splitlines()) == count
    assert spent < seconds
    assert peak < 500


@pytest.mark.parametrize(("name", "seconds"), [("plan.json", 120), ("users.yaml", 120)])
def test_a_preview_is_bounded(files, name, seconds):
    words = ("--base", "none.txt", "--allow-empty", *KNOWN, "--format", "markdown")
    out, spent, peak = measured(files, "preview", "apply", name, *words)
    assert len(out) <= 65_000
    assert spent < seconds
    assert peak < 1_000
