"""The command doctor: what it sees in which environment, and how it ends."""

from __future__ import annotations

import fcntl
import json
import threading
import time

import pytest
from click.testing import CliRunner

from aclkit.cli import cli, maintain
from aclkit.errors import DataError, SurroundingsError, UsageError
from aclkit.model.unread import NOT_OFFERED, RIGHT, SETTINGS, Unread, unread_note
from aclkit.nightly import checks
from aclkit.nightly.checks import Check, CheckContext, CheckResult, Outcome, run_checks
from aclkit.pipeline.sources import live
from aclkit.pipeline.sources.listing import Listing
from aclkit.runtime import environment, memory
from aclkit.runtime.environment import not_installed
from aclkit.runtime.spark_release import delta_jars
from aclkit.warehouse.lock import LOCK_NAME, lock_holder
from tests.questions.query import small_warehouse as small

GIB = 1 << 30


def look(found, state="ok", advice=None):
    return lambda _: CheckResult(found, state, advice)


def fail(error):
    def looking(_):
        raise error

    return looking


def outcomes(*looks, seconds=60.0):
    made = [Check(str(number), look, "mend it") for number, look in enumerate(looks)]
    return [*run_checks(made, CheckContext(seconds=seconds))]


def test_what_fails_has_its_exit_code_and_what_to_do():
    assert outcomes(
        look("fine", advice="nothing"), look("little", "warning", "more"),
        fail(DataError("no log")),
        fail(PermissionError(13, "Permission denied", "/x")),
        fail(ModuleNotFoundError(name="kafka")),
    ) == [
        Outcome("0", "ok", "fine", None, 0),
        Outcome("1", "warning", "little", "more", 0),
        Outcome("2", "failed", "no log", "mend it", 3),
        Outcome("3", "failed", "/x: Permission denied", "mend it", 4),
        Outcome("4", "failed", str(not_installed("this", "kafka-python")), "mend it", 4),
    ]  # fmt: skip


def test_a_check_that_never_answers_is_left_behind():
    never = threading.Event()
    started = time.monotonic()
    late = [lambda _: never.wait() and CheckResult("late")] * 2
    silent, other = outcomes(*late, seconds=0.2)
    assert time.monotonic() - started < 30
    never.set()
    assert silent == Outcome("0", "failed", "no answer within 0.2 s", "mend it", 4)
    assert other.state == "failed"


@pytest.mark.parametrize(("script", "seen"), [("17.0.15", "Java 17 at "), ("25", "Java 25 at ")])
def test_java_is_asked_for_its_release(tmp_path, script, seen):
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{script}\"' >&2\n", encoding="utf-8")
    java.chmod(0o755)
    assert checks.see_java(CheckContext(env={"PATH": str(tmp_path)})) == CheckResult(
        f"{seen}{java}"
    )


def test_without_java_doctor_warns_and_says_what_needs_it(tmp_path):
    seen = checks.see_java(CheckContext(env={"PATH": str(tmp_path)}))
    assert seen.state == "warning"
    assert "found none in PATH or JAVA_HOME" in seen.found
    assert "nothing else needs it" in str(seen.advice)


@pytest.mark.parametrize(("heap", "state"), [("6g", "ok"), ("7g", "warning"), (None, "ok")])
def test_memory_must_leave_room_beside_the_heap(monkeypatch, heap, state):
    monkeypatch.setattr(checks, "memory_limit", lambda: 8 * GIB)
    seen = checks.see_memory(CheckContext(env={"ACLKIT_DRIVER_MEMORY": heap} if heap else {}))
    assert (seen.state, "ACLKIT_DRIVER_MEMORY=4g" in str(seen.advice)) == (state, state != "ok")


@pytest.mark.parametrize("text", ["much", "-1g", "4gg", "9" * 50])
def test_a_heap_that_is_no_size_is_the_requests_fault(text):
    with pytest.raises(UsageError, match="expected a size such as 4g"):
        memory.heap_size({"ACLKIT_DRIVER_MEMORY": text})


@pytest.mark.parametrize(("text", "mebibytes"), [("512", 512), ("2g", 2048), ("1048576kb", 1024)])
def test_a_heap_is_as_large_as_spark_reads_it(text, mebibytes):
    assert memory.heap_size({"ACLKIT_DRIVER_MEMORY": text}) == mebibytes << 20


@pytest.mark.parametrize(("group", "limit"), [("1048576", 1 << 20), ("max", 2 << 20)])
def test_memory_is_that_of_the_container_where_that_is_less(tmp_path, group, limit):
    (tmp_path / "meminfo").write_text(
        "MemTotal:        2048 kB\nMemFree:  1 kB\n", encoding="utf-8"
    )
    (tmp_path / "max").write_text(group, encoding="utf-8")
    assert memory.memory_limit(tmp_path / "meminfo", tmp_path / "max") == limit
    assert memory.memory_limit(tmp_path / "no", tmp_path / "none") is None


def test_jars_may_be_missing_but_not_others(tmp_path):
    around = CheckContext(env={"ACLKIT_JARS": str(tmp_path)})
    assert checks.see_jars(around).state == "warning"
    (tmp_path / next(iter(delta_jars().digests))).write_text("no jar", encoding="utf-8")
    with pytest.raises(SurroundingsError, match="is not the expected jar"):
        checks.see_jars(around)


@pytest.mark.parametrize(("free", "state"), [(3 * GIB, "ok"), (GIB, "warning")])
def test_little_room_is_a_warning(tmp_path, monkeypatch, free, state):
    monkeypatch.setattr(checks, "room_at", lambda _: free)
    seen = checks.see_disk(
        CheckContext(warehouse=str(tmp_path / "w"), env={"TMPDIR": str(tmp_path)})
    )
    assert (seen.state, "for the warehouse" in seen.found) == (state, True)


