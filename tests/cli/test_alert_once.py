"""``run``, ``alert`` and ``watch``: of what is new to a receiver one alert, whoever sends it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclkit.warehouse.location import Location
from aclkit.warehouse.lock import ALERT_LOCK_NAME, alert_lock
from aclkit.warehouse.watch_state import ALERTED, alerted_file
from aclkit.warehouse.watched import CHECKED, FOLDER
from tests.audit.reports.hook import SECRET, serving
from tests.cli.running import Warehouse
from tests.cli.watching import Turns, new_log, quiet
from tests.factories import acl
from tests.pipeline.sources.log_bytes import acl_record, removal_record

PUBLIC = acl("pay", principal="User:*", operation="ALL", acl_id="AAAAAAAAAAAAAAAAAAAAZA")
OTHER = acl("hr", principal="User:*", operation="ALL", acl_id="AAAAAAAAAAAAAAAAAAAAZQ")


@pytest.fixture(autouse=True)
def _settings():
    with quiet():
        yield


class Nights:
    """A log with a public topic, and the commands that look at it."""

    def __init__(self, folder: Path) -> None:
        self.log = new_log(folder)
        self.log.append(acl_record(PUBLIC))
        self.source = f"metadata-log:{self.log.folder}"
        self.warehouse = Warehouse(folder / "w")
        self.turns = Turns(folder / "w", "--source", self.source, "--alert-retries", "0")

    def run(self, *options, code=0, fail_on="never"):
        given = ("--source", self.source, "--fail-on", fail_on, "--alert-retries", "0")
        return self.warehouse.run("run", *given, *options, code=code)

    def alert(self, *options, code=0):
        return self.warehouse.run("alert", "--alert-retries", "0", *options, code=code)

    def state(self, name=ALERTED) -> Path:
        return self.warehouse.path / FOLDER / name


@pytest.fixture
def nights(tmp_path):
    return Nights(tmp_path)


@pytest.fixture
def hook(monkeypatch):
    with serving(200) as hook:
        monkeypatch.setenv("ACLKIT_ALERT_WEBHOOK", hook.address)
        yield hook


def subjects(hook):
    return [[each["subject"] for each in json.loads(body)["worst"]] for _, _, body in hook.got]


def test_quiet_nights_send_one_alert_whatever_command_looks(nights, hook):
    nights.run()
    nights.run()
    assert "nothing new matches --alert-on" in nights.alert().stderr
    nights.turns(None, None)
    assert len(hook.got) == 1
    nights.log.append(acl_record(OTHER))
    nights.turns(None)
    nights.run()
    assert [len(each) for each in subjects(hook)] == [len(subjects(hook)[0]), 1]


def test_each_receiver_and_each_severity_has_alerts_of_its_own(nights, hook, monkeypatch):
    nights.run()
    nights.alert("--alert-on", "low")
    with serving(200) as second:
        monkeypatch.setenv("ACLKIT_ALERT_WEBHOOK", second.address)
        nights.alert()
        nights.alert()
    assert (len(hook.got), len(second.got)) == (2, 1)


def test_an_alert_that_was_not_delivered_is_sent_with_the_next(nights, hook):
    hook.answers[:] = [500, 200]
    assert "was not delivered" in nights.run(code=4).stderr
    nights.alert()
    nights.run()
    first, again = (json.loads(body) for _, _, body in hook.got)
    assert first["alert_id"] == again["alert_id"]


def test_what_was_fixed_and_comes_back_is_alerted_again(nights, hook):
    nights.run()
    nights.log.append(removal_record(PUBLIC.acl_id))
    nights.run()
    assert len(hook.got) == 1
    nights.log.append(acl_record(PUBLIC))
    nights.run()
    assert subjects(hook)[0] == subjects(hook)[1]


def test_the_receiver_is_kept_as_a_digest(nights, hook):
    nights.run()
    written = "".join(
        path.read_text(errors="replace") for path in nights.warehouse.path.rglob("*")
        if path.is_file()
    )  # fmt: skip
    assert nights.state().exists()
    assert SECRET not in written
    assert "very-secret" not in written


def test_a_finding_of_the_baseline_is_not_alerted(nights, hook, tmp_path):
    nights.run("--alert-on", "never")
    baseline = tmp_path / "baseline.json"
    nights.warehouse.run("audit", "--write-baseline", baseline)
    nights.run("--baseline", baseline)
    assert hook.got == []


@pytest.mark.parametrize("text", ["{", "[]", '{"clusters": {"c": 1}}', "\xff"])
def test_a_malformed_file_is_said_and_all_findings_are_alerted_again(nights, hook, text):
    nights.run()
    nights.state().write_text(text, encoding="latin-1")
    said = nights.alert().stderr
    assert f"warning: {nights.state()} is malformed" in said
    assert "all findings in force" in said
    assert len(hook.got) == 2
    assert "malformed" not in nights.alert().stderr


def test_a_malformed_entry_is_said_too(nights, hook):
    nights.run()
    said = json.loads(nights.state().read_text(encoding="utf-8"))
    ((cluster, entry),) = said["clusters"].items()
    entry["told"] = {key: {"offset": "x"} for key in entry["told"]}
    nights.state().write_text(json.dumps(said), encoding="utf-8")
    assert f"is malformed (cluster {cluster!r})" in nights.alert().stderr
    assert len(hook.got) == 2


def test_a_file_that_cannot_be_read_is_said_and_all_findings_are_alerted_again(nights, hook):
    nights.run()
    nights.state().unlink()
    nights.state().mkdir()
    said = nights.alert(code=4).stderr
    assert f"warning: {nights.state()} cannot be read" in said
    assert f"The alert was sent. That could not be noted in {nights.state()}" in said
    assert len(hook.got) == 2


def _no_lock(nights):
    """Nothing can be written: the lock of alerts cannot be opened."""
    lock = nights.warehouse.path / ALERT_LOCK_NAME
    lock.unlink(missing_ok=True)
    lock.mkdir()
    return lock


def _no_file(nights):
    """The lock can be taken, but the file cannot be written."""
    nights.state().parent.mkdir(exist_ok=True)
    nights.state().unlink(missing_ok=True)
    nights.state().mkdir()
    return nights.state()


@pytest.mark.parametrize("shut", [_no_lock, _no_file])
def test_where_nothing_can_be_noted_news_is_sent_each_time(nights, hook, shut):
    nights.run("--alert-on", "never")
    opened = shut(nights)
    for _ in range(2):
        assert "Error: The alert was sent. That could not be noted" in nights.alert(code=4).stderr
    opened.rmdir()
    nights.alert()
    assert "nothing new matches --alert-on" in nights.alert().stderr
    assert len(hook.got) == 3


def test_where_nothing_can_be_noted_only_that_decides_the_exit_code(nights, hook):
    nights.run()
    nights.log.append(removal_record(PUBLIC.acl_id))
    nights.run("--alert-on", "never")
    _no_lock(nights)
    assert "Error: No alert was due. That could not be noted" in nights.alert(code=4).stderr
    assert len(hook.got) == 1


@pytest.mark.parametrize("shut", [_no_lock, _no_file])
def test_a_watcher_that_cannot_note_alerts_each_change_once(nights, hook, shut):
    """It runs on, remembers what it has sent, and notes it as soon as that is possible."""
    nights.run("--alert-on", "never")
    opened = shut(nights)
    turns = nights.turns(None, None, lambda _: nights.log.append(acl_record(OTHER)), None)
    assert "The alert was sent. That could not be noted" in turns.stderr
    assert [len(each) for each in subjects(hook)] == [len(subjects(hook)[0]), 1]
    opened.rmdir()
    nights.alert()
    assert len(hook.got) == 3, "a later process knows nothing of them"


def test_a_watcher_notes_what_it_sent_once_it_can(nights, hook):
    nights.run("--alert-on", "never")
    opened = _no_lock(nights)
    nights.turns(None, lambda _: opened.rmdir(), *[None] * 9)
    assert "nothing new matches --alert-on" in nights.alert().stderr
    assert len(hook.got) == 1


def test_that_sources_cannot_be_read_is_alerted_once_where_nothing_can_be_noted(nights, hook):
    nights.run()
    _no_lock(nights)
    moved = nights.log.folder.with_name("moved")
    away, back = (
        lambda _: nights.log.folder.rename(moved),
        lambda _: moved.rename(nights.log.folder),
    )
    nights.turns(None, away, *[None] * 9, back, *[None] * 9)
    said = [json.loads(body).get("is_failing") for _, _, body in hook.got]
    assert said == [None, True, False]


def test_a_watcher_without_its_file_says_so_and_goes_on_where_it_was(nights, hook):
    always = ("--alert-on", "always")
    nights.turns(None, options=always)
    nights.log.add()
    nights.run("--alert-on", "never")
    nights.state().unlink()
    said = nights.turns(None, options=always).stderr
    assert "does not hold what this receiver was alerted" in said
    last = json.loads(hook.got[-1][2])
    assert [each["principal"] for each in last["acls_added"]] == ["User:u2"]
    assert last["worst"], "all findings in force, known ones too"


def test_a_file_that_goes_while_a_watcher_knows_better_is_written_again(nights, hook):
    nights.turns(None, lambda _: (nights.state().unlink(), nights.log.add()), None)
    assert len(hook.got) == 1
    assert nights.state().exists()


@pytest.mark.parametrize("more", [0, 3])
def test_what_a_new_leader_writes_in_the_place_of_what_was_alerted_is_alerted(nights, hook, more):
    """The log is then shorter than what was alerted, or as long, or longer."""

    def cut_and_add(_):
        nights.log.cut(2)
        nights.log.add()
        nights.log.idle(more)

    always = ("--alert-on", "always")
    nights.turns(None, lambda _: (nights.log.add(), nights.log.idle(2)), options=always)
    nights.turns(None, cut_and_add, None, options=always)
    named = [
        acl["principal"]
        for _, _, body in hook.got
        for acl in json.loads(body).get("acls_added", ())
    ]
    assert named == ["User:u2", "User:u3"]


def test_after_an_older_aclkit_changes_are_news_from_where_it_ended(nights, hook):
    nights.run("--alert-on", "never")
    cluster = nights.warehouse.published().run.cluster_id
    head = nights.warehouse.published().run.head_offset
    old = {"run_id": "r", "offset": head, "findings": [], "troubles": [], "failing": ""}
    nights.state().parent.mkdir(exist_ok=True)
    nights.state().write_text(json.dumps({"clusters": {cluster: old}}), encoding="utf-8")
    nights.log.add()
    nights.turns(None, options=["--alert-on", "always"])
    (alert,) = (json.loads(body) for _, _, body in hook.got)
    assert [each["principal"] for each in alert["acls_added"]] == ["User:u2"]


def test_a_process_waits_for_the_one_that_sends(nights, hook):
    nights.run("--alert-on", "never")
    with alert_lock(str(nights.warehouse.path), 0):
        told = nights.run("--lock-timeout", "0", code=4).stderr
    assert "Another command (process " in told
    assert (hook.got, len(nights.warehouse.published().runs)) == ([], 2), "the run is published"
    nights.run()
    assert len(hook.got) == 1


def test_what_is_written_for_one_receiver_leaves_the_others(tmp_path):
    place = Location(str(tmp_path))
    with alerted_file(place, 0) as file:
        file.update("a", lambda _: {"x": {"1": 1}})
        file.update("b", lambda _: {"x": {"2": 2}})
        file.update("a", lambda entry: {**entry, "y": {}})
        assert file.read() == {"a": {"x": {"1": 1}, "y": {}}, "b": {"x": {"2": 2}}}


def test_dry_run_shows_what_would_be_sent_and_changes_nothing(nights, hook):
    nights.run("--alert-on", "never")
    for _ in range(2):
        assert json.loads(nights.alert("--dry-run").stdout)["worst"]
    nights.alert()
    assert "No alert would be sent" in nights.alert("--dry-run").stderr
    assert len(hook.got) == 1
    assert not nights.state(CHECKED).exists()


def test_a_run_without_a_baseline_prints_the_command_that_writes_it(nights, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = nights.run(fail_on="high", code=1)
    (line,) = [line for line in said.stderr.splitlines() if "No baseline was passed" in line]
    assert (
        f"aclkit --warehouse {nights.warehouse.path} audit --write-baseline baseline.json" in line
    )
    assert "not in the baseline" in said.stdout
    nights.warehouse.run("audit", "--write-baseline", "baseline.json")
    good = nights.run("--baseline", "baseline.json", fail_on="high")
    assert "No baseline was passed" not in good.stderr


def test_fail_on_new_counts_what_the_last_published_run_did_not_have(nights):
    nights.run("--fail-on-new", fail_on="high", code=1)
    quiet_night = nights.run("--fail-on-new", fail_on="high").stdout
    assert "**No new findings, " in quiet_night
    nights.run(fail_on="high", code=1)
    nights.log.append(acl_record(OTHER))
    assert "new finding" in nights.run("--fail-on-new", fail_on="high", code=1).stdout
