"""report and alert: the newest run as files and as messages."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from aclkit.audit.reports.render import FILE_NAMES, FORMATS, write_reports
from aclkit.errors import DataError
from tests.audit.reports.hook import serving
from tests.audit.reports.made import BROKEN, KEPT, gathered
from tests.cli.running import KRAFT, Warehouse
from tests.questions.query import small_warehouse as small

FINDING = {
    "cluster_id": small.CLUSTER, "run_id": "r", "finding": "public-access", "severity": "high",
    "subject": "=topic", "message": "m", "fix": "f", "acl_ids": ["acl-03"], "fingerprint": "1",
}  # fmt: skip


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory) -> Warehouse:
    path = tmp_path_factory.mktemp("report") / "warehouse"
    versions = small.build(path)
    versions["finding"] = small.write_table(path, "finding", [FINDING])
    small.publish(
        path, versions, run_number=2, run_id="r2", counts={"acls": 10, "decided_in_run": 1}
    )
    return Warehouse(path)


def test_every_format_is_a_file_of_its_own_name(warehouse, tmp_path):
    folder = tmp_path / "new" / "reports"
    told = warehouse.run("report", "--format", "all", "--output-dir", folder).stderr
    assert {path.name for path in folder.iterdir()} == set(FILE_NAMES.values())
    assert all(f"wrote {folder / name}" in told for name in FILE_NAMES.values())
    assert set(FILE_NAMES) == set(FORMATS)
    json.loads((folder / "report.json").read_text(encoding="utf-8"))
    json.loads((folder / "report.sarif").read_text(encoding="utf-8"))
    ElementTree.parse(folder / "report.junit.xml")


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("html", "<!doctype html>"),
        ("markdown", "# Kafka access on cluster c1"),
        ("json", '{\n  "cluster_id": "c1"'),
        ("sarif", '{\n  "$schema"'),
        ("junit", "<?xml"),
        ("prometheus", "# HELP aclkit_acl_count"),
        ("spreadsheet", '"severity","finding"'),
    ],
)
def test_a_format_goes_to_stdout(warehouse, form, start):
    assert warehouse.run("report", "--format", form).stdout.startswith(start)


def test_without_a_format_it_is_the_page(warehouse, tmp_path):
    path = tmp_path / "report.html"
    assert warehouse.run("report", "--output", path).stdout == ""
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_file_is_replaced_as_a_whole(warehouse, tmp_path):
    path = tmp_path / "aclkit.prom"
    path.write_text("before", encoding="utf-8")
    warehouse.run("report", "--format", "prometheus", "--output", path)
    assert path.read_text(encoding="utf-8").startswith("# HELP")
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_file_is_written_to_and_not_replaced(warehouse, tmp_path):
    """As root, the device /dev/null would be gone else, and with it much of the system."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    warehouse.run("report", "--format", "spreadsheet", "--output", pipe)
    assert os.read(reader, 100).startswith(b'"severity"')
    os.close(reader)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_stays_one_and_its_file_is_replaced(warehouse, tmp_path):
    there, link = tmp_path / "there", tmp_path / "link"
    there.write_text("before", encoding="utf-8")
    link.symlink_to(there)
    warehouse.run("report", "--format", "prometheus", "--output", link)
    assert link.is_symlink()
    assert there.read_text(encoding="utf-8").startswith("# HELP")


def test_a_folder_that_is_a_file_ends_with_exit_code_4(warehouse, tmp_path):
    path = tmp_path / "file"
    path.write_text("", encoding="utf-8")
    told = warehouse.run("report", "--format", "json", "--output-dir", path, code=4).stderr
    assert told.startswith("Error: ")


def test_several_formats_need_a_folder(warehouse):
    told = warehouse.run("report", "--format", "json", "--format", "sarif", code=2).stderr
    assert "Pass --output-dir DIR." in told


def test_a_file_and_a_folder_are_too_much(warehouse, tmp_path):
    warehouse.run("report", "--output", "x", "--output-dir", tmp_path, code=2)


def test_fail_on_is_about_junit(warehouse):
    assert "<failure" in warehouse.run("report", "--format", "junit").stdout
    said = warehouse.run("report", "--format", "junit", "--fail-on", "never").stdout
    assert "<failure" not in said


def test_the_markdown_of_report_is_the_page_of_run_without_an_exit_code(warehouse):
    page = warehouse.run("report", "--format", "markdown").stdout
    assert "**No new findings, 1 known. No access changed.**" in page
    assert "exit code" not in page.lower()


def test_a_run_hands_over_its_exit_code_and_its_assertions(warehouse, tmp_path):
    report = gathered(warehouse.published(), exit_code=1, assertions=(BROKEN, KEPT))
    paths = write_reports(report, tmp_path, ["markdown", "junit", "html"])
    page, junit, html = (Path(path).read_text(encoding="utf-8") for path in paths)
    wrong = "Action needed: 1 policy failed, no new findings, 1 known."
    verdict = f"{wrong} No access changed. Exit code 1."
    assert f"**{verdict}**" in page
    assert "\n## Policies\n\n- FAILED: " in page
    assert "\n- passed: no guests (It holds.)\n" in page
    assert 'classname="aclkit.assertion" name="no guests"' in junit
    assert 'id="assertions"' in html


