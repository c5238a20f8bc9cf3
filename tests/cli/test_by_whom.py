"""run --controller-log and --automation: who changed ACLs, on the logs of a real broker."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.cli.running import DATA, Warehouse

SECURE = DATA / "secure"
LOG = SECURE / "kafka-authorizer.log"
BY = "SELECT certainty, count(*) AS changes FROM acl_change_by GROUP BY ALL"
ASKED = ("history", "User:svc-risk", "READ", "topic:orders.events")


def night(warehouse, *arguments, code=0):
    return warehouse.run(
        "run", "--source", f"metadata-log:{SECURE / '__cluster_metadata-0'}", "--no-super-users",
        "--no-allow-everyone", "--fail-on", "never", *arguments, code=code,
    )  # fmt: skip


def automation(path, principal):
    path.write_text(
        f'[[automation]]\nprincipal = "{principal}"\nname = "The operator"\n', encoding="utf-8"
    )
    return path


def counted(warehouse):
    return {row["certainty"]: int(row["changes"]) for row in warehouse.sql(BY)}


def by_hand(warehouse):
    sql = "SELECT message FROM finding_current WHERE finding = 'changed-by-hand' ORDER BY ALL"
    return [row["message"] for row in warehouse.sql(sql)]


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    folder = tmp_path_factory.mktemp("by-whom")
    warehouse = Warehouse(folder / "warehouse")
    page = night(
        warehouse,
        "--controller-log", LOG,
        "--automation", automation(folder / "automation.toml", "User:strimzi"),
    ).stdout  # fmt: skip
    return warehouse, page


def test_every_change_of_a_real_broker_has_one_candidate(known):
    warehouse, page = known
    assert counted(warehouse) == {"one": 18}
    assert "By whom ACLs changed: 18 changes, 18 with one candidate." in page


def test_history_shows_by_whom(known):
    text = known[0].run(*ASKED).stdout
    assert "ACL removed by User:admin from 127.0.0.1 (only candidate)" in text
    rows = list(csv.DictReader(io.StringIO(known[0].run(*ASKED, "--format", "csv").stdout)))
    assert [row["changed_by"] for row in rows] == ["User:admin from 127.0.0.1"] * 2 + [""]
    assert [row["changed_by_certainty"] for row in rows] == ["one", "one", ""]


def test_changes_by_another_principal_are_a_finding_a_request(known):
    found = by_hand(known[0])
    assert [message.partition(" at ")[0] for message in found] == [
        "User:admin, from 127.0.0.1, created 15 ACLs",
        "User:admin, from 127.0.0.1, created ALLOW ALL on topic late.topic for User:bob "
        "from any host",
        "User:admin, from 127.0.0.1, removed ALLOW READ on topic orders.events for "
        "User:svc-risk from any host",
    ]


def test_the_report_shows_by_whom_the_acl_of_a_finding_was_added(known, tmp_path):
    known[0].run("report", "--output", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "by User:admin from 127.0.0.1 (only candidate)" in page
    told = json.loads(known[0].run("report", "--format", "json").stdout)
    (found,) = [f for f in told["findings"] if "User:carol has DELETE, ALTER" in f["message"]
                and "groups" in f["message"]]  # fmt: skip
    assert found["acls"][0]["changed_by"] == "User:admin from 127.0.0.1"
    assert found["acls"][0]["changed_by_certainty"] == "one"


def test_a_later_night_keeps_who_it_was_and_changes_by_the_automation_are_no_finding(
    known, tmp_path
):
    warehouse = known[0].copy(tmp_path / "warehouse")
    night(warehouse, "--automation", automation(tmp_path / "a.toml", "User:admin"))
    assert counted(warehouse) == {"one": 18}
    assert not by_hand(warehouse)
    assert "changed_by_certainty" in warehouse.run(*ASKED, "--format", "csv").stdout


def test_a_log_that_begins_later_leaves_earlier_changes_unknown_until_it_is_read_whole(tmp_path):
    warehouse, part = Warehouse(tmp_path / "warehouse"), tmp_path / "part.log"
    lines = LOG.read_text(encoding="utf-8").splitlines(keepends=True)
    part.write_text(
        "".join(line for line in lines if line >= "[2026-11-21 10:27:43"), encoding="utf-8"
    )
    night(warehouse, "--controller-log", part)
    assert counted(warehouse) == {"missing": 16, "one": 2}
    assert "ACL added by whom is not known: no log of that time" in warehouse.run(*ASKED).stdout
    night(warehouse, "--controller-log", LOG)
    assert counted(warehouse) == {"one": 18}


def test_a_log_without_heartbeats_makes_no_candidate_certain(tmp_path):
    warehouse, silent = Warehouse(tmp_path / "warehouse"), tmp_path / "silent.log"
    lines = LOG.read_text(encoding="utf-8").splitlines(keepends=True)
    silent.write_text(
        "".join(line for line in lines if "BrokerHeartbeat" not in line), encoding="utf-8"
    )
    page = night(
        warehouse, "--controller-log", silent,
        "--automation", automation(tmp_path / "a.toml", "User:strimzi"),
    ).stdout  # fmt: skip
    assert counted(warehouse) == {"unsure": 18}
    assert "Set kafka.authorizer.logger to DEBUG on all controllers." in page
    assert not by_hand(warehouse)


def test_a_log_whose_times_do_not_fit_is_not_used(tmp_path):
    warehouse, shifted = Warehouse(tmp_path / "warehouse"), tmp_path / "shifted.log"
    lines = LOG.read_text(encoding="utf-8").splitlines(keepends=True)
    shifted.write_text("".join(line for line in lines if "Acls" not in line), encoding="utf-8")
    page = night(warehouse, "--controller-log", shifted).stdout
    assert "The controllers' log was not used: of 18 changes of ACLs that it covers, 18" in page
    assert not warehouse.sql("SELECT * FROM acl_change_by")


def test_the_log_of_a_controller_that_is_missing_is_a_note_and_the_night_goes_on(tmp_path):
    warehouse = Warehouse(tmp_path / "warehouse")
    page = night(warehouse, "--controller-log", "/nowhere.log", "--controller-log", LOG).stdout
    assert "--controller-log: /nowhere.log" in page
    assert counted(warehouse) == {"one": 18}


def test_without_any_log_of_controllers_automation_is_told_to_lack_one(tmp_path):
    warehouse = Warehouse(tmp_path / "warehouse")
    page = night(warehouse, "--automation", automation(tmp_path / "a.toml", "User:a")).stdout
    assert "It is unknown who changed ACLs: no run has read the controllers' log." in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--controller-log", "/nowhere.log"), "/nowhere.log"),
        (("--controller-log", LOG, "--log-timezone", "Mars"), "Invalid time zone 'Mars'"),
        (("--automation", "/nowhere.toml"), "/nowhere.toml"),
    ],
)
def test_a_bad_request_ends_before_anything_is_written(tmp_path, arguments, said):
    warehouse = Warehouse(tmp_path / "warehouse")
    assert said in night(warehouse, *arguments, code=2).stderr
    assert not warehouse.path.exists() or not any(warehouse.path.glob("job_run"))
