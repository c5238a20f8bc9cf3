"""What is published becomes the record that reports show."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from aclkit.audit.reports import reach
from aclkit.audit.reports.gather import gather, read_summary
from aclkit.audit.reports.words import verdict
from aclkit.errors import UsageError
from aclkit.model.acl import ANY_OTHER
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import deciding_run, open_warehouse
from tests.questions.query import small_warehouse as small

NIGHT = timedelta(days=1)


def gathered(path, **options):
    published = open_warehouse(str(path))
    with closing(connect(published)) as connection:
        summary = read_summary(connection, deciding_run(published, small.CLUSTER))
        return gather(connection, published, summary, **options)


def finding_row(run_id, severity, number, **fields):
    return {
        "cluster_id": small.CLUSTER, "run_id": run_id, "finding": "public-access",
        "severity": severity, "subject": f"s{number}", "message": "m", "fix": "f",
        "acl_ids": ["acl-01"], "fingerprint": f"{severity}{number}", **fields,
    }  # fmt: skip


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    """Three nights: the second changed something, the third found nothing new."""
    path = tmp_path_factory.mktemp("gather") / "warehouse"
    versions = small.build(path)
    found = [
        finding_row("r", "high", 1), finding_row("r", "low", 2), finding_row("n2", "low", 2),
    ]  # fmt: skip
    moved = {
        "cluster_id": small.CLUSTER, "run_id": "n2", "principal": "User:alice",
        "resource_type": "TOPIC", "resource_name": "payments", "ruleset_before": "a",
        "ruleset_after": "b", "cause": "acl", "cause_offsets": [2], "gained": 3, "lost": 1,
    }  # fmt: skip
    versions |= {
        "finding": small.write_table(path, "finding", found),
        "access_change": small.write_table(path, "access_change", [moved]),
    }
    for number, run_id, decided in ((2, "n2", 2), (3, "n3", 2)):
        small.publish(
            path, versions, run_number=number, run_id=run_id,
            started_at=small.WHEN + NIGHT * number, finished_at=small.WHEN + NIGHT * number,
            counts={"acls": 9 + number, "decided_in_run": decided, "rows_expected": 7},
        )  # fmt: skip
    small.publish(path, versions, run_number=4, run_id="later", job="replay", head_offset=120)
    return path


def test_the_summary_is_that_of_the_newest_run_that_decided(nights):
    report = gathered(nights)
    summary = report.summary
    assert (summary.run_id, summary.acls, summary.head_offset) == ("n3", 12, 100)
    assert (summary.principals, summary.hosts, summary.resources) == (6, 4, 8)
    assert (summary.rows_expected, summary.rows_decided) == (7, 0)
    assert summary.started_at == small.WHEN + 3 * NIGHT
    assert summary.notes == ("a note",)
    assert summary.exit_code is None
    assert report.log_head == 120
    assert not report.is_read_again


def test_a_replay_after_the_decisions_that_wrote_their_past_again_is_known(tmp_path):
    versions = small.build(tmp_path)
    again = {"run_number": 2, "job": "replay", "head_offset": 90}
    small.publish(tmp_path, versions, **again, counts={"history_written": 1})
    assert gathered(tmp_path).is_read_again


def test_findings_in_force_are_those_of_the_run_whose_decisions_hold(nights):
    report = gathered(nights)
    assert [(f.severity, f.subject) for f in report.summary.findings] == [("low", "s2")]
    assert report.acls["acl-01"].acl.principal == "User:alice"
    assert report.acls["acl-01"].added_offset == 1


def test_a_run_has_looked_for_every_kind_that_is_not_of_usage(nights):
    assert {"public-access", "redundant-acl"} <= set(gathered(nights).kinds)
    assert "unused-grant" not in gathered(nights).kinds


def test_a_run_that_only_decided_has_looked_for_nothing_and_says_so(tmp_path):
    small.publish(tmp_path, small.build(tmp_path), run_number=2, job="materialize")
    report = gathered(tmp_path)
    assert report.kinds == ()
    assert report.summary.notes[-1] == ("this run only decided; aclkit run looks for findings too")


def test_the_trend_goes_over_runs_that_decided_the_oldest_first(nights):
    trend = gathered(nights).trend
    assert [(p.run_number, p.acls) for p in trend] == [(1, 1), (2, 11), (3, 12)]
    assert [(p.findings["high"], p.findings["low"]) for p in trend] == [(1, 1), (0, 1), (0, 1)]
    assert [(p.gained, p.lost) for p in trend] == [(0, 0), (3, 1), (0, 0)]


def test_a_run_that_changed_nothing_shows_no_change(nights):
    summary = gathered(nights).summary
    assert (summary.changes, summary.access_changes) == ((), 0)


def test_a_change_names_the_acls_that_moved_at_its_offset_and_reach_it(tmp_path):
    versions = small.build(tmp_path)
    rows = [
        {
            "cluster_id": small.CLUSTER, "run_id": "r", "principal": who, "principal_class": kind,
            "resource_type": "TOPIC", "resource_name": "payments", "cause": "acl",
            "cause_offsets": [2], "gained": gained, "lost": 0,
            "ruleset_before": "a", "ruleset_after": "b",
        }
        for who, kind, gained in (("User:alice", None, 2), (None, "c", 1))
    ]  # fmt: skip
    versions["access_change"] = small.write_table(tmp_path, "access_change", rows)
    small.publish(tmp_path, versions, run_number=2, run_id="r")
    summary = gathered(tmp_path).summary
    named, shared = summary.changes
    assert summary.access_changes == 2
    assert (named.who, named.resource, named.gained) == ("User:alice", "topic:payments", 2)
    assert {cause.acl.acl_id for cause in named.causes} == {"acl-01", "acl-03", "acl-06", "acl-99"}
    assert {cause.what for cause in named.causes} == {"added"}
    assert shared.who == "all principals of class c"
    assert {cause.acl.acl_id for cause in shared.causes} == {"acl-03", "acl-05"}
    assert all(cause.at == small.WHEN for cause in named.causes)


def name_row(side, **name):
    return {"cluster_id": small.CLUSTER, "run_id": "r", "cause": "inventory", "gained": 0,
            "lost": 0, f"ruleset_{side}": "asked", **name}  # fmt: skip


def test_names_that_came_or_went_are_told_and_are_no_change_of_access(tmp_path):
    versions = small.build(tmp_path)
    rows = [
        name_row("after", principal="User:new"),
        name_row("after", resource_type="HOST", resource_name="10.0.0.7"),
        name_row("before", resource_type="GROUP", resource_name=""),
    ]
    versions["access_change"] = small.write_table(tmp_path, "access_change", rows)
    small.publish(tmp_path, versions, run_number=2, run_id="r")
    report = gathered(tmp_path)
    summary = report.summary
    assert (summary.changes, summary.access_changes) == ((), 0)
    came, gone = summary.names
    assert [(n.who, n.resource) for n in came.names] == [("User:new", ""), ("host 10.0.0.7", "")]
    assert [(n.who, n.resource) for n in gone.names] == [("", "group:")]
    assert summary.notes[-2:] == (
        "New since the previous run: User:new, host 10.0.0.7.",
        "No longer known since this run: group:.",
    )
    assert "No access changed. 2 names are new. 1 name is gone." in verdict(summary)
    assert {(point.gained, point.lost) for point in report.trend} == {(0, 0)}


def test_what_an_older_aclkit_called_a_gain_of_who_came_is_shown_no_more(tmp_path):
    versions = small.build(tmp_path)
    row = name_row("after", principal_class="k", resource_type="TOPIC", resource_name="payments")
    row |= {"gained": 7, "ruleset_after": "b"}
    versions["access_change"] = small.write_table(tmp_path, "access_change", [row])
    small.publish(tmp_path, versions, run_number=2, run_id="r")
    report = gathered(tmp_path)
    assert (report.summary.changes, report.summary.names) == ((), ())
    assert {(point.gained, point.lost) for point in report.trend} == {(0, 0)}


def test_the_heat_map_counts_operations_that_some_host_allows(nights):
    heat = gathered(nights).heat
    prefixes = dict(heat.prefixes)
    assert prefixes == {"payments": 1, "pay-": 1, "orders": 1, "free": 1}
    place = [name for name, _ in heat.prefixes].index("free")
    alice, admin = map(heat.principals.index, ("User:alice", small.SUPER_USER))
    assert {use: row[place] for use, row in heat.possible.items()} == {
        "administer": 4, "write": 1, "read": 3,
    }  # fmt: skip
    assert {use: rows[alice][place] for use, rows in heat.allowed.items()} == {
        "administer": 0, "write": 1, "read": 1,
    }  # fmt: skip
    assert {use: rows[admin] for use, rows in heat.allowed.items()} == heat.possible


def test_the_heat_map_is_cut_to_what_a_person_can_look_at(nights, monkeypatch):
    monkeypatch.setattr(reach, "MOST_PRINCIPALS", 2)
    monkeypatch.setattr(reach, "MOST_PREFIXES", 3)
    heat = gathered(nights).heat
    assert heat.principals[0] == small.SUPER_USER
    assert (len(heat.principals), len(heat.prefixes)) == (2, 3)
    assert (heat.more_principals, heat.more_prefixes) == (4, 1)


def test_any_other_is_a_principal_and_no_topic(nights):
    explorer = gathered(nights).explorer
    assert f"User:{ANY_OTHER}" in {name for name, _, _ in explorer.principals}
    assert ANY_OTHER not in explorer.hosts


@pytest.mark.parametrize("limit", ["MOST_PAIRS", "MOST_PARTS"])
def test_beyond_the_limit_there_is_no_explorer_and_a_note_says_why(nights, monkeypatch, limit):
    monkeypatch.setattr(f"aclkit.audit.reports.gather.{limit}", 5)
    report = gathered(nights)
    assert report.explorer is None
    assert "6 principals × 8 resources" in report.explorer_note
    assert "aclkit who-can" in report.explorer_note


def test_only_html_asks_for_the_accesses(nights):
    report = gathered(nights, has_access=False)
    assert (report.heat, report.explorer) == (None, None)


def test_without_decisions_there_is_no_report(tmp_path):
    versions = {"acl_history": small.write_table(tmp_path, "acl_history", [])}
    small.publish(tmp_path, versions, job="replay")
    with pytest.raises(UsageError, match="No decisions exist for cluster c1 yet"):
        gathered(tmp_path)


def test_the_age_is_counted_from_the_end_of_the_run(nights):
    now = datetime(2026, 11, 25, tzinfo=UTC)
    report = gathered(nights, now=now)
    assert report.made_at == now
    assert report.finished_at == small.WHEN + 3 * NIGHT
