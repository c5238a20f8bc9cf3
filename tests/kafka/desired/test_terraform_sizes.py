"""Large and nested files of Terraform: time grows with the size, and memory is bounded."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from aclkit.kafka.desired import hcl, terraform_files, terraform_plan
from aclkit.kafka.desired.model import Document
from tests.kafka.desired.terraform_files import acl, plan, resource
from tests.peak import PEAK_MIB

MIB = 2**20
MEASURED = f"""
import sys
from aclkit.kafka.desired.documents import read_documents
from aclkit.kafka.desired.plan_effect import plan_effects
from aclkit.kafka.desired.terraform_plan import read_plan
from pathlib import Path
[(document, _)] = read_documents(sys.argv[1:], lambda name: Path(name).read_bytes())
part = read_plan(document)
print(len(part.problems), len(plan_effects(part.changes)))
print({PEAK_MIB})
"""


@pytest.mark.slow
def test_a_plan_of_20_mb_is_read_in_bounded_time_and_memory(tmp_path):
    path = tmp_path / "plan.json"
    changes = (
        resource(f"kafka_acl.a[{at}]", "delete,create", acl(f"t{at}"), acl(f"t{at + 1}"), index=at)
        for at in range(29_000)
    )
    path.write_text(json.dumps(plan(*changes)), encoding="utf-8")
    assert path.stat().st_size > 19 * MIB
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)],
        capture_output=True, encoding="utf-8", timeout=120, check=True,
    )  # fmt: skip
    counted, peak = done.stdout.splitlines()
    assert counted == "0 29001"
    assert int(peak) < 500


NESTED = {
    "objects": '{"format_version": "1.2", "resource_changes": ' + '{"a": ' * 100_000,
    "lists": '{"format_version": "1.2", "resource_changes": ' + "[" * 100_000,
    "modules": '{"format_version": "1.0", "values": {"root_module": '
    + '{"child_modules": [' * 300 + "{}" + "]}" * 300 + "}}",
    "braces": 'resource "a" "b" ' + "{" * 200_000,
    "templates": 'resource "a" "b" {\n x = "' + '${"' * 200_000,
    "heredocs": 'resource "a" "b" {\n' + "".join(f"x = <<A{at}\nA{at}\n" for at in range(20_000)),
    "open heredocs": 'resource "a" "b" {\n' + "x = <<A\n" * 200_000,
    "comments": "/*" * 200_000,
    "lines of text": "  # kafka_acl.a will be \n" * 200_000,
    "colors": "\x1b[0m" * 200_000,
}  # fmt: skip


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED.keys())
def test_a_nested_file_ends_soon(text):
    begin = time.process_time()
    for form in (*terraform_plan.FORMATS, *terraform_files.FORMATS, *hcl.FORMATS):
        made = Document("f", text)
        form.holds(made)
        form.read(made)
    assert time.process_time() - begin < 15
