"""A night that brings nothing new takes no work, and tells what it would tell by Spark."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from tests.audit.reports.hook import serving
from tests.cli.running import Warehouse
from tests.nightly.both_ways import LATER, both_ways, call, takes_work
from tests.nightly.test_nightly import FIRST_NIGHT, SECOND_NIGHT, Nights, add, topic
from tests.pipeline.sources import fake_broker as fake
from tests.pipeline.sources.fake_broker import fake_broker
from tests.warehouse.aging import Killed, kill_at

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.timeout(600)]

NEVER = ("--fail-on", "never")
BREAKS = '[[never]]\nname="ann stays out"\nprincipals="User:ann"\nresources="topic:pay.*"\n'
MUTE = '[[mute]]\nfinding="{}"\nowner="ann"\nreason="known"\nuntil={}\n'


@pytest.fixture(scope="module")
def nights(_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Nights:
    nights = Nights(tmp_path_factory.mktemp("quiet"))
    assert nights.run(*FIRST_NIGHT, options=NEVER).exit_code == 0
    assert nights.run(*SECOND_NIGHT, options=NEVER).exit_code == 0
    baseline = nights.folder / "baseline.json"
    assert nights.call("audit", "--write-baseline", str(baseline)).exit_code == 0
    return nights


def words(nights, *options):
    return ("run", "--source", f"records:{nights.folder / 'records.jsonl'}", *options)


def holding(mute_until, finding="public-access"):
    def options(nights, _written):
        file = nights.folder / "mutes.toml"
        file.write_text(MUTE.format(finding, mute_until), encoding="utf-8")
        return "--mutes", str(file)

    return options


def asserting(nights, _written):
    file = nights.folder / "assertions.toml"
    file.write_text(BREAKS, encoding="utf-8")
    return "--assertions", str(file)


TODAY = LATER.date().isoformat()
NIGHTS = {
    "nothing": lambda *_: (),
    "another severity fails": lambda *_: ("--fail-on", "low"),
    "a baseline": lambda nights, _: ("--baseline", str(nights.folder / "baseline.json")),
    "a mute that holds": holding(TODAY),
    "a mute that has run out": holding("2026-01-01"),
    "an assertion that fails": asserting,
    "reports of every format": lambda nights, written: (
        *("--report", str(written / "night.md"), "--report-dir", str(written / "reports")),
        *("--report-formats", "all", "--baseline", str(nights.folder / "baseline.json")),
    ),
}
CODES = dict.fromkeys(NIGHTS, 0) | {
    "another severity fails": 1, "a mute that has run out": 1, "an assertion that fails": 1,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", NIGHTS)
def test_it_tells_and_leaves_what_it_would_by_spark(nights, tmp_path, name):
    def command(written):
        return words(nights, *NEVER[: 2 * (CODES[name] == 0)], *NIGHTS[name](nights, written))

    by_spark, without = both_ways(nights.folder / "warehouse", tmp_path, command)
    assert without.code == by_spark.code == CODES[name], without.page
    assert without == by_spark
    assert "Nothing new since the previous run" in without.page
    assert bool(without.files) == (name == "reports of every format")


@pytest.mark.slow
def test_it_sends_the_alert_that_it_would_send_by_spark(nights, tmp_path, monkeypatch):
    with serving(200) as hook:
        monkeypatch.setenv("ACLKIT_ALERT_WEBHOOK", hook.address)
        both_ways(
            nights.folder / "warehouse", tmp_path, lambda _: words(nights, "--alert-on", "always")
        )
    by_spark, without = (json.loads(body) for _, _, body in hook.got)
    assert without == by_spark


def test_a_mute_runs_out_by_the_clock_alone(nights, tmp_path):
    place = shutil.copytree(nights.folder / "warehouse", tmp_path / "warehouse")
    codes = []
    for until in (TODAY, "2026-01-01"):
        command = words(nights, *holding(until)(nights, None), "--fail-on", "never")
        assert not takes_work(place, command)
        codes.append(call(place, command).exit_code)
    assert codes == [0, 1]


TAKES_WORK = {
    "settings": ("--super-users", "User:cy"),
    "semantics": ("--semantics", "kip-1042"),
    "the share that is broad": ("--broad-share", "0.9"),
    "a high watermark": ("--high-watermark", "9"),
    "accepted holes": ("--accept-holes",),
    "--strict": ("--strict",),
    "a principal builder": ("--principal-builder", "aclkit.api:X500Builder"),
    "to decide everything": ("--full",),
    "a dense table": ("--dense", "never"),
    "other principals": ("--principals", "{}/principals.csv"),
    "a Delta folder of resources": ("--resources", "{}/resources"),
}


@pytest.mark.parametrize("name", TAKES_WORK)
def test_whatever_else_is_asked_takes_work(nights, name):
    (nights.folder / "principals.csv").write_text("principal\nUser:new\n", encoding="utf-8")
    names = pa.table({"resource_type": ["topic"], "resource_name": ["new"]})
    write_deltalake(str(nights.folder / "resources"), names, mode="overwrite")
    named = [word.format(nights.folder) for word in TAKES_WORK[name]]
    place = nights.folder / "warehouse"
    assert not takes_work(place, words(nights, *NEVER))
    assert takes_work(place, words(nights, *NEVER, *named))


@pytest.mark.slow
def test_a_file_of_the_inventory_counts_by_what_it_names(nights, tmp_path):
    place = shutil.copytree(nights.folder / "warehouse", tmp_path / "warehouse")
    file = tmp_path / "principals.csv"
    file.write_text("principal\nUser:ann\nUser:new\n", encoding="utf-8")
    command = words(nights, *NEVER, "--principals", str(file))
    assert call(place, command).exit_code == 0
    file.write_text("principal\r\nUser:new\r\nUser:ann\r\n", encoding="utf-8")
    assert not takes_work(place, command)
    file.write_text("principal\nUser:ann\nUser:newer\n", encoding="utf-8")
    assert takes_work(place, command)


SOURCES = {
    "a line more": lambda text: text + topic(10, "new") + "\n",
    "half a line more": lambda text: text + topic(10, "new")[:40],
    "a letter of the same size": lambda text: text.replace("User:ann", "User:bnn", 1),
    "a line less": lambda text: "".join(text.splitlines(keepends=True)[:-1]),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_of_other_bytes_takes_work(nights, tmp_path, name):
    source = nights.folder / "records.jsonl"
    text = source.read_text(encoding="utf-8")
    source.write_text(SOURCES[name](text), encoding="utf-8")
    try:
        assert takes_work(nights.folder / "warehouse", words(nights, *NEVER))
    finally:
        source.write_text(text, encoding="utf-8")
    assert not takes_work(nights.folder / "warehouse", words(nights, *NEVER))


def test_so_does_another_aclkit(nights, monkeypatch):
    monkeypatch.setattr("aclkit.pipeline.replay.intake._reading", lambda: "of another source")
    assert takes_work(nights.folder / "warehouse", words(nights, *NEVER))


@pytest.mark.slow
def test_so_does_a_log_that_was_forgotten_in_between(nights, tmp_path):
    place = shutil.copytree(nights.folder / "warehouse", tmp_path / "warehouse")
    assert call(place, ["replay", "--forget", "9-9"]).exit_code == 0
    for job in ("run", "replay"):
        assert takes_work(place, (job, *words(nights)[1:]))


@pytest.mark.slow
def test_so_does_a_file_that_was_written_while_it_was_read(nights, tmp_path, monkeypatch):
    place = shutil.copytree(nights.folder / "warehouse", tmp_path / "warehouse")
    source = shutil.copy(nights.folder / "records.jsonl", tmp_path)
    command = ("run", "--source", f"records:{source}", *NEVER)
    with monkeypatch.context() as patch:
        patch.setattr("aclkit.pipeline.replay.intake.Imprint.holds", lambda _: False)
        assert call(place, command).exit_code == 0
    assert takes_work(place, command)
    assert call(place, command).exit_code == 0
    assert not takes_work(place, command)


@pytest.mark.slow
def test_a_night_behind_a_killed_one_takes_back_what_that_one_left(nights, tmp_path):
    place = shutil.copytree(nights.folder / "warehouse", tmp_path / "warehouse")
    source = Path(shutil.copy(nights.folder / "records.jsonl", tmp_path))
    command = ("run", "--source", f"records:{source}", *NEVER)
    assert call(place, command).exit_code == 0
    before, text = Warehouse(place).tables(), source.read_text(encoding="utf-8")
    source.write_text(text + add(10, "User:dora", "pay.in") + "\n", encoding="utf-8")
    for point in ("after-facts", "before-job-run"):
        with pytest.MonkeyPatch.context() as patch:
            kill_at(patch, point)
            with pytest.raises(Killed):
                call(place, command)
    source.write_text(text, encoding="utf-8")
    assert not takes_work(place, command)
    assert Warehouse(place).tables() == before
    log = place / "acl_log" / "_delta_log"
    assert "RESTORE" in max(log.glob("*.json")).read_text(encoding="utf-8")


@pytest.mark.parametrize("point", ["before-job-run", "commit-1"])
def test_a_kill_leaves_the_warehouse_as_it_was_or_the_night_done(nights, tmp_path, point):
    place = shutil.copytree(nights.folder / "warehouse", tmp_path / "warehouse")
    warehouse = Warehouse(place)
    runs, before = len(warehouse.published().runs), warehouse.tables()
    with pytest.MonkeyPatch.context() as patch:
        kill_at(patch, point)
        with pytest.raises(Killed):
            takes_work(place, words(nights, *NEVER))
    assert len(warehouse.published().runs) == runs + (point == "commit-1")
    assert warehouse.tables() == before
    assert not takes_work(place, words(nights, *NEVER))
    assert warehouse.tables() == before


@pytest.mark.slow
def test_every_32nd_run_writes_its_table_anew_without_spark_too(nights, tmp_path):
    place = shutil.copytree(nights.folder / "warehouse", tmp_path / "warehouse")
    warehouse = Warehouse(place)
    first = len(warehouse.published().runs)
    for _ in range(first, 34):
        assert not takes_work(place, words(nights, *NEVER))
    assert [run.run_number for run in warehouse.published().runs] == list(range(34))
    assert len(warehouse.published().job_run.files) == 2


NO_SPARK = """
import sys
for name in ("pyspark", "py4j", "delta"):
    sys.modules[name] = None  # whoever imports it fails
