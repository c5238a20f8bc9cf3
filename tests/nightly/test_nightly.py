"""The nightly run: what changed since last nightly_run, what is wrong, and no work without news."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.audit_tables import audit_of
from aclkit.cli import cli
from aclkit.nightly import nightly_run
from aclkit.pipeline.explain import decided
from aclkit.rules.names.question import Budget
from tests.cli.running import asked

pytestmark = pytest.mark.usefixtures("spark")


def acl_id(number: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(16, "big")).decode().rstrip("=")


def line(offset: int, kind: str, data: dict[str, object]) -> str:
    return json.dumps(
        {
            "offset": offset,
            "timestamp": 1795252623473 + offset,
            "type": kind,
            "version": 0,
            "data": data,
        }
    )


def topic(offset: int, name: str) -> str:
    topic_id = base64.urlsafe_b64encode(name.encode().ljust(16, b"\0")[:16]).decode().rstrip("=")
    return line(offset, "TOPIC_RECORD", {"name": name, "topicId": topic_id})


def add(
    offset: int,
    principal: str,
    name: str,
    *,
    pattern: int = 3,
    operation: int = 3,
    permission: int = 3,
) -> str:
    return line(
        offset,
        "ACCESS_CONTROL_ENTRY_RECORD",
        {
            "id": acl_id(offset),
            "resourceType": 2,
            "resourceName": name,
            "patternType": pattern,
            "principal": principal,
            "host": "*",
            "operation": operation,
            "permissionType": permission,
        },
    )


def remove(offset: int, added_at: int) -> str:
    return line(offset, "REMOVE_ACCESS_CONTROL_ENTRY_RECORD", {"id": acl_id(added_at)})


FIRST_NIGHT = [
    topic(0, "pay.in"),
    topic(1, "pay.out"),
    add(2, "User:ann", "pay.in"),
    add(3, "User:bob", "pay.", pattern=4),
    add(4, "User:bob", "pay.in"),
    add(5, "User:*", "pay.out", operation=8),
    add(6, "User:cy", "p*", pattern=3),
]
SECOND_NIGHT = [
    add(7, "User:ann", "pay.", pattern=4, operation=4),
    remove(8, 2),
    add(9, "User:*", "pay.out", operation=4),
]


class Nights:
    """A warehouse that lives through several nights."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: list[str] = []
        self.first: Result

    def run(self, *lines: str, options: tuple[str, ...] = ()) -> Result:
        self.lines += lines
        source = self.folder / "records.jsonl"
        source.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        return self.call("run", "--source", f"records:{source}", *options)

    def call(self, *arguments: str) -> Result:
        warehouse = str(self.folder / "warehouse")
        return CliRunner().invoke(cli, ["--warehouse", warehouse, *arguments])

    def sql(self, query: str) -> list[dict[str, object]]:
        out = asked(self.folder / "warehouse", query, "jsonl")
        return [json.loads(row) for row in out.splitlines()]


