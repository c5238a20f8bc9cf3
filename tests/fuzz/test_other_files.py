"""Baselines, change sets, authorizer logs, addresses and properties: reading them ends well."""

from __future__ import annotations

import gzip
import json
from functools import partial

import pytest

from aclkit.audit.alerts.webhook import find_webhook
from aclkit.audit.findings.baseline import parse_baseline
from aclkit.kafka.acls.text import render_list
from aclkit.kafka.client.properties import read_properties
from aclkit.kafka.desired.read import Asked
from aclkit.questions.read_state import Files, read_state
from aclkit.questions.usage.file_reads import chains_of
from aclkit.runtime.safe_read import read_text
from tests.factories import acl
from tests.fuzz.mutating import ends_well, rounds
from tests.questions.difference.world import state
from tests.questions.preview.test_change_set import ID, OTHER, add, mark, remove
from tests.questions.usage.pasts import LOG
from tests.questions.usage.pasts import past_of as steps_past
from tests.questions.usage.reading import work
from tests.questions.usage.test_layout import LAYOUTS

ENTRY = {"fingerprint": "f", "finding": "k", "severity": "low", "subject": 'a"\n é'}
BASELINE = {
    "aclkit_baseline": 1,
    "cluster_id": "c",
    "findings": [ENTRY, ENTRY | {"first_seen": None}],
}


def read_log(path):
    """Read a log as ``usage`` does."""
    for chain in chains_of([path], []):
        work(steps_past([])).read(chain)


@pytest.fixture
def write(tmp_path):
    def written(content):
        path = tmp_path / "file"
        path.write_bytes(content)
        return str(path)

    return written


def test_baselines_end_well(write):
    codes = set()
    for mutants in rounds("baseline", 500):
        if mutants.chance.random() < 0.5:
            content = mutants.bytes_of(json.dumps(BASELINE, indent=1).encode())
        else:
            content = json.dumps(mutants.value_of(BASELINE)).encode()
        path = write(content)

        def read(path=path):
            for known in parse_baseline(read_text(path), "b.json").values():
                f"{known}".encode()

        codes.add(ends_well(read, content))
    assert codes == {0, 2}


def test_change_sets_end_well(write):
    records = [add(), mark("BEGIN"), remove(OTHER), mark("END"), add(OTHER, "é", "User:x,y")]
    before = state([acl("t", acl_id=ID), acl("u", acl_id=OTHER)])
    listing = "\n".join(render_list(before.acls.values())).encode()
    codes = set()
    for mutants in rounds("changes", 500):
        lines = "".join(json.dumps(record) + "\n" for record in records).encode()
        how = mutants.chance.random()
        if how < 0.4:
            content = mutants.bytes_of(lines)
        elif how < 0.7:
            content = mutants.bytes_of(listing)
        else:
            content = "".join(f"{json.dumps(mutants.value_of(r))}\n" for r in records).encode()
        path = write(content)
        read = partial(read_state, Files([str(path)], Asked(), onto=before))
        codes.add(ends_well(read, content, tells_all=True))
    assert codes == {0, 3}


def test_authorizer_logs_are_read_whatever_their_bytes(write):
    sound = b"".join(LOG.read_bytes().splitlines(keepends=True)[:30])
    for mutants in rounds("log", 200):
        content = mutants.bytes_of(sound)
        if mutants.chance.random() < 0.5:
            content = gzip.compress(content, 1)
            content = mutants.bytes_of(content) if mutants.chance.random() < 0.7 else content
        path = write(content)
        assert ends_well(lambda path=path: read_log(path), content) == 0


def test_authorizer_logs_of_other_layouts_are_read_whatever_their_bytes(write):
    own = sorted(LAYOUTS.glob("*.log"))
    line = LOG.read_text(encoding="utf-8").splitlines()[0]
    wrapped = [
        json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "2026-11-21T10:27:31.3Z"},
                   separators=(",", ":")),
        json.dumps({"time": 1, "log": json.dumps({"@timestamp": "2026-11-21", "m": line})}),
        f"2026-11-21T10:27:31.3Z stdout P {line[:80]}\n2026-11-21T10:27:31.3Z stdout F {line[80:]}",
        f"Nov 21, 2026 10:27:31 AM kafka.authorizer.logger log\nINFO: {line.partition('INFO ')[2]}",
    ]  # fmt: skip
    sound = [*(path.read_bytes() for path in own), *(text.encode() for text in wrapped)]
    for mutants in rounds("layouts", 300):
        content = mutants.bytes_of(mutants.chance.choice(sound))
        path = write(content)
        assert ends_well(lambda path=path: read_log(path), content) == 0


def test_an_address_is_never_shown(write):
    secret = "T0PSECRET"
    for mutants in rounds("webhook", 300):
        content = mutants.bytes_of(f"https://hooks.example/services/{secret}\n".encode())
        path = write(content)
        ends_well(lambda path=path: find_webhook(path, environ={}), content, secret)


def test_properties_end_well(write):
    sound = (
        b"# c\nsuper.users = User:a;User\\:b\\\n  ;User:c\n"
        b"allow.everyone.if.no.acl.found:true\n\\u00e9=1\n"
    )
    for mutants in rounds("properties", 300):
        content = mutants.bytes_of(sound)
        path = write(content)
        assert ends_well(lambda path=path: read_properties(path), content) in (0, 2)
