"""The command watch: what it publishes, what it notes, and whom it tells, turn by turn."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from datetime import UTC, datetime

import pytest

import aclkit.cli.watch
from aclkit.cli import cli
from aclkit.cli.watch import _FILES, _FIXED
from aclkit.nightly.watch_work import WatchWork
from aclkit.warehouse.lock import only_watcher
from aclkit.warehouse.published import as_of, open_warehouse
from aclkit.warehouse.watched import CHECKED, read_state
from tests.audit.reports.hook import serving
from tests.cli.running import MATERIALIZED, REPLAYED, Warehouse, run
from tests.cli.watching import START, Killed, Turns, new_log, quiet, tables
from tests.documents import commands
from tests.pipeline.sources.fake_broker import fake_broker

HOUR = 3_600.0
READ = (2, "orders", 3, "User:alice", "*", 3, 3)


@pytest.fixture(autouse=True)
def _settings():
    with quiet():
        yield


@pytest.fixture
def log(tmp_path):
    return new_log(tmp_path)


@pytest.fixture
def turns(tmp_path, log):
    return Turns(tmp_path / "w", "--source", f"metadata-log:{log.folder}", "--alert-on", "always")


@pytest.fixture
def hook(turns):
    with serving(200) as hook:
        turns.env["ACLKIT_ALERT_WEBHOOK"] = hook.address
        yield hook


def alerts(hook):
    return [json.loads(body) for _, _, body in hook.got]


def added(hook):
    return [acl["principal"] for alert in alerts(hook) for acl in alert.get("acls_added", ())]


def checked(turns):
    (said,) = read_state(open_warehouse(str(turns.warehouse)).place, CHECKED).values()
    return said


def test_what_is_watched_is_what_one_run_of_the_whole_log_decides(turns, log, tmp_path):
    turns(
        None,
        lambda _: log.add(),
        lambda _: (log.roll(), log.idle(3), log.add()),
        lambda _: log.idle(),
        lambda _: (log.add(), log.cut(1), log.add()),
    )
    once = Warehouse(tmp_path / "once")
    once.run("run", "--source", f"metadata-log:{log.folder}", "--fail-on", "never")
    names = (*REPLAYED, *MATERIALIZED)
    watched, whole = turns.place.tables(names), once.tables(names)
    for table in names:
        assert watched[table] == whole[table], table


def test_a_quiet_turn_writes_no_table_and_takes_no_lock(turns, log):
    def quiet_turn(watcher):
        before.update(tables(turns.warehouse))
        (turns.warehouse / ".aclkit.lock").unlink()
        log.idle(20)

    before = {}
    turns(None, quiet_turn)
    assert tables(turns.warehouse) == before
    assert not (turns.warehouse / ".aclkit.lock").exists()


def test_a_quiet_turn_notes_when_it_looked_and_how_far(turns, log):
    turns(None, lambda _: log.idle(20))
    assert checked(turns)["checked_at"] == "2026-11-27T00:00:30.000Z"
    assert checked(turns)["offset"] == log.end


def test_quiet_turns_print_nothing_unless_that_is_asked_for(turns, log):
    turns(None)
    assert turns(None, None).output == ""
    said = turns(None, options=["--verbose"]).output
    assert f"checked, offset {log.end}" in said


def test_a_change_is_printed_in_a_line_of_its_own(turns, log):
    lines = turns(None, lambda _: log.add()).stdout.splitlines()
    assert "added: ALLOW READ on topic t2 for User:u2 from any host" in lines[1]
    assert all(line.startswith("2026-11-27 00:00:") for line in lines)


def test_a_day_without_changes_is_one_run(turns, log):
    def next_hour(_):
        turns.now += HOUR
        log.idle()

    turns(*[next_hour] * 20)
    assert turns.runs == [0]
    turns(*[next_hour] * 20)
    assert turns.runs == [0, 1], "the first poll of the next day"


def test_a_later_watcher_goes_on_without_a_run(turns, log):
    turns(None)
    log.idle()
    turns(None)
    assert turns.runs == [0]
    log.add()
    turns(None)
    assert turns.runs == [0, 1]


@pytest.mark.parametrize("options", [["--super-users", "User:x"], ["--broad-share", "0.9"]])
def test_other_options_are_decided_at_once(turns, options):
    turns(None)
    turns(None, options=options)
    assert turns.runs == [0, 1]


def test_a_file_of_an_option_that_changes_is_heeded(turns, hook, tmp_path):
    policy = tmp_path / "policies.toml"
    policy.write_text(
        '[[never]]\nname="a"\nprincipals="User:x"\nresources="topic:t1"\n', encoding="utf-8"
    )
    breaks = '[[never]]\nname="b"\nprincipals="User:u1"\nresources="topic:t1"\n'
    turns(
        None,
        lambda _: policy.write_text(breaks, encoding="utf-8"),
        options=["--assertions", str(policy)],
    )
    assert alerts(hook)[-1]["broken_assertions"] == ["b"]
    assert turns.runs == [0], "the decisions are as before"


def test_a_run_of_another_process_is_noticed(turns, log):
    def run_elsewhere(_):
        log.add()
        turns.place.run("run", "--source", f"metadata-log:{log.folder}", "--fail-on", "never")

    turns(None, run_elsewhere, lambda _: log.add(), None)
    assert turns.runs == [0, 1, 2]
    (newest,) = (r.run_id for r in turns.place.published().runs if r.run_number == 2)
    assert checked(turns)["run_id"] == newest


def test_each_change_is_told_once(turns, log, hook):
    turns(None, lambda _: log.add(), None, lambda _: (log.add(), log.add()), None)
    turns(None, lambda _: log.add())
    assert added(hook) == ["User:u2", "User:u3", "User:u4", "User:u5"]


def test_a_watcher_that_was_killed_before_it_told_does_so_when_it_begins_again(
    turns, log, hook, monkeypatch
):
    turns(None)
    with monkeypatch.context() as patch:
        patch.setattr(WatchWork, "alert", killed)
        log.add()
        turns(None)
    assert turns.runs == [0, 1]
    log.add()
    turns(None, None)
    assert added(hook) == ["User:u2", "User:u3"]


def killed(_):
    raise Killed


def test_a_webhook_that_is_away_is_told_later(turns, log, hook):
    hook.answers[:] = [500, 200]
    options = ["--alert-retries", "0", "--alert-on", "info"]
    said = turns(None, None, None, options=options)
    assert "the alert was not delivered" in said.stderr
    assert len({alert["alert_id"] for alert in alerts(hook)}) == 1
    assert len(hook.got) == 2


def test_a_webhook_that_hangs_delays_no_poll_and_what_it_took_counts_once(
    turns, log, hook, monkeypatch
):
    monkeypatch.setattr(aclkit.cli.watch, "_PATIENCE", 15)
    seen = []

    def look(watcher):
        seen.append((watcher.tally.polls, watcher.tally.alerts, watcher.tally.failed_alerts))

    def land(watcher):
        look(watcher)
        hook.answers[:] = [200]
        hook.over.set()
        sending, _ = watcher.work.delivery._courier._under_way
        sending.result(60)

    def hang(watcher):
        watcher.work.delivery._courier.patience = 0.01
        hook.answers[:] = ["silence"]
        log.add()

    turns(None, hang, look, land, look)
    assert seen == [(2, 1, 0), (3, 1, 0), (4, 2, 0)]
    assert {*added(hook)} == {"User:u2"}
    first, *tries = (alert["alert_id"] for alert in alerts(hook))
    assert len({*tries} - {first}) == 1 < len(tries)


def test_silence_is_told_once_and_so_is_its_end_whatever_is_restarted(turns, log, hook):
    turns(None)
    hidden = log.folder.with_name("hidden")
    log.folder.rename(hidden)
    turns(code=2)  # at its beginning a source that is not there is a mistake
    hidden.rename(log.folder)
    turns(None, lambda _: log.folder.rename(hidden), None, None, None)
    hidden.rename(log.folder)
    turns(None, None)
    told = [alert for alert in alerts(hook) if "is_failing" in alert]
    assert [alert["is_failing"] for alert in told] == [True, False]
    assert "(3 polls)" in told[0]["text"]


def test_the_age_of_an_answer_counts_from_the_last_check(turns, log):
    turns(None, None)
    published = open_warehouse(str(turns.warehouse))
    stands = as_of(published, published.run)
    assert stands.checked == datetime.fromtimestamp(START + 30, UTC)
    assert str(stands).endswith(", checked 2026-11-27 00:00 UTC")
    answer = turns.place.run("who-can", "READ", "topic:t1")
    assert "checked 2026-11-27 00:00 UTC" in answer.stderr
    turns.place.run("run", "--source", f"metadata-log:{log.folder}", "--fail-on", "never")
    published = open_warehouse(str(turns.warehouse))
    assert as_of(published, published.run).checked is None, "of another run nothing is known"


def test_a_listing_is_decided_where_its_acls_differ_and_not_where_its_lines_do(tmp_path):
    text = tmp_path / "acls.txt"
    turns = Turns(tmp_path / "w", "--source", f"acls-list:{text}")
    lines = listing("bob")
    text.write_text(lines, encoding="utf-8")
    turns(
        None,
        lambda _: text.write_text(lines + "\n", encoding="utf-8"),
        None,
        lambda _: text.write_text(listing("bob", "eve"), encoding="utf-8"),
        None,
    )
    assert turns.runs == [0, 1]


def listing(*names):
    pattern = "ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)"
    rows = "".join(
        f"\t(principal=User:{name}, host=*, operation=READ, permissionType=ALLOW)\n"
        for name in names
    )
    return f"Current ACLs for resource `{pattern}`:\n{rows}\n"


def test_a_live_cluster_is_asked_over_one_connection_and_decided_where_it_differs(tmp_path):
    with fake_broker([READ]) as broker:
        turns = Turns(tmp_path / "w", "--source", f"live:{broker.bootstrap}")

        def grant(_):
            connections.append(len(broker._threads))
            broker.acls = [READ, (2, "new", 3, "User:eve", "*", 3, 3)]

        connections = []
        turns(None, lambda _: connections.append(len(broker._threads)), None, None, grant, None)
    assert turns.runs == [0, 1]
    assert connections[0] == connections[1], "quiet polls connect no more"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--high-watermark", "9"], "--high-watermark is not for watch"),
        (["--at", "2026-11-21"], "--at is not for watch"),
        (["--full"], "--full is not for watch"),
        (["--listen", "0.0.0.0:1"], "Pass an address of the loopback"),
        (["--interval", "0"], "--interval"),
        (["--report-formats", "pdf"], "Unknown --report-formats"),
    ],
)
def test_what_makes_no_sense_is_refused_before_the_first_poll(turns, options, said):
    assert said in turns(None, options=options, code=2).output
    assert not turns.warehouse.exists()


def test_help_lists_no_option_that_is_refused():
    shown = run("watch", "--help").output
    assert [name for name in (*_FIXED, "interval") if f"--{name.replace('_', '-')} " in shown] == [
        "interval"
    ]


def test_a_warehouse_has_one_watcher(turns):
    with only_watcher(str(turns.warehouse)):
        result = turns(None, code=4)
    assert "Another watcher (process " in result.output
    turns(None)


def test_watch_takes_the_options_of_run_in_a_settings_file(turns, log, tmp_path):
    file = tmp_path / "aclkit.toml"
    file.write_text(
        f'[run]\nsource = ["metadata-log:{log.folder}"]\nforce = false\n'
        'report = "not-of-watch.md"\n[watch]\ninterval = 7\nreport = ""\n'
    )
    later = Turns(turns.warehouse)
    result = later(None, options=["--config", str(file)])
    assert later.watcher.pace.interval == 7
    assert "the first poll" in result.stdout


def test_health_and_metrics_are_served_on_the_loopback(turns):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    pages = {}

    def ask(_):
        for path in ("/healthz", "/metrics", "/else"):
            with _open(port, path) as reply:
                pages[path] = reply.status, reply.read().decode()

    turns(ask, None, ask, options=["--listen", f"127.0.0.1:{port}"])
    # A clock of the test's is far behind that of the server.
    assert {path: status for path, (status, _) in pages.items()} == {
        "/healthz": 503, "/metrics": 200, "/else": 404,
    }  # fmt: skip
    assert "aclkit_watch_polls_total{" in pages["/metrics"][1]
    assert "aclkit_acl_count{" in pages["/metrics"][1]


def _open(port, path):
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5)
    except urllib.error.HTTPError as error:
        return error


def test_help_is_about_polls():
    assert "Each poll looks at the sources" in run("watch", "--help").output


def test_each_file_that_decides_what_a_run_does_is_looked_at_in_each_poll():
    named = {
        param.name
        for param in commands(cli)["watch"].params
        if param.metavar and "FILE" in param.metavar
    }
    assert named - {*_FILES} == {"report", "alert_webhook_file"}