def test_no_room_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "LEAST_ROOM", 1 << 62)
    with pytest.raises(SurroundingsError, match="No space left"):
        checks.see_disk(CheckContext(env={"TMPDIR": str(tmp_path)}))


def test_a_lock_that_somebody_holds_is_seen_and_left_to_him(tmp_path):
    around = CheckContext(warehouse=str(tmp_path))
    assert checks.see_lock(around) == CheckResult("free")
    with (tmp_path / LOCK_NAME).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write("4711\n")
        held.flush()
        assert checks.see_lock(around).found == "a run is at work, process 4711"
    assert lock_holder(str(tmp_path)) is None


def test_a_warehouse_tells_its_clusters_and_its_newest_run(tmp_path):
    small.build(tmp_path / "w")
    seen = checks.see_warehouse(CheckContext(warehouse=str(tmp_path / "w")))
    assert (seen.state, "newest run: " in seen.found) == ("ok", True)
    nothing = checks.see_warehouse(CheckContext(warehouse=str(tmp_path / "new")))
    assert nothing.found.endswith("new yet: the first run creates it")
    assert checks.see_warehouse(CheckContext()).state == "skipped"


def test_a_source_is_opened(tmp_path):
    (tmp_path / "x.jsonl").write_text("{}\n", encoding="utf-8")
    seen = checks.see_source(CheckContext(sources=[f"records:{tmp_path / 'x.jsonl'}"]))
    assert seen.found.endswith("x.jsonl: 1 files, 3 bytes")
    with pytest.raises(UsageError):
        checks.see_source(CheckContext(sources=["records:/nowhere"]))
    assert checks.see_source(CheckContext()).state == "skipped"


@pytest.mark.parametrize(("notes", "state"), [((), "ok"), (("groups: refused",), "warning")])
def test_a_live_source_is_asked_what_a_run_would_ask(monkeypatch, notes, state):
    def ask(bootstrap, _, seconds, *_kept):
        return Listing(rows=(), cluster_id=f"{bootstrap} {seconds:g}", notes=notes)

    monkeypatch.setattr(live, "read_live", ask)
    seen = checks.see_broker(CheckContext(sources=["live:h:1"], seconds=5))
    assert (seen.state, seen.found.partition(";")[0]) == (
        state, "h:1 answers: cluster h:1 5, 0 rows",
    )  # fmt: skip
    assert checks.see_broker(CheckContext(sources=["records:x"])).state == "skipped"


@pytest.mark.parametrize(
    ("cause", "advice"),
    [
        (
            RIGHT,
            "kafka-acls --bootstrap-server HOST:PORT --add --cluster --allow-principal User:me "
            "--operation DescribeConfigs",
        ),
        (NOT_OFFERED, "Pass --super-users and --allow-everyone, or --server-properties FILE"),
    ],
)
def test_what_a_broker_keeps_back_has_a_row_with_its_cost_and_the_way_out(
    monkeypatch, cause, advice
):
    unread = Unread(part=SETTINGS, cause=cause, reason="error 31")
    note = unread_note(unread, "User:me")
    told = Listing(rows=(), cluster_id="c", unread=(unread,), notes=(note,), asked_by="User:me")
    monkeypatch.setattr(live, "read_live", lambda *_: told)
    around = CheckContext(sources=["live:h:1"], seconds=5)
    rows = [*checks.run_checks([Check("broker", checks.see_broker, "x")], around)]
    assert rows == [
        ("broker", "ok", "h:1 answers: cluster c, 0 rows", None, 0),
        ("rights", "warning", note, advice, 0),
    ]
    assert "DENIED may be wrong" in note


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Return exit code and rows of the command, whose only checks are told to it."""
    monkeypatch.chdir(tmp_path)

    def call(*words, looks):
        made = [Check(str(number), look, "mend it") for number, look in enumerate(looks)]
        monkeypatch.setattr(maintain, "CHECKS", made)
        result = CliRunner().invoke(cli, ["doctor", "--format", "json", *words])
        return result.exit_code, json.loads(result.stdout)

    return call


def test_the_highest_exit_code_wins(command):
    code, rows = command(looks=[look("x", "warning"), fail(DataError("a")), fail(UsageError("b"))])
    assert (code, [row["exit_code"] for row in rows]) == (3, [0, 3, 2])
    assert command(looks=[look("fine")])[0] == 0


def test_the_source_of_the_nightly_run_is_looked_at(command, tmp_path):
    (tmp_path / "night.toml").write_text(
        'warehouse = "w"\n[run]\nsource = ["records:x"]\n', encoding="utf-8"
    )

    def tell(around):
        return CheckResult(f"{around.warehouse} {list(around.sources)}")

    _, rows = command("--config", "night.toml", looks=[tell])
    assert rows[0]["found"] == "w ['records:x']"


def test_a_found_file_says_where_and_not_whom_to_ask(command, tmp_path):
    """It could name a broker of its writer's, and a client's file with passwords of ours."""
    (tmp_path / "aclkit.toml").write_text(
        'warehouse = "w"\nsource = ["live:evil:1"]\n', encoding="utf-8"
    )
    _, rows = command(
        looks=[lambda around: CheckResult(f"{around.warehouse} {list(around.sources)}")]
    )
    assert rows[0]["found"] == "w []"


def test_people_get_a_line_each_that_acts_on_no_terminal(monkeypatch):
    monkeypatch.setattr(maintain, "CHECKS", [Check("java", look("a\x1b[2J", "warning", "do"), "x")])
    result = CliRunner().invoke(cli, ["doctor"])
    assert result.stdout.splitlines() == [
        "warning  java       a\\u{1b}[2J",
        "  Next: do",
    ]
