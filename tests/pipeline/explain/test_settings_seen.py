"""The settings under which runs decided: one row each time they are others than those before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.explain.materialize import write_setting
from aclkit.pipeline.explain.output import Output
from aclkit.warehouse.run import begin_run, publish

A, B, C = (BrokerSettings(super_users=frozenset({f"User:{name}"})) for name in "abc")
NOW = datetime(2026, 11, 21, tzinfo=UTC)


def nights(path, *told):
    """Let runs see settings at a time, in days from now; return the users of all rows."""
    for settings, days in told:
        with begin_run(None, str(path), "run", lock_timeout=1) as run:
            run.cluster_id, run.started_at = "c", NOW + timedelta(days=days)
            run.head_offset = 10 * run.run_number
            output = Output(store=run.store, cluster_id="c")
            write_setting(output, settings, run)
            with output.ask("setting") as read:
                found = read.rows("SELECT * FROM setting ORDER BY run_number")
            publish(run)
    return found


def test_settings_are_noted_once_with_their_run_and_what_it_knew(tmp_path):
    rows = nights(tmp_path, (A, 0), (A, 1), (B, 2), (B, 3), (A, 4))
    assert [(users, number, offset) for _, _, users, _, number, offset in rows] == [
        (["User:a"], 0, 0), (["User:b"], 2, 20), (["User:a"], 4, 40),
    ]  # fmt: skip


def test_a_run_whose_clock_was_ahead_does_not_stay_the_newest(tmp_path):
    rows = nights(tmp_path, (A, 0), (B, 9_000), (C, 2), (C, 3), (B, 4))
    assert [row[2] for row in rows] == [["User:a"], ["User:b"], ["User:c"], ["User:b"]]
