"""The examples of conf/: each can be read, and calls commands and options that exist."""

from __future__ import annotations

import ast
import configparser
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from aclkit.cli import cli
from aclkit.cli.nightly import policies_of, report_formats
from aclkit.errors import UsageError
from tests.documents import CommandLine, commands

ROOT = Path(__file__).parent.parent
SCHEDULE = ROOT / "conf" / "schedule"
RUN = commands(cli)["run"]


def called(line: str) -> CommandLine:
    """Read what stands behind the program in a line that starts aclkit."""
    words = shlex.split(line)
    at = next(n for n, word in enumerate(words) if word.endswith(".venv/bin/aclkit"))
    return CommandLine(tuple(words[at + 1 :]))


WATCH = SCHEDULE / "systemd" / "aclkit-watch.service"
"""What goes on for days needs no timer."""


def units():
    return sorted({*(SCHEDULE / "systemd").glob("*.service")} - {WATCH})


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str
    parser.read_string(path.read_text(encoding="utf-8"))
    return parser


@pytest.mark.parametrize("path", units(), ids=lambda path: path.name)
def test_systemd_calls_a_command_that_exists_and_has_its_timer(path):
    service = unit(path)["Service"]
    assert service["Type"] == "oneshot"
    assert called(service["ExecStart"]).problem(cli) is None
    timer = unit(path.with_suffix(".timer"))
    assert timer["Timer"]["OnCalendar"]
    assert timer["Install"]["WantedBy"] == "timers.target"


def test_systemd_keeps_the_watcher_alive_and_lets_it_end():
    service = unit(WATCH)["Service"]
    line = called(service["ExecStart"])
    assert (line.words[0], line.problem(cli)) == ("watch", None)
    assert (service["Restart"], service["SuccessExitStatus"]) == ("always", "143")
    assert unit(WATCH)["Install"]["WantedBy"] == "multi-user.target"


def test_cron_lines_have_five_times_a_user_and_a_command_that_exists():
    lines = (SCHEDULE / "cron" / "aclkit").read_text(encoding="utf-8").splitlines()
    jobs = [line for line in lines if line[:1].isdigit()]
    assert len(jobs) == 2
    for job in jobs:
        *times, user, command = job.split(maxsplit=6)
        assert all(set(time) <= set("0123456789*") for time in times)
        assert user == "aclkit"
        assert "%" not in command, "cron takes % for a line break"
        assert called(command).problem(cli) is None


def test_airflow_is_python_and_calls_commands_that_exist():
    text = (SCHEDULE / "airflow" / "aclkit_nightly.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    values = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = [
        "".join(
            part.value if isinstance(part, ast.Constant) else values[part.value.id]
            for part in keyword.value.values
        )
        for keyword in ast.walk(tree)
        if isinstance(keyword, ast.keyword) and keyword.arg == "bash_command"
    ]
    lines = [called(line) for line in found]
    assert [line.words[0] for line in lines] == ["run", "maintain"]
    assert [line.problem(cli) for line in lines] == [None, None]


def of_job(file: str, arguments: list[str]) -> CommandLine:
    assert (ROOT / "jobs" / Path(file).name).is_file()
    assert Path(file).name == "nightly_audit.py"
    return CommandLine(("run", *arguments))


def test_kubernetes_submits_a_job_that_exists_with_options_that_exist():
    path = SCHEDULE / "kubernetes" / "scheduled-spark-application.yaml"
    (document,) = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    assert document["kind"] == "ScheduledSparkApplication"
    assert document["spec"]["concurrencyPolicy"] == "Forbid"
    template = document["spec"]["template"]
    line = of_job(template["mainApplicationFile"], template["arguments"])
    assert line.problem(cli) is None
    volumes = {volume["name"] for volume in template["volumes"]}
    mounted = {m["name"] for part in ("driver", "executor") for m in template[part]["volumeMounts"]}
    assert mounted <= volumes
    pinned = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"pyspark=={template['sparkVersion']}" in pinned["project"]["dependencies"]


def test_kubernetes_without_spark_runs_as_nobody_what_its_settings_name():
    path = SCHEDULE / "kubernetes" / "cronjob.yaml"
    settings, _, job = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert CommandLine(tuple(container["args"])).problem(cli) is None
    assert pod["securityContext"]["runAsUser"] == 65534
    assert container["securityContext"]["readOnlyRootFilesystem"]
    mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert mounted.keys() == {volume["name"] for volume in pod["volumes"]}
    text = settings["data"]["nightly.toml"]
    assert container["args"][-1] == f"{mounted['config']}/nightly.toml"
    config = tomllib.loads(text)
    known = {param.name for param in RUN.params} | {"warehouse", "cluster"}
    assert {*config["run"], *(key for key in config if key != "run")} <= known
    assert config["warehouse"].startswith(mounted["warehouse"] + "/")
    assert config["run"]["command_config"].startswith(mounted["secret"] + "/")


def test_kubernetes_runs_one_watcher_that_may_write_to_its_warehouse_alone():
    path = SCHEDULE / "kubernetes" / "watch-deployment.yaml"
    (document,) = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    spec = document["spec"]
    assert (spec["replicas"], spec["strategy"]["type"]) == (1, "Recreate")
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert CommandLine(tuple(container["args"])).problem(cli) is None
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in pod["volumes"]}
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    probe = " ".join(container["readinessProbe"]["exec"]["command"])
    assert container["args"][-1] in probe


def test_databricks_calls_a_command_of_the_wheel_with_options_that_exist():
    text = (SCHEDULE / "databricks" / "databricks.yml").read_text(encoding="utf-8")
    assert text.startswith("# Not tried on Databricks")
    job = yaml.safe_load(text)["resources"]["jobs"]["aclkit_nightly"]
    assert job["max_concurrent_runs"] == 1
    (task,) = job["tasks"]
    wheel = task["python_wheel_task"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert wheel["package_name"] == project["name"]
    assert wheel["entry_point"] in project["scripts"]
    assert CommandLine(tuple(wheel["parameters"])).problem(cli) is None
    clusters = {cluster["job_cluster_key"] for cluster in job["job_clusters"]}
    assert task["job_cluster_key"] in clusters


def config() -> dict[str, object]:
    return tomllib.loads((ROOT / "conf" / "nightly.toml").read_text(encoding="utf-8"))


def test_nightly_toml_names_files_that_exist_and_policies_that_can_be_read(monkeypatch):
    monkeypatch.chdir(ROOT)
    run = config()["run"]
    for source in run["source"]:
        assert Path(source.partition(":")[2]).exists()
    read = policies_of({"baseline": None, "mutes": None, **run})
    assert read.assertions
    assert "html" in report_formats(run["report_formats"])


def test_what_nightly_toml_leaves_open_are_options_of_run():
    known = {param.name for param in RUN.params} | {"warehouse", "cluster"}
    text = (ROOT / "conf" / "nightly.toml").read_text(encoding="utf-8")
    open_keys = [
        line.removeprefix("# ").partition(" = ")[0]
        for line in text.splitlines()
        if line.startswith("# ") and " = " in line and not line.startswith("#   ")
    ]
    assert {"baseline", "mutes", "alert_webhook_file", "alert_style", "alert_on"} <= set(open_keys)
    assert set(open_keys) <= known
    set_keys = {*config()["run"], *(key for key in config() if key != "run")}
    assert set_keys <= known


@pytest.mark.parametrize("text", ["", "pdf", "html,pdf"])
def test_report_formats_that_do_not_exist_are_refused(text):
    with pytest.raises(UsageError, match="Unknown --report-formats"):
        report_formats(text)
