"""The command usage on a real broker's logs: lines in, verdicts, findings and unused grants out."""

from __future__ import annotations

import gzip
import itertools
import json
from collections import Counter
from contextlib import suppress

import pytest

from aclkit.cli.replay import tell_notes
from aclkit.model.findings import Finding
from tests.cli.running import Warehouse, run
from tests.questions.usage.pasts import LOG, SECURE
from tests.questions.usage.test_layout import LAYOUTS
from tests.warehouse.aging import Killed, kill_at

WRONG = (
    "[2026-11-21 10:28:05,000] INFO Principal = User:ANONYMOUS is Denied operation = READ from "
    "host = 127.0.0.1 on resource = Topic:LITERAL:x for request = Fetch with resourceRefCount = 1 "
    "based on rule DefaultDeny (kafka.authorizer.logger)"
)
LATE = (
    "[2026-11-21 10:27:54,{}] INFO Principal = User:bob is Denied operation = READ from host = "
    "127.0.0.1 on resource = Topic:LITERAL:late.topic for request = Fetch with resourceRefCount = "
    "1 based on rule DefaultDeny"
)
"""bob gets ALL on late.topic at 10:27:54.357."""

HOSTILE = WRONG.replace(
    "User:ANONYMOUS",
    "User:x is Denied operation = READ from host = 10.0.0.1 on resource = Topic:LITERAL:y",
)


@pytest.fixture(scope="module")
def decided(tmp_path_factory) -> Warehouse:
    """The real log, replayed and decided once; copy it to change it."""
    warehouse = Warehouse(tmp_path_factory.mktemp("secure") / "warehouse")
    warehouse.replay(f"metadata-log:{SECURE / '__cluster_metadata-0'}")
    warehouse.run("materialize", "--super-users", "User:ANONYMOUS;User:admin", "--dense", "never")
    return warehouse


@pytest.fixture
def warehouse(decided, tmp_path) -> Warehouse:
    return decided.copy(tmp_path / "warehouse")


WINDOW = ("--unused-days", "0.0002", "--old-log")
"""The log ends some days before the run."""


def usage(warehouse: Warehouse, *arguments: object):
    result = warehouse.run("usage", *arguments, "--format", "json")
    return json.loads(result.stdout), result


def counts(answer):
    names = ("lines", "unreadable", "agree", "mismatch", "undetermined")
    return tuple(answer[name] for name in names)


def test_every_line_of_a_real_broker_is_explained_plain_gzipped_and_again(warehouse, tmp_path):
    answer, _ = usage(warehouse, "--authorizer-log", SECURE, *WINDOW)
    assert counts(answer) == (369, 0, 369, 0, 0)
    assert (answer["coverage"]["allowed_lines"], answer["coverage"]["gaps"]) == (107, [])
    usages = Counter(row["usage"] for row in answer["rows"])
    assert usages == {"used": 6, "matched": 1, "unused": 6, "too-new": 1}
    by_id = {row["acl_id"]: row for row in answer["rows"]}
    assert by_id["5cwu6NiOQdKOP7XeQO2vZA"]["usage"] == "too-new"
    (row,) = warehouse.sql("SELECT count(*) AS n, sum(lines) AS lines FROM access_day")
    assert (row["n"], row["lines"]) == ("76", "369")
    days = warehouse.table("access_day")
    (row,) = warehouse.sql("SELECT count(*) AS n, sum(lines) AS lines FROM access_by_day")
    assert (row["n"], row["lines"]) == ("75", "369")

    packed = tmp_path / "kafka-authorizer.log.2026-11-21.gz"
    packed.write_bytes(gzip.compress(LOG.read_bytes()))
    again, result = usage(warehouse, packed, *WINDOW)
    assert counts(again) == (0, 0, 0, 0, 0)
    assert "have no lines that were not read before" in result.stderr
    assert again["rows"] == answer["rows"]
    assert warehouse.table("access_day") == days
    (file,) = warehouse.sql("SELECT packed FROM log_file")
    assert file["packed"].startswith(f"{packed.stat().st_size} ")

    anew, _ = usage(warehouse, packed, *WINDOW, "--read-again")
    assert counts(anew) == counts(answer)
    assert anew["rows"] == answer["rows"]
    (row,) = warehouse.sql("SELECT sum(lines) AS lines FROM access_day")
    assert row["lines"] == "369"

    newest = warehouse.published().run
    assert (newest.job, newest.counts["lines_agree"]) == ("usage", 369)
    assert newest.head_offset == 236
    (row,) = warehouse.sql("SELECT count(*) AS n FROM explain")
    assert int(row["n"]) > 0
    assert "User:carol" in warehouse.run("who-can", "READ", "topic:payments.events").stdout


def test_a_line_newer_than_the_run_is_undetermined_and_no_finding(warehouse, tmp_path):
    log = tmp_path / "newer.log"
    log.write_text(WRONG.replace("2026-11-21", "2099-11-21"), encoding="utf-8")
    answer, result = usage(warehouse, "--authorizer-log", log)
    assert counts(answer) == (1, 0, 0, 0, 1)
    (line,) = answer["undetermined_lines"]
    assert "newer than the last run" in line["reason"]
    assert "first run" in line["reason"]
    assert "authorizer-log-mismatch" not in result.stderr


