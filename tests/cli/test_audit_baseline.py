"""aclkit audit with a baseline and mutes: states, first_seen and exit codes."""

from __future__ import annotations

import errno
import json
import os
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from aclkit.model.findings import Finding
from tests.cli.running import run
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import WHEN
from tests.questions.query.test_views import found

LATER = WHEN + timedelta(days=1)


def fingerprint(subject):
    return Finding(
        finding="public-access", severity="low", subject=subject, message="", fix=""
    ).fingerprint


def rows():
    return [
        found("r0", "by ACLs", acl_ids=["acl-01", "acl-02"], severity="high",
              holds_for="every-name"),
        found("r0", "by inventory", acl_ids=["acl-01"], severity="low", holds_for="inventory"),
        found("r1", "by inventory", acl_ids=["acl-01"], severity="low", holds_for="inventory"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "warehouse"
    versions = small.build(path)
    young = small._history(small.ACLS[1]) | {"added_at": LATER}
    history = [small._history(small.ACLS[0]), young]
    versions |= {
        "finding": small.write_table(path, "finding", [
            {**row, "finding": "public-access", "fingerprint": fingerprint(row["subject"])}
            for row in rows()
        ]),
        "acl_history": small.write_table(path, "acl_history", history),
    }  # fmt: skip
    for number in (2, 3):
        small.publish(
            path, versions, run_number=number, run_id=f"r{number - 2}",
            counts={"decided_in_run": 2}, started_at=WHEN + timedelta(hours=number),
        )  # fmt: skip
    return path


@pytest.fixture
def audit(root):
    return partial(run, "--warehouse", root, "audit")


def listed(result):
    return {row["subject"]: row for row in json.loads(result.stdout)}


def test_first_seen_is_the_time_of_the_youngest_acl_or_of_the_first_run_that_showed_it(audit):
    seen = {s: r["first_seen"] for s, r in listed(audit("--format", "json", code=1)).items()}
    assert seen == {
        "by ACLs": LATER.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "by inventory": (WHEN + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def test_what_a_written_baseline_holds_is_known_and_does_not_fail(audit, tmp_path):
    file = str(tmp_path / "b.json")
    assert f"Wrote {file}.\n" in audit("--write-baseline", file, code=0).stderr
    found = listed(audit("--baseline", file, "--fail-on", "info", "--format", "json", code=0))
    assert {row["state"] for row in found.values()} == {"known"}


def test_a_baseline_that_cannot_be_written_whole_leaves_the_old_one(audit, tmp_path, monkeypatch):
    file = tmp_path / "b.json"
    file.write_text("old", encoding="utf-8")
    monkeypatch.setattr(Path, "write_text", disk_is_full)
    monkeypatch.setattr(Path, "replace", disk_is_full)
    audit("--write-baseline", str(file), code=4)
    assert file.read_bytes() == b"old"


def disk_is_full(path, *_, **__):
    path.open("wb").close()
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_only_the_baseline_holds_is_fixed(audit, tmp_path):
    file = tmp_path / "b.json"
    file.write_text(json.dumps({"aclkit_baseline": 1, "findings": [
        {"fingerprint": "x", "finding": "public-access", "severity": "high", "subject": "gone"}
    ]}), encoding="utf-8")  # fmt: skip
    found = listed(audit("--baseline", str(file), "--format", "json", code=1))
    assert (found["gone"]["state"], found["by ACLs"]["state"]) == ("fixed", "new")


@pytest.mark.parametrize(("days", "code", "state"), [(0, 0, "muted"), (-1, 1, "new")])
def test_a_mute_holds_until_its_day_and_then_fails(audit, tmp_path, days, code, state):
    file = tmp_path / "m.toml"
    until = (datetime.now(UTC) + timedelta(days=days)).date()
    text = '[[mute]]\nfinding="public-access"\nsubject="by *"\nowner="ops"\nreason="r"\nuntil='
    file.write_text(f"{text}{until}\n", encoding="utf-8")
    result = audit("--mutes", str(file), "--fail-on", "never", "--format", "json", code=code)
    assert {row["state"] for row in listed(result).values()} == {state}
    assert ("ran out on" in result.stderr) == (code == 1)


def test_a_mute_about_nothing_is_said(audit, tmp_path):
    file = tmp_path / "m.toml"
    file.write_text(
        '[[mute]]\nfingerprint="0"\nowner="ops"\nreason="r"\nuntil=2020-01-01\n', encoding="utf-8"
    )
    result = audit("--mutes", str(file), "--fail-on", "never", code=0)
    assert "the mute of ops on 0 is about nothing now, and has run out" in result.stderr


def test_a_table_shows_states_only_where_they_can_differ(audit, tmp_path):
    head = "public-access (1 high, 1 low): access open to every client"
    rows = [
        "  User:alice and 1 more  2 patterns      ALLOW READ, ALL from any host  2026-11-22",
        "  User:alice             topic payments  ALLOW READ                     2026-11-21",
    ]
    assert audit(code=1).stdout.splitlines()[:5] == ["1 high and 1 low findings.", "", head, *rows]
    file = tmp_path / "b.json"
    audit("--write-baseline", str(file), code=0)
    result = audit("--baseline", str(file), code=0)
    assert result.stdout.splitlines()[:5] == [
        "1 high and 1 low findings (2 in the baseline).",
        "",
        head,
        *(f"{row}  known" for row in rows),
    ]
    wide = audit("--wide", code=1).stdout.splitlines()[3]
    assert wide.startswith("severity  finding ")
    wide = audit("--wide", "--baseline", str(file), code=0).stdout.splitlines()[3]
    assert wide.startswith("state  severity  finding ")


def test_what_is_fixed_has_a_block_of_its_own(audit, tmp_path):
    file = tmp_path / "b.json"
    file.write_text(json.dumps({"aclkit_baseline": 1, "findings": [
        {"fingerprint": str(number), "finding": "any-host", "severity": "low", "subject": "gone"}
        for number in range(4)
    ]}), encoding="utf-8")  # fmt: skip
    lines = audit("--baseline", str(file), code=1).stdout.splitlines()
    assert lines[0] == "1 high and 1 low findings (2 not in the baseline, 4 fixed)."
    head = lines.index("fixed (4): findings of the baseline that no longer exist")
    assert lines[head + 1 : head + 4] == ["  any-host  gone"] * 3
    assert "gone" not in lines[head + 4]


def test_a_bad_baseline_ends_with_exit_code_2(audit, tmp_path):
    file = tmp_path / "b.json"
    file.write_text("{}", encoding="utf-8")
    assert "expected a baseline as" in audit("--baseline", str(file), code=2).stderr
    assert "the file does not exist" in audit("--mutes", "nowhere.toml", code=2).stderr
