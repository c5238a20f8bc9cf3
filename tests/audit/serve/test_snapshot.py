"""A run that publishes meanwhile: an answer is of one run, and the next one of the newest."""

from __future__ import annotations

from aclkit.audit.serve import snapshot
from aclkit.audit.serve.answers import PAGES, Answers
from aclkit.audit.serve.snapshot import LatestSnapshot, Reading
from aclkit.model.semantics import KIP_1042, BrokerSettings
from tests.audit.serve.running import serving
from tests.questions.query import small_warehouse as small

READS = small.acl(20, principal="User:carol", operation="READ")


def publish_next(path, acls, **fields):
    """Publish a run in which other ACLs decide."""
    settings = BrokerSettings(super_users=frozenset({small.SUPER_USER}), allow_everyone=True)
    versions = {
        name: small.write_table(path, name, rows)
        for name, rows in small.tables(acls, settings, KIP_1042).items()
    }
    small.publish(path, versions, run_number=2, run_id="s", **fields)


def who(reading):
    page = PAGES["/who-can"](
        Answers(), reading, {"resource": "topic:payments", "operation": "READ"}
    )
    return {row.name for row in page.holds["rows"]}


def test_a_request_reads_one_run_although_another_is_published_and_its_files_go(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(snapshot, "LOOK_EVERY", 0.0)
    small.build(tmp_path)
    newest = LatestSnapshot(str(tmp_path))
    before = newest.snapshot()
    assert newest.snapshot() is before
    old = Reading(before, before.cursor(), small.CLUSTER)
    publish_next(tmp_path, [*small.ACLS, READS])
    for file in tmp_path.glob("explain_*/*.parquet"):
        file.write_bytes(b"")
    assert "User:carol" not in who(old)
    assert old.run.run_number == 1


def test_the_next_request_reads_the_newest_run_and_the_page_says_which(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot, "LOOK_EVERY", 0.0)
    small.build(tmp_path)
    with serving(tmp_path) as outside:
        inside = outside.enter()
        place = {"resource": "topic:payments", "operation": "READ"}
        page = inside.ask("/who-can", **place)
        assert "User:carol" not in page.text
        assert (
            "Run 1 of 2026-11-21 12:00:00 UTC, complete, as of 2026-11-21 12:00 UTC, offset 100"
            in page.text
        )
        publish_next(
            tmp_path,
            [*small.ACLS, READS],
            status="incomplete",
            notes=["offsets 3 to 5 are missing"],
        )
        page = inside.ask("/who-can", **place)
        assert "User:carol" in page.text
        assert "The run is incomplete" in page.text
        assert "offsets 3 to 5 are missing" in page.text
        assert "Run 2" in page.text