def test_planted_lines_are_found_and_told(warehouse, tmp_path):
    log = tmp_path / "planted.log"
    lines = [WRONG, WRONG, LATE.format("100"), LATE.format("900"), HOSTILE, '{"message": "x"}',
             "2026-11-21 10:28:05,000 INFO storedKey=abcdef started"]  # fmt: skip
    log.write_text("\n".join(lines), encoding="utf-8")
    answer, result = usage(warehouse, "--authorizer-log", log)
    assert counts(answer) == (7, 2, 0, 2, 3)
    (first,) = answer["mismatch_lines"]
    assert (first["position"], first["lines"]) == (1, 2)
    assert (first["decision"], first["rule"]) == ("DENIED", "DefaultDeny")
    assert (first["expected_decision"], first["expected_rule"]) == ("ALLOWED", "SuperUser")
    reasons = [line["reason"] for line in answer["undetermined_lines"]]
    assert ["too close" in reason for reason in reasons] == [True, False]
    assert "abcdef" not in result.output
    assert {row["usage"] for row in answer["rows"]} == {"unknown"}
    assert "finding (high) authorizer-log-mismatch: A broker decided differently" in result.stderr
    assert "The authorizer log has 2 such lines, the first at " in result.stderr
    (finding,) = warehouse.sql(
        "SELECT * FROM finding_current WHERE finding = 'authorizer-log-mismatch'"
    )
    assert finding["severity"] == "high"


def test_a_log_in_another_zone_and_at_info_is_explained_and_leaves_use_unknown(warehouse, tmp_path):
    denied = [line for line in LOG.read_text(encoding="utf-8").splitlines() if " INFO " in line]
    log = tmp_path / "b1" / "denied.log"
    log.parent.mkdir()
    log.write_text("\n".join(line.replace(" 10:", " 12:", 1) for line in denied), encoding="utf-8")
    result = warehouse.run("usage", log.parent, "--log-timezone", "+02:00")
    assert f"{len(denied)} lines: {len(denied)} agree, 0 mismatch" in result.stdout
    rows = [line.split()[0] for line in result.stdout.splitlines()[4:]]
    assert set(rows) == {"unknown"}
    assert "set kafka.authorizer.logger to DEBUG" in result.stderr
    assert "No grant counts as unused" in result.stderr


@pytest.fixture(scope="module")
def listed(tmp_path_factory) -> Warehouse:
    """READ on topic ledger for User:clerk, since an hour before the logs of all layouts."""
    warehouse = Warehouse(tmp_path_factory.mktemp("layouts") / "warehouse")
    at = ("--at", "2026-11-20T09:00:00Z")
    warehouse.replay(f"acls-list:{LAYOUTS / 'acls.txt'}", more=at)
    warehouse.run("materialize", "--super-users", "", "--dense", "never")
    return warehouse


def test_logs_of_all_layouts_agree_and_name_the_grant_that_was_used(listed, tmp_path):
    warehouse = listed.copy(tmp_path / "warehouse")
    logs = sorted(set(LAYOUTS.glob("*.log")) - {LAYOUTS / "docker-read.log"})
    answer, result = usage(warehouse, *logs, "--unused-days", "0.00001")
    assert counts(answer) == (16, 0, 16, 0, 0)
    assert "finding (" not in result.stderr
    assert [row["usage"] for row in answer["rows"]] == ["used"]
    by_file = warehouse.sql(
        "SELECT source, sum(lines) AS n FROM access_day JOIN log_file USING (cluster_id, file_id) "
        "GROUP BY source"
    )
    assert [row["n"] for row in by_file] == ["2"] * 8


def test_a_log_of_which_no_line_can_be_read_is_refused_with_the_reason_of_the_first(
    listed, tmp_path
):
    lines = (LAYOUTS / "plain.log").read_text(encoding="utf-8").splitlines()
    log = tmp_path / "no-time.log"
    log.write_text(
        "started\n" + "\n".join(line.partition("] ")[2] for line in lines), encoding="utf-8"
    )
    before = listed.published().run.run_number
    result = listed.run("usage", log, code=3)
    assert f"{log}, line 2: layout not read: found no date and time before" in result.stderr
    assert "DEBUG" not in result.stderr
    assert listed.published().run.run_number == before


