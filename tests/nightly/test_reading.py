"""Which reading of ACLs a cluster's nights take by themselves, and what a change of it tells."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from aclkit.pipeline.explain import materialize
from aclkit.pipeline.explain.decided import deciding_settings
from tests.cli.running import DATA
from tests.nightly.test_nightly import Nights, add, remove, topic

pytestmark = pytest.mark.usefixtures("spark")

GLOB, LITERAL = 5, 3
FIRST = [topic(0, "pay.in"), add(1, "User:svc-*", "pay.in"), add(2, "User:ann", "pay.in")]


def settings(nights: Nights) -> dict[str, object]:
    (row,) = nights.sql("SELECT settings FROM job_run ORDER BY run_number DESC LIMIT 1")
    return json.loads(str(row["settings"]))


def taken(nights: Nights) -> tuple[object, object]:
    said = settings(nights)
    return said["semantics_asked"], said["semantics_preset"]


def told(nights: Nights) -> list[dict[str, object]]:
    return nights.sql(
        "SELECT severity, message, evidence FROM finding WHERE finding = 'reading-changed' "
        "AND run_id = (SELECT run_id FROM job_run ORDER BY run_number DESC LIMIT 1)"
    )


def causes(nights: Nights) -> list[object]:
    rows = nights.sql(
        "SELECT DISTINCT cause FROM access_change "
        "WHERE ruleset_before IS NOT NULL AND ruleset_after IS NOT NULL "
        "AND run_id = (SELECT run_id FROM job_run ORDER BY run_number DESC LIMIT 1)"
    )
    return [row["cause"] for row in rows]


def may_read(nights: Nights, principal: str, name: str = "pay.in") -> bool:
    answer = json.loads(
        nights.call("why", principal, "READ", f"topic:{name}", "--format", "json").stdout
    )
    return answer["decision"] == "ALLOWED"


def asking(folder: Path) -> tuple[str, ...]:
    """Ask about a principal that only a wildcard is for."""
    (folder / "known.csv").write_text("principal\nUser:svc-1\n", encoding="utf-8")
    return "--principals", str(folder / "known.csv"), "--extend"


def begun(folder, *lines: str, options: tuple[str, ...] = ()) -> Nights:
    nights = Nights(folder)
    nights.first = nights.run(*lines, options=("--fail-on", "never", *options))
    assert nights.first.exit_code == 0, nights.first.output
    return nights


def test_a_cluster_without_a_glob_is_decided_as_its_brokers_do(tmp_path):
    nights = begun(tmp_path, *FIRST)
    assert taken(nights) == ("auto", "kafka")
    assert not told(nights)
    assert may_read(nights, "User:ann")
    assert may_read(nights, "User:svc-*"), "an exact principal to Kafka"
    assert not may_read(nights, "User:svc-1")
    (row,) = nights.sql("SELECT count(*) AS n FROM principal WHERE principal = 'User:svc-*'")
    assert row["n"] == 1


def test_the_first_glob_makes_all_acls_read_by_kip_1042_and_that_stays(tmp_path):
    known = asking(tmp_path)
    nights = begun(tmp_path, *FIRST, options=known)
    glob = add(3, "User:bob", "pay.?n", pattern=GLOB)
    night = nights.run(glob, options=("--fail-on", "high", *known))
    assert night.exit_code == 1
    assert taken(nights) == ("auto", "kip-1042")
    assert may_read(nights, "User:svc-1")
    assert may_read(nights, "User:bob")
    (found,) = told(nights)
    assert found["severity"] == "high"
    evidence = " ".join(map(str, found["evidence"]))
    assert "--semantics auto uses kip-1042 since the cluster has had a GLOB ACL" in evidence
    assert "pay.?n" in evidence
    assert causes(nights) == ["settings"]
    assert nights.run(remove(4, 3), options=("--fail-on", "never", *known)).exit_code == 0
    assert taken(nights) == ("auto", "kip-1042")
    assert not told(nights), "it is told once"
    assert may_read(nights, "User:svc-1")


def decisions(nights: Nights) -> dict[tuple[object, ...], object]:
    rows = nights.sql(
        "SELECT principal, host, operation, resource_type, resource_name, decision FROM explain"
    )
    return {tuple(row.values())[:5]: row["decision"] for row in rows}


def test_a_preview_of_the_first_glob_is_what_the_next_run_publishes(tmp_path):
    known = asking(tmp_path)
    nights = begun(tmp_path, *FIRST, options=known)
    before = decisions(nights)
    words = ("--allow-principal", "User:bob", "--operation", "Read", "--topic", "pay.?n")
    asked = ("preview", "add-acl", *words, "--resource-pattern-type", "glob")
    told = nights.call(*asked).stdout
    assert "No released Kafka broker reads a GLOB." in told
    assert "By the reading alone: " in told
    assert "By the ACLs: " in told
    found = json.loads(nights.call(*asked, "--format", "json").stdout)
    assert found["by_cause"]["reading"]["gained"] > 0
    assert (
        nights.run(
            add(3, "User:bob", "pay.?n", pattern=GLOB), options=("--fail-on", "never", *known)
        ).exit_code
        == 0
    )
    after = decisions(nights)
    both = before.keys() & after.keys()
    for kind, decision in (("gained", "ALLOWED"), ("lost", "DENIED")):
        said = {tuple(row.values())[:5] for row in found[kind]}
        real = {cell for cell in both if after[cell] == decision != before[cell]}
        assert {cell for cell in said if cell in both} == real


def test_a_glob_that_is_forgotten_does_not_turn_the_reading_back_but_a_preset_does(tmp_path):
    nights = begun(tmp_path, *FIRST, add(3, "User:bob", "pay.?n", pattern=GLOB))
    nights.lines.pop()
    forgotten = nights.call("replay", "--forget", "3-3")
    assert forgotten.exit_code == 0, forgotten.output
    assert nights.run(options=("--fail-on", "never")).exit_code == 0
    assert nights.sql("SELECT acl_id FROM acl_history WHERE pattern_type = 'GLOB'") == []
    assert taken(nights) == ("auto", "kip-1042")
    assert not told(nights)
    nights.run(options=("--semantics", "kafka", "--fail-on", "never"))
    assert taken(nights) == ("kafka", "kafka")
    (found,) = told(nights)
    assert "--semantics was auto and is now kafka" in found["evidence"]
    nights.run(options=("--fail-on", "never"))
    assert taken(nights) == ("auto", "kafka")
    assert not told(nights)


def test_a_single_setting_wins_over_what_is_taken_by_itself(tmp_path):
    nights = begun(tmp_path, *FIRST, options=("--identity-globs",))
    assert taken(nights) == ("auto", "kafka")
    assert may_read(nights, "User:svc-1")
    nights.run(options=("--fail-on", "never"))
    (found,) = told(nights)
    assert "setting identity_globs: on, now off" in found["evidence"]
    assert not may_read(nights, "User:svc-1")


def test_materialize_tells_a_change_of_the_reading_too(tmp_path):
    known = asking(tmp_path)
    nights = begun(tmp_path, *FIRST, options=known)
    changed = nights.call("materialize", "--semantics", "kip-1042", *known)
    assert changed.exit_code == 0, changed.output
    assert len(told(nights)) == 1
    assert causes(nights) == ["settings"]
    assert nights.call("materialize", "--semantics", "kip-1042", *known).exit_code == 0
    assert not told(nights)


def test_another_deciding_acl_alone_is_no_other_reading(tmp_path):
    nights = begun(tmp_path, *FIRST)
    nights.run(options=("--deciding-acl", "most-specific", "--fail-on", "never"))
    assert not told(nights)


def test_decided_by_an_older_aclkit_the_change_is_told_once_as_one_of_settings(
    tmp_path, monkeypatch
):
    def as_of_old(options, scope, before):
        now = deciding_settings(options, scope, before)
        return replace(now, semantics_asked=None, semantics_preset=None)

    with monkeypatch.context() as patch:
        patch.setattr(materialize, "deciding_settings", as_of_old)
        known = asking(tmp_path)
        nights = begun(tmp_path, *FIRST, options=("--semantics", "kip-1042", *known))
    assert "semantics_asked" not in settings(nights)
    assert may_read(nights, "User:svc-1")
    nights.run(options=("--fail-on", "never", *known))
    (found,) = told(nights)
    assert "whose default was kip-1042" in " ".join(map(str, found["evidence"]))
    assert causes(nights) == ["settings"]
    assert taken(nights) == ("auto", "kafka")
    nights.run(topic(9, "new"), options=("--fail-on", "never"))
    assert not told(nights)


SHOP = "User:CN=shop.apps.example.com,O=Example,C=DE"
WILDCARD = "User:CN=*.apps.example.com,O=Example,C=DE"


def test_an_acl_for_a_wildcard_certificate_is_for_the_one_literal_name(tmp_path):
    """After what somebody reported who had given access to ``CN=*.apps.example.com``."""
    nights = Nights(tmp_path)
    source = f"acls-list:{DATA / 'wildcard-cert' / 'acls.txt'}"
    first = nights.call("run", "--source", source, "--super-users", "", "--fail-on", "never")
    assert first.exit_code == 0, first.output
    said = " ".join(nights.call("why", SHOP, "READ", "topic:payroll").stdout.split())
    assert said.startswith(f"{SHOP} cannot READ topic:payroll")
    assert "Under KIP-1042 (no Kafka release yet) this would be allowed: ALLOW READ on" in said
    assert may_read(nights, WILDCARD, "payroll")
    rows = nights.sql("SELECT principal FROM principal ORDER BY ALL")
    assert [row["principal"] for row in rows] == ["User:<any-other>", WILDCARD]