def test_an_alert_is_sent_where_it_is_worth_one(warehouse, tmp_path):
    path = tmp_path / "webhook.url"
    with serving(500, 200) as hook:
        path.write_text(hook.address, encoding="utf-8")
        result = warehouse.run("alert", "--alert-webhook-file", path, "--alert-style", "json")
    assert json.loads(hook.got[-1][2])["worst"][0]["subject"] == "=topic"
    assert len(hook.got) == 2
    assert "it answered 500; again in 1 s" in result.stderr
    assert "very-secret" not in result.output


def test_an_alert_that_is_not_delivered_ends_with_exit_code_4_and_a_line(warehouse, monkeypatch):
    with serving(404) as hook:
        monkeypatch.setenv("ACLKIT_ALERT_WEBHOOK", hook.address)
        result = warehouse.run("alert", code=4)
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: the alert was not delivered (webhook of ACLKIT_ALERT_WEBHOOK)")
    assert "very-secret" not in result.output


def test_nothing_worth_an_alert_sends_none(warehouse, monkeypatch):
    with serving(200) as hook:
        monkeypatch.setenv("ACLKIT_ALERT_WEBHOOK", hook.address)
        told = warehouse.run("alert", "--alert-on", "never").stderr
    assert told == "No alert was sent: nothing new matches --alert-on.\n"
    assert hook.got == []


def test_a_dry_run_prints_the_message_and_sends_nothing(warehouse, monkeypatch):
    with serving(200) as hook:
        monkeypatch.setenv("ACLKIT_ALERT_WEBHOOK", hook.address)
        out = warehouse.run("alert", "--dry-run", "--alert-style", "slack").stdout
    assert json.loads(out)["blocks"]
    assert hook.got == []


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


def test_a_night_that_failed_says_why_though_the_alert_fails_too(warehouse, monkeypatch, tmp_path):
    monkeypatch.setattr("aclkit.cli.nightly.late_session", failing(DataError("a hole at 7")))
    with serving(404) as hook:
        monkeypatch.setenv("ACLKIT_ALERT_WEBHOOK", hook.address)
        result = warehouse.run("run", "--source", f"metadata-log:{KRAFT}", code=4)
    *_, first, second = result.stderr.splitlines()
    assert first == "Error: a hole at 7"
    assert second.startswith("Error: the alert was not delivered")
    assert json.loads(hook.got[0][2])["error"] == "a hole at 7"


def test_whatever_ends_a_night_is_told(warehouse, monkeypatch, tmp_path):
    with serving(200) as hook:
        monkeypatch.setenv("ACLKIT_ALERT_WEBHOOK", hook.address)
        warehouse.run("run", "--source", f"metadata-log:{tmp_path}/none", code=2)
        fail = failing(PermissionError(13, "Permission denied", "/w"))
        monkeypatch.setattr("aclkit.cli.nightly.late_session", fail)
        warehouse.run("run", "--source", f"metadata-log:{KRAFT}", code=4)
    told = [json.loads(body) for _, _, body in hook.got]
    assert [each["exit_code"] for each in told] == [2, 4]
    assert "none: the file or directory does not exist" in told[0]["text"]
    assert "Permission denied" in told[1]["text"]


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e300", "0", "-1"])
def test_a_time_that_is_none_is_a_bad_request(warehouse, seconds):
    told = warehouse.run("alert", "--alert-timeout", seconds, code=2).stderr
    assert "--alert-timeout" in told


def test_without_a_webhook_it_is_a_bad_request(warehouse):
    told = warehouse.run("alert", code=2).stderr
    assert "Pass --alert-webhook-file FILE, or set ACLKIT_ALERT_WEBHOOK." in told


def test_mutes_and_a_baseline_give_every_finding_its_state(warehouse, tmp_path, monkeypatch):
    mutes = tmp_path / "mutes.toml"
    mutes.write_text(
        '[[mute]]\nfinding = "public-access"\nuntil = 9999-12-31\nowner = "ops"\nreason = "why"\n'
    )
    states = ("--mutes", mutes)
    read = json.loads(warehouse.run("report", "--format", "json", *states).stdout)
    (only,) = read["findings"]
    assert (only["state"], only["mute"]["owner"]) == ("muted", "ops")
    assert "<skipped" in warehouse.run("report", "--format", "junit", *states).stdout
    with serving(200) as hook:
        monkeypatch.setenv("ACLKIT_ALERT_WEBHOOK", hook.address)
        warehouse.run("alert", *states)
    assert hook.got == []
    baseline = tmp_path / "baseline.json"
    warehouse.run("audit", "--write-baseline", baseline)
    known = warehouse.run("report", "--format", "json", "--baseline", baseline).stdout
    assert json.loads(known)["findings"][0]["state"] == "known"
    warehouse.run("report", "--baseline", tmp_path / "none.json", code=2)