def test_what_lines_of_an_unread_layout_used_is_unknown_and_a_better_reading_takes_their_place(
    listed, tmp_path
):
    warehouse = listed.copy(tmp_path / "warehouse")
    denied, allowed = (LAYOUTS / "plain.log").read_text(encoding="utf-8").splitlines()
    denied = denied.replace("10:00:00", "10:00:02").replace("CREATE", "ALTER")
    local = allowed.replace("[2026-11-20 10:00:01,259]", "2026-11-20 11:00:01,259 CET")
    denied = denied.replace("10:00:02,257", "10:00:02,257Z")
    log = tmp_path / "kafka.log"
    log.write_text("\n".join([denied, local]), encoding="utf-8")
    answer, result = usage(warehouse, log, "--unused-days", "0.00001")
    assert counts(answer)[:2] == (2, 1)
    assert [row["usage"] for row in answer["rows"]] == ["unknown"]
    assert f"1 line could not be read and may show a use: {log}." in result.stderr
    again, result = usage(warehouse, log, "--unused-days", "1", "--log-timezone", "Europe/Berlin")
    assert counts(again) == (2, 0, 2, 0, 0)
    assert "could not be read" not in result.stderr
    (row,) = warehouse.sql("SELECT first_at, principal FROM access_day WHERE verdict = 'agree' "
                           "AND decision = 'ALLOWED'")  # fmt: skip
    assert row == {"first_at": "2026-11-20T10:00:01.259000Z", "principal": "User:clerk"}


def test_a_run_killed_at_any_commit_counts_nothing_twice(warehouse, tmp_path):
    """The second night of a log that has grown; the run after the kill ends as one without it."""
    log, content = tmp_path / "kafka-authorizer.log", LOG.read_bytes()
    log.write_bytes(content[: len(content) // 3])
    warehouse.run("usage", log)
    log.write_bytes(content)
    total = "SELECT sum(lines) AS lines, sum(lines) FILTER (is_open) AS open FROM access_day"
    before = warehouse.sql(total)
    for commit in itertools.count(1):
        killed = warehouse.copy(tmp_path / f"commit-{commit}")
        with pytest.MonkeyPatch.context() as patch:
            kill_at(patch, f"commit-{commit}")
            with suppress(Killed):
                killed.run("usage", log)
                break
        assert killed.sql(total) in (before, [{"lines": "369", "open": "1"}])
        killed.run("usage", log)
        assert killed.sql(total) == [{"lines": "369", "open": "1"}]
    assert commit > 5


def test_names_in_notes_and_findings_do_not_act_on_the_terminal(capsys):
    """They come from logs and file names, which strangers write."""
    evil = "a\x1b[2J\u202eb\nc"
    found = Finding(finding="k", severity="high", subject=evil, message=evil, fix="f")
    tell_notes([evil], [found])
    shown = "a\\u{1b}[2J\\u{202e}b\\u{a}c"
    assert capsys.readouterr().err == f"note: {shown}\nfinding (high) k: {shown}\n"


def test_of_many_findings_the_worst_are_told_and_how_many_more_there_are(capsys):
    found = [
        Finding(finding="k", severity=severity, subject=str(n), message=f"{severity} {n}", fix="f")
        for severity, count in (("low", 30), ("high", 2))
        for n in range(count)
    ]
    tell_notes([], found)
    *told, last = capsys.readouterr().err.splitlines()
    assert told[:3] == [
        "finding (high) k: high 0",
        "finding (high) k: high 1",
        "finding (low) k: low 0",
    ]
    assert (len(told), last) == (20, "and 12 more findings, in the table finding")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Pass --authorizer-log PATH."),
        (
            ("--authorizer-log", "/nowhere/x.log"),
            "x.log: the file or directory does not exist",
        ),
        ((str(LOG), "--log-timezone", "Mars"), "Invalid time zone 'Mars': expected UTC"),
        ((str(SECURE / "__cluster_metadata-0"),), "no authorizer log found"),
        ((str(LOG), "--skew", "-1"), "--skew"),
        ((str(LOG), "--skew", "nan"), "--skew"),
        ((str(LOG), "--unused-days", "nan"), "--unused-days"),
    ],
)
def test_a_bad_request_ends_with_2_before_anything_is_written(tmp_path, arguments, said):
    result = run("--warehouse", tmp_path / "w", "usage", *arguments, code=2)
    assert said in result.stderr
    assert not (tmp_path / "w").exists()


def test_a_name_before_a_path_names_the_broker_of_a_log_also_of_one_that_is_known(
    warehouse, tmp_path
):
    def brokers():
        rows = warehouse.sql("SELECT coalesce(broker, '-') AS broker FROM log_file ORDER BY 1")
        return [row["broker"] for row in rows]

    warehouse.run("usage", LOG)
    assert brokers() == ["-"]
    warehouse.run("usage", "--authorizer-log", f"left={LOG}")
    assert brokers() == ["left"]
    odd = tmp_path / "a=b.log"
    odd.write_text(
        "".join(LOG.read_text(encoding="utf-8").splitlines(keepends=True)[9:]), encoding="utf-8"
    )
    warehouse.run("usage", odd)
    assert brokers() == ["-", "left"]


def test_a_file_notes_when_it_has_allowed_lines_apart_from_the_others(warehouse, tmp_path):
    log = tmp_path / "info.log"
    lines = LOG.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join(line for line in lines if " INFO " in line), encoding="utf-8")
    warehouse.run("usage", log)
    (row,) = warehouse.sql(
        "SELECT len(spoke_from) AS spoke, len(allowed_from) AS allowed FROM log_file"
    )
    assert (row["spoke"], row["allowed"]) == ("1", "0")