from aclkit.cli import cli
cli()
"""


@pytest.mark.slow
def test_it_needs_no_spark_to_be_installed_nor_java(nights, tmp_path):
    """Of two clusters, for one as for the other."""
    place = shutil.copytree(nights.folder / "warehouse", tmp_path / "warehouse")
    other = ("--cluster", "other", "run", "--source", *words(nights)[2:], *NEVER)
    assert call(place, other).exit_code == 0
    first = ("--cluster", "default", *words(nights, *NEVER))
    assert call(place, first).exit_code == 0
    before = Warehouse(place).tables()
    env = os.environ | {
        "PATH": "",
        "JAVA_HOME": "/nowhere",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    for command in (first, other, ("--cluster", "other", "replay", *words(nights)[1:])):
        done = subprocess.run(
            [sys.executable, "-c", NO_SPARK, "--warehouse", str(place), *command],
            env=env, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert Warehouse(place).tables() == before
    runs = Warehouse(place).published().runs[-3:]
    assert [(run.cluster_id, run.job) for run in runs] == [
        ("default", "run"), ("other", "run"), ("other", "replay"),
    ]  # fmt: skip


READ = (2, "orders", 3, "User:alice", "*", 3, 3)


def brokers(super_users="User:root"):
    settings = {"super_users": super_users}
    return {fake.CONFIGS: fake.configs(**settings), fake.GROUPS: fake.groups("billing")}


@pytest.mark.slow
def test_a_live_cluster_that_tells_the_same_brings_nothing_new(tmp_path, monkeypatch):
    for name in ("ACLKIT_NO_SUPER_USERS", "ACLKIT_ALLOW_EVERYONE"):
        monkeypatch.delenv(name)
    place = tmp_path / "live"
    with fake_broker([READ]) as broker:
        command = ("run", "--source", f"live:{broker.bootstrap}", *NEVER)

        def asking(*more, super_users="User:root"):
            broker.parts = brokers(super_users)  # each message of it answers once
            return *command, *more

        assert call(place, asking()).exit_code == 0
        by_spark, without = both_ways(place, tmp_path / "work", lambda _: asking())
        assert without == by_spark
        assert without.run.settings.told.brokers[0].values["super.users"] == "User:root"
        assert takes_work(place, asking("--super-users", "User:other"))
        assert takes_work(place, asking(super_users="User:boss"))
        broker.acls = [READ, (2, "new", 3, "User:alice", "*", 3, 3)]
        assert takes_work(place, asking())