@pytest.fixture(scope="module")
def nights(_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Nights:
    nights = Nights(tmp_path_factory.mktemp("nights"))
    nights.first = nights.run(*FIRST_NIGHT, options=("--fail-on", "low"))
    return nights


def test_the_first_night_finds_what_is_wrong(nights: Nights):
    result = nights.first
    assert result.exit_code == 1, result.output
    found = nights.sql("SELECT finding, acl_ids[1] AS acl_id FROM finding")
    assert {(row["finding"], row["acl_id"]) for row in found} >= {
        ("public-access", acl_id(5)),
        ("allow-shadowed", acl_id(4)),
        ("never-matches", acl_id(6)),
    }
    assert result.stdout.startswith("# Kafka access on cluster default")


def test_how_acls_are_read_is_said_first_and_noted_on_the_page(nights: Nights):
    said, page = nights.first.stderr, nights.first.stdout.replace("\\", "")
    words = "ACLs are read as Kafka's brokers do, or by KIP-1042 if the cluster has ever had a GLOB"
    assert 0 <= said.find(words) < said.find("Reading")
    assert "ACLs are read with the preset kafka (as current brokers do); hosts such as" in page
    assert "The presets kip-1042 and kafka give the same decisions" in page


def test_findings_below_the_chosen_severity_do_not_fail_the_run(nights: Nights):
    assert nights.run(options=("--fail-on", "high")).exit_code == 0


def test_a_night_with_nothing_new_writes_its_job_run_row_alone(nights: Nights):
    before = nights.sql("SELECT table_versions FROM job_run ORDER BY run_number DESC LIMIT 1")
    result = nights.run(options=("--fail-on", "never"))
    after = nights.sql("SELECT table_versions, notes FROM job_run ORDER BY run_number DESC LIMIT 1")
    assert result.exit_code == 0
    assert after[0]["table_versions"] == before[0]["table_versions"]
    assert any("Nothing new since the previous run" in note for note in after[0]["notes"])


def test_a_night_of_other_rules_decides_and_finds_anew(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(decided, "digest_after", lambda _: "of another aclkit")
    assert nights.run(options=("--fail-on", "never")).exit_code == 0
    (newest,) = nights.sql(
        "SELECT run_number, counts['decided_in_run'] AS decided_in,"
        " counts['access_changes'] AS changes,"
        " (SELECT count(*) FROM finding f WHERE f.run_id = r.run_id) AS findings"
        " FROM job_run r ORDER BY run_number DESC LIMIT 1"
    )
    assert newest["decided_in"] == newest["run_number"]
    assert newest["changes"] == 0
    assert newest["findings"]


def test_what_a_budget_leaves_open_stays_in_force_and_is_noted_night_by_night(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
):
    def poor(*arguments: Any, **options: Any) -> AuditInput:
        return replace(audit_of(*arguments, **options), budget=Budget(per_question=1))

    in_force = "SELECT severity, subject FROM finding_current WHERE finding = 'public-access'"
    before = nights.sql(in_force)
    monkeypatch.setattr(decided, "digest_after", lambda _: "of a poor aclkit")
    monkeypatch.setattr(nightly_run, "audit_of", poor)
    for words in ("decided", "nothing new"):
        assert nights.run(options=("--fail-on", "never")).exit_code == 0, words
        (newest,) = nights.sql("SELECT notes FROM job_run ORDER BY run_number DESC LIMIT 1")
        beginning = "Unknown, because the search limit was reached: public-access of ALLOW "
        assert any(note.startswith(beginning) for note in newest["notes"]), newest
        assert nights.sql(in_force) == before
    assert any("Nothing new" in note for note in newest["notes"])


@pytest.mark.slow
def test_the_second_night_names_who_gained_and_lost_and_through_which_record(nights: Nights):
    cells = "SELECT principal, host, operation, resource_name, decision FROM explain"
    before = {tuple(row.values())[:-1]: row["decision"] for row in nights.sql(cells)}
    result = nights.run(*SECOND_NIGHT, options=("--fail-on", "never"))
    assert result.exit_code == 0, result.output
    after = {tuple(row.values())[:-1]: row["decision"] for row in nights.sql(cells)}
    changes = nights.sql(
        "SELECT c.principal AS named, p.principal, c.resource_name, c.cause, c.cause_offsets,"
        " c.gained, c.lost FROM access_change c JOIN principal p"
        " ON p.principal = c.principal OR (p.principal_class = c.principal_class"
        "  AND NOT EXISTS (SELECT 1 FROM access_change own WHERE own.principal = p.principal"
        "   AND own.resource_name = c.resource_name))"
    )
    told: dict[tuple[object, object], tuple[object, object]] = {}
    for row in changes:
        told[row["principal"], row["resource_name"]] = (row["gained"], row["lost"])
    counted: dict[tuple[object, object], list[int]] = {}
    for key, decision in after.items():
        if before[key] != decision:
            gained_lost = counted.setdefault((key[0], key[3]), [0, 0])
            gained_lost[decision == "DENIED"] += 1
    assert counted == {k: list(v) for k, v in told.items() if k in counted}
    assert all(v == (0, 0) for k, v in told.items() if k not in counted)
    by_pair = {(row["named"], row["resource_name"]): row for row in changes if row["named"]}
    assert by_pair["User:ann", "pay.in"]["cause_offsets"] == [7, 8]
    assert {row["cause"] for row in changes} == {"acl"}


@pytest.mark.slow
def test_a_change_of_settings_is_the_cause_it_is_given_as(nights: Nights):
    result = nights.run(options=("--super-users", "User:cy", "--fail-on", "never"))
    assert result.exit_code == 0, result.output
    newest = nights.sql(
        "SELECT cause, sum(gained) AS gained FROM access_change WHERE run_id ="
        " (SELECT run_id FROM job_run ORDER BY run_number DESC LIMIT 1) GROUP BY cause"
    )
    assert [row["cause"] for row in newest] == ["settings"]
    assert newest[0]["gained"] > 0
    settings = nights.sql("SELECT super_users FROM setting ORDER BY since_time")
    assert [row["super_users"] for row in settings] == [[], ["User:cy"]]
